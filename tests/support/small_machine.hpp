// SPDX-License-Identifier: MIT
// A small machine in a small shape of the same model, for passes on the dense engine that the mission's shape makes slow.
#pragma once

#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/nn/shape.hpp>
#include <qwengpu/stage/compiled_layers.hpp>

namespace qwengpu::test {

inline constexpr machine::sizes small_machine{.lanes = 2, .warps = 2, .registers = 8, .words = 16, .local_words = 8, .constants = 32, .blocks = 32};

inline constexpr nn::shape small_shape{.hidden = 1024, .mlp = 6144, .heads = 12, .value_heads = 12, .key_dim = 32};

inline const stage::compiled_layers<small_machine>& compiled_small_machine() {
    static const stage::compiled_layers<small_machine> compiled(small_shape);
    return compiled;
}

}  // namespace qwengpu::test
