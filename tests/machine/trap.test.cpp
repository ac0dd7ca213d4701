// SPDX-License-Identifier: MIT
// Traps: what may not be accessed, which trap comes first, what was written before it, and what it says of itself.
#include <qwengpu/machine/trap.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/machine/emulator.hpp>

#include "support/assembled_launch.hpp"
#include "support/catch.hpp"
#include "support/event_log.hpp"

namespace {

using namespace qwengpu::machine;
using qwengpu::test::assembled_launch;
using lines = std::vector<std::string>;
using words = std::vector<std::uint32_t>;

/// The kind of trap that a load from (or a store to) constant 15 meets, with buffers of 2 and 3 words.
std::string access(std::uint32_t address, bool store) {
    auto image = assembled_launch(store ? "block 0: t1 = add c[15], 0\n store [t1] = R1\n"
                                        : "block 0: t1 = add c[15], 0\n t2 = load [t1] -> R1\n",
                                  {1, 1, 1}, {{1, 2}, {3, 4, 5}});
    set_constant(image, 15, address);
    const auto out = emulate(image);
    if (!out.trap) return "done";
    CHECK(out.ended == ending::trapped);
    CHECK(out.trap->address == address);
    CHECK(out.trap->by_store == store);
    return std::string(name_of(out.trap->kind));
}

lines events_from_first_record(const launch_image<mission>& image) {
    qwengpu::test::event_log log;
    (void)emulate(image, log);
    std::size_t at = 0;
    while (!log.lines[at].starts_with("hdr")) ++at;
    return {log.lines.begin() + static_cast<std::ptrdiff_t>(at), log.lines.end()};
}

}  // namespace

TEST_CASE("every access is checked against window, owner and alignment") {
    constexpr std::uint32_t first = 1u << 27, second = 2u << 27;
    for (const bool store : {false, true}) {
        CHECK(access(first + 4, store) == "done");
        CHECK(access(first + 8, store) == "done");
        CHECK(access(second + 12, store) == "done");
        CHECK(access(second + 20, store) == "done");
        CHECK(access(first + 0, store) == "out of bounds");   // word 0 is nobody's
        CHECK(access(first + 12, store) == "out of bounds");  // the second buffer's first word
        CHECK(access(second + 8, store) == "out of bounds");
        CHECK(access(second + 24, store) == "out of bounds");
        CHECK(access(second + 127 * 4, store) == "out of bounds");
        CHECK(access(0, store) == "out of bounds");
        CHECK(access(4, store) == "out of bounds");  // window 0 owns nothing
        CHECK(access(first + 4 + (1u << 9), store) == "out of bounds");
        CHECK(access(first + 4 + (1u << 26), store) == "out of bounds");
        CHECK(access(first + 5, store) == "misaligned");
        CHECK(access(first + 6, store) == "misaligned");
        CHECK(access(0xffffffff, store) == "misaligned");
    }
}

TEST_CASE("a trap ends the launch after what came before it") {
    // Lane 2 runs off the buffer; lanes 0 and 1 have stored.
    const auto image = assembled_launch("block 0: t1 = add.shl2 c[13], %laneid -> R1\n store [t1] = %laneid\n", {4, 1, 1}, {{9, 9}});
    CHECK(events_from_first_record(image) ==
          lines{"hdr 0 0 f", "store 0 1:1 = 0", "store 1 1:2 = 1", "trap out of bounds, lane 2", "end"});
    CHECK(words_of(emulate(image), image.buffers[0]) == words{0, 1});
}

TEST_CASE("the check is made at the lane's first position, whatever slot that is") {
    const auto image = assembled_launch(
        "block 0: t1 = add.shl2 c[13], %laneid -> R1\n t2 = load [t1] -> R2\n branch 0 if R3\n", {3, 1, 1}, {{9, 8}});
    CHECK(events_from_first_record(image) ==
          lines{"hdr 0 0 7", "br 0 not", "br 1 not", "trap out of bounds, lane 2", "end"});
    const auto late = emulate(image);
    CHECK(late.state.warp(0).lanes[0].registers[2] == 0);
}

TEST_CASE("a trap comes before all") {
    CHECK(events_from_first_record(assembled_launch("block 0: t2 = load [R1] -> R2\n", {4, 1, 1})) ==
          lines{"hdr 0 0 f", "trap out of bounds, lane 0", "end"});
}

TEST_CASE("what a guard forbids does not trap") {
    CHECK(events_from_first_record(assembled_launch("block 0: t2 = load [R1] if R2 else R3 -> R2\n", {1, 1, 1})) ==
          lines{"hdr 0 0 1", "w2 0 R2 = 0", "end"});
    CHECK(events_from_first_record(assembled_launch("block 0: store [R1] = R2 if R3\n", {1, 1, 1})) ==
          lines{"hdr 0 0 1", "skip 0", "end"});
    CHECK(events_from_first_record(assembled_launch("block 0: t2 = load [R1] if !R2 else R3 -> R2\n", {1, 1, 1})) ==
          lines{"hdr 0 0 1", "trap out of bounds, lane 0", "end"});
}

TEST_CASE("a block that is not there traps when it is reached") {
    const auto image = assembled_launch("block 0: branch 7 if %laneid\n block 1:\n", {4, 1, 1});
    CHECK(events_from_first_record(image) ==
          lines{"hdr 0 0 f", "br 0 not", "br 1 taken", "br 2 not", "br 3 taken", "mask 0 5", "hdr 0 1 5", "mask 0 a",
                "hdr 0 7 a", "trap illegal block, lane 1", "end"});
    const auto out = emulate(image);
    REQUIRE(out.trap);
    CHECK(out.trap->block == 7);
    CHECK(out.records == 3);
}

TEST_CASE("a trap says where it happened") {
    auto image = assembled_launch("block 0:\n block 1: t1 = add c[0], R1\n store [t1] = R1 if %warpid\n", {8, 1, 1}, {}, {2, 2, 1});
    image.program.notes.resize(2);
    image.program.notes[1].stages[0].ptx_line = 30;
    image.program.notes[1].store = {31, 4, 0};
    const auto out = emulate(image);
    REQUIRE(out.trap);
    CHECK(*out.trap == trap{trap_kind::out_of_bounds, 1, 0, 1, {0, 0, 0}, true, 0, {31, 4, 0}});
    CHECK(to_string(*out.trap) == "out of bounds in warp 1, lane 0, block 1 of thread block (0, 0, 0), PTX line 31, CUDA line 4");
    image.program.notes[1].store = {};
    CHECK(emulate(image).trap->line.ptx_line == 30);
}
