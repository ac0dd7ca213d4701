// SPDX-License-Identifier: MIT
// The next record from any state of warps and lanes: lanes are sent to blocks at random, by tokens of the test's choice, and what the
// model would write is compared with the rule of docs/machine.md ("What the model writes", 6), worked out here.
#include <qwengpu/stage/scheduler.hpp>

#include "support/catch.hpp"
#include "support/choices.hpp"
#include "support/forced_model.hpp"

#include <algorithm>
#include <array>
#include <set>

using namespace qwengpu;
using namespace qwengpu::test;
using text::token_class;

namespace {

constexpr std::uint32_t exit_block = 1023;
/// Where lanes may stand: neighbours in both halves of a block's number, and exit.
constexpr std::array<std::uint32_t, 16> targets{0, 1, 2, 30, 31, 32, 33, 63, 64, 511, 512, 513, 992, 1021, 1022, exit_block};
constexpr std::uint32_t jump = 100, split = 200;  ///< block jump + i goes to target i; split + i as well, or to target i * 7 % 16 if taken

struct host_scheduler {
    std::array<std::array<std::uint32_t, 4>, 8> next{};
    std::array<std::uint32_t, 8> announced{};
    std::uint32_t warp = 7, fair_lane = 3, since = 0;
    bool fair_now = false;

    [[nodiscard]] bool runs(std::uint32_t w) const {
        return std::any_of(next[w].begin(), next[w].end(), [](std::uint32_t b) { return b != exit_block; });
    }
    [[nodiscard]] text::token expected() const {
        using V = text::vocabulary<>;
        for (std::uint32_t step = 1; step <= 8; ++step) {
            const std::uint32_t w = (warp + step) % 8;
            if (!runs(w)) continue;
            std::set<std::uint32_t> places(next[w].begin(), next[w].end());
            places.erase(exit_block);
            if (places.size() > 1 && since >= 61) return V::encode(token_class::fair, (fair_lane + 1) % 4);
            const bool favoured = fair_now && next[w][fair_lane] != exit_block;
            const std::uint32_t block = favoured ? next[w][fair_lane] : *places.begin();
            std::uint32_t mask = 0;
            for (std::uint32_t l = 0; l < 4; ++l) mask |= next[w][l] == block ? 1U << l : 0U;
            return mask != announced[w] ? V::encode(token_class::mask, mask, w) : V::encode(token_class::hdr, block, w);
        }
        return V::encode(token_class::end);
    }
};

/// The model and the host's scheduler, told the same.
template <class R>
struct scheduler_pair {
    forced_model<R> model;
    host_scheduler host;
    int checks = 0, wrong = 0, fair = 0, headers = 0;

    scheduler_pair() {
        for (std::uint32_t row = 0; row < 6; ++row) model.read_constant(row, 0);
        model.read_constant(12, 31 | 31 << 10);
        for (std::uint32_t i = 0; i < targets.size(); ++i) {
            model.read_block(jump + i, targets[i]);
            // Group U of a split: taken in bits 0-9, a branch in bit 10.
            model.read_block(split + i, targets[i], targets[i * 7 % 16] | 1 << 10);
            if (targets[i] != exit_block) model.read_block(targets[i], targets[(i + 3) % 16]);
        }
        model.read(token_class::fair, 3);
        model.read(token_class::launch);
        model.read(token_class::cta);
        for (int i = 0; i < 3; ++i) model.read(token_class::short_word);
        for (std::uint32_t w = 0; w < 8; ++w) {
            model.read(token_class::start, 15 - w, w);
            host.announced[w] = 15 - w;
            for (std::uint32_t l = 0; l < 4; ++l) host.next[w][l] = ((15 - w) >> l & 1U) != 0 ? 0 : exit_block;
        }
    }
    void check() {
        const auto should = host.expected();
        ++checks;
        wrong += model.answer() == should ? 0 : 1;
        fair += text::vocabulary<>::class_of(should) == token_class::fair ? 1 : 0;
        headers += text::vocabulary<>::class_of(should) == token_class::hdr ? 1 : 0;
    }
    void announce(std::uint32_t warp, std::uint32_t mask) {
        model.read(token_class::mask, mask, warp);
        host.announced[warp] = mask;
    }
    void favour(std::uint32_t lane) {
        model.read(token_class::fair, lane);
        host.fair_lane = lane, host.fair_now = true, host.since = 0;
        check();
    }
    void record(std::uint32_t warp, std::uint32_t block, choices& choose) {
        model.read(token_class::hdr, block, warp);
        host.warp = warp, host.fair_now = false, ++host.since;
        const bool forks = block >= split && block < split + 16, jumps = block >= jump && block < jump + 16;
        const std::size_t i = forks ? block - split : jumps ? block - jump : static_cast<std::size_t>(std::find(targets.begin(), targets.end(), block) - targets.begin());
        for (std::uint32_t l = 0; l < 4; ++l) {
            if ((host.announced[warp] >> l & 1U) == 0) continue;
            const bool taken = forks && choose.percent(50);
            if (forks) model.read(token_class::br, taken ? 1 : 0);
            host.next[warp][l] = targets[forks || jumps ? (taken ? i * 7 % 16 : i) : (i + 3) % 16];
        }
        check();
    }
};

}  // namespace

TEMPLATE_TEST_CASE("the next record from random states", "[stage]", nn::fp32, nn::bf16) {
    scheduler_pair<TestType> pair;
    choices choose(1);
    pair.check();
    for (int i = 0; i < 1500; ++i) {
        const auto warp = static_cast<std::uint32_t>(choose.below(8));
        // Mostly to exit for a while, so that few warps run, then anywhere again.
        const auto target = static_cast<std::uint32_t>(i / 100 % 3 == 1 && choose.percent(80) ? 15 : choose.below(16));
        if (choose.percent(70)) pair.announce(warp, static_cast<std::uint32_t>(choose.between(1, 15)));
        pair.record(warp, (choose.percent(30) ? split : jump) + target, choose);
        if (choose.percent(5)) pair.favour(static_cast<std::uint32_t>(choose.below(4)));
    }
    CAPTURE(pair.checks);
    CHECK(pair.wrong == 0);
    CHECK(pair.headers > 20);
}

TEMPLATE_TEST_CASE("what the model asks for is done, and fairness comes in time", "[stage]", nn::fp32, nn::bf16) {
    scheduler_pair<TestType> pair;
    choices choose(2);
    for (int i = 0; i < 2000; ++i) {
        const auto t = text::vocabulary<>::decode(pair.model.answer());
        if (t.id == token_class::fair) {
            pair.favour(t.first);
        } else if (t.id == token_class::mask) {
            pair.announce(t.second, t.first);
            pair.check();
        } else if (t.id == token_class::hdr && choose.percent(90)) {
            pair.record(t.second, t.first, choose);
        } else {
            const auto warp = static_cast<std::uint32_t>(choose.below(8));
            pair.announce(warp, static_cast<std::uint32_t>(choose.between(1, 15)));
            pair.record(warp, (choose.percent(50) ? split : jump) + static_cast<std::uint32_t>(choose.below(15)), choose);
        }
    }
    CAPTURE(pair.checks);
    CHECK(pair.wrong == 0);
    CHECK(pair.headers > 300);
    CHECK(pair.fair > 5);
}
