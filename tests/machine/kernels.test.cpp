// SPDX-License-Identifier: MIT
// Whole kernels in assembly against the same in C++: indices in three dimensions, loops with data of their own in every
// lane, thread blocks that follow each other; and what `stages` shows.
#include <qwengpu/machine/emulator.hpp>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/assembled_launch.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::machine;
using qwengpu::test::assembled_launch;
using words = std::vector<std::uint32_t>;

words run(const launch_image<mission>& image, std::size_t buffer) {
    const auto out = emulate(image, 100'000);
    REQUIRE(out.ended == ending::finished);
    return words_of(out, image.buffers[buffer]);
}

}  // namespace

TEST_CASE("special registers in blocks of every shape") {
    const std::vector<std::pair<std::string, int>> wanted{{"%tid.x", 0}, {"%tid.y", 1}, {"%tid.z", 2},
                                                          {"%laneid", 3}, {"%warpid", 4}, {"%thread", 5}};
    for (const extent& block : {extent{32, 1, 1}, extent{1, 9, 2}, extent{3, 2, 5}, extent{2, 2, 2}, extent{1, 1, 7}})
        for (const auto& [name, which] : wanted) {
            const auto image = assembled_launch("block 0: t1 = add " + name + ", 0 -> R1\n"
                                                "block 1: t1 = add.shl2 c[13], %thread\n store [t1] = R1\n", block, {words(32)});
            words expected(32);
            std::uint32_t thread = 0;
            for (std::uint32_t z = 0; z < block[2]; ++z)
                for (std::uint32_t y = 0; y < block[1]; ++y)
                    for (std::uint32_t x = 0; x < block[0]; ++x, ++thread)
                        expected[thread] = words{x, y, z, thread % 4, thread / 4, thread}[static_cast<std::size_t>(which)];
            INFO(name << " in " << block[0] << " x " << block[1] << " x " << block[2]);
            CHECK(run(image, 0) == expected);
        }
}

TEST_CASE("c[i] = a[i] + b[i] over several thread blocks") {
    words a, b, sum;
    for (std::uint32_t i = 0; i < 30; ++i) {
        a.push_back(i * 2654435761u);
        b.push_back(0xfffffff0u + i);
        sum.push_back(a[i] + b[i]);
    }
    const auto launch = assembled_launch(
        "block size:  t1 = add c[9], 0 -> R9\n"
        "block index: t3 = mul c[0], R9, %thread -> R1\n"
        "             t4 = cmp.ge t3, #30\n"
        "             branch exit if t4\n"
        "block a:     t1 = add.shl2 c[13], R1\n"
        "             t2 = load [t1] -> R2\n"
        "block b:     t1 = add.shl2 c[14], R1\n"
        "             t2 = load [t1]\n"
        "             t3 = mul R2, #1, t2 -> R2\n"
        "block c:     t1 = add.shl2 c[15], R1\n"
        "             store [t1] = R2\n", {8, 1, 1}, {a, b, words(30)}, {4, 1, 1});
    CHECK(run(launch, 2) == sum);
}

TEST_CASE("greatest common divisors, every lane with a loop of its own") {
    const words x{48, 1071, 17, 0, 270, 100, 13, 999}, y{18, 462, 5, 7, 192, 75, 13, 1000};
    words expected;
    for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(std::gcd(x[i], y[i]));
    // While both are not zero, the larger one loses the smaller one.
    const auto image = assembled_launch(
        "block x:    t1 = add.shl2 c[13], %thread\n t2 = load [t1] -> R1\n"
        "block y:    t1 = add.shl2 c[14], %thread\n t2 = load [t1] -> R2\n"
        "block test: t3 = min R1, R2\n t4 = cmp.eq t3, #0\n branch done if t4\n"
        "block step: t1 = cmp.ge R1, R2\n t3 = add.sub R1, R2\n t4 = sel t3, R1, t1 -> R3\n"
        "block turn: t1 = cmp.ge R1, R2\n t3 = add.sub R2, R1\n t4 = sel R2, t3, t1 -> R2\n"
        "block move: t1 = add R3, 0 -> R1\n next test\n"
        "block done: t1 = add.shl2 c[15], %thread\n t3 = max R1, R2\n store [t1] = t3\n", {8, 1, 1}, {x, y, words(8)});
    CHECK(run(image, 2) == expected);
}

TEST_CASE("stages show what every lane made") {
    struct stage_values final : observer {
        std::vector<lane_evaluation> seen{};
        std::vector<int> lanes{};
        void stages(int lane, const lane_evaluation& made) override {
            lanes.push_back(lane);
            seen.push_back(made);
        }
    } watch;
    const auto image = assembled_launch(
        "block 0: t1 = add.shl2 c[13], %laneid -> R3\n"
        "         t2 = load [t1] if !R1 else R2\n"
        "         t3 = mul t2, #100, t1\n"
        "         t4 = cmp.lt t2, #-1\n"
        "         branch exit if t4\n"
        "block 1:\n", {2, 1, 1}, {{5, 0xffffffff}});
    (void)emulate(image, watch);
    REQUIRE(watch.lanes == std::vector<int>{0, 1, 1});
    const lane_evaluation& second = watch.seen[1];
    constexpr std::uint32_t address = (1u << 27) + 8;
    CHECK(second.special == 1);
    CHECK(second.t == std::array<std::uint32_t, 4>{address, 0xffffffff, address - 100, 0});
    CHECK(watch.seen[0].t == std::array<std::uint32_t, 4>{address - 4, 5, address - 4 + 500, 1});
    CHECK(watch.seen[0].taken);
    CHECK_FALSE(second.taken);
    CHECK(second.loads);
    CHECK(second.load_address == address);
    CHECK_FALSE(second.fault);
}

TEST_CASE("several observers see the same launch") {
    struct counter final : observer {
        int events = 0;
        void launch() override { ++events; }
        void record(int, int, lane_mask) override { events += 10; }
        void end() override { events += 100; }
    } first, second;
    observer_list both({first, second});
    (void)emulate(assembled_launch("block 0:\n block 1:\n", {1, 1, 1}), both);
    CHECK(first.events == 121);
    CHECK(second.events == 121);
}
