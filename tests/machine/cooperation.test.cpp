// SPDX-License-Identifier: MIT
// Lanes that look at each other and wait for each other: shuffle, ballot, match, barriers with and without counts, deadlocks,
// and the meeting blocks.
#include <qwengpu/machine/emulator.hpp>

#include <string>
#include <vector>

#include "support/assembled_launch.hpp"
#include "support/catch.hpp"
#include "support/event_log.hpp"

namespace {

using namespace qwengpu::machine;
using qwengpu::test::assembled_launch;
using lines = std::vector<std::string>;

qwengpu::test::event_log log_of(const std::string& text, const extent& block, const extent& grid = {1, 1, 1}) {
    qwengpu::test::event_log log;
    (void)emulate(assembled_launch(text, block, {}, grid), log);
    return log;
}

/// The events from the first record on.
lines records_of(const std::string& text, const extent& block) {
    const lines all = log_of(text, block).lines;
    std::size_t first = 0;
    while (!all[first].starts_with("hdr")) ++first;
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
}

}  // namespace

TEST_CASE("shuffle reads another lane's register, or its own where there is no such lane") {
    const auto log = log_of("block 0: t1 = add %laneid, #10 -> R1\n t4 = lop.0x3c %laneid, #1, 0 -> R2\n"
                            "block 1: t2 = shuffle R1, R2 -> R3\n"
                            "block 2: t1 = add.shl1 R2, R2\n t2 = shuffle R1, t1 -> R4\n", {4, 1, 1});
    const lines w = log.of("w2");
    CHECK(lines(w.begin(), w.begin() + 4) == lines{"w2 0 R3 = 11", "w2 1 R3 = 10", "w2 2 R3 = 13", "w2 3 R3 = 12"});
    // lanes 3 * (1, 0, 3, 2) = 3, 0, 9, 6
    CHECK(lines(w.begin() + 4, w.end()) == lines{"w2 0 R4 = 13", "w2 1 R4 = 10", "w2 2 R4 = 12", "w2 3 R4 = 13"});
}

TEST_CASE("shuffle reaches lanes outside of the mask") {
    const auto log = log_of("block 0: t1 = add %laneid, #5 -> R1\n"
                            "block 1: branch exit if %laneid\n"
                            "block 2: t1 = add #3, 0\n t2 = shuffle R1, t1 -> R2\n", {4, 1, 1});
    CHECK(log.of("hdr").back() == "hdr 0 2 5");
    CHECK(log.of("w2") == lines{"w2 0 R2 = 8", "w2 2 R2 = 8"});
}

TEST_CASE("ballot and match look at the lanes of the mask only") {
    const auto log = log_of("block 0: t1 = lop.0xc0 %laneid, #1, 0 -> R1\n t3 = cmp.eq %laneid, #3\n branch exit if t3\n"
                            "block 1: t2 = ballot R1 -> R2\n"
                            "block 2: t2 = ballot !R1 -> R3\n"
                            "block 3: t2 = match R1 -> R5\n", {4, 1, 1});
    CHECK(log.of("w2") == lines{"w2 0 R2 = 2", "w2 1 R2 = 2", "w2 2 R2 = 2", "w2 0 R3 = 5", "w2 1 R3 = 5", "w2 2 R3 = 5",
                                "w2 0 R5 = 5", "w2 1 R5 = 2", "w2 2 R5 = 5"});
    // Alike in all lanes: written once.
    CHECK(records_of("block 0: t2 = match R1 -> R2\n", {3, 1, 1}) == lines{"hdr 0 0 7", "all", "w2 0 R2 = 7", "end"});
}

TEST_CASE("a barrier lets its lanes go when all have come") {
    CHECK(log_of("block 0: barrier 0\n next 1\nblock 1: branch 2 if %warpid\n next exit\nblock 2:\n", {8, 1, 1}).lines ==
          lines{"launch", "cta 0 0 0", "start 0 f", "start 1 f", "hdr 0 0 f", "hdr 1 0 f", "release 0 1", "hdr 0 1 f", "br 0 not",
                "br 1 not", "br 2 not", "br 3 not", "hdr 1 1 f", "br 0 taken", "br 1 taken", "br 2 taken", "br 3 taken", "hdr 1 2 f", "end"});
}

TEST_CASE("phases alternate, and go on in the next thread block") {
    const auto log = log_of("block 0: barrier 3\n next 1\nblock 1: barrier 3\n next 2\nblock 2: barrier 3\n next 3\nblock 3:\n", {1, 1, 1}, {2, 1, 1});
    CHECK(log.of("release") == lines{"release 3 1", "release 3 0", "release 3 1", "release 3 0", "release 3 1", "release 3 0"});
}

TEST_CASE("lanes that exit leave the count") {
    const auto log = log_of("block 0: branch exit if %laneid\nblock 1: barrier 0\n next 2\nblock 2: t1 = add #1, 0 -> R1\n", {4, 1, 1});
    CHECK(log.of("release") == lines{"release 0 1"});
    CHECK(log.lines.back() == "end");
    CHECK(log.of("w1") == lines{"w1 0 R1 = 1"});
}

