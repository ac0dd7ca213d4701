// SPDX-License-Identifier: MIT
// Counts that are kept as a ratio of magnitudes: every number of positions from 0 to 24, by ones and by whole masks, and the 61st
// record since fairness, exact in both roundings, after any number of tokens and of counts before.
#include <qwengpu/stage/counters.hpp>

#include "support/catch.hpp"
#include "support/choices.hpp"
#include "support/compiled_machine.hpp"
#include "support/layer_probe.hpp"

#include <bit>

using namespace qwengpu;
using namespace qwengpu::test;
using text::token_class;

namespace {

/// The layers beside a count kept by the test.
template <class R>
struct position_count {
    layer_probe<R> layers;
    const stage::signals& s = compiled_machine().named();
    int count = 0, lanes = 4, wrong = 0;
    bool all = false, in_record = false, begun = false;

    position_count() : layers(compiled_machine(), watched()) {}
    static std::vector<circuit::word> watched() {
        const auto& p = compiled_machine().named().position;
        return {{p.at_least.begin() + 1, p.at_least.end()}, p.count_is};
    }

    void read(token_class c, std::uint32_t first = 0, std::uint32_t second = 0) {
        layers.read(c, first, second);
        // Before the first `hdr` or `cta` there is nothing to count from.
        begun = begun || c == token_class::hdr || c == token_class::cta;
        if (!begun) return;
        if (c == token_class::hdr || c == token_class::cta) count = 0, all = false, in_record = c == token_class::hdr;
        if (c == token_class::all) all = true;
        const bool completes = c == token_class::br || c == token_class::skip || c == token_class::short_word || c == token_class::hi;
        if (completes) count += all && in_record ? lanes : 1;
        for (int k = 1; k <= 24; ++k) wrong += layers.get(s.position.at_least[static_cast<std::size_t>(k)]) == (count >= k) ? 0 : 1;
    }
    void announce(std::uint32_t mask, std::uint32_t warp) {
        read(token_class::mask, mask, warp);
        lanes = std::popcount(mask);
    }
    /// One position: a branch, a skipped store, an address and a word, a short word, or two halves.
    void complete(int how) {
        const auto value = static_cast<std::uint32_t>(how);
        if (how % 5 == 0) return read(token_class::br, value & 1U);
        if (how % 5 == 1) return read(token_class::skip);
        if (how % 5 == 2) read(token_class::addr, value & 127U, 1);
        if (how % 5 == 3) return read(token_class::lo, value), read(token_class::hi, value);
        read(token_class::short_word, value);
    }
};

}  // namespace

TEMPLATE_TEST_CASE("positions one by one, from 0 to 24, for every number of lanes", "[stage]", nn::fp32, nn::bf16) {
    position_count<TestType> positions;
    choices choose(1);
    for (std::uint32_t mask = 1; mask < 16; ++mask) {
        const auto warp = mask % 8;
        positions.announce(mask, warp);
        positions.read(token_class::hdr, 5, warp);
        for (int n = 0; n < 6 * positions.lanes; ++n) {
            positions.complete(choose.below(1000));
            for (int c = 1; c <= 4; ++c) CHECK(positions.layers.get(positions.s.position.count_is[static_cast<std::size_t>(c - 1)]) == (c == positions.lanes));
        }
    }
    CHECK(positions.wrong == 0);
}

TEMPLATE_TEST_CASE("after `all` a position counts for the whole mask", "[stage]", nn::fp32, nn::bf16) {
    position_count<TestType> positions;
    choices choose(2);
    for (std::uint32_t mask = 1; mask < 16; ++mask) {
        for (int before = 0; before < 6; ++before) {
            positions.announce(mask, 3);
            positions.read(token_class::hdr, 9, 3);
            for (int n = 0; n < before * positions.lanes; ++n) positions.complete(choose.below(1000));
            positions.read(token_class::all);
            for (int n = before; n < 6; ++n) positions.complete(choose.below(1000));
            CHECK(positions.count == 6 * positions.lanes);
        }
    }
    CHECK(positions.wrong == 0);
}

TEMPLATE_TEST_CASE("counts stay exact in long sequences, after prompts of any length", "[stage]", nn::fp32, nn::bf16) {
    position_count<TestType> positions;
    choices choose(3);
    // Words of a prompt divide the value down to nothing; the next record starts at 0 again.
    for (int n = 0; n < 2000; ++n) positions.layers.read(token_class::short_word, 1);
    for (int record = 0; record < 1500; ++record) {
        const auto warp = static_cast<std::uint32_t>(choose.below(8));
        if (record % 50 == 7) {
            positions.read(token_class::cta);
            for (int n = 0; n < 3; ++n) positions.complete(n == 1 ? 3 : 4);
        }
        positions.announce(static_cast<std::uint32_t>(choose.between(1, 15)), warp);
        positions.read(token_class::hdr, static_cast<std::uint32_t>(choose.below(1023)), warp);
        const int all_at = choose.percent(40) ? choose.below(6) : 6;
        for (int slot = 0; slot < choose.between(0, 6); ++slot) {
            if (slot == all_at) positions.read(token_class::all);
            for (int lane = 0; lane < (slot >= all_at ? 1 : positions.lanes); ++lane) positions.complete(choose.below(1000));
        }
    }
    CHECK(positions.wrong == 0);
}

TEMPLATE_TEST_CASE("fairness may be due after 61 records since the last `fair` or `cta`, is after 68, and stays so", "[stage]", nn::fp32, nn::bf16) {
    const auto due = compiled_machine().named().context.fair_near, over = compiled_machine().named().context.fair_over;
    layer_probe<TestType> layers(compiled_machine(), {{due, over}});
    choices choose(4);
    int wrong = 0;
    for (const int records : {0, 1, 59, 60, 61, 62, 63, 67, 68, 69, 100, 61, 400, 60, 5000, 62}) {
        layers.read(choose.percent(50) ? token_class::cta : token_class::fair);
        wrong += layers.get(due) ? 1 : 0;
        for (int n = 1; n <= records; ++n) {
            layers.read(token_class::hdr, static_cast<std::uint32_t>(choose.below(1023)), static_cast<std::uint32_t>(choose.below(8)));
            wrong += layers.get(due) == (n >= 61) && layers.get(over) == (n >= 68) ? 0 : 1;
            // Nothing but `hdr` counts.
            for (int other = choose.below(3); other > 0; --other) layers.read_word(choose.word());
            if (choose.percent(10)) layers.read(token_class::mask, 15, 0), layers.read(token_class::start, 15, 0), layers.read(token_class::all);
            wrong += layers.get(due) == (n >= 61) && layers.get(over) == (n >= 68) ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}
