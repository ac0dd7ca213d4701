// SPDX-License-Identifier: MIT
// One thread of the tests' PTX interpreter: call frames, registers, and operands read and written by type.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <qwengpu/ptx/ast.hpp>

#include "support/interpreter/integer.hpp"
#include "support/interpreter/memory.hpp"
#include "support/interpreter/value.hpp"

namespace qwengpu::test::interpreter {

struct extent {
    u32 x = 1, y = 1, z = 1;
    [[nodiscard]] u32 count() const { return x * y * z; }
};

/// A function that runs: where it is, its registers (four parts, for vector registers), its parameters and local variables.
struct frame {
    const ptx::function* code = nullptr;
    std::size_t pc = 0;
    std::vector<std::array<u64, 4>> registers{};
    std::map<u32, bytes> params{};     ///< .param variables by id
    std::map<u32, u64> locals{};       ///< .local variables: place in the thread's local memory
    const ptx::instruction* call = nullptr;  ///< of the caller

    explicit frame(const ptx::function& f) : code(&f), registers(f.registers.size()) {}
};

enum class thread_state : std::uint8_t { running, at_barrier, exited };

struct thread {
    u32 linear = 0, lane = 0, warp = 0;
    extent id{};
    thread_state state = thread_state::running;
    std::vector<frame> frames{};
    memory local{};
    u64 local_used = 0;
    bool carry = false;
    u64 barrier = 0, barrier_count = 0;
    bool barrier_value = false;              ///< bar.red: this thread's predicate
    const ptx::instruction* barrier_at = nullptr;

    [[nodiscard]] frame& top() { return frames.back(); }
    [[nodiscard]] const frame& top() const { return frames.back(); }
    [[nodiscard]] const ptx::instruction& next() const { return top().code->code[top().pc]; }

    /// Where the thread stands, outermost call first; threads of a warp that stand at the same place run together.
    [[nodiscard]] std::vector<std::size_t> where() const {
        std::vector<std::size_t> w;
        for (const frame& f : frames) w.insert(w.end(), {reinterpret_cast<std::uintptr_t>(f.code), f.pc});
        return w;
    }
};

/// What all threads of a thread block see.
struct block_context {
    const ptx::parsed_module* module = nullptr;
    memory* global = nullptr;
    memory shared{};
    std::map<u32, u64> module_addresses{};                          ///< of module variables (shared: offset)
    std::map<std::pair<const ptx::function*, u32>, u64> shared_addresses{};  ///< of .shared variables of functions
    extent grid{}, block{}, at{};
    u64 shared_bytes = 0, dynamic_bytes = 0;
};

inline int part_of(const ptx::operand& o) { return o.part == 'y' ? 1 : o.part == 'z' ? 2 : o.part == 'w' ? 3 : 0; }

inline u64 special_value(const block_context& c, const thread& t, ptx::sreg r) {
    using ptx::sreg;
    const u32 lane_bit = 1U << t.lane;
    switch (r) {
        case sreg::tid_x: return t.id.x;
        case sreg::tid_y: return t.id.y;
        case sreg::tid_z: return t.id.z;
        case sreg::ntid_x: return c.block.x;
        case sreg::ntid_y: return c.block.y;
        case sreg::ntid_z: return c.block.z;
        case sreg::ctaid_x: return c.at.x;
        case sreg::ctaid_y: return c.at.y;
        case sreg::ctaid_z: return c.at.z;
        case sreg::nctaid_x: return c.grid.x;
        case sreg::nctaid_y: return c.grid.y;
        case sreg::nctaid_z: return c.grid.z;
        case sreg::laneid: return t.lane;
        case sreg::warpid: return t.warp;
        case sreg::nwarpid: return (c.block.count() + 3) / 4;
        case sreg::warp_size: return 4;
        case sreg::lanemask_eq: return lane_bit;
        case sreg::lanemask_lt: return lane_bit - 1;
        case sreg::lanemask_le: return 2 * lane_bit - 1;
        case sreg::lanemask_ge: return u32{0} - lane_bit;
        case sreg::lanemask_gt: return u32{0} - 2 * lane_bit;
        case sreg::dynamic_smem_size: return c.dynamic_bytes;
        case sreg::total_smem_size: return c.shared_bytes;
        case sreg::envreg: return 0;
        default: throw fault("special register " + std::string(ptx::name_of(r)));
    }
}

/// The address of a variable in its own space, or of a function.
inline u64 address_of(const block_context& c, const thread& t, const ptx::symbol& s) {
    if (s.kind == ptx::symbol_kind::function) return function_window + u64{s.id} * 64;
    if (s.kind == ptx::symbol_kind::module_variable) return c.module_addresses.at(s.id);
    const frame& f = t.top();
    const ptx::variable& v = f.code->variables[s.id];
    if (v.space == ptx::state_space::local) return f.locals.at(s.id);
    if (v.space == ptx::state_space::shared) return c.shared_addresses.at({f.code, s.id});
    return param_window + (u64{s.id} << 16);
}

/// The bits of an operand that is a number, cut to the width of `type`.
inline u64 read(const block_context& c, const thread& t, const ptx::operand& o, scalar_type type) {
    using ptx::operand_kind;
    const auto& registers = t.top().registers;
    switch (o.kind) {
        case operand_kind::reg: return cut(registers[o.id][static_cast<std::size_t>(part_of(o))] ^ (o.negated ? 1U : 0U), type);
        case operand_kind::special: return special_value(c, t, o.special);
        case operand_kind::integer:
        case operand_kind::f32_bits: return cut(static_cast<u64>(o.value), type);
        case operand_kind::symbol_value: return cut(address_of(c, t, o.sym) + static_cast<u64>(o.value), type);
        case operand_kind::vector: {
            u64 value = 0;
            const int width = ptx::bits_of(type) / static_cast<int>(o.items.size());
            for (std::size_t k = 0; k < o.items.size(); ++k)
                value |= (read(c, t, o.items[k], scalar_type::b64) & mask_of(width)) << (static_cast<int>(k) * width);
            return value;
        }
        default: throw fault("operand");
    }
}

/// Writes bits to a register (or, split in equal parts, to a vector of them); a narrower value leaves zeros above.
inline void write(thread& t, const ptx::operand& o, scalar_type type, u64 value) {
    using ptx::operand_kind;
    if (o.kind == operand_kind::sink) return;
    if (o.kind == operand_kind::vector) {
        const int width = ptx::bits_of(type) / static_cast<int>(o.items.size());
        for (std::size_t k = 0; k < o.items.size(); ++k) {
            if (o.items[k].kind == operand_kind::sink) continue;
            t.top().registers[o.items[k].id][static_cast<std::size_t>(part_of(o.items[k]))] = (value >> (static_cast<int>(k) * width)) & mask_of(width);
        }
        return;
    }
    if (o.kind != operand_kind::reg) throw fault("result is no register");
    const scalar_type declared = t.top().code->registers[o.id].type;
    t.top().registers[o.id][static_cast<std::size_t>(part_of(o))] = cut(cut(value, type == scalar_type::none ? declared : type), declared);
}

}  // namespace qwengpu::test::interpreter
