// SPDX-License-Identifier: MIT
// The element types of the safetensors format, and numbers of the three that models are stored in: F32, BF16, F16.
#pragma once

#include <qwengpu/nn/bf16.hpp>

#include <Eigen/Core>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

namespace qwengpu::checkpoint {

/// Element types, from the smallest rank to the largest: files list their tensors by descending rank.
enum class element_type : std::uint8_t { boolean, u8, i8, f8_e5m2, f8_e4m3, i16, u16, f16, bf16, i32, u32, f32, f64, i64, u64 };

struct element_row {
    element_type id;
    std::string_view name;
    int bits;
};

inline constexpr std::array<element_row, 15> element_types = {{
    {element_type::boolean, "BOOL", 8}, {element_type::u8, "U8", 8},       {element_type::i8, "I8", 8},
    {element_type::f8_e5m2, "F8_E5M2", 8}, {element_type::f8_e4m3, "F8_E4M3", 8}, {element_type::i16, "I16", 16},
    {element_type::u16, "U16", 16},     {element_type::f16, "F16", 16},    {element_type::bf16, "BF16", 16},
    {element_type::i32, "I32", 32},     {element_type::u32, "U32", 32},    {element_type::f32, "F32", 32},
    {element_type::f64, "F64", 64},     {element_type::i64, "I64", 64},    {element_type::u64, "U64", 64},
}};

constexpr const element_row& row(element_type t) { return element_types[static_cast<std::size_t>(t)]; }
constexpr std::size_t bytes_of(element_type t) { return static_cast<std::size_t>(row(t).bits) / 8; }

constexpr std::optional<element_type> element_type_named(std::string_view name) {
    for (const auto& r : element_types)
        if (r.name == name) return r.id;
    return std::nullopt;
}

/// Whether `to_floats` and `from_floats` know the type.
constexpr bool is_model_type(element_type t) { return t == element_type::f32 || t == element_type::bf16 || t == element_type::f16; }

/// Numbers stored as bytes of type t (F32, BF16 or F16; little-endian, at any address) as floats, exactly.
/// `to` holds bytes.size() / bytes_of(t) floats.
inline void to_floats(element_type t, std::span<const std::byte> bytes, float* to) {
    if (t == element_type::f32) {
        std::memcpy(to, bytes.data(), bytes.size());
        return;
    }
    for (std::size_t i = 0; 2 * i + 1 < bytes.size(); ++i) {
        std::uint16_t half = 0;
        std::memcpy(&half, bytes.data() + 2 * i, 2);
        to[i] = t == element_type::bf16 ? nn::bf16_to_float(half) : static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(half));
    }
}

/// Floats rounded to the nearest number of type t (F32, BF16 or F16), as bytes. `to` holds from.size() * bytes_of(t).
inline void from_floats(element_type t, std::span<const float> from, std::byte* to) {
    if (t == element_type::f32) {
        std::memcpy(to, from.data(), from.size_bytes());
        return;
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
        const auto half = t == element_type::bf16 ? nn::float_to_bf16(from[i]) : Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(from[i]));
        std::memcpy(to + 2 * i, &half, 2);
    }
}

}  // namespace qwengpu::checkpoint
