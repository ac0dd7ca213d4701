// SPDX-License-Identifier: MIT
// Parts of words, shared and local memory and atomics, event by event, with what must trap.
#include <qwengpu/machine/emulator.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "support/assembled_launch.hpp"
#include "support/catch.hpp"
#include "support/event_log.hpp"

namespace {

using namespace qwengpu::machine;
using lines = std::vector<std::string>;
using words = std::vector<std::uint32_t>;

/// Buffers at constants 13, 14, ...; constant 20 points to shared memory, 21 to local memory, 22 is free.
launch_image<mission> launch(const std::string& text, const extent& block, const std::vector<words>& buffers = {}, int shared = 4,
                             std::uint32_t c22 = 0, const extent& grid = {1, 1, 1}) {
    auto image = qwengpu::test::assembled_launch(text, block, buffers, grid);
    const auto place = declare_shared(image, shared);
    set_constant(image, 20, place.pointer());
    set_constant(image, 21, address::make(address::local_window, 0));
    set_constant(image, 22, c22);
    return image;
}

/// The events from the first record on, without the end.
lines records_of(const launch_image<mission>& image) {
    qwengpu::test::event_log log;
    (void)emulate(image, log);
    std::size_t first = 0;
    while (!log.lines[first].starts_with("hdr")) ++first;
    return {log.lines.begin() + static_cast<std::ptrdiff_t>(first), log.lines.end() - 1};
}

/// What a load of `op` at byte `offset` of a word makes.
std::uint32_t loaded(const std::string& op, int offset, std::uint32_t word) {
    const auto image = launch("block 0: t1 = add c[13], 0 -> R2\nblock 1: t1 = add R2, #" + std::to_string(offset) + "\n t2 = " + op + " [t1] -> R1\n",
                              {1, 1, 1}, {{word}});
    return emulate(image).state.warp(0).lanes[0].registers[1];
}

trap trap_of(const launch_image<mission>& image) {
    const auto out = emulate(image);
    REQUIRE(out.trap);
    return *out.trap;
}

}  // namespace

TEST_CASE("loads of bytes and half words, and of the words that hold them") {
    constexpr std::uint32_t word = 0x80fe7f01;
    CHECK(loaded("load.u8", 0, word) == 0x01);
    CHECK(loaded("load.u8", 1, word) == 0x7f);
    CHECK(loaded("load.u8", 3, word) == 0x80);
    CHECK(loaded("load.s8", 1, word) == 0x7f);
    CHECK(loaded("load.s8", 2, word) == 0xfffffffe);
    CHECK(loaded("load.s8", 3, word) == 0xffffff80);
    CHECK(loaded("load.u16", 0, word) == 0x7f01);
    CHECK(loaded("load.u16", 2, word) == 0x80fe);
    CHECK(loaded("load.s16", 0, word) == 0x7f01);
    CHECK(loaded("load.s16", 2, word) == 0xffff80fe);
    CHECK(loaded("load.byte_word", 3, word) == word);
    CHECK(loaded("load.half_word", 2, word) == word);
}

TEST_CASE("alignment: of words four bytes, of half words two, of bytes one") {
    const auto kind = [](const std::string& access, int offset) {
        const auto image = launch("block 0: t1 = add c[13], 0 -> R1\nblock 1: t1 = add R1, #" + std::to_string(offset) + "\n" + access, {1, 1, 1}, {{1, 2}});
        const auto out = emulate(image);
        return out.trap ? std::string(name_of(out.trap->kind)) : "none";
    };
    for (const int offset : {1, 2, 3}) {
        CHECK(kind("t2 = load [t1] -> R2\n", offset) == "misaligned");
        CHECK(kind("store [t1] = t1\n", offset) == "misaligned");
        CHECK(kind("store.byte [t1] = t1\n", offset) == "none");
        CHECK(kind("t2 = load.byte_word [t1] -> R2\n", offset) == "none");
        for (const std::string load : {"load.u16", "load.s16", "load.half_word"})
            CHECK(kind("t2 = " + load + " [t1] -> R2\n", offset) == (offset == 2 ? "none" : "misaligned"));
        CHECK(kind("store.half [t1] = t1\n", offset) == (offset == 2 ? "none" : "misaligned"));
    }
}

TEST_CASE("lanes that store bytes of one word keep each other's") {
    const auto image = launch("block 0: t1 = add c[13], %laneid\n t2 = load.byte_word [t1]\n t3 = add #32, %laneid\n"
                              " t4 = insert t2, t3, t1\n store.byte [t1] = t4\n", {4, 1, 1}, {{0xffffffff}});
    CHECK(words_of(emulate(image), image.buffers[0]) == words{0x23222120});
    CHECK(records_of(image) == lines{"hdr 0 0 f", "store 0 1:1 = 4294967072", "store 1 1:1 = 4294910240", "store 2 1:1 = 4280426784",
                                     "store 3 1:1 = 589439264"});
}

TEST_CASE("shared memory is the thread block's, is kept between thread blocks, and ends where it was declared to") {
    const std::string text = "block 0: t1 = add.shl2 c[20], %laneid -> R1\n t2 = load [t1] -> R2\n"
                             "block 1: t4 = add R2, #3\n store [R1] = t4\n";
    const auto image = launch(text, {2, 1, 1}, {}, 2, 0, {2, 1, 1});
    const auto out = emulate(image);
    CHECK(out.state.shared[1].value == 6);
    CHECK(out.state.shared[2].value == 6);
    CHECK(records_of(image)[5] == "hdr 0 1 3");
    CHECK(records_of(image)[6] == "store 0 29:1 = 3");
    const trap t = trap_of(launch(text, {4, 1, 1}, {}, 2));
    CHECK(t.kind == trap_kind::out_of_bounds);
    CHECK(t.lane == 2);
    CHECK(t.address == address::make(29, 3));
    CHECK(trap_of(launch("block 0: t1 = add c[22], 0\n t2 = load [t1] -> R1\n", {1, 1, 1}, {}, 2, address::make(29, 0))).kind == trap_kind::out_of_bounds);
}

