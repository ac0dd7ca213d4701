// SPDX-License-Identifier: MIT
// Blocks as bits: six groups of 48 (docs/machine.md, "Encoding"). One description of the fields serves both directions.
// decode accepts exactly what encode makes from legal blocks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <qwengpu/error.hpp>
#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/dependencies.hpp>
#include <qwengpu/machine/legality.hpp>
#include <qwengpu/machine/sizes.hpp>

namespace qwengpu::machine {

/// The groups of a block, in the order of `group`; the upper 16 bits of each are 0.
using encoded_block = std::array<std::uint64_t, group_count>;

/// Names of the groups, in the order of `group`.
inline constexpr std::array<std::string_view, group_count> group_names{"H", "U", "S1", "M", "S3", "S4"};

/// The bit of group H that says that the block exists.
inline constexpr int valid_bit = 45;

namespace detail {

/// Puts fields into a group one after another, from bit 0 up.
struct field_writer {
    std::uint64_t bits = 0;
    int at = 0;

    template <class T>
    constexpr void operator()(const T& value, int width) {
        bits |= (static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << width) - 1)) << at;
        at += width;
    }
};

/// Takes them out again.
struct field_reader {
    std::uint64_t bits = 0;
    int at = 0;

    template <class T>
    constexpr void operator()(T& value, int width) {
        value = static_cast<T>((bits >> at) & ((std::uint64_t{1} << width) - 1));
        at += width;
    }
};

/// What group U says beside `taken`: which slots are there and what they depend on.
struct uniformity_fields {
    std::array<bool, slot_count> present{};
    std::array<port_set, slot_count> rest{};
};

template <class Field, class Block>
constexpr void header_fields(Field& field, Block& b) {
    for (auto& port : b.ports) field(port, 4);
    for (auto& dest : b.dest) field(dest, 4);
    field(b.next, 10);
    field(b.special, 3);
    field(b.valid, 1);
    field(b.lane_major, 1);
}

template <class Field, class Block>
constexpr void uniformity_group(Field& field, Block& b, auto& u) {
    field(b.taken, 10);
    for (auto& there : u.present) field(there, 1);
    for (auto& rest : u.rest) field(rest, 5);
}

template <class Field, class Instruction>
constexpr void alu_fields(Field& field, Instruction& i) {
    field(i.op, 6);
    field(i.a, 4);
    field(i.b, 4);
    field(i.c, 4);
    field(i.mod, 8);
    field(i.imm, 16);
}

template <class Field, class Instruction>
constexpr void memory_fields(Field& field, Instruction& m) {
    field(m.op, 4);
    field(m.load_address, 4);
    field(m.load_guard, 4);
    field(m.load_sense, 1);
    field(m.load_else, 4);
    field(m.store_address, 4);
    field(m.store_data, 4);
    field(m.store_guarded, 1);
    field(m.cond, 4);
    field(m.sense, 1);
    field(m.store_size, 2);
    field(m.is_private, 1);
    field(m.barrier, 1);
    field(m.barrier_id, 3);
    field(m.barrier_count, 4);
}

constexpr uniformity_fields uniformity_of(const machine_block& b) {
    uniformity_fields u{{}, rest_of_dependencies(b)};
    for (std::size_t i = 0; i < all_slots.size(); ++i) u.present[i] = present(b, all_slots[i]);
    return u;
}

/// The bits as a block, whatever they are.
constexpr machine_block read_block(const encoded_block& groups) {
    std::array<field_reader, group_count> in{};
    for (std::size_t g = 0; g < groups.size(); ++g) in[g].bits = groups[g];
    machine_block b;
    uniformity_fields u;
    header_fields(in[0], b);
    uniformity_group(in[1], b, u);
    alu_fields(in[2], b.s1);
    memory_fields(in[3], b.mem);
    alu_fields(in[4], b.s3);
    alu_fields(in[5], b.s4);
    b.has_branch = u.present[0];
    b.has_store = u.present[1];
    return b;
}

}  // namespace detail

/// The six groups of a block; all zero where there is none.
constexpr encoded_block encode(const machine_block& b) {
    if (!b.valid) return {};
    std::array<detail::field_writer, group_count> out{};
    const detail::uniformity_fields u = detail::uniformity_of(b);
    detail::header_fields(out[0], b);
    detail::uniformity_group(out[1], b, u);
    detail::alu_fields(out[2], b.s1);
    detail::memory_fields(out[3], b.mem);
    detail::alu_fields(out[4], b.s3);
    detail::alu_fields(out[5], b.s4);
    encoded_block groups{};
    for (std::size_t g = 0; g < groups.size(); ++g) groups[g] = out[g].bits;
    return groups;
}

/// Whether the groups hold a block at all.
constexpr bool is_valid(const encoded_block& groups) { return ((groups[0] >> valid_bit) & 1u) != 0; }

/// The block of six groups.
/// @throws error "machine.encoding" if reserved bits are set, the slots or dependencies in group U are not those of
///         the block, or the block is illegal. The message names the group or the violations.
template <sizes M = mission>
machine_block decode(const encoded_block& groups) {
    if (!is_valid(groups)) throw error("machine.encoding", "group H does not say that the block is valid");
    const machine_block b = detail::read_block(groups);
    std::string wrong;
    for (const std::string& what : violations<M>(b)) wrong += (wrong.empty() ? "" : "; ") + what;
    if (!wrong.empty()) throw error("machine.encoding", "an illegal block: " + wrong);
    const encoded_block again = encode(b);
    for (std::size_t g = 0; g < groups.size(); ++g)
        if (again[g] != groups[g])
            throw error("machine.encoding", "group " + std::string(group_names[g]) +
                                                " has reserved bits set, or names slots or dependencies that are not "
                                                "those of the block; encode the block again");
    return b;
}

}  // namespace qwengpu::machine
