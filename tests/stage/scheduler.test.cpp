// SPDX-License-Identifier: MIT
// The next record from any state of warps and lanes: lanes are sent to blocks at random, by tokens of the test's choice, and what the
// model would write is compared with the rule of docs/machine.md ("What the model writes", 6), worked out here.
#include <qwengpu/stage/scheduler.hpp>

#include "support/catch.hpp"
#include "support/choices.hpp"
#include "support/forced_model.hpp"
#include "support/prompt_start.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <set>

using namespace qwengpu;
using namespace qwengpu::test;
using text::token_class;

namespace {

constexpr std::uint32_t exit_block = 1023;
/// Where lanes may stand: neighbours in both halves of a block's number, meeting blocks (from 896 on) and their neighbour, and exit.
constexpr std::array<std::uint32_t, 16> targets{0, 1, 2, 30, 31, 32, 33, 63, 64, 511, 512, 895, 896, 1021, 1022, exit_block};
/// Block jump + i goes to target i; split + i as well, or to target i * 7 % 16 if taken; stop + 16 b + i waits at barrier b on the way.
constexpr std::uint32_t jump = 100, split = 200, stop = 300;
/// Count of such a block: none for every other one, or 4 to 32 threads.
constexpr std::uint32_t count_of(std::uint32_t barrier, std::uint32_t i) { return i % 2 == 0 ? 0 : 1 + (3 * barrier + i) % 8; }

struct host_lane {
    std::uint32_t next = exit_block;
    int waits_at = -1;
    [[nodiscard]] bool alive() const { return next != exit_block; }
    [[nodiscard]] bool runs() const { return alive() && waits_at < 0; }
};

struct host_scheduler {
    using V = text::vocabulary<>;
    std::array<std::array<host_lane, 4>, 8> lanes{};
    std::array<std::uint32_t, 8> announced{}, phases{}, counts{};
    std::uint32_t warp = 7, fair_lane = 3, since = 0, fair_warp = 8;  ///< 8: none yet
    bool fair_now = false, due = false;

    [[nodiscard]] int how_many(const std::function<bool(const host_lane&)>& those) const {
        std::ptrdiff_t n = 0;
        for (const auto& w : lanes) n += std::count_if(w.begin(), w.end(), those);
        return static_cast<int>(n);
    }
    /// 8 if none can run.
    [[nodiscard]] std::uint32_t next_warp() const {
        for (std::uint32_t step = 1; step <= 8; ++step) {
            const std::uint32_t w = (warp + step) % 8;
            if (std::any_of(lanes[w].begin(), lanes[w].end(), [](const host_lane& l) { return l.runs(); })) return w;
        }
        return 8;
    }
    [[nodiscard]] text::token expected() const {
        if (const auto w = next_warp(); w < 8) return of_warp(w);
        const int alive = how_many([](const host_lane& l) { return l.alive(); });
        if (alive == 0) return V::encode(token_class::end);
        for (int b = 0; b < 8; ++b) {
            const auto i = static_cast<std::size_t>(b);
            const int here = how_many([&](const host_lane& l) { return l.alive() && l.waits_at == b; }), needed = static_cast<int>(4 * counts[i]);
            if (here > 0 && (needed == 0 ? here == alive : here >= needed)) return V::encode(token_class::release, static_cast<std::uint32_t>(b), 1 - phases[i]);
        }
        return V::encode(token_class::trap, 4);
    }
    [[nodiscard]] text::token of_warp(std::uint32_t w) const {
        std::set<std::uint32_t> places;
        for (const auto& l : lanes[w]) {
            if (l.runs()) places.insert(l.next);
        }
        if (places.size() > 1 && due) return V::encode(token_class::fair, fair_warp < w ? fair_lane : (fair_lane + 1) % 4);
        const auto& favoured = lanes[w][fair_lane];
        const std::uint32_t block = fair_now && favoured.runs() && favoured.next < 896 ? favoured.next : *places.begin();
        std::uint32_t mask = 0;
        for (std::uint32_t l = 0; l < 4; ++l) mask |= lanes[w][l].runs() && lanes[w][l].next == block ? 1U << l : 0U;
        return mask != announced[w] ? V::encode(token_class::mask, mask, w) : V::encode(token_class::hdr, block, w);
    }
    void release(std::uint32_t barrier, std::uint32_t phase) {
        phases[barrier] = phase;
        for (auto& w : lanes) {
            for (auto& l : w) l.waits_at = l.waits_at == static_cast<int>(barrier) ? -1 : l.waits_at;
        }
    }
};

/// The model and the host's scheduler, told the same.
template <class R>
struct scheduler_pair {
    forced_model<R> model;
    host_scheduler host;
    int checks = 0, wrong = 0, fair = 0, headers = 0, releases = 0, deadlocks = 0;

