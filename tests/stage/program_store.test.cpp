// SPDX-License-Identifier: MIT
// The program in state: random groups written and fetched through the real layers, for block ids at both ends of the heads' rows and
// random ones; a block that was never written has no groups, and groups do not mix.
#include <qwengpu/stage/program_store.hpp>

#include "support/catch.hpp"
#include "support/choices.hpp"
#include "support/compiled_machine.hpp"
#include "support/layer_probe.hpp"
#include "support/prompt_start.hpp"

#include <array>
#include <map>

using namespace qwengpu;
using namespace qwengpu::test;
using text::token_class;

namespace {

using groups = std::array<std::uint64_t, 6>;

/// All six groups as the layers fetch them.
template <class R>
struct program_probe {
    const stage::program_signals& p = compiled_machine().named().program;
    std::array<circuit::word, 6> words{p.header, p.uniformity, p.stage1, p.memory, p.stage3, p.stage4};
    layer_probe<R> layers{compiled_machine(), {words.begin(), words.end()}};

    program_probe() {
        read_idle_warps(layers);
        read_barriers(layers);
    }

    /// A record of the block; what is fetched for it.
    groups fetch(std::uint32_t block) {
        layers.read(token_class::mask, 15, block % 8);
        layers.read(token_class::hdr, block, block % 8);
        return fetched();
    }
    [[nodiscard]] groups fetched() const {
        groups g{};
        for (std::size_t i = 0; i < 6; ++i) g[i] = layers.get(words[i]);
        return g;
    }
};

constexpr std::uint64_t all_bits = 0xffffffffffffULL, lane_major = std::uint64_t{1} << 46;

/// Any bits, but for what upsets the later layers before they fetch: a `lane_major` block with more than one register slot, which no
/// legal one has. Blocks with odd numbers may be `lane_major`, the others may have all slots.
std::uint64_t random_group(choices& choose, std::uint32_t block, std::size_t group) {
    std::uint64_t bits = ((std::uint64_t{choose.word()} << 16) ^ choose.word()) & all_bits;
    if (group == 0 && block % 2 == 0) bits &= ~lane_major;
    // The register slots W4, W3, W2, W1 are bits 12-15 of group U.
    if (group == 1 && block % 2 != 0) bits &= ~std::uint64_t{0xf000} | std::uint64_t{0x1000} << choose.below(4);
    return bits;
}

}  // namespace

TEMPLATE_TEST_CASE("groups are fetched as they were written, from every head's first and last row", "[stage]", nn::fp32, nn::bf16) {
    program_probe<TestType> probe;
    choices choose(1);
    std::map<std::uint32_t, groups> written;
    std::vector<std::uint32_t> blocks{0, 1, 126, 127, 128, 129, 255, 256, 511, 512, 895, 896, 1022, 1023};
    for (int i = 0; i < 40; ++i) blocks.push_back(static_cast<std::uint32_t>(choose.below(1024)));
    for (const auto block : blocks) {
        for (std::uint32_t g = 0; g < 6; ++g) {
            // Some groups stay away, as those do that are all zero.
            if (choose.percent(20)) continue;
            written[block][g] = random_group(choose, block, g);
            probe.layers.read_group(block, static_cast<machine::group>(g), written[block][g]);
        }
    }
    int wrong = 0;
    for (int i = 0; i < 300; ++i) {
        const auto block = choose.percent(75) ? blocks[static_cast<std::size_t>(choose.below(static_cast<int>(blocks.size())))] : static_cast<std::uint32_t>(choose.below(1024));
        const auto expected = written.contains(block) ? written[block] : groups{};
        wrong += probe.fetch(block) == expected ? 0 : 1;
        // Further tokens of the record fetch the same.
        probe.layers.read_word(choose.word());
        wrong += probe.fetched() == expected ? 0 : 1;
    }
    CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("a group that is written again replaces the first", "[stage]", nn::fp32, nn::bf16) {
    program_probe<TestType> probe;
    choices choose(2);
    for (const std::uint32_t block : {700U, 701U}) {
        groups last{};
        for (int i = 0; i < 60; ++i) {
            const auto g = static_cast<std::size_t>(i % 6);
            last[g] = i % 7 == 0 ? 0 : random_group(choose, block, g);
            probe.layers.read_group(block, static_cast<machine::group>(g), last[g]);
            CHECK(probe.fetch(block) == last);
            CHECK(probe.fetch(block + 128) == groups{});
        }
    }
}

TEMPLATE_TEST_CASE("nothing is fetched outside of a record", "[stage]", nn::fp32, nn::bf16) {
    program_probe<TestType> probe;
    for (std::uint32_t g = 0; g < 6; ++g) probe.layers.read_group(0, static_cast<machine::group>(g), g == 0 ? all_bits & ~lane_major : all_bits);
    CHECK(probe.fetched() == groups{});
    probe.layers.read(token_class::launch);
    CHECK(probe.fetched() == groups{});
    probe.layers.read(token_class::cta);
    CHECK(probe.fetched() == groups{});
    probe.layers.read(token_class::start, 15, 0);
    CHECK(probe.fetched() == groups{});
    CHECK(probe.fetch(0) == groups{all_bits & ~lane_major, all_bits, all_bits, all_bits, all_bits, all_bits});
}
