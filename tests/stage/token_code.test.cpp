// SPDX-License-Identifier: MIT
// The code of tokens: rows made by hand, and the head's separable argmax against all logits of the full vocabulary, for the mission's
// machine and a small one: right tokens and their margins, ties, and vectors that are no token's.
#include <qwengpu/nn/bf16.hpp>
#include <qwengpu/stage/token_code.hpp>

#include "support/catch.hpp"
#include "support/choices.hpp"

#include <algorithm>
#include <initializer_list>
#include <stdexcept>
#include <vector>

using namespace qwengpu;
using namespace qwengpu::test;
using text::token_class;

namespace {

constexpr machine::sizes small_sizes{.lanes = 2, .warps = 2, .registers = 8, .words = 16, .constants = 32, .blocks = 32};

/// The dense head: all rows, of which the channels from the code's end on are zero.
template <machine::sizes M>
struct dense_head {
    stage::token_code<M> code;
    Eigen::Index used;
    nn::dense_matrix rows;

    explicit dense_head(const nn::shape& shape) : code(shape), used(code.channels().end), rows(text::vocabulary<M>::size, used) {
        for (text::token t = 0; t < text::vocabulary<M>::size; ++t) {
            const nn::vector row = code.row(t);
            if (!row.tail(shape.hidden - used).isZero(0.0F)) throw std::logic_error("a row reaches beyond its code");
            rows.row(static_cast<Eigen::Index>(t)) = row.head(used);
        }
    }
    /// Logits of a normed residual, rounded as a bf16 head rounds them if it is one.
    [[nodiscard]] nn::vector logits(const nn::vector& normed, bool in_bf16) const {
        nn::vector all = rows * normed.head(used);
        if (in_bf16) all = all.unaryExpr([](float x) { return nn::round_to_bf16(x); });
        return all;
    }
    [[nodiscard]] static text::token best(const nn::vector& logits) {
        return static_cast<text::token>(std::max_element(logits.data(), logits.data() + logits.size()) - logits.data());
    }

    /// What the last layer leaves for a token: its class with weight 64, its bits with weight 1, no constants after the norm.
    [[nodiscard]] nn::vector written(text::token t) const {
        nn::vector x = code.row(t);
        const auto& at = code.channels();
        x.head(at.first_class).setZero();
        x.segment(at.first_class, text::token_class_count) *= 64.0F;
        return x;
    }
};

/// Some tokens of every class, its first and its last among them.
template <machine::sizes M>
std::vector<text::token> sample(choices& choose, int of_each) {
    using V = text::vocabulary<M>;
    std::vector<text::token> tokens;
    for (int c = 0; c < text::token_class_count; ++c) {
        const auto id = static_cast<token_class>(c);
        const auto count = static_cast<int>(V::count(id));
        tokens.push_back(V::first_id(id));
        tokens.push_back(V::first_id(id) + V::count(id) - 1);
        for (int i = 0; i < of_each && i < count; ++i) tokens.push_back(V::first_id(id) + static_cast<text::token>(choose.below(count)));
    }
    return tokens;
}

template <machine::sizes M>
void check_written(const dense_head<M>& head, int of_each) {
    choices choose(1);
    int wrong = 0;
    float least_margin = 1e30F;
    for (const auto t : sample<M>(choose, of_each)) {
        const auto x = head.written(t);
        wrong += head.code.argmax(x) == t ? 0 : 1;
        for (const bool in_bf16 : {false, true}) {
            auto all = head.logits(x, in_bf16);
            wrong += head.best(all) == t ? 0 : 1;
            const float most = all[static_cast<Eigen::Index>(t)];
            all[static_cast<Eigen::Index>(t)] = -1e30F;
            least_margin = std::min(least_margin, most - all.maxCoeff());
        }
    }
    CHECK(wrong == 0);
    CHECK(least_margin >= 1.0F);
}

/// Small whole numbers in all channels of the code, so that ties are frequent.
template <machine::sizes M>
void check_any_vector(const dense_head<M>& head, const nn::shape& shape, int count) {
    choices choose(2);
    int wrong = 0;
    for (int i = 0; i < count; ++i) {
        nn::vector x = nn::vector::Zero(shape.hidden);
        const int range = 1 + i % 4;
        for (Eigen::Index c = head.code.channels().first_class; c < head.used; ++c)
            if (!choose.percent(i % 3 * 30)) x[c] = static_cast<float>(choose.below(range + 1));
        if (i % 2 != 0) x[head.code.channels().first_class + choose.below(text::token_class_count)] += static_cast<float>(choose.below(24));
        wrong += head.code.argmax(x) == head.best(head.logits(x, false)) ? 0 : 1;
    }
    CHECK(wrong == 0);
}

const dense_head<machine::mission>& mission_head() {
    static const dense_head<machine::mission> head(nn::qwen35_2b);
    return head;
}

/// Channels of a row that are 1, without the constants.
std::vector<int> ones(const nn::vector& row, int from) {
    std::vector<int> found;
    for (int c = from; c < row.size(); ++c)
        if (row[c] != 0.0F) found.push_back(row[c] == 1.0F ? c - from : -1);
    return found;
}

}  // namespace