TEST_CASE("local memory is each thread's own") {
    const std::string text = "block 0: t1 = add c[21], 0 -> R1\n t4 = add %thread, #7\n store.private [t1] = t4\n"
                             "block 1: t2 = load.private [R1] -> R2\n";
    const auto out = emulate(launch(text, {6, 1, 1}));
    for (int thread = 0; thread < 6; ++thread) {
        const auto& lane = out.state.warp(thread / 4).lanes[static_cast<std::size_t>(thread % 4)];
        CHECK(lane.local[0] == static_cast<std::uint32_t>(thread + 7));
        CHECK(lane.registers[2] == lane.local[0]);
    }
    // A private access differs from lane to lane, so it is never written once for all.
    CHECK(records_of(launch("block 0: t1 = add c[21], 0\n t2 = load.private [t1] -> R1\n", {2, 1, 1})) ==
          lines{"hdr 0 0 3", "w2 0 R1 = 0", "w2 1 R1 = 0"});
}

TEST_CASE("who may not access local memory") {
    const auto at = [](std::uint32_t a, bool is_private) {
        const auto out = emulate(launch(std::string("block 0: t1 = add c[22], 0\n t2 = load") + (is_private ? ".private" : "") + " [t1] -> R1\n", {1, 1, 1}, {}, 4, a));
        return out.trap ? std::string(name_of(out.trap->kind)) : "none";
    };
    CHECK(at(address::make(28, 0), true) == "none");
    CHECK(at(address::make(28, 47), true) == "none");
    CHECK(at(address::make(28, 48), true) == "out of bounds");
    CHECK(at(address::make(28, 0) | 512, true) == "out of bounds");
    CHECK(at(address::make(28, 0) + 1, true) == "misaligned");
    CHECK(at(address::make(28, 0), false) == "out of bounds");
    CHECK(at(address::make(29, 4), true) == "none");
    CHECK(at(address::make(29, 5), true) == "out of bounds");
    CHECK(at(address::make(30, 1), true) == "out of bounds");
    CHECK(at(address::make(31, 1), true) == "out of bounds");
    CHECK(at(0, true) == "out of bounds");
}

TEST_CASE("an atomic runs lane by lane: each sees what the one before left") {
    const auto image = launch("block 0: lane_major\n t1 = add c[13], 0\n t2 = load [t1] -> R2\n t3 = add t2, %laneid\n store [t1] = t3\n",
                              {4, 1, 1}, {{10}});
    CHECK(records_of(image) == lines{"hdr 0 0 f", "w2 0 R2 = 10", "store 0 1:1 = 10", "w2 1 R2 = 10", "store 1 1:1 = 11",
                                     "w2 2 R2 = 11", "store 2 1:1 = 13", "w2 3 R2 = 13", "store 3 1:1 = 16"});
    // Even where all lanes agree: one add for each.
    const auto alike = launch("block 0: lane_major\n t1 = add c[13], 0\n t2 = load [t1]\n t3 = add t2, #1\n store [t1] = t3\n", {4, 1, 1}, {{0}});
    CHECK(words_of(emulate(alike), alike.buffers[0]) == words{4});
}

TEST_CASE("compare and swap: the store depends on what was loaded") {
    const auto image = launch("block 0: lane_major\n t1 = add c[13], 0\n t2 = load [t1] -> R2\n t3 = add %laneid, #1\n t4 = cmp.eq t2, 0\n store [t1] = t3 if t4\n",
                              {3, 1, 1}, {{0}});
    CHECK(records_of(image) == lines{"hdr 0 0 7", "w2 0 R2 = 0", "store 0 1:1 = 1", "w2 1 R2 = 1", "skip 1", "w2 2 R2 = 1", "skip 2"});
}

TEST_CASE("in an atomic a lane traps when its turn comes") {
    const auto image = launch("block 0: lane_major\n t1 = add.shl2 c[13], %laneid\n t2 = load [t1] -> R2\n t3 = add t2, #1\n store [t1] = t3\n",
                              {4, 1, 1}, {{5, 6}});
    CHECK(records_of(image) == lines{"hdr 0 0 f", "w2 0 R2 = 5", "store 0 1:1 = 6", "w2 1 R2 = 6", "store 1 1:2 = 7", "trap out of bounds, lane 2"});
}

TEST_CASE("a block may copy a word, and lanes that overlap see each other's copies") {
    const auto image = launch("block 0: t1 = add.shl2 c[13], %laneid -> R1\n"
                              "block 1: t1 = add R1, #4\n t2 = load [R1]\n store [t1] = t2\n", {3, 1, 1}, {{9, 1, 2, 3}});
    CHECK(words_of(emulate(image), image.buffers[0]) == words{9, 9, 9, 9});
}

TEST_CASE("shared memory is declared word by word, up to 126") {
    launch_image<mission> image;
    CHECK(declare_shared(image, 126).pointer() == address::make(29, 1));
    CHECK(image.shared[126].window == 29);
    CHECK(image.shared[0].window == 0);
    CHECK(image.shared[127].window == 0);
    CHECK_THROWS_AS(declare_shared(image, 127), qwengpu::error);
}
