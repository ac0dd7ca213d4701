// SPDX-License-Identifier: MIT
// What the commands that write checkpoints have in common: how far they are, and the name of an element type.
#pragma once

#include "progress.hpp"

#include <qwengpu/checkpoint/element_type.hpp>

#include <cstdint>
#include <fmt/format.h>
#include <string>

namespace cli {

/// Shows "12 of 345 MB" on a line, which must outlive it.
inline auto shown_on(progress& line) {
    return [&line](std::uint64_t done, std::uint64_t total) { line.show(fmt::format("{} of {} MB", done / 1'000'000, total / 1'000'000)); };
}

/// Of "fp32", "fp16" or "bf16".
inline qwengpu::checkpoint::element_type element_type_of(const std::string& dtype) {
    using qwengpu::checkpoint::element_type;
    return dtype == "fp32" ? element_type::f32 : dtype == "fp16" ? element_type::f16 : element_type::bf16;
}

}  // namespace cli
