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
    CHECK(findings_of(launch(atomic + "block 1: t1 = add c[13], 0\n store [t1] = %thread\n", {8, 1, 1}, {{0}})).size() >= 1);
}

TEST_CASE("a plain read beside atomics, unless it is the first guess of an atomic") {
    const std::string atomic = "block 2: lane_major\n t1 = add c[13], 0\n t2 = load [t1]\n t3 = add t2, #1\n store [t1] = t3\n";
    const std::string read = " t1 = add c[13], 0\n t2 = load [t1] -> R1\n";
    const auto after = findings_of(launch("block 0: next 2\n" + atomic + "block 3:" + read, {8, 1, 1}, {{0}}));
    REQUIRE(after.size() == 1);
    CHECK(after[0].earlier.kind == access_kind::atomic);
    CHECK(after[0].later.kind == access_kind::read);
    CHECK(findings_of(launch("block 0: next 2\n" + atomic + "block 3: barrier 0\n next 4\nblock 4:" + read, {8, 1, 1}, {{0}})).empty());
    CHECK(findings_of(launch("block 0:" + read + " next 2\n" + atomic, {8, 1, 1}, {{0}}, {2, 1, 1})).empty());
    // Who finds that nothing is to be done does no atomic.
    CHECK(findings_of(launch("block 0:" + read + "block 1: branch exit if %warpid\n" + atomic, {8, 1, 1}, {{0}})).empty());
    // The second warp reads elsewhere, and before.
    const auto some = findings_of(launch("block 0: branch 4 if %warpid\nblock 1: next 2\n" + atomic + " next exit\nblock 4:" + read, {8, 1, 1}, {{0}}));
    REQUIRE(some.size() == 1);
    CHECK(some[0].earlier.kind == access_kind::read);
    CHECK(some[0].earlier.thread == 4);
    CHECK(some[0].later.kind == access_kind::atomic);
}

TEST_CASE("an exit comes before the barriers that it makes complete") {
    // All read their neighbour's word; odd threads exit; the others meet and write to their neighbours' words.
    const std::string text = "block 0: t1 = add.shl2 c[20], %thread -> R1\n store [t1] = %thread\nblock 1: BARRIER\n next 2\n"
                             "block 2: t1 = lop.0x3c %thread, #1, 0 -> R2\nblock 3: t1 = add.shl2 c[20], R2 -> R3\n t2 = load [t1]\n t4 = add t2, 0 -> R4\n"
                             "block 4: branch exit if %thread\nblock 5: BARRIER\n next 6\nblock 6: store [R3] = R4\n";
    const auto with = [&](const std::string& barrier) {
        std::string t = text;
        for (auto at = t.find("BARRIER"); at != t.npos; at = t.find("BARRIER")) t.replace(at, 7, barrier);
        return findings_of(launch(t, {4, 1, 1})).size();
    };
    CHECK(with("barrier 0") == 0);
    CHECK(with("t1 = add 0, 0") >= 1);
}

TEST_CASE("strong accesses of one word are no race, and order what came before them") {
    // The first thread stores its word, then a flag; the other warp's first reads the flag, then the word.
    const std::string text = "block 0: t4 = cmp.ne %laneid, 0\n branch exit if t4\nblock 1: branch 4 if %warpid\nblock 2: t1 = add c[13], 0\n t4 = add #7, 0\n store [t1] = t4\n"
                             "block 3: t1 = add c[14], 0\n t4 = add #1, 0\n store [t1] = t4\n next exit\n"
                             "block 4: t1 = add c[14], 0\n t2 = load [t1] -> R1\n t4 = cmp.eq t2, 0\n branch 4 if t4\n"
                             "block 5: t1 = add c[13], 0\n t2 = load [t1] -> R2\n";
    auto image = launch(text, {8, 1, 1}, {{0}, {0}});
    CHECK(findings_of(image).size() >= 2);
    const auto with = [&](access_strength write, access_strength read) {
        image.program.notes[3].store_strength = write;
        image.program.notes[4].load_strength = read;
        return findings_of(image).size();
    };
    CHECK(with(access_strength::relaxed, access_strength::relaxed) == 0);
    CHECK(with(access_strength::is_volatile, access_strength::is_volatile) == 0);
    CHECK(with(access_strength::exchange, access_strength::relaxed) == 0);
    CHECK(with(access_strength::relaxed, access_strength::plain) >= 1);
    CHECK(with(access_strength::plain, access_strength::relaxed) >= 1);
}

TEST_CASE("volatile in shared memory is plain; an exchange there writes and reads nothing") {
    auto image = launch(neighbours(""), {2, 1, 1});
    image.program.notes[0].store_strength = image.program.notes[6].load_strength = access_strength::is_volatile;
    CHECK(findings_of(image).size() == 1);
    image.program.notes[0].store_strength = access_strength::exchange;
    image.program.notes[6].load_strength = access_strength::relaxed;
    CHECK(findings_of(image).empty());
}

