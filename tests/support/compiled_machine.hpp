// SPDX-License-Identifier: MIT
// The mission's machine compiled into layers, built once for a whole test program, and models that run it on the sparse engine.
#pragma once

#include <qwengpu/launch/machine_model.hpp>
#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/nn/rounding.hpp>
#include <qwengpu/stage/compiled_layers.hpp>

namespace qwengpu::test {

inline const stage::compiled_layers<>& compiled_machine() {
    static const stage::compiled_layers<> compiled;
    return compiled;
}

template <nn::rounding R = nn::fp32>
const machine_model<machine::mission, R>& sparse_machine() {
    static const auto model = on_sparse_engine<R>(compiled_machine());
    return model;
}

}  // namespace qwengpu::test
