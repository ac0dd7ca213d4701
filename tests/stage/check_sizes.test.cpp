// SPDX-License-Identifier: MIT
// Machines that do not fit a shape are refused by name before anything is built. (What no token could name does not even compile:
// tests/misuse.)
#include <qwengpu/stage/compiled_layers.hpp>

#include "support/catch.hpp"
#include "support/small_machine.hpp"

#include <string>

using namespace qwengpu;

namespace {

template <machine::sizes M>
std::string error_of(const nn::shape& shape) {
    try {
        const stage::compiled_layers<M> compiled(shape);
    } catch (const error& e) {
        return e.id() + ": " + e.message();
    }
    return "no error";
}

template <machine::sizes M>
std::string refusal(const nn::shape& shape) {
    try {
        (void)stage::require_fit<M>(shape);
    } catch (const error& e) {
        return e.id() + ": " + e.message();
    }
    return "no error";
}

bool begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

}  // namespace

TEST_CASE("the mission's machine fits Qwen3.5-2B, and a small one a small shape", "[stage]") {
    CHECK(refusal<machine::mission>(nn::qwen35_2b) == "no error");
    CHECK(refusal<test::small_machine>(test::small_shape) == "no error");
}

TEST_CASE("rows that keys cannot name", "[stage]") {
    nn::shape narrow = nn::qwen35_2b;
    narrow.key_dim = 64;
    CHECK(refusal<machine::mission>(narrow) == "stage.sizes: warps x registers need 128 rows of a head, and key_dim is 64; make the machine smaller or the keys wider");
    constexpr machine::sizes few_warps{.warps = 2};
    CHECK(begins(refusal<few_warps>(narrow), "stage.sizes: words of memory need 128 rows of a head, and key_dim is 64"));
    constexpr machine::sizes few_words{.warps = 2, .words = 64};
    CHECK(begins(refusal<few_words>(narrow), "stage.sizes: constants need 128 rows"));
    CHECK(begins(error_of<machine::mission>(narrow), "stage.sizes: warps x registers"));
}

TEST_CASE("local memory needs heads in the layer of the memories", "[stage]") {
    nn::shape fewer = nn::qwen35_2b;
    fewer.heads = fewer.value_heads = 15;
    CHECK(refusal<machine::mission>(fewer) == "stage.sizes: 48 words of local memory for each thread need 16 heads in the layer of the memories, and there are 15; take fewer words, warps or lanes, or wider keys");
    constexpr machine::sizes less{.local_words = 32};
    CHECK(refusal<less>(fewer) == "no error");
    constexpr machine::sizes more{.local_words = 52};
    CHECK(begins(refusal<more>(nn::qwen35_2b), "stage.sizes: 52 words of local memory for each thread need 20 heads"));
    constexpr machine::sizes few_warps{.warps = 2, .local_words = 128};
    CHECK(refusal<few_warps>(nn::qwen35_2b) == "no error");
    constexpr machine::sizes nothing{.local_words = 0};
    fewer.heads = fewer.value_heads = 4;
    CHECK(refusal<nothing>(fewer) == "no error");
}

TEST_CASE("shapes whose norms and heads are not those of the circuits", "[stage]") {
    const auto with = [](auto change) {
        nn::shape s = nn::qwen35_2b;
        change(s);
        return refusal<machine::mission>(s);
    };
    CHECK(begins(with([](nn::shape& s) { s.hidden = 1536; }), "stage.sizes: the compiled layers need a hidden size that is a multiple of 1024, not 1536"));
    CHECK(begins(with([](nn::shape& s) { s.hidden = 512; }), "stage.sizes: the compiled layers need a hidden size that is a multiple of 1024, not 512"));
    CHECK(begins(with([](nn::shape& s) { s.value_dim = 64; }), "stage.sizes: the compiled layers need a value_dim of 128, not 64"));
    CHECK(begins(with([](nn::shape& s) { s.value_heads = 32; }), "stage.sizes: the compiled layers need as many value heads as key heads, not 32 and 16"));
    CHECK(begins(with([](nn::shape& s) { s.conv = 3; }), "stage.sizes: the compiled layers need a convolution of at least 4 taps, not 3"));
    CHECK(with([](nn::shape& s) { s.conv = 5; }) == "no error");
}

TEST_CASE("layers and channels that do not suffice are found while the layers are built", "[stage]") {
    nn::shape few_units = test::small_shape, few_heads = test::small_shape;
    few_units.mlp = 1000;
    few_heads.heads = few_heads.value_heads = 6;
    CHECK(begins(error_of<test::small_machine>(few_units), "circuit.layer: layer "));
    CHECK(begins(error_of<test::small_machine>(few_heads), "circuit.layer: layer 0 needs "));
    constexpr machine::sizes many_warps{.lanes = 4, .warps = 8, .registers = 16, .words = 128, .constants = 128, .blocks = 1024};
    nn::shape narrow = nn::qwen35_2b;
    narrow.mlp = 4000;
    CHECK(begins(error_of<many_warps>(narrow), "circuit.layer: layer 6 needs "));
}
