// SPDX-License-Identifier: MIT
// qwengpu stats: what the 45 layers are made of.
#include "commands.hpp"

#include <qwengpu/stage/compiled_layers.hpp>

#include <chrono>
#include <cstdint>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>

namespace cli {

namespace {

using nlohmann::ordered_json;
using layers = qwengpu::stage::compiled_layers<>;

/// Weights of one layer, zeros included: every tensor of a Gated DeltaNet layer of this shape.
std::int64_t parameters_of(const qwengpu::nn::shape& s) {
    const std::int64_t hidden = s.hidden, mlp = s.mlp, qkv = s.qkv_channels(), values = s.value_channels(), heads = s.value_heads;
    return 2 * hidden + hidden * (qkv + values + 2 * heads) + qkv * s.conv + 2 * heads + s.value_dim + values * hidden + 3 * hidden * mlp;
}

/// Bytes of a layer's state in fp32: the heads' memories, and the inputs that the convolution still sees.
std::int64_t state_bytes_of(const qwengpu::nn::shape& s) {
    return std::int64_t{4} * (std::int64_t{s.value_heads} * s.key_dim * s.value_dim + std::int64_t{s.qkv_channels()} * (s.conv - 1));
}

ordered_json shapes_json(const qwengpu::nn::shape& s) {
    return {{"hidden", s.hidden}, {"mlp", s.mlp}, {"heads", s.heads}, {"value_heads", s.value_heads}, {"key_dim", s.key_dim}, {"value_dim", s.value_dim}, {"conv", s.conv}};
}

ordered_json stats_json(const layers& built, double seconds) {
    const auto& s = built.shape();
    const auto count = static_cast<std::int64_t>(built.layers().size());
    ordered_json j{{"layers", count}, {"shape", shapes_json(s)}, {"parameters", count * parameters_of(s)}, {"nonzeros", 0}, {"state_bytes", count * state_bytes_of(s)},
                   {"vocabulary", qwengpu::text::vocabulary<>::size}, {"seconds_to_build", seconds}, {"passing_through", 0}, {"per_layer", ordered_json::array()}};
    std::size_t nonzeros = 0;
    int passing = 0;
    for (int i = 0; i < static_cast<int>(count); ++i) {
        const auto r = built.report(i);
        nonzeros += r.nonzeros;
        passing += r.passes_through() ? 1 : 0;
        j["per_layer"].push_back({{"layer", i}, {"part", qwengpu::stage::plan::part_of(i)}, {"levels", r.levels()}, {"hidden_units", r.hidden_units}, {"heads", r.heads}, {"live_channels", r.live_channels}, {"nonzeros", r.nonzeros}});
    }
    j["nonzeros"] = nonzeros;
    j["passing_through"] = passing;
    return j;
}

void print(const ordered_json& j) {
    const auto& s = j["shape"];
    fmt::print("{} layers of Gated DeltaNet and SwiGLU: hidden {}, MLP {}, {} heads of {} x {} state, convolution over {}\n", j["layers"].get<int>(), s["hidden"].get<int>(),
               s["mlp"].get<int>(), s["value_heads"].get<int>(), s["key_dim"].get<int>(), s["value_dim"].get<int>(), s["conv"].get<int>());
    fmt::print("{} parameters, {} of them not zero; {} bytes of state; {} tokens in the vocabulary\n", j["parameters"].get<std::int64_t>(),
               j["nonzeros"].get<std::int64_t>(), j["state_bytes"].get<std::int64_t>(), j["vocabulary"].get<int>());
    fmt::print("built in {:.2f} s; {} layers pass everything through\n", j["seconds_to_build"].get<double>(), j["passing_through"].get<int>());
    fmt::print("layer  part     levels  hidden units  heads  live channels  non-zeros\n");
    for (const auto& l : j["per_layer"])
        fmt::print("{:>5}  {:<7}  {:>6}  {:>12}  {:>5}  {:>13}  {:>9}{}\n", l["layer"].get<int>(), l["part"].get<std::string>(), l["levels"].get<int>(),
                   l["hidden_units"].get<int>(), l["heads"].get<int>(), l["live_channels"].get<int>(), l["nonzeros"].get<std::int64_t>(),
                   l["levels"].get<int>() == 0 ? "  passes everything through" : "");
}

}  // namespace

int stats(const stats_options& options) {
    const auto begin = std::chrono::steady_clock::now();
    const layers built;
    const auto j = stats_json(built, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (options.json) fmt::print("{}\n", j.dump(2));
    else print(j);
    return ok;
}

}  // namespace cli
