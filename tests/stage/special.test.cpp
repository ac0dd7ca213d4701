// SPDX-License-Identifier: MIT
// Special registers through the real layers: %tid of every thread of every shape of up to 32 threads, against a count of threads in
// x, y, z order; and %laneid, %warpid and the thread's number.
#include <qwengpu/stage/special.hpp>

#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/layer_probe.hpp"

#include <algorithm>
#include <array>
#include <vector>

using namespace qwengpu;
using namespace qwengpu::test;
using text::token_class;

namespace {

/// Blocks 1 to 6 read special register 1 to 6, and write one register (slot W1 is bit 15 of group U).
template <class R>
struct special_probe {
    const stage::data_signals& data = compiled_machine().named().data;
    layer_probe<R> layers{compiled_machine(), {data.special}};
    int wrong = 0, checks = 0;

    special_probe() {
        for (std::uint32_t k = 0; k <= 6; ++k) {
            layers.read_group(k, machine::group::header, std::uint64_t{1} << 45 | std::uint64_t{k} << 42);
            layers.read_group(k, machine::group::uniformity, std::uint64_t{1} << 15);
        }
    }
    void set_shape(std::uint32_t nx, std::uint32_t ny, std::uint32_t nz) {
        layers.read(token_class::constant, 12);
        layers.read_word((nx - 1) | (ny - 1) << 5 | (nx * ny * nz - 1) << 10);
    }
    /// A record of block `special` in a warp of `threads` threads; `value(thread)` is what its lanes should read.
    template <class Value>
    void check_warp(std::uint32_t special, std::uint32_t warp, std::uint32_t threads, const Value& value) {
        layers.read(token_class::mask, (1U << threads) - 1, warp);
        layers.read(token_class::hdr, special, warp);
        for (std::uint32_t lane = 0; lane < threads; ++lane) {
            ++checks;
            wrong += layers.get(data.special) == value(4 * warp + lane) ? 0 : 1;
            layers.read(token_class::short_word);
        }
    }
};

}  // namespace

TEMPLATE_TEST_CASE("%tid of every thread of every shape", "[stage]", nn::fp32, nn::bf16) {
    special_probe<TestType> probe;
    int shapes = 0, threads_in_all = 0;
    for (std::uint32_t nx = 1; nx <= 32; ++nx) {
        for (std::uint32_t ny = 1; nx * ny <= 32; ++ny) {
            for (std::uint32_t nz = 1; nx * ny * nz <= 32; ++nz) {
                std::vector<std::array<std::uint32_t, 3>> tid;
                for (std::uint32_t z = 0; z < nz; ++z)
                    for (std::uint32_t y = 0; y < ny; ++y)
                        for (std::uint32_t x = 0; x < nx; ++x) tid.push_back({x, y, z});
                probe.set_shape(nx, ny, nz);
                const auto threads = static_cast<std::uint32_t>(tid.size());
                for (std::uint32_t warp = 0; 4 * warp < threads; ++warp)
                    for (std::uint32_t axis = 0; axis < 3; ++axis)
                        probe.check_warp(1 + axis, warp, std::min(threads - 4 * warp, 4U), [&](std::uint32_t t) { return tid[t][axis]; });
                ++shapes;
                threads_in_all += static_cast<int>(threads);
            }
        }
    }
    CAPTURE(shapes, probe.wrong);
    CHECK(probe.wrong == 0);
    CHECK(probe.checks == 3 * threads_in_all);
}

TEMPLATE_TEST_CASE("%laneid, %warpid, the thread's number, and none", "[stage]", nn::fp32, nn::bf16) {
    special_probe<TestType> probe;
    probe.set_shape(7, 2, 2);
    for (std::uint32_t warp = 0; warp < 8; ++warp) {
        probe.check_warp(4, warp, 4, [](std::uint32_t t) { return t % 4; });
        probe.check_warp(5, warp, 4, [](std::uint32_t t) { return t / 4; });
        probe.check_warp(6, warp, 4, [](std::uint32_t t) { return t; });
        probe.check_warp(0, warp, 4, [](std::uint32_t) { return 0U; });
    }
    CHECK(probe.wrong == 0);
}
