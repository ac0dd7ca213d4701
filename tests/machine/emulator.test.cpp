// SPDX-License-Identifier: MIT
// Records as docs/machine.md describes them, event by event: slots and lanes in order, `all`, guards, divergence, thread
// blocks and warps, fairness and the step limit.
#include <qwengpu/machine/emulator.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "support/assembled_launch.hpp"
#include "support/catch.hpp"
#include "support/event_log.hpp"

namespace {

using namespace qwengpu::machine;
using qwengpu::test::assembled_launch;
using lines = std::vector<std::string>;
using words = std::vector<std::uint32_t>;

qwengpu::test::event_log log_of(const launch_image<mission>& image) {
    qwengpu::test::event_log log;
    (void)emulate(image, log);
    return log;
}

/// The events of a launch of one warp in one thread block, without those that begin and end it.
lines records_of(const launch_image<mission>& image) {
    lines all = log_of(image).lines;
    REQUIRE(all.size() > 4);
    REQUIRE(all[2].starts_with("start 0 "));
    return {all.begin() + 3, all.end() - 1};
}

}  // namespace

TEST_CASE("a launch of one thread that stores a word") {
    const auto image = assembled_launch("block 0: t1 = add c[13], 0 -> R1\n t3 = add t1, #4\n t4 = add #9, #9\n store [t3] = t4\n", {1, 1, 1}, {{7, 8}});
    CHECK(log_of(image).lines == lines{"launch", "cta 0 0 0", "start 0 1", "hdr 0 0 1", "store 0 1:2 = 18",
                                       "w1 0 R1 = 134217732", "end"});
    const auto out = emulate(image);
    CHECK(out.ended == ending::finished);
    CHECK(out.records == 1);
    CHECK(words_of(out, image.buffers[0]) == words{7, 18});
}

TEST_CASE("slots come in their order, and in each the lanes, lowest first") {
    const auto image = assembled_launch(
        "block 0: t1 = add %laneid, #1 -> R1\n"
        "         t2 = load [R5] if R9 else t1 -> R2\n"
        "         t3 = mul t1, #10, t2 -> R3\n"
        "         t4 = add t3, #1 -> R4\n"
        "         branch 1 if t1\n"
        "block 1:\n", {2, 1, 1});
    CHECK(records_of(image) == lines{"hdr 0 0 3", "br 0 taken", "br 1 not", "w4 0 R4 = 12", "w4 1 R4 = 23", "w3 0 R3 = 11",
                                     "w3 1 R3 = 22", "w2 0 R2 = 1", "w2 1 R2 = 2", "w1 0 R1 = 1", "w1 1 R1 = 2", "hdr 0 1 3"});
}

TEST_CASE("lanes that agree are written once") {
    const std::string text = "block 0: t1 = add R1, #5 -> R1\n t4 = cmp.eq t1, #5\n branch 1 if t4\n block 1:\n";
    CHECK(records_of(assembled_launch(text, {3, 1, 1})) == lines{"hdr 0 0 7", "all", "br 0 taken", "w1 0 R1 = 5", "hdr 0 1 7"});
    CHECK(records_of(assembled_launch(text, {1, 1, 1})) == lines{"hdr 0 0 1", "br 0 taken", "w1 0 R1 = 5", "hdr 0 1 1"});
}

TEST_CASE("lanes may agree from a later slot on, and what is written once is every lane's") {
    const auto image = assembled_launch(
        "block 0: t1 = add c[6], #6 -> R1\n t4 = add %laneid, #0 -> R2\n"
        "block 1: t1 = add R1, R2 -> R3\n"
        "block 2: t1 = add R1, #0 -> R4\n", {2, 1, 1});
    CHECK(records_of(image) == lines{"hdr 0 0 3", "w4 0 R2 = 0", "w4 1 R2 = 1", "all", "w1 0 R1 = 7",
                                     "hdr 0 1 3", "w1 0 R3 = 7", "w1 1 R3 = 8", "hdr 0 2 3", "all", "w1 0 R4 = 7"});
    const auto out = emulate(image);
    CHECK(out.state.warp(0).lanes[1].registers[4] == 7);
    CHECK(out.state.warp(0).lanes[2].registers[4] == 0);
}

TEST_CASE("agreement asks what the values depend on, not what they are") {
    const auto image = assembled_launch(
        "block 0: t4 = add %laneid, #0 -> R2\n"
        "block 1: t3 = mul R2, 0, 0 -> R3\n"
        "block 2: t3 = mul R2, R3, 0\n t4 = add R3, #1 -> R4\n", {2, 1, 1});
    CHECK(records_of(image) == lines{"hdr 0 0 3", "w4 0 R2 = 0", "w4 1 R2 = 1", "hdr 0 1 3", "w3 0 R3 = 0", "w3 1 R3 = 0",
                                     "hdr 0 2 3", "all", "w4 0 R4 = 1"});
}