TEST_CASE("lanes of one warp come to a barrier one after another") {
    CHECK(records_of("block 0: branch 2 if %laneid\nblock 1: barrier 0\n next 3\nblock 2: barrier 0\n next 3\nblock 3:\n", {2, 1, 1}) ==
          lines{"hdr 0 0 3", "br 0 not", "br 1 taken", "mask 0 1", "hdr 0 1 1", "mask 0 2", "hdr 0 2 2", "release 0 1", "mask 0 3", "hdr 0 3 3", "end"});
}

TEST_CASE("lanes at different barriers wait for ever: a deadlock, with the lane that waits first") {
    auto image = assembled_launch("block 0: branch 2 if %laneid\nblock 1: barrier 0\n next 3\nblock 2: barrier 1\n next 3\nblock 3:\n", {2, 1, 1});
    image.program.notes.resize(4);
    image.program.notes[1].branch.ptx_line = 17;
    qwengpu::test::event_log log;
    const auto out = emulate(image, log);
    CHECK(out.ended == ending::trapped);
    REQUIRE(out.trap);
    CHECK(out.trap->kind == trap_kind::deadlock);
    CHECK(out.trap->lane == 0);
    CHECK(out.trap->block == 1);
    CHECK(out.trap->line.ptx_line == 17);
    CHECK(lines(log.lines.end() - 3, log.lines.end()) == lines{"hdr 0 2 2", "trap deadlock, lane 0", "end"});
}

TEST_CASE("a barrier with a count needs as many threads, in units of four") {
    const std::string text = "block 0: barrier 2, count 1\n next 1\nblock 1: barrier 2, count 2\n next 2\nblock 2:\n";
    // Four lanes satisfy the first; for the second eight are wanted, and four are alive.
    CHECK(log_of(text, {4, 1, 1}).of("release") == lines{"release 2 1"});
    CHECK(log_of(text, {4, 1, 1}).of("trap") == lines{"trap deadlock, lane 0"});
    CHECK(log_of(text, {8, 1, 1}).of("release") == lines{"release 2 1", "release 2 0"});
    CHECK(log_of(text, {3, 1, 1}).of("trap") == lines{"trap deadlock, lane 0"});
}

TEST_CASE("the lowest complete barrier goes first") {
    const auto log = log_of("block 0: branch 2 if %warpid\nblock 1: barrier 5, count 1\n next 3\nblock 2: barrier 4, count 1\n next 3\nblock 3:\n", {8, 1, 1});
    CHECK(log.of("release") == lines{"release 4 1", "release 5 1"});
    CHECK(log.of("hdr") == lines{"hdr 0 0 f", "hdr 1 0 f", "hdr 0 1 f", "hdr 1 2 f", "hdr 1 3 f", "hdr 0 3 f"});
}

TEST_CASE("what a barrier's block writes is written before anybody goes on") {
    CHECK(records_of("block 0: t1 = add %laneid, #1 -> R1\n barrier 0\n next 1\nblock 1:\n", {2, 1, 1}) ==
          lines{"hdr 0 0 3", "w1 0 R1 = 1", "w1 1 R1 = 2", "release 0 1", "hdr 0 1 3", "end"});
}

TEST_CASE("a meeting block runs when all lanes of the warp have come") {
    // The even lanes come to block 900 at once, the others take a way round.
    const auto log = log_of("block 0: branch 2 if %laneid\nblock 1: next 900\nblock 2: t1 = add R1, #1 -> R1\nblock 3: next 900\n"
                            "block 900: t2 = ballot R0 -> R2\n next exit\n", {4, 1, 1});
    CHECK(log.of("hdr") == lines{"hdr 0 0 f", "hdr 0 1 5", "hdr 0 2 a", "hdr 0 3 a", "hdr 0 900 f"});
}

TEST_CASE("fairness does not favour a lane at a meeting block") {
    const std::string loop = "block 0: branch 2 if %laneid\nblock 1: t1 = add R1, #1 -> R1\n t4 = cmp.lt t1, #400\n branch 1 if t4\n next exit\n";
    const auto meeting = log_of(loop + "block 2: next 896\nblock 896: next exit\n", {2, 1, 1});
    CHECK(meeting.of("fair").size() == 6);
    CHECK(meeting.of("hdr").back() == "hdr 0 896 2");
    CHECK(meeting.of("hdr").size() == 1 + 1 + 400 + 1);
    const auto ordinary = log_of(loop + "block 2: next 895\nblock 895: next exit\n", {2, 1, 1});
    CHECK(ordinary.of("hdr").back() == "hdr 0 1 1");
}

TEST_CASE("a lane that waits at a barrier is not favoured, and does not stand apart") {
    const auto log = log_of("block 0: branch 2 if %laneid\nblock 1: t1 = add R1, #1 -> R1\n t4 = cmp.lt t1, #200\n branch 1 if t4\n next 3\n"
                            "block 2: barrier 0\n next 4\nblock 3: barrier 0\n next 4\nblock 4:\n", {2, 1, 1});
    CHECK(log.of("fair").size() == 2);  // until lane 1 is favoured and comes to the barrier
    CHECK(log.of("release") == lines{"release 0 1"});
}
