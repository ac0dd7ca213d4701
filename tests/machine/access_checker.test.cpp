// SPDX-License-Identifier: MIT
// Kernels with and without races, and reads of what nobody wrote: what is found, with both places, and what is not.
#include <qwengpu/machine/access_checker.hpp>
#include <qwengpu/machine/emulator.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "support/assembled_launch.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::machine;
using words = std::vector<std::uint32_t>;

/// Buffers at constants 13, 14, ...; constant 20 points to shared memory, 21 to local memory.
launch_image<mission> launch(const std::string& text, const extent& block, const std::vector<words>& buffers = {}, const extent& grid = {1, 1, 1}) {
    auto image = qwengpu::test::assembled_launch(text, block, buffers, grid);
    set_constant(image, 20, declare_shared(image, 32).pointer());
    set_constant(image, 21, address::make(address::local_window, 0));
    image.program.notes.resize(image.program.blocks.size());
    for (std::size_t i = 0; i < image.program.notes.size(); ++i) {
        const int line = 100 + static_cast<int>(i);
        image.program.notes[i].stages[1] = {line, line - 90, 0};
        image.program.notes[i].store = {line + 50, line - 70, 0};
    }
    return image;
}

std::vector<finding> findings_of(const launch_image<mission>& image, access_checks wanted = {true, true}) {
    access_checker<mission> checker(image, wanted);
    (void)emulate(image, checker);
    return checker.findings();
}

/// Each thread stores its number to shared memory and reads its neighbour's; between them `between`.
std::string neighbours(const std::string& between) {
    return "block 0: t1 = add.shl2 c[20], %thread -> R1\n store [t1] = %thread\n" + between +
           "block 5: t1 = lop.0x3c %thread, #1, 0 -> R2\nblock 6: t1 = add.shl2 c[20], R2\n t2 = load [t1] -> R3\n";
}

}  // namespace

TEST_CASE("a read of what another thread wrote, without and with a barrier") {
    const auto found = findings_of(launch(neighbours(""), {8, 1, 1}));
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == finding_kind::race);
    CHECK(found[0].earlier.block == 0);
    CHECK(found[0].earlier.kind == access_kind::write);
    CHECK(found[0].earlier.line.cuda_line == 30);
    CHECK(found[0].later.block == 6);
    CHECK(found[0].later.kind == access_kind::read);
    CHECK(found[0].later.line.cuda_line == 16);
    CHECK(found[0].times == 8 * 4);
    CHECK(found[0].address == address::make(29, 2));
    CHECK(findings_of(launch(neighbours("block 1: barrier 0\n next 5\n"), {8, 1, 1})).empty());
    CHECK(findings_of(launch(neighbours(""), {8, 1, 1}), {false, true}).empty());
    CHECK(findings_of(launch(neighbours(""), {1, 1, 1}), {true, false}).empty());
}

TEST_CASE("a barrier of some threads orders those threads only") {
    // The warps meet at barriers of their own.
    const std::string own = "block 1: branch 3 if %warpid\nblock 2: barrier 1, count 1\n next 5\nblock 3: barrier 2, count 1\n next 5\n";
    CHECK(findings_of(launch(neighbours(own), {8, 1, 1})).empty());
    const std::string across = "block 0: t1 = add.shl2 c[20], %thread -> R1\n store [t1] = %thread\n" + own +
                               "block 5: t1 = lop.0x3c %thread, #4, 0 -> R2\nblock 6: t1 = add.shl2 c[20], R2\n t2 = load [t1] -> R3\n";
    CHECK(findings_of(launch(across, {8, 1, 1})).size() == 1);
}

TEST_CASE("a meeting block orders the lanes of a warp") {
    const std::string warp = "block 0: t1 = add.shl2 c[20], %laneid -> R1\n store [t1] = %laneid\n next 900\n"
                             "block 5: t1 = lop.0x3c %laneid, #1, 0 -> R2\nblock 6: t1 = add.shl2 c[20], R2\n t2 = load [t1] -> R3\n next exit\n"
                             "block 900: next 5\n";
    CHECK(findings_of(launch(warp, {4, 1, 1})).empty());
}

TEST_CASE("two writes of one word, unless of one value") {
    CHECK(findings_of(launch("block 0: t1 = add c[13], 0\n store [t1] = %laneid\n", {2, 1, 1}, {{0}})).size() == 1);
    CHECK(findings_of(launch("block 0: t1 = add c[13], 0\n t4 = add #5, 0\n store [t1] = t4\n", {4, 1, 1}, {{0}})).empty());
}

TEST_CASE("a write after another thread's read") {
    const auto found = findings_of(launch("block 0: t1 = add c[13], 0\n t2 = load [t1] -> R1\nblock 1: t3 = cmp.eq %thread, #7\n t1 = add c[13], 0\n t4 = add #1, 0\n store [t1] = t4 if t3\n",
                                          {8, 1, 1}, {{0}}));
    REQUIRE(found.size() == 1);
    CHECK(found[0].earlier.kind == access_kind::read);
    CHECK(found[0].later.kind == access_kind::write);
}

TEST_CASE("bytes of one word are apart") {
    const std::string store = " t2 = load.byte_word [t1]\n t4 = insert t2, %laneid, t1\n store.byte [t1] = t4\n";
    CHECK(findings_of(launch("block 0: t1 = add c[13], %laneid\n" + store, {4, 1, 1}, {{0}})).empty());
    const auto found = findings_of(launch("block 0: t1 = add c[13], 0\n" + store, {2, 1, 1}, {{0}}));
    REQUIRE(found.size() == 1);
    CHECK(found[0].times == 1);
}

