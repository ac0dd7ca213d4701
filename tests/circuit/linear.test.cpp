// SPDX-License-Identifier: MIT
// Sums of signals: terms are collected, and the forms that gates take are 1 exactly where they should be, 0 or less elsewhere.
#include <qwengpu/circuit/linear.hpp>

#include "support/catch.hpp"

#include <bit>

using namespace qwengpu::circuit;

namespace {

const word w{{0}, {1}, {2}, {3}};

/// Value of a sum when bit i of `bits` is signal i.
double value(const linear& sum, unsigned bits) {
    double total = static_cast<double>(sum.constant());
    for (const auto& [s, weight] : sum.terms()) total += ((bits >> s.id) & 1U) != 0 ? static_cast<double>(weight) : 0.0;
    return total;
}

}  // namespace

TEST_CASE("sums collect their terms", "[circuit]") {
    const linear a = linear(w[0]) + 3.0 * linear(w[1]) - linear(w[0]) + linear(2.5) - 1.0 * linear(w[1]);
    CHECK(a.constant() == 2.5F);
    CHECK(value(a, 0) == 2.5);
    CHECK(value(a, 1) == 2.5);
    CHECK(value(a, 2) == 4.5);
    CHECK(a.terms().size() == 2);
    linear b = w[3];
    b += b;
    CHECK(value(b, 8) == 2.0);
    CHECK(value(3.0 * (linear(1.0) - linear(w[2])), 4) == 0.0);
    CHECK(value(3.0 * (linear(1.0) - linear(w[2])), 0) == 3.0);
}

TEST_CASE("a signal is valid once the network has made it", "[circuit]") {
    CHECK_FALSE(signal{}.valid());
    CHECK(signal{0}.valid());
    CHECK(signal{3} == w[3]);
}

TEST_CASE("all, sum, number, no, equals over all values of four bits", "[circuit]") {
    for (unsigned bits = 0; bits < 16; ++bits) {
        CAPTURE(bits);
        CHECK(value(all({w[0], w[1], w[2], w[3]}), bits) == std::popcount(bits) - 3);
        CHECK(value(sum(w), bits) == std::popcount(bits));
        CHECK(value(number(w, 0, 4), bits) == bits);
        CHECK(value(number(w, 1, 2), bits) == (bits >> 1 & 3U));
        CHECK(value(no(w[2]), bits) == ((bits & 4U) != 0 ? 0 : 1));
        CHECK(value(all({w[0], no(w[1])}), bits) == ((bits & 1U) != 0 ? 1 : 0) - ((bits & 2U) != 0 ? 1 : 0));
        for (unsigned n = 0; n < 16; ++n) {
            const double match = value(equals(w, n), bits);
            CHECK(match == 1 - std::popcount(bits ^ n));
        }
    }
}

TEST_CASE("nothing at all is true, and no bits equal zero", "[circuit]") {
    CHECK(value(all({}), 5) == 1.0);
    CHECK(value(equals({}, 0), 5) == 1.0);
    CHECK(value(sum({}), 5) == 0.0);
}
