// SPDX-License-Identifier: MIT
// What the slots of a block depend on (docs/machine.md, "Slots" and "Legal blocks"). Dependencies are by name: a source
// that an instruction reads counts, whatever its value does to the result.
#pragma once

#include <array>
#include <cstdint>

#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/instruction_table.hpp>

namespace qwengpu::machine {

/// A set of ports: bits 0-3 are R0-R3, bit 4 the special register.
using port_set = std::uint8_t;
inline constexpr port_set special_port = 0x10;

/// The slots in the order of a record.
inline constexpr std::array<slot, slot_count> all_slots{slot::branch, slot::store, slot::w4,
                                                        slot::w3,     slot::w2,    slot::w1};

/// The same where positions run lane by lane: what a lane loaded is written before it stores.
inline constexpr std::array<slot, slot_count> lane_major_slots{slot::branch, slot::w4, slot::w3,
                                                               slot::w2,     slot::w1, slot::store};

/// The order in which a record of this block writes its slots; of a lane-major block, for each lane anew.
constexpr const std::array<slot, slot_count>& record_order(const machine_block& b) {
    return b.lane_major ? lane_major_slots : all_slots;
}

/// The stage 1..4 whose value a slot writes to a register; 0 for branch and store.
constexpr int stage_of(slot s) { return s < slot::w4 ? 0 : slot_count - static_cast<int>(s); }

/// The slot in which the value of a stage 1..4 is written.
constexpr slot slot_of(int stage) { return static_cast<slot>(slot_count - stage); }

/// The register a slot writes; 0 for branch, store and a stage without destination.
constexpr int register_of(const machine_block& b, slot s) {
    return stage_of(s) == 0 ? 0 : b.dest[static_cast<std::size_t>(stage_of(s) - 1)];
}

/// Whether the block has this slot.
constexpr bool present(const machine_block& b, slot s) {
    if (s == slot::branch) return b.has_branch;
    if (s == slot::store) return b.has_store;
    return register_of(b, s) != 0;
}

namespace detail {

/// What a value is made of: ports, and bit 5 where a load is among it.
inline constexpr std::uint8_t from_load = 0x20;

/// The origins of every source of a block, indexed by `source`. Entries 12-15 (no source) stay empty.
using origin_table = std::array<std::uint8_t, 16>;

constexpr std::uint8_t origin(const origin_table& t, source s) { return t[static_cast<std::size_t>(s) & 15u]; }

constexpr std::uint8_t origin(const origin_table& t, const alu_instruction& i) {
    const std::uint8_t used = operands_of(i);
    unsigned set = 0;
    if (used & operand_a) set |= origin(t, i.a);
    if (used & operand_b) set |= origin(t, i.b);
    if (used & operand_c) set |= origin(t, i.c);
    return static_cast<std::uint8_t>(set);
}

/// A collective is made of R0; a private load and a shuffle differ from lane to lane.
constexpr std::uint8_t origin_of_load(const origin_table& t, const memory_instruction& m) {
    if (m.op == memory_op::none) return 0;
    unsigned set = from_load | origin(t, m.load_address) | origin(t, m.load_guard) | unsigned{origin(t, m.load_else)};
    if (is_collective(m.op)) set |= 1;
    if ((is_load(m.op) && m.is_private) || m.op == memory_op::shuffle) set |= special_port;
    return static_cast<std::uint8_t>(set);
}

constexpr origin_table origins(const machine_block& b) {
    origin_table t{0, 1, 2, 4, 8, 0, 0, special_port};
    const auto made = [&t](source s) -> std::uint8_t& { return t[static_cast<std::size_t>(s)]; };
    made(source::t1) = origin(t, b.s1);
    made(source::t2) = origin_of_load(t, b.mem);
    made(source::t3) = origin(t, b.s3);
    made(source::t4) = origin(t, b.s4);
    return t;
}

constexpr std::uint8_t origin_of_store(const origin_table& t, const memory_instruction& m) {
    unsigned set = unsigned{origin(t, m.store_address)} | origin(t, m.store_data);
    if (m.store_guarded) set |= origin(t, m.cond);
    if (m.is_private) set |= special_port;
    return static_cast<std::uint8_t>(set);
}

constexpr std::uint8_t origin_of_slot(const machine_block& b, const origin_table& t, slot s) {
    if (s == slot::branch) return origin(t, b.mem.cond);
    if (s == slot::store) return origin_of_store(t, b.mem);
    return t[static_cast<std::size_t>(source::t1) + static_cast<std::size_t>(stage_of(s) - 1)];
}

/// In a lane-major block every slot differs from lane to lane.
constexpr std::uint8_t origin(const machine_block& b, const origin_table& t, slot s) {
    return static_cast<std::uint8_t>(origin_of_slot(b, t, s) | (b.lane_major ? unsigned{special_port} : 0u));
}

}  // namespace detail

/// dep(slot): the ports that the slot's value depends on, through earlier stages too; also of a stage without destination.
constexpr port_set dependencies(const machine_block& b, slot s) {
    return static_cast<port_set>(detail::origin(b, detail::origins(b), s) & 0x1f);
}

/// Whether the slot depends on the block's load or collective.
constexpr bool depends_on_load(const machine_block& b, slot s) {
    return (detail::origin(b, detail::origins(b), s) & detail::from_load) != 0;
}

/// For each slot the union of the dependencies of the present slots from this one on.
constexpr std::array<port_set, slot_count> rest_of_dependencies(const machine_block& b) {
    const detail::origin_table t = detail::origins(b);
    std::array<port_set, slot_count> rest{};
    unsigned sum = 0;
    for (std::size_t i = slot_count; i-- > 0;) {
        if (present(b, all_slots[i])) sum |= detail::origin(b, t, all_slots[i]) & 0x1fu;
        rest[i] = static_cast<port_set>(sum);
    }
    return rest;
}

}  // namespace qwengpu::machine
