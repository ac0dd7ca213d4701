// SPDX-License-Identifier: MIT
// All 45 compiled layers: every tensor present with the shape it has in Qwen3.5-2B's checkpoint, every weight a bf16 number, no two
// live signals on a channel, and a report that counts what is there.
#include <qwengpu/stage/compiled_layers.hpp>

#include "support/catch.hpp"
#include "support/channel_use.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace qwengpu;

namespace {

const stage::compiled_layers<>& mission() {
    static const stage::compiled_layers<> compiled;
    return compiled;
}

/// A finite number whose lower half is empty.
bool is_bf16(float x) { return std::isfinite(x) && (std::bit_cast<std::uint32_t>(x) & 0xffffU) == 0; }

/// The first weight that is none, in words; empty if all are.
std::string no_bf16(const nn::sparse_matrix& m) {
    for (const auto& t : m.triplets())
        if (!is_bf16(t.value)) return std::to_string(t.value) + " at " + std::to_string(t.row) + ", " + std::to_string(t.col);
    return {};
}
template <class Tensor>
std::string no_bf16_dense(const Tensor& tensor) {
    for (Eigen::Index i = 0; i < tensor.size(); ++i)
        if (!is_bf16(tensor.data()[i])) return std::to_string(tensor.data()[i]) + " at " + std::to_string(i);
    return {};
}

template <class Matrix>
std::vector<int> extent(const Matrix& m) { return {static_cast<int>(m.rows()), static_cast<int>(m.cols())}; }

}  // namespace

TEST_CASE("there are 45 layers", "[stage]") { CHECK(mission().layers().size() == 45); }

TEST_CASE("every tensor has the shape of Qwen3.5-2B's linear-attention layer", "[stage]") {
    for (const auto& w : mission().layers()) {
        CHECK(w.input_norm.size() == 2048);
        CHECK(w.post_norm.size() == 2048);
        CHECK(extent(w.mixer.in_proj_qkv) == std::vector{6144, 2048});
        CHECK(extent(w.mixer.in_proj_z) == std::vector{2048, 2048});
        CHECK(extent(w.mixer.in_proj_b) == std::vector{16, 2048});
        CHECK(extent(w.mixer.in_proj_a) == std::vector{16, 2048});
        CHECK(extent(w.mixer.conv) == std::vector{6144, 4});
        CHECK(w.mixer.dt_bias.size() == 16);
        CHECK(w.mixer.a_log.size() == 16);
        CHECK(w.mixer.norm.size() == 128);
        CHECK(extent(w.mixer.out_proj) == std::vector{2048, 2048});
        CHECK(extent(w.mlp.gate) == std::vector{6144, 2048});
        CHECK(extent(w.mlp.up) == std::vector{6144, 2048});
        CHECK(extent(w.mlp.down) == std::vector{2048, 6144});
    }
}

TEST_CASE("every weight is a bf16 number, also A_log, dt_bias and the gated norm", "[stage]") {
    for (std::size_t layer = 0; layer < mission().layers().size(); ++layer) {
        CAPTURE(layer);
        const auto& w = mission().layers()[layer];
        for (const auto* m : {&w.mixer.in_proj_qkv, &w.mixer.in_proj_z, &w.mixer.in_proj_b, &w.mixer.in_proj_a, &w.mixer.out_proj, &w.mlp.gate, &w.mlp.up, &w.mlp.down})
            CHECK(no_bf16(*m) == "");
        for (const auto* v : {&w.input_norm, &w.post_norm, &w.mixer.dt_bias, &w.mixer.a_log, &w.mixer.norm}) CHECK(no_bf16_dense(*v) == "");
        CHECK(no_bf16_dense(w.mixer.conv) == "");
    }
}

TEST_CASE("no two live signals share a channel", "[stage]") {
    const auto shape = nn::qwen35_2b;
    circuit::network net(stage::plan::layers);
    (void)stage::build_pipeline<machine::mission>(net, shape);
    const int reserved = stage::code_channels(shape).end;
    const auto allocation = circuit::allocate(net, shape.hidden, reserved);
    const auto found = test::channel_violations(net, allocation, shape.hidden, reserved);
    for (const auto& text : found) UNSCOPED_INFO(text);
    CHECK(found.empty());
    CHECK(allocation.channels <= 2048);
}

TEST_CASE("the report counts what the tensors hold", "[stage]") {
    const auto& compiled = mission();
    for (int layer = 0; layer < 45; ++layer) {
        const auto report = compiled.report(layer);
        const auto& w = compiled.layers()[static_cast<std::size_t>(layer)];
        CAPTURE(layer);
        std::size_t entries = 0;
        for (const auto* m : {&w.mixer.in_proj_qkv, &w.mixer.in_proj_z, &w.mixer.in_proj_b, &w.mixer.in_proj_a, &w.mixer.out_proj, &w.mlp.gate, &w.mlp.up, &w.mlp.down})
            entries += m->triplets().size();
        CHECK(report.nonzeros == entries);
        // Units that have a row of gates, heads that have a beta.
        std::vector<bool> rows(6144);
        for (const auto& t : w.mlp.up.triplets()) rows[static_cast<std::size_t>(t.row)] = true;
        CHECK(report.hidden_units == std::count(rows.begin(), rows.end(), true));
        CHECK(report.heads == static_cast<int>(w.mixer.in_proj_b.nonzeros()));
        CHECK(report.live_channels <= 2048);
        CHECK(report.passes_through() == (entries == 0));
    }
}

TEST_CASE("every layer works, within the hidden units and heads there are", "[stage]") {
    for (int layer = 0; layer < 45; ++layer) {
        const auto report = mission().report(layer);
        CAPTURE(layer, report.hidden_units, report.heads);
        CHECK_FALSE(report.passes_through());
        CHECK(report.hidden_units <= 6144);
        CHECK(report.heads <= 16);
    }
}
