// SPDX-License-Identifier: MIT
// The division sequences against the host's division, on random and on awkward operands.
#include <qwengpu/ptx/divide.hpp>

#include <cstdint>
#include <random>
#include <vector>

#include <qwengpu/ptx/ir_optimise.hpp>

#include "support/catch.hpp"

#include "ir_values.hpp"

namespace {

using namespace qwengpu;
using ptx::ir::alu_op;

/// Both results of one kind of division, expanded and optimised, as one list of instructions that can be run fast.
class sequence {
public:
    explicit sequence(bool is_signed) {
        test::ir_maker m;
        n_ = m.unknown();
        d_ = m.unknown();
        for (unsigned what : {0U, unsigned{ptx::ir::divide_remainder}}) {
            ptx::ir::instruction i;
            i.kind = ptx::ir::made_by::divide;
            i.mod = static_cast<std::uint8_t>(what | (is_signed ? ptx::ir::divide_signed : 0));
            i.a = n_;
            i.b = d_;
            m.use(m.put(i));
        }
        ptx::ir::expand_divisions(m.f);
        for (int round = 0; round < 4; ++round) {
            ptx::ir::detail::optimiser(m.f, ptx::ir::graph_of(m.f)).run();
            ptx::ir::drop_unused(m.f);
        }
        f_ = m.f;
        for (auto v : f_.blocks[0].body)
            if (f_.at(v).kind == ptx::ir::made_by::store) results_.push_back(f_.at(v).b);
        values_.resize(f_.values.size());
    }

    struct answer { std::uint32_t quotient, rest; };

    answer operator()(std::uint32_t n, std::uint32_t d) {
        values_[n_.bits] = n;
        values_[d_.bits] = d;
        const auto get = [&](const ptx::ir::operand& o) { return o.is_value() ? values_[o.bits] : o.bits; };
        for (auto v : f_.blocks[0].body) {
            const auto& i = f_.at(v);
            if (i.kind == ptx::ir::made_by::alu) values_[v] = machine::evaluate(i.op, get(i.a), get(i.b), get(i.c), i.mod);
        }
        return {get(results_[0]), get(results_[1])};
    }

    [[nodiscard]] int count(alu_op op) const {
        int n = 0;
        for (auto v : f_.blocks[0].body) n += f_.at(v).is_alu(op) ? 1 : 0;
        return n;
    }

private:
    ptx::ir::function f_;
    ptx::ir::operand n_, d_;
    std::vector<ptx::ir::operand> results_;
    std::vector<std::uint32_t> values_;
};

/// Numbers around powers of two, and around the worst divisor of all (147980288, where the first quotient is 2 too small).
std::vector<std::uint32_t> awkward() {
    std::vector<std::uint32_t> all{147980288U, 147980291U, 3, 5, 6, 7, 9, 10, 641, 6700417U, 0xaaaaaaabU};
    for (int k = 0; k < 32; ++k)
        for (std::uint32_t near : {0xfffffffeU, 0xffffffffU, 0U, 1U, 2U}) all.push_back((std::uint32_t{1} << k) + near);
    return all;
}

template <class Check>
void for_operands(Check check) {
    const auto corners = awkward();
    for (std::uint32_t n : corners)
        for (std::uint32_t d : corners) check(n, d);
    std::mt19937 random(2024);
    for (int k = 0; k < 1'000'000; ++k) {
        const std::uint32_t d = static_cast<std::uint32_t>(random()) >> (random() & 31U);
        std::uint32_t n = static_cast<std::uint32_t>(random()) >> (random() & 15U);
        // Often just at or below a multiple of the divisor, where a quotient one off would show.
        if (d != 0 && (k & 1)) n = n / d * d - (random() & 1U);
        check(n, d);
    }
}

}  // namespace

TEST_CASE("unsigned quotient and rest are those of the host") {
    sequence divide(false);
    int wrong = 0;
    for_operands([&](std::uint32_t n, std::uint32_t d) {
        const auto r = divide(n, d);
        const bool right = d == 0 ? r.quotient == 0xffffffffU && r.rest == n : r.quotient == n / d && r.rest == n % d;
        wrong += right ? 0 : 1;
    });
    CHECK(wrong == 0);
}

TEST_CASE("signed quotient and rest are those of the host, with the machine's rules for 0 and overflow") {
    sequence divide(true);
    int wrong = 0;
    for_operands([&](std::uint32_t n, std::uint32_t d) {
        const auto r = divide(n, d);
        const std::int64_t a = static_cast<std::int32_t>(n), b = static_cast<std::int32_t>(d);
        const auto quotient = static_cast<std::uint32_t>(b == 0 ? -1 : a / b), rest = static_cast<std::uint32_t>(b == 0 ? a : a % b);
        wrong += r.quotient == quotient && r.rest == rest ? 0 : 1;
    });
    CHECK(wrong == 0);
    CHECK(divide(0x80000000U, 0xffffffffU).quotient == 0x80000000U);
    CHECK(divide(0x80000000U, 0xffffffffU).rest == 0);
}

TEST_CASE("quotient and rest of the same operands share one reciprocal") {
    CHECK(sequence(false).count(alu_op::rcp) == 1);
    CHECK(sequence(true).count(alu_op::rcp) == 1);
    CHECK(sequence(false).count(alu_op::mul) == 6);
}