    scheduler_pair() {
        for (std::uint32_t row = 0; row < 6; ++row) model.read_constant(row, 0);
        model.read_constant(12, 31 | 31 << 10);
        read_barriers(model);
        for (std::uint32_t i = 0; i < targets.size(); ++i) {
            for (std::uint32_t b = 0; b < 8; ++b) {
                model.read_block(stop + 16 * b + i, targets[i]);
                // Group M: barrier in bit 34, which one from 35 on, its count from 38 on.
                model.read_group(stop + 16 * b + i, machine::group::memory, std::uint64_t{1} << 34 | std::uint64_t{b} << 35 | std::uint64_t{count_of(b, i)} << 38);
            }
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
            for (std::uint32_t l = 0; l < 4; ++l) host.lanes[w][l].next = ((15 - w) >> l & 1U) != 0 ? 0 : exit_block;
        }
    }
    void check() {
        const auto should = host.expected();
        ++checks;
        wrong += model.answer() == should ? 0 : 1;
        fair += text::vocabulary<>::class_of(should) == token_class::fair ? 1 : 0;
        headers += text::vocabulary<>::class_of(should) == token_class::hdr ? 1 : 0;
        releases += text::vocabulary<>::class_of(should) == token_class::release ? 1 : 0;
        deadlocks += text::vocabulary<>::class_of(should) == token_class::trap ? 1 : 0;
        if (text::vocabulary<>::class_of(should) == token_class::release) release(text::vocabulary<>::decode(should));
    }
    void release(const text::decoded_token& t) {
        model.read(token_class::release, t.first, t.second);
        host.release(t.first, t.second);
        check();
    }
    void announce(std::uint32_t warp, std::uint32_t mask) {
        model.read(token_class::mask, mask, warp);
        host.announced[warp] = mask;
    }
    void favour(std::uint32_t lane) {
        model.read(token_class::fair, lane);
        host.fair_lane = lane, host.fair_now = true, host.since = 0, host.due = false, host.fair_warp = host.next_warp();
        check();
    }
    void record(std::uint32_t warp, std::uint32_t block, choices& choose) {
        model.read(token_class::hdr, block, warp);
        host.warp = warp, host.fair_now = false, ++host.since;
        host.due = host.due || host.since >= 68 || (host.since >= 61 && (host.fair_warp == 8 || host.fair_warp == warp));
        const bool forks = block >= split && block < split + 16, jumps = block >= jump && block < jump + 16, stops = block >= stop && block < stop + 128;
        const std::size_t i = forks ? block - split : jumps ? block - jump : stops ? (block - stop) % 16 : static_cast<std::size_t>(std::find(targets.begin(), targets.end(), block) - targets.begin());
        const std::uint32_t barrier = stops ? (block - stop) / 16 : 0;
        if (stops) host.counts[barrier] = count_of(barrier, static_cast<std::uint32_t>(i));
        for (std::uint32_t l = 0; l < 4; ++l) {
            if ((host.announced[warp] >> l & 1U) == 0) continue;
            const bool taken = forks && choose.percent(50);
            if (forks) model.read(token_class::br, taken ? 1 : 0);
            host.lanes[warp][l] = {targets[forks || jumps || stops ? (taken ? i * 7 % 16 : i) : (i + 3) % 16], stops ? static_cast<int>(barrier) : -1};
        }
        check();
    }
};

}  // namespace

TEMPLATE_TEST_CASE("the next record from random states", "[stage]", nn::fp32, nn::bf16) {
    scheduler_pair<TestType> pair;
    choices choose(1);
    pair.check();
    for (int i = 0; i < 3000; ++i) {
        const auto warp = static_cast<std::uint32_t>(choose.below(8));
        // Mostly to exit for a while, so that few warps run, or to barriers (one or all of them), then anywhere again.
        const int season = i / 100 % 4;
        const auto target = static_cast<std::uint32_t>(season == 1 && choose.percent(80) ? 15 : choose.below(16));
        const auto barrier = static_cast<std::uint32_t>(i / 400 % 3 == 0 ? i / 400 % 8 : choose.below(8));
        const bool stops = choose.percent(season == 0 ? 10 : season == 1 ? 20 : 97);
        if (choose.percent(70)) pair.announce(warp, season > 1 ? 15 : static_cast<std::uint32_t>(choose.between(1, 15)));
        pair.record(warp, stops ? stop + 16 * barrier + target : (choose.percent(30) ? split : jump) + target, choose);
        if (choose.percent(5)) pair.favour(static_cast<std::uint32_t>(choose.below(4)));
    }
    CAPTURE(pair.checks);
    CHECK(pair.wrong == 0);
    CHECK(pair.headers > 20);
    CHECK(pair.releases > 20);
    CHECK(pair.deadlocks > 20);
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
            const auto target = static_cast<std::uint32_t>(choose.below(15));
            pair.record(warp, (choose.percent(20) ? stop + 16 * static_cast<std::uint32_t>(choose.below(8)) : choose.percent(50) ? split : jump) + target, choose);
        }
    }
    CAPTURE(pair.checks);
    CHECK(pair.wrong == 0);
    CHECK(pair.headers > 300);
    CHECK(pair.fair > 5);
}
