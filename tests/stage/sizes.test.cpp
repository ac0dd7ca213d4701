// SPDX-License-Identifier: MIT
// Machines of other sizes than the mission's, down to one lane in one warp, in shapes that just hold them: random launches on their
// layers against the emulator, in both roundings.
#include <qwengpu/launch/machine_model.hpp>

#include "support/catch.hpp"
#include "support/model_against_emulator.hpp"

using namespace qwengpu;

namespace {

template <nn::rounding R, machine::sizes M>
void check_launches(const stage::compiled_layers<M>& compiled, std::uint64_t seed, int count) {
    const auto model = on_sparse_engine<R>(compiled);
    std::uint64_t tokens = 0;
    for (const std::uint64_t end = seed + static_cast<std::uint64_t>(count); seed < end; ++seed) {
        const auto image = test::random_launch<M>(seed, {.max_blocks = 12, .max_thread_blocks = 3});
        const auto both = test::on_both(image, model);
        tokens += both.compared_tokens;
        if (!test::parting(both).empty()) FAIL(R::name << ", seed " << seed << "\n" << test::smallest_failure(image, model));
    }
    CHECK(tokens > 10 * static_cast<std::uint64_t>(count));
}

template <machine::sizes M>
void check_machine(const nn::shape& shape) {
    const stage::compiled_layers<M> compiled(shape);
    check_launches<nn::fp32>(compiled, test::seed_or(1), 12);
    check_launches<nn::bf16>(compiled, test::seed_or(51), 8);
}

}  // namespace

TEST_CASE("one lane in one warp, three registers, six words of memory", "[stage]") {
    constexpr machine::sizes one{.lanes = 1, .warps = 1, .registers = 4, .words = 8, .local_words = 8, .constants = 32, .blocks = 16};
    check_machine<one>({.hidden = 1024, .mlp = 6144, .heads = 9, .value_heads = 9, .key_dim = 32});
}

TEST_CASE("two lanes in eight warps", "[stage]") {
    constexpr machine::sizes wide{.lanes = 2, .warps = 8, .registers = 8, .words = 32, .local_words = 24, .constants = 32, .blocks = 64};
    check_machine<wide>({.hidden = 1024, .mlp = 6144, .heads = 10, .value_heads = 10, .key_dim = 64});
}

TEST_CASE("four lanes in one warp with all registers", "[stage]") {
    constexpr machine::sizes deep{.lanes = 4, .warps = 1, .registers = 16, .words = 64, .constants = 64, .blocks = 128};
    check_machine<deep>({.hidden = 2048, .mlp = 6144, .heads = 16, .value_heads = 16, .key_dim = 64});
}
