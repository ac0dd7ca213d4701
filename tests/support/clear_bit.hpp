// SPDX-License-Identifier: MIT
// A level of a channel as the bit it has to be.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

namespace qwengpu::test {

/// Throws if the level is not within a quarter of 0 or 1, whatever bit it would round to.
inline bool clear_bit(float level, const std::string& name) {
    const bool bit = level > 0.5F;
    if (!(std::abs(level - (bit ? 1.0F : 0.0F)) < 0.25F)) throw std::runtime_error("'" + name + "' is " + std::to_string(level) + ", which is no bit");
    return bit;
}

}  // namespace qwengpu::test