TEST_CASE("rows by hand", "[stage]") {
    const stage::token_code<> code(nn::qwen35_2b);
    using V = text::vocabulary<>;
    // Constants: one, two ballast channels, a second one. Then 18 classes, and rails: low, its complement, high, its complement.
    const nn::vector launch = code.row(V::encode(token_class::launch));
    CHECK(launch[0] == 1.0F);
    CHECK(launch[1] == 8192.0F);
    CHECK(launch[2] == 8192.0F);
    CHECK(launch[3] == 1.0F);
    CHECK(ones(launch, 4) == std::vector{0});
    constexpr int classes = 18;
    const auto rails = [](int cls, std::initializer_list<int> rest) {
        std::vector<int> all{cls};
        for (const int r : rest) all.push_back(classes + r);
        return all;
    };
    // fair(2): bits 0 and 1 of the low half are known, bit 1 is set.
    CHECK(ones(code.row(V::encode(token_class::fair, 2)), 4) == rails(6, {1, 16}));
    // release of barrier 5 into phase 1: bits 0-3 are 1011, from the lowest on.
    CHECK(ones(code.row(V::encode(token_class::release, 5, 1)), 4) == rails(8, {0, 2, 3, 17}));
    // start of lanes 0, 3 in warp 5: bits 0-3 are 1001, bits 10-12 are 101.
    CHECK(ones(code.row(V::encode(token_class::start, 9, 5)), 4) == rails(9, {0, 3, 10, 12, 17, 18, 27}));
    // hi 0x8001: bits 0 and 15 of the high half.
    CHECK(ones(code.row(V::encode(token_class::hi, 0x8001)), 4) == rails(17, {32, 47, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62}));
    // short -1: all 32 bits are 1.
    std::vector<int> minus_one{15};
    for (int i = 0; i < 16; ++i) minus_one.push_back(classes + i);
    for (int i = 0; i < 16; ++i) minus_one.push_back(classes + 32 + i);
    CHECK(ones(code.row(V::encode(token_class::short_word, 0xfff)), 4) == minus_one);
}

TEST_CASE("the code ends before the other signals begin, and the final norm shows nothing else", "[stage]") {
    for (const int hidden : {1024, 2048}) {
        const stage::token_code<> code(nn::shape{.hidden = hidden});
        const auto& at = code.channels();
        CHECK(at.first_class == 2 + hidden / 1024);
        CHECK(at.end == at.first_class + 18 + 64);
        const auto norm = code.final_norm();
        for (int c = 0; c < hidden; ++c) CHECK(norm[c] == (c >= at.first_class && c < at.end ? 255.0F : -1.0F));
    }
}

TEST_CASE("the token that is written wins among all of the mission's vocabulary, by 1 or more", "[stage]") { check_written(mission_head(), 6); }

TEST_CASE("the token that is written wins in a small machine's vocabulary", "[stage]") {
    check_written(dense_head<small_sizes>(nn::shape{.hidden = 1024}), 8);
}

TEST_CASE("any vector, with ties: the first of the best", "[stage]") {
    check_any_vector(mission_head(), nn::qwen35_2b, 60);
    const nn::shape small{.hidden = 1024};
    check_any_vector(dense_head<small_sizes>(small), small, 80);
    CHECK(mission_head().code.argmax(nn::vector::Zero(2048)) == 0);
}