TEST_CASE("what atomics on one word order: the last thread block adds up what the others left") {
    // Each block stores to a word of its own, counts itself, and reads the first block's word if it is the last.
    const std::string text = "block 0: t1 = add c[0], 0 -> R5\n"
                             "block 4: t1 = add.shl2 c[13], R5\n t4 = add #1, 0\n store [t1] = t4\n"
                             "block 5: lane_major\n t1 = add c[14], 0\n t2 = load [t1] -> R1\n t3 = add t2, #1\n store [t1] = t3\n"
                             "block 6: t4 = cmp.ne R1, #2\n branch exit if t4\n"
                             "block 7: t1 = add c[13], 0\n t2 = load [t1] -> R2\n";
    CHECK(findings_of(launch(text, {1, 1, 1}, {{0, 0, 0}, {0}}, {3, 1, 1})).empty());
    // The counter itself may be read as well.
    CHECK(findings_of(launch(text + "block 8: t1 = add c[14], 0\n t2 = load [t1] -> R3\n", {1, 1, 1}, {{0, 0, 0}, {0}}, {3, 1, 1})).empty());
    const std::string without = "block 0: t1 = add c[0], 0 -> R5\nblock 2: t1 = add.shl2 c[13], R5\n t4 = add #1, 0\n store [t1] = t4\nblock 3: t1 = add c[13], 0\n t2 = load [t1] -> R2\n";
    CHECK(findings_of(launch(without, {1, 1, 1}, {{0, 0, 0}}, {3, 1, 1})).size() == 1);
}

TEST_CASE("reads of shared and local memory that nobody wrote") {
    const auto shared = findings_of(launch("block 0: t1 = add c[20], 0\n t2 = load [t1] -> R1\n", {2, 1, 1}));
    REQUIRE(shared.size() == 1);
    CHECK(shared[0].kind == finding_kind::uninitialised);
    CHECK(shared[0].times == 2);
    const std::string half = "block 0: t1 = add c[21], 0 -> R1\n t2 = load.half_word.private [t1]\n t4 = insert.half t2, %laneid, t1\n store.half.private [t1] = t4\n";
    CHECK(findings_of(launch(half + "block 1: t2 = load.u16.private [R1] -> R2\n", {4, 1, 1})).empty());
    // A word that is written in part may be a structure with padding.
    CHECK(findings_of(launch(half + "block 1: t2 = load.private [R1] -> R2\n", {1, 1, 1})).empty());
    const std::string other = half + "block 1: t1 = add R1, #2\n t2 = load.u16.private [t1] -> R2\n";
    const auto local = findings_of(launch(other, {1, 1, 1}));
    REQUIRE(local.size() == 1);
    CHECK(local[0].address == address::make(28, 0) + 2);
    CHECK(local[0].times == 1);
    CHECK(findings_of(launch(other, {1, 1, 1}), {true, false}).empty());
}

TEST_CASE("what an earlier thread block left is out of lifetime") {
    // The second thread block reads before it writes.
    const auto found = findings_of(launch("block 0: t1 = add c[21], 0 -> R1\n t4 = add c[0], 0 -> R2\nblock 1: branch 3 if R2\nblock 2: store.private [R1] = R1\n next exit\n"
                                          "block 3: t2 = load.private [R1] -> R3\n", {1, 1, 1}, {}, {2, 1, 1}));
    REQUIRE(found.size() == 1);
    CHECK(found[0].kind == finding_kind::out_of_lifetime);
    CHECK(found[0].later.ctaid == extent{1, 0, 0});
    const auto shared = findings_of(launch("block 0: t1 = add c[20], 0 -> R1\n t4 = add c[0], 0 -> R2\nblock 1: branch 3 if R2\nblock 2: store [R1] = R1\n next exit\n"
                                           "block 3: t2 = load [R1] -> R3\n", {1, 1, 1}, {}, {2, 1, 1}));
    REQUIRE(shared.size() == 1);
    CHECK(shared[0].kind == finding_kind::out_of_lifetime);
}

TEST_CASE("a finding as a line") {
    auto image = launch(neighbours(""), {2, 1, 1});
    image.program.cuda_files = {"sum.cu"};
    CHECK(to_string(findings_of(image)[0], image.program) ==
          "data race: byte 0 of word 1 of shared memory: thread 1 of thread block (0, 0, 0) writes in block 0, sum.cu:30, PTX line 150; "
          "thread 0 of thread block (0, 0, 0) reads in block 6, sum.cu:16, PTX line 106; no barrier is between them (8 times)");
    const auto unwritten = launch("block 0: t1 = add c[20], 0\n t2 = load [t1] -> R1\n", {1, 1, 1});
    CHECK(to_string(findings_of(unwritten)[0], unwritten.program) ==
          "uninitialised read: byte 0 of word 0 of shared memory: thread 0 of thread block (0, 0, 0) reads in block 0, CUDA line 10, PTX line 100; nobody wrote it");
    finding f{finding_kind::race, address::make(2, 9) + 1, {}, {}, 1};
    CHECK(to_string(f, image.program, "out", 7).starts_with("data race: byte 1 of word 2 of out: "));
}
