// SPDX-License-Identifier: MIT
// Thread blocks in order, through the real layers: the next coordinate from any one, which warps start with which lanes for every
// number of threads, and the whole transcript of a kernel that does nothing, on grids and blocks of one to three dimensions.
#include <qwengpu/stage/grid.hpp>

#include "support/catch.hpp"
#include "support/choices.hpp"
#include "support/forced_model.hpp"
#include "support/prompt_start.hpp"

#include <array>
#include <vector>

using namespace qwengpu;
using namespace qwengpu::test;
using text::token_class;
using V = text::vocabulary<>;

namespace {

using coordinates = std::array<std::uint32_t, 3>;

/// x runs fastest; y moves when x is 0 again, z when both are.
coordinates following(const coordinates& now, const coordinates& last) {
    coordinates next = now;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        next[axis] = now[axis] == last[axis] ? 0 : now[axis] + 1;
        if (next[axis] != 0) break;
    }
    return next;
}

/// Reads tokens one after another; how many of them the model would have written itself, were it asked.
template <class R>
int agreed(forced_model<R>& model, const std::vector<text::token>& tokens) {
    int count = 0;
    for (const auto t : tokens) {
        count += model.answer() == t ? 1 : 0;
        model.read(t);
    }
    return count;
}

void put_cta(std::vector<text::token>& out, const coordinates& c) {
    out.push_back(V::encode(token_class::cta));
    for (const auto x : c) text::put_word(out, x);
}

/// `start` of every warp that a block of this many threads has.
void put_starts(std::vector<text::token>& out, std::uint32_t threads) {
    for (std::uint32_t w = 0; 4 * w < threads; ++w) out.push_back(V::encode(token_class::start, threads - 4 * w >= 4 ? 15 : (1U << (threads - 4 * w)) - 1, w));
}

template <class R>
void set_geometry(forced_model<R>& model, const coordinates& now, const coordinates& last, const coordinates& block) {
    for (std::uint32_t i = 0; i < 3; ++i) model.read_constant(i, now[i]), model.read_constant(3 + i, last[i]);
    model.read_constant(12, (block[0] - 1) | (block[1] - 1) << 5 | (block[0] * block[1] * block[2] - 1) << 10);
}

}  // namespace

TEMPLATE_TEST_CASE("the next thread block from any other", "[stage]", nn::fp32, nn::bf16) {
    forced_model<TestType> model;
    read_idle_warps(model);
    choices choose(1);
    std::size_t tokens = 0, right = 0;
    for (int i = 0; i < 250; ++i) {
        coordinates now{}, last{};
        for (std::size_t axis = 0; axis < 3; ++axis) {
            // Small grids, carries over many bits, the largest, and anything.
            const std::array<std::uint32_t, 5> sizes{static_cast<std::uint32_t>(choose.below(4)), (1U << choose.below(16)) - 1, 1U << choose.below(16), 0xffff, choose.word() & 0xffff};
            last[axis] = sizes[static_cast<std::size_t>(choose.below(5))];
            now[axis] = choose.percent(40) ? last[axis] : choose.percent(40) && last[axis] > 0 ? last[axis] - 1 : choose.word() % (last[axis] + 1);
        }
        set_geometry(model, now, last, {1, 1, 1});
        model.read(token_class::launch);
        std::vector<text::token> expected;
        put_cta(expected, following(now, last));
        // Constants are read outside of a thread block's record only, so the case ends with its first warp.
        put_starts(expected, 1);
        tokens += expected.size();
        right += static_cast<std::size_t>(agreed(model, expected));
    }
    CHECK(right == tokens);
}

TEMPLATE_TEST_CASE("warps of every number of threads", "[stage]", nn::fp32, nn::bf16) {
    forced_model<TestType> model;
    read_idle_warps(model);
    model.read_block(0, 1023);
    for (std::uint32_t threads = 1; threads <= 32; ++threads) {
        set_geometry(model, {0, 0, 0}, {0, 0, 0}, {threads, 1, 1});
        model.read(token_class::launch);
        std::vector<text::token> expected;
        put_cta(expected, {0, 0, 0});
        put_starts(expected, threads);
        expected.push_back(V::encode(token_class::hdr, 0, 0));
        CAPTURE(threads);
        CHECK(agreed(model, expected) == static_cast<int>(expected.size()));
    }
}

TEMPLATE_TEST_CASE("a kernel that does nothing, on whole grids", "[stage]", nn::fp32, nn::bf16) {
    const std::vector<std::array<coordinates, 2>> launches{
        {{{1, 1, 1}, {1, 1, 1}}}, {{{5, 1, 1}, {4, 1, 1}}}, {{{1, 4, 1}, {3, 3, 1}}}, {{{1, 1, 3}, {32, 1, 1}}}, {{{3, 2, 2}, {2, 1, 3}}}, {{{2, 3, 1}, {1, 2, 4}}}};
    for (const auto& [grid, block] : launches) {
        const coordinates last{grid[0] - 1, grid[1] - 1, grid[2] - 1};
        const std::uint32_t threads = block[0] * block[1] * block[2];
        forced_model<TestType> model;
        read_idle_warps(model);
        set_geometry(model, last, last, block);
        model.read_block(0, 1023);
        model.read(token_class::launch);
        std::vector<text::token> expected;
        for (std::uint32_t z = 0; z < grid[2]; ++z) {
            for (std::uint32_t y = 0; y < grid[1]; ++y) {
                for (std::uint32_t x = 0; x < grid[0]; ++x) {
                    put_cta(expected, {x, y, z});
                    put_starts(expected, threads);
                    for (std::uint32_t w = 0; 4 * w < threads; ++w) expected.push_back(V::encode(token_class::hdr, 0, w));
                }
            }
        }
        expected.push_back(V::encode(token_class::end));
        CHECK(agreed(model, expected) == static_cast<int>(expected.size()));
    }
}