TEST_CASE("a record reads the state before it, whatever it writes itself") {
    const auto image = assembled_launch(
        "block 0: t1 = add %laneid, #5 -> R1\n t4 = add %laneid, #9 -> R4\n"
        "block 1: t1 = add R1, #1 -> R1\n t3 = mul R1, #10, t1 -> R2\n t4 = add R4, R1 -> R4\n branch 2 if R4\n"
        "block 2:\n", {2, 1, 1});
    const lines expected{"hdr 0 1 3", "br 0 taken", "br 1 not", "w4 0 R4 = 14", "w4 1 R4 = 16", "w3 0 R2 = 56",
                         "w3 1 R2 = 67", "w1 0 R1 = 6", "w1 1 R1 = 7", "hdr 0 2 3"};
    const lines all = records_of(image);
    REQUIRE(all.size() == 5 + expected.size());
    CHECK(lines(all.begin() + 5, all.end()) == expected);
}

TEST_CASE("guarded stores") {
    const auto image = assembled_launch(
        "block 0: t1 = add.shl2 c[13], %laneid\n t4 = add %laneid, #40\n store [t1] = t4 if !t4\n", {4, 1, 1}, {{1, 2, 3, 4}});
    CHECK(records_of(image) == lines{"hdr 0 0 f", "store 0 1:1 = 40", "skip 1", "store 2 1:3 = 42", "skip 3"});
    CHECK(words_of(emulate(image), image.buffers[0]) == words{40, 2, 42, 4});
    const auto never = assembled_launch("block 0: t1 = add c[13], 0\n store [t1] = R1 if R1\n", {4, 1, 1}, {{9}});
    CHECK(records_of(never) == lines{"hdr 0 0 f", "all", "skip 0"});
}

TEST_CASE("stores to one word: the highest lane is last") {
    const auto image = assembled_launch("block 0: t1 = add c[13], 0\n t4 = add %laneid, #1\n store [t1] = t4\n", {4, 1, 1}, {{0}});
    CHECK(records_of(image).size() == 5);
    CHECK(words_of(emulate(image), image.buffers[0]) == words{4});
}

TEST_CASE("loads see memory as it was before the block") {
    const auto image = assembled_launch(
        "block 0: t1 = add.shl2 c[13], %laneid -> R1\n t2 = load [t1] -> R2\n"
        "block 1: t1 = add.sub R1, #4\n store [t1] = R2 if %laneid\n", {2, 1, 1}, {{5, 6}});
    CHECK(records_of(image) == lines{"hdr 0 0 3", "w2 0 R2 = 5", "w2 1 R2 = 6", "w1 0 R1 = 134217732", "w1 1 R1 = 134217736",
                                     "hdr 0 1 3", "skip 0", "store 1 1:1 = 6"});
}

TEST_CASE("lanes part, the lowest block runs first, and they meet again") {
    const auto image = assembled_launch(
        "block 0: branch odd if %laneid\n"
        "block even: t1 = add R1, #10 -> R1\n next join\n"
        "block odd: t1 = add R1, #20 -> R1\n"
        "block join: t1 = add R1, R1 -> R2\n", {4, 1, 1});
    CHECK(records_of(image) == lines{"hdr 0 0 f", "br 0 not", "br 1 taken", "br 2 not", "br 3 taken",
                                     "mask 0 5", "hdr 0 1 5", "all", "w1 0 R1 = 10",
                                     "mask 0 a", "hdr 0 2 a", "all", "w1 1 R1 = 20",
                                     "mask 0 f", "hdr 0 3 f", "w1 0 R2 = 20", "w1 1 R2 = 40", "w1 2 R2 = 20", "w1 3 R2 = 40"});
}

TEST_CASE("an exit costs nothing, and an exited lane stays away") {
    const auto image = assembled_launch("block 0: t1 = add %laneid, 0\n branch exit if t1\n block 1:\n", {3, 1, 1});
    CHECK(records_of(image) == lines{"hdr 0 0 7", "br 0 not", "br 1 taken", "br 2 not", "mask 0 5", "hdr 0 1 5"});
}

