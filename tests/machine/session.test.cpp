// SPDX-License-Identifier: MIT
// A launch after another in one sequence: what its image says is new, all else is as the first one left it.
#include <qwengpu/machine/emulator.hpp>

#include <cstdint>
#include <vector>

#include "support/assembled_launch.hpp"
#include "support/catch.hpp"
#include "support/event_log.hpp"

namespace {

using namespace qwengpu::machine;
using qwengpu::test::assembled_launch;
using lines = std::vector<std::string>;
using words = std::vector<std::uint32_t>;

/// A launch without memory of its own whose constant 13 points to the first launch's buffer.
launch_image<mission> later(const std::string& text, const extent& block) {
    auto image = assembled_launch(text, block);
    set_constant(image, 13, address::make(1, 1));
    return image;
}

}  // namespace

TEST_CASE("memory, shared and local memory and registers are kept") {
    auto first = assembled_launch("block 0: t1 = add c[13], 0 -> R1\n t4 = add #5, 0\n store [t1] = t4\n"
                                  "block 1: t1 = add c[14], 0\n t4 = add #6, 0\n store [t1] = t4\n"
                                  "block 2: t1 = add c[15], 0\n t4 = add #7, 0\n store.private [t1] = t4\n", {1, 1, 1}, {{1, 2}});
    declare_shared(first, 1);
    set_constant(first, 14, address::make(29, 1));
    set_constant(first, 15, address::make(28, 3));
    const auto before = emulate(first);
    auto second = later("block 0: t2 = load [R1] -> R2\nblock 1: t1 = add c[14], 0\n t2 = load [t1] -> R3\nblock 2: t1 = add c[15], 0\n t2 = load.private [t1] -> R4\n", {1, 1, 1});
    qwengpu::test::event_log log;
    const auto out = emulate_after(before, second, log);
    CHECK(log.of("w2") == lines{"w2 0 R2 = 5", "w2 0 R3 = 6", "w2 0 R4 = 7"});
    CHECK(words_of(out, first.buffers[0]) == words{5, 2});
}

TEST_CASE("what the image says replaces what was there") {
    const auto before = emulate(assembled_launch("block 0:\n", {1, 1, 1}, {{1, 2}}));
    auto second = later("block 0: t1 = add c[13], 0\n t2 = load [t1] -> R1\n", {1, 1, 1});
    second.memory[1] = {40, 1};
    qwengpu::test::event_log log;
    const auto out = emulate_after(before, second, log);
    CHECK(log.of("w2") == lines{"w2 0 R1 = 40"});
    CHECK(out.state.memory[2].value == 2);
}

TEST_CASE("blocks of the earlier program stay where the later one has none") {
    const auto before = emulate(assembled_launch("block 0:\nblock 1:\nblock 2: t1 = add #9, 0 -> R1\n", {1, 1, 1}));
    qwengpu::test::event_log log;
    const auto out = emulate_after(before, later("block 0: next 2\n", {1, 1, 1}), log);
    CHECK(log.of("hdr") == lines{"hdr 0 0 1", "hdr 0 2 1"});
    CHECK(log.of("w1") == lines{"w1 0 R1 = 9"});
    CHECK(out.stored.size() == 3);
    qwengpu::test::event_log third;
    const auto end = emulate_after(out, later("block 0: next 3\n", {1, 1, 1}), third);
    CHECK(end.ended == ending::trapped);
}

TEST_CASE("nobody waits any more after a deadlock, and phases begin anew where barriers are used") {
    const auto before = emulate(assembled_launch("block 0: branch 2 if %laneid\nblock 1: barrier 0\n next 3\nblock 2: barrier 1\n next 3\nblock 3:\n", {2, 1, 1}));
    REQUIRE(before.ended == ending::trapped);
    qwengpu::test::event_log log;
    const auto out = emulate_after(before, later("block 0: barrier 0\n next 1\nblock 1:\n", {2, 1, 1}), log);
    CHECK(out.ended == ending::finished);
    CHECK(log.of("release") == lines{"release 0 1"});
    qwengpu::test::event_log again;
    (void)emulate_after(out, later("block 0: barrier 0\n next 1\nblock 1:\n", {2, 1, 1}), again);
    CHECK(again.of("release") == lines{"release 0 1"});
}
