// SPDX-License-Identifier: MIT
// What the residual's channels hold during random launches of everything the machine has: whole numbers that are never negative after a
// layer. A channel that is used again is wiped by silu(128 x), which lets nothing below 0 through.
#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/random_program.hpp"

#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/text/prompt.hpp>
#include <qwengpu/text/transcribe.hpp>

#include <cmath>
#include <string>

using namespace qwengpu;
using namespace qwengpu::test;

namespace {

/// The name of a signal that was born and is on this channel.
std::string name_of(int channel, int layer) {
    std::string names;
    for (const auto& s : compiled_machine().net().signals())
        if (s.channel == channel && s.born / 2 <= layer) names += (names.empty() ? "" : ", ") + s.name;
    return names;
}

}  // namespace

TEST_CASE("no channel is left negative, and all hold whole numbers", "[stage]") {
    const auto& compiled = compiled_machine();
    const nn::sparse_model<nn::fp32> model(compiled.layers(), compiled.shape());
    std::string wrong;
    int passes = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const auto image = random_launch<machine::mission>(seed, {.mix_ports = true});
        auto tokens = text::prompt_of(image);
        text::transcriber<> written;
        (void)machine::emulate(image, written, 40);
        tokens.insert(tokens.end(), written.tokens().begin(), written.tokens().end());
        auto state = model.new_state();
        nn::vector residual = nn::vector::Zero(compiled.shape().hidden);
        for (const auto t : tokens) {
            residual.setZero();
            compiled.code().write(t, residual);
            ++passes;
            model.step(state, residual, [&](int layer, nn::point point, const auto& x) {
                if (point != nn::point::after_mlp || layer == 44 || !wrong.empty()) return;
                for (int c = 0; c < x.rows(); ++c) {
                    const float v = x(c, 0);
                    if (v > -0.25F && (v > 100.0F || std::abs(v - std::round(v)) < 0.25F)) continue;
                    const auto name = name_of(c, layer);
                    if (name.find(".ratio") == std::string::npos) wrong = name + " is " + std::to_string(v) + " after layer " + std::to_string(layer);
                }
            });
        }
    }
    INFO(wrong);
    CHECK(wrong.empty());
    CHECK(passes > 2000);
}