TEST_CASE("warps take turns") {
    const auto log = log_of(assembled_launch("block 0:\n block 1: branch exit if %warpid\n block 2:\n", {10, 1, 1}));
    CHECK(log.of("start") == lines{"start 0 f", "start 1 f", "start 2 3"});
    CHECK(log.of("hdr") == lines{"hdr 0 0 f", "hdr 1 0 f", "hdr 2 0 3", "hdr 0 1 f", "hdr 1 1 f", "hdr 2 1 3",
                                 "hdr 0 2 f", "hdr 2 2 3"});
}

TEST_CASE("thread blocks run one after another, x fastest, and registers stay") {
    const auto image = assembled_launch("block 0: t1 = add.shl2 R1, c[0] -> R1\n t4 = add c[1], c[1]\n", {1, 1, 1}, {}, {2, 1, 3});
    const auto log = log_of(image);
    CHECK(log.of("cta") == lines{"cta 0 0 0", "cta 1 0 0", "cta 0 0 1", "cta 1 0 1", "cta 0 0 2", "cta 1 0 2"});
    CHECK(log.of("start").size() == 6);
    CHECK(log.of("w1") == lines{"w1 0 R1 = 0", "w1 0 R1 = 4", "w1 0 R1 = 4", "w1 0 R1 = 8", "w1 0 R1 = 8", "w1 0 R1 = 12"});
}

TEST_CASE("a launch may take exactly as many records as the limit says") {
    const auto image = assembled_launch("block 0:\n block 1:\n block 2: branch 1 if 0\n", {2, 1, 1});
    CHECK(emulate(image, 3).ended == ending::finished);
    qwengpu::test::event_log log;
    const auto cut = emulate(image, log, 2);
    CHECK(cut.ended == ending::step_limit);
    CHECK(cut.records == 2);
    CHECK_FALSE(cut.trap);
    CHECK(log.lines == lines{"launch", "cta 0 0 0", "start 0 3", "hdr 0 0 3", "hdr 0 1 3"});
    CHECK(emulate(assembled_launch("block 0: next 0\n", {1, 1, 1}), 1000).ended == ending::step_limit);
}

TEST_CASE("a lane that waits for a lane behind it gets what it waits for") {
    // Lane 0 spins in the lowest block until lane 1, further down, has stored; only fairness lets lane 1 run.
    const auto image = assembled_launch(
        "block 0: branch 2 if %laneid\n"
        "block 1: t1 = add c[13], 0\n t2 = load [t1]\n t4 = cmp.eq t2, 0\n branch 1 if t4\n next exit\n"
        "block 2: t1 = add c[13], 0\n t4 = add #1, 0\n store [t1] = t4\n next exit\n", {2, 1, 1}, {{0}});
    const auto log = log_of(image);
    CHECK(log.lines.back() == "end");
    CHECK(log.of("fair") == lines{"fair 0", "fair 1"});
    // 61 records since the thread block began; fair(0) then runs lane 0 once more, and 61 after it fair(1) lane 1.
    CHECK(log.of("hdr").size() == 61 + 61 + 1 + 1);
    CHECK(log.of("store") == lines{"store 1 1:1 = 1"});
    const auto at = std::find(log.lines.begin(), log.lines.end(), "fair 1");
    REQUIRE(log.lines.end() - at > 2);
    CHECK(lines(at, at + 4) == lines{"fair 1", "mask 0 2", "hdr 0 2 2", "store 1 1:1 = 1"});
}

TEST_CASE("without divergence there is no fairness") {
    const auto image = assembled_launch("block 0: t1 = add R1, #1 -> R1\n t4 = cmp.lt t1, #500\n branch 0 if t4\n", {4, 1, 1});
    const auto log = log_of(image);
    CHECK(log.of("hdr").size() == 500);
    CHECK(log.of("fair").empty());
    CHECK(log.of("mask").empty());
}

TEST_CASE("how often blocks ran, and PTX instructions times lanes") {
    auto image = assembled_launch(
        "block 0: t1 = add %laneid, 0\n branch 0 if R1\n"
        "block 1: t1 = add.shl2 c[13], %laneid\n store [t1] = R1 if %laneid\n", {3, 1, 1}, {{0, 0, 0, 0}}, {2, 1, 1});
    image.program.notes.resize(2);
    image.program.notes[0].ptx_instructions = 3;
    image.program.notes[1].ptx_instructions = 1;
    image.program.notes[1].ptx_if_stored = 10;
    const auto out = emulate(image);
    CHECK(out.blocks[0].records == 2);
    CHECK(out.blocks[0].lanes == 6);
    CHECK(out.blocks[0].taken == 0);
    CHECK(out.blocks[1].stored == 2);
    CHECK(ptx_lane_instructions(image.program, out) == 6 * 3 + 6 * 1 + 2 * 10);
}