TEST_CASE("thread blocks are concurrent, and atomics are no race") {
    const std::string plain = "block 0: t1 = add c[13], 0\n t4 = add c[0], 0\n store [t1] = t4\n";
    const auto found = findings_of(launch(plain, {1, 1, 1}, {{0}}, {2, 1, 1}));
    REQUIRE_FALSE(found.empty());
    CHECK(found[0].earlier.ctaid == extent{0, 0, 0});
    CHECK(found[0].later.ctaid == extent{1, 0, 0});
    const std::string atomic = "block 0: lane_major\n t1 = add c[13], 0\n t2 = load [t1]\n t3 = add t2, #1\n store [t1] = t3\n";
    CHECK(findings_of(launch(atomic, {8, 1, 1}, {{0}}, {3, 1, 1})).empty());
    // A plain read beside atomics is none, a plain write is.
    CHECK(findings_of(launch(atomic + "block 1: t1 = add c[13], 0\n t2 = load [t1] -> R1\n", {8, 1, 1}, {{0}})).empty());
    CHECK(findings_of(launch(atomic + "block 1: t1 = add c[13], 0\n store [t1] = %thread\n", {8, 1, 1}, {{0}})).size() >= 1);
}

TEST_CASE("what atomics on one word order: the last thread block adds up what the others left") {
    // Each block stores to a word of its own, counts itself, and reads the first block's word if it is the last.
    const std::string text = "block 0: t1 = add c[0], 0 -> R5\n"
                             "block 4: t1 = add.shl2 c[13], R5\n t4 = add #1, 0\n store [t1] = t4\n"
                             "block 5: lane_major\n t1 = add c[14], 0\n t2 = load [t1] -> R1\n t3 = add t2, #1\n store [t1] = t3\n"
                             "block 6: t4 = cmp.ne R1, #2\n branch exit if t4\n"
                             "block 7: t1 = add c[13], 0\n t2 = load [t1] -> R2\n";
    CHECK(findings_of(launch(text, {1, 1, 1}, {{0, 0, 0}, {0}}, {3, 1, 1})).empty());
    const std::string without = "block 0: t1 = add c[0], 0 -> R5\nblock 2: t1 = add.shl2 c[13], R5\n t4 = add #1, 0\n store [t1] = t4\nblock 3: t1 = add c[13], 0\n t2 = load [t1] -> R2\n";
    CHECK(findings_of(launch(without, {1, 1, 1}, {{0, 0, 0}}, {3, 1, 1})).size() == 1);
}

TEST_CASE("reads of shared and local memory that nobody wrote") {
    const auto shared = findings_of(launch("block 0: t1 = add c[20], 0\n t2 = load [t1] -> R1\n", {2, 1, 1}));
    REQUIRE(shared.size() == 1);
    CHECK(shared[0].kind == finding_kind::uninitialised);
    CHECK(shared[0].times == 8);
    const std::string half = "block 0: t1 = add c[21], 0 -> R1\n t2 = load.half_word.private [t1]\n t4 = insert.half t2, %laneid, t1\n store.half.private [t1] = t4\n";
    CHECK(findings_of(launch(half + "block 1: t2 = load.u16.private [R1] -> R2\n", {4, 1, 1})).empty());
    const auto local = findings_of(launch(half + "block 1: t2 = load.private [R1] -> R2\n", {1, 1, 1}));
    REQUIRE(local.size() == 1);
    CHECK(local[0].address == address::make(28, 0) + 2);
    CHECK(local[0].times == 2);
    CHECK(findings_of(launch(half + "block 1: t2 = load.private [R1] -> R2\n", {1, 1, 1}), {true, false}).empty());
}

TEST_CASE("what an earlier thread block left is out of lifetime") {
    // The second thread block reads before it writes.
    const auto found = findings_of(launch("block 0: t1 = add c[21], 0 -> R1\n t4 = add c[0], 0 -> R2\nblock 1: branch 3 if R2\nblock 2: store.private [R1] = R1\n next exit\n"
                                          "block 3: t2 = load.private [R1] -> R3\n", {1, 1, 1}, {}, {2, 1, 1}));
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == finding_kind::out_of_lifetime);
    CHECK(found[0].later.ctaid == extent{1, 0, 0});
}

TEST_CASE("a finding as a line") {
    auto image = launch(neighbours(""), {2, 1, 1});
    image.program.cuda_files = {"sum.cu"};
    CHECK(to_string(findings_of(image)[0], image.program) ==
          "data race: byte 0 of word 1 of shared memory: thread 1 of thread block (0, 0, 0) writes in block 0, sum.cu:30, PTX line 150; "
          "thread 0 of thread block (0, 0, 0) reads in block 6, sum.cu:16, PTX line 106; no barrier is between them (8 times)");
    const auto unwritten = launch("block 0: t1 = add c[20], 0\n t2 = load [t1] -> R1\n", {1, 1, 1});
    CHECK(to_string(findings_of(unwritten)[0], unwritten.program) ==
          "uninitialised read: byte 0 of word 0 of shared memory: thread 0 of thread block (0, 0, 0) reads in block 0, CUDA line 10, PTX line 100; nobody wrote it (4 times)");
    finding f{finding_kind::race, address::make(2, 9) + 1, {}, {}, 1};
    CHECK(to_string(f, image.program, "out", 7).starts_with("data race: byte 1 of word 2 of out: "));
}
