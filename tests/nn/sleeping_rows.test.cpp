// SPDX-License-Identifier: MIT
// Rows that are not looked at have a silu of zero, whatever the weights and the inputs; and in logic of the kind that layers
// are compiled to, few others are looked at.
#include <algorithm>
#include <map>
#include <random>

#include "qwengpu/nn/sparse/sleeping_rows.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::nn;

constexpr int channels = 40, rows = 300, lead = 4;

/// Rows of gates: of several bits (and some negated), of a number of bits, of large numbers, without a lead, open at rest.
class rows_of_gates {
public:
    explicit rows_of_gates(std::mt19937& random, int kinds = 10) : random_(random), kinds_(kinds) {
        for (int row = 0; row < rows; ++row) add(row);
    }

    std::vector<triplet> entries;

private:
    int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

    void add(int row) {
        std::map<int, float> weights;
        const int bits = 1 + below(12), kind = below(kinds_);
        for (int i = 0; i < bits; ++i) weights[bit()] = kind == 9 ? std::ldexp(1024.0F, below(12)) : 256.0F;
        const auto raised = static_cast<float>(weights.size());
        if (kind <= 4) weights[lead] = -128.0F * (2 * raised - 1);                                        // all of them
        if (kind == 5 || kind == 6) weights[lead] = 128.0F * static_cast<float>(3 - 4 * (1 + below(3)));  // some of them
        if (kind == 7) weights[lead] = 128.0F;                                                            // none of them
        if (kind == 7) for (auto& [channel, weight] : weights) weight *= channel == lead ? 1.0F : -1.0F;
        if (kind == 9) weights[lead] = -std::ldexp(1024.0F, 11) - 128.0F;                                 // compares numbers
        if (kind <= 3)
            for (int i = below(4); i > 0; --i) weights.try_emplace(bit(), -256.0F);  // and none of these
        for (const auto& [channel, weight] : weights) entries.push_back({row, channel, weight});
    }
    int bit() {
        const int channel = below(channels - 1);
        return channel >= lead ? channel + 1 : channel;
    }

    std::mt19937& random_;
    int kinds_;
};

/// Inputs as they are met: ones, up to an error; left-overs of ones; counts; and anything.
std::vector<sparse::active_input> random_inputs(std::mt19937& random, int strangers_percent, float scale) {
    const auto percent = [&] { return static_cast<int>(random() % 100); };
    const auto jitter = [&] { return 1.0F + (static_cast<float>(percent()) - 50) * 1e-7F; };
    std::normal_distribution<float> normal(0, 2);
    std::vector<sparse::active_input> x;
    for (int channel = 0; channel < channels; ++channel) {
        float value = percent() < 30 ? jitter() : 0.0F;
        if (percent() < 5) value = (jitter() - 1) * 10;
        if (channel == lead) value = jitter();
        if (percent() < strangers_percent) value = percent() < 50 ? normal(random) : static_cast<float>(percent() % 5);
        if (value != 0) x.push_back({channel, value * scale});
    }
    return x;
}

struct seen {
    int alive = 0, awake = 0;
};

/// Checks that all rows that are not asleep in truth are awake.
seen check(const sparse::sleeping_rows& sleeping, const std::vector<triplet>& entries, const std::vector<sparse::active_input>& active) {
    sparse::row_set awake(static_cast<std::size_t>(sparse::blocks_for(rows)));
    sleeping.wake(active, awake);
    std::vector<float> x(channels), sums(rows);
    for (const auto& in : active) x[static_cast<std::size_t>(in.channel)] = in.value;
    for (const triplet& t : entries) sums[static_cast<std::size_t>(t.row)] += t.value * x[static_cast<std::size_t>(t.col)];
    seen result;
    for (int row = 0; row < rows; ++row) {
        const float sum = sums[static_cast<std::size_t>(row)];
        const bool alive = silu(sum) != 0 || silu(round_to_bf16(sum)) != 0;
        const bool found = (awake[static_cast<std::size_t>(row / 64)] >> (row % 64) & 1U) != 0;
        if (alive && !found) FAIL("row " << row << " sleeps, and is " << sum);
        result.alive += alive ? 1 : 0;
        result.awake += found ? 1 : 0;
    }
    return result;
}

}  // namespace

TEST_CASE("no row sleeps whose silu is not zero", "[nn]") {
    const int strangers = GENERATE(0, 5, 40);
    const float scale = GENERATE(1.0F, 1.03F, 0.95F, 0.0625F, -1.0F), m = GENERATE(0.0F, 60.0F, 102.4F, 5000.0F);
    std::mt19937 random(static_cast<unsigned>(strangers) + 1);
    for (int round = 0; round < 10; ++round) {
        const rows_of_gates gates(random);
        const sparse::sleeping_rows sleeping(sparse::entry_lists::by_row(rows, gates.entries), channels, m, [](int) { return true; });
        for (int i = 0; i < 30; ++i) check(sleeping, gates.entries, random_inputs(random, strangers, scale));
    }
}

TEST_CASE("most rows of logic sleep, and none does without a lead", "[nn]") {
    std::mt19937 random(9);
    rows_of_gates gates(random, 7);
    const sparse::sleeping_rows sleeping(sparse::entry_lists::by_row(rows, gates.entries), channels, 102.4F, [](int row) { return row % 3 != 0; });
    std::erase_if(gates.entries, [](const triplet& t) { return t.row % 3 == 0; });
    seen sum;
    constexpr int rounds = 200;
    for (int i = 0; i < rounds; ++i) {
        const auto one = check(sleeping, gates.entries, random_inputs(random, 0, 1.0F));
        sum.alive += one.alive, sum.awake += one.awake;
    }
    CAPTURE(sum.alive, sum.awake);
    CHECK(sum.alive > rounds * 5);
    CHECK(sum.awake < rounds * rows / 3);
    auto inputs = random_inputs(random, 0, 1.0F);
    std::erase_if(inputs, [](const auto& in) { return in.channel == lead; });
    CHECK(check(sleeping, gates.entries, inputs).awake == rows - rows / 3);
    CHECK(check(sleeping, gates.entries, {}).awake == 0);
}

TEST_CASE("rows that need a crowded input sleep without it", "[nn]") {
    std::vector<triplet> entries;
    for (int row = 0; row < rows; ++row) {
        entries.push_back({row, lead, -128.0F * 17});
        entries.push_back({row, 10, 256.0F});
        for (int bit = 0; bit < 8; ++bit) entries.push_back({row, 11 + 2 * bit + (row >> bit & 1), 256.0F});
    }
    const sparse::sleeping_rows sleeping(sparse::entry_lists::by_row(rows, entries), channels, 102.4F, [](int) { return true; });
    std::vector<sparse::active_input> inputs = {{lead, 1.0F}, {10, 1.0F}};
    for (int bit = 0; bit < 8; ++bit) inputs.push_back({11 + 2 * bit + (77 >> bit & 1), 1.0F});
    CHECK(check(sleeping, entries, inputs).alive == 1);
    CHECK(check(sleeping, entries, inputs).awake == 1);
    inputs.erase(inputs.begin() + 1);
    CHECK(check(sleeping, entries, inputs).awake == 0);
}
