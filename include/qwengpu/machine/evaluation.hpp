// SPDX-License-Identifier: MIT
// What one lane makes of a block: the values of its four stages, and what it wants of memory and branch, from the state as
// it is. Nothing is changed here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/machine/lane_evaluation.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/state.hpp>
#include <qwengpu/machine/trap.hpp>

namespace qwengpu::machine {

/// The trap of an access, if it may not be done (docs/machine.md, "Addresses").
template <sizes M>
std::optional<trap_kind> fault_of(const launch_state<M>& state, std::uint32_t a, access_size size, bool is_private) {
    const auto word = static_cast<std::size_t>(address::word(a));
    const int window = address::window(a);
    if ((a & (bytes_of(size) - 1)) != 0) return trap_kind::misaligned;
    if ((a & address::between_mask) != 0) return trap_kind::out_of_bounds;
    if (window == address::local_window) {
        const bool there = is_private && word < static_cast<std::size_t>(M.local_words);
        return there ? std::nullopt : std::optional(trap_kind::out_of_bounds);
    }
    const auto& memory = window == address::shared_window ? state.shared : state.memory;
    if (window == 0 || word >= memory.size() || memory[word].window != window) return trap_kind::out_of_bounds;
    return std::nullopt;
}

/// The word that an access which may be done is to: a lane's own, the thread block's or the launch's.
template <class State>
auto& word_at(State& state, int warp, int lane, int window, int word) {
    const auto at = static_cast<std::size_t>(word);
    if (window == address::local_window) return state.warp(warp).lanes[static_cast<std::size_t>(lane)].local[at];
    return window == address::shared_window ? state.shared[at].value : state.memory[at].value;
}

/// What a load makes of the word that holds what it loads.
constexpr std::uint32_t loaded(memory_op op, std::uint32_t word, std::uint32_t a) {
    const std::uint32_t half = word >> ((a & 2u) * 8u), byte = word >> ((a & 3u) * 8u);
    switch (op) {
        case memory_op::load_u8: return byte & 0xffu;
        case memory_op::load_s8: return ((byte & 0xffu) ^ 0x80u) - 0x80u;
        case memory_op::load_u16: return half & 0xffffu;
        case memory_op::load_s16: return ((half & 0xffffu) ^ 0x8000u) - 0x8000u;
        default: return word;
    }
}

/// A special register of a lane. The shape of the thread block is in the constants.
template <sizes M>
std::uint32_t special_value(const launch_state<M>& state, special_register which, int warp, int lane) {
    const std::uint32_t shape = state.constant(constant_row::shape);
    const std::uint32_t x = (shape & 31u) + 1, y = ((shape >> 5) & 31u) + 1;
    const auto thread = static_cast<std::uint32_t>(warp * M.lanes + lane);
    switch (which) {
        case special_register::none: return 0;
        case special_register::tid_x: return thread % x;
        case special_register::tid_y: return thread / x % y;
        case special_register::tid_z: return thread / x / y;
        case special_register::laneid: return static_cast<std::uint32_t>(lane);
        case special_register::warpid: return static_cast<std::uint32_t>(warp);
        case special_register::thread: return thread;
    }
    return 0;
}

namespace detail {

/// Evaluates one block for one lane, stage by stage. `value_` holds what every source names, as far as it is made.
template <sizes M>
class lane_evaluator {
public:
    lane_evaluator(const machine_block& block, const launch_state<M>& state, int warp, int lane)
        : b_(block), state_(state), warp_(warp), lane_(lane) {
        const auto& registers = state.warp(warp).lanes[static_cast<std::size_t>(lane)].registers;
        for (std::size_t i = 0; i < 4; ++i)
            value_[static_cast<std::size_t>(source::r0) + i] = out_.ports[i] = registers[block.ports[i]];
        value_[static_cast<std::size_t>(source::special)] = out_.special =
            special_value(state, block.special, warp, lane);
    }

    lane_evaluation run() {
        make(source::t1, alu(b_.s1));
        make(source::t2, is_collective(b_.mem.op) ? collective() : load());
        make(source::t3, alu(b_.s3));
        make(source::t4, alu(b_.s4));
        store();
        out_.taken = b_.has_branch && condition();
        return out_;
    }

private:
    std::uint32_t value(source s) const { return value_[static_cast<std::size_t>(s) & 15u]; }

    void make(source s, std::uint32_t v) {
        value_[static_cast<std::size_t>(s)] = v;
        out_.t[static_cast<std::size_t>(s) - static_cast<std::size_t>(source::t1)] = v;
    }

    std::uint32_t operand(source s, const alu_instruction& i) const {
        if (s == source::imm) return static_cast<std::uint32_t>(static_cast<std::int16_t>(i.imm));
        if (s == source::constant) return state_.constant(i.imm & 0x7f);
        return value(s);
    }

    std::uint32_t alu(const alu_instruction& i) const {
        if (i.op == alu_op::none) return 0;
        return evaluate(i.op, operand(i.a, i), operand(i.b, i), operand(i.c, i), i.mod);
    }

    std::uint32_t load() {
        const memory_instruction& m = b_.mem;
        if (!is_load(m.op)) return 0;
        out_.loads = ((value(m.load_guard) & 1u) != 0) == m.load_sense;
        if (!out_.loads) return value(m.load_else);
        out_.load_address = value(m.load_address);
        out_.fault = fault_of<M>(state_, out_.load_address, size_of(m.op), m.is_private);
        if (out_.fault) return 0;
        const std::uint32_t a = out_.load_address;
        return loaded(m.op, word_at(state_, warp_, lane_, address::window(a), address::word(a)), a);
    }

    /// Register R0 of a lane of this warp.
    std::uint32_t r0_of(int lane) const {
        return state_.warp(warp_).lanes[static_cast<std::size_t>(lane)].registers[b_.ports[0]];
    }

    /// A value made of R0 of all lanes. The mask announced last is the record's.
    std::uint32_t collective() const {
        if (b_.mem.op == memory_op::shuffle) {
            const std::uint32_t from = value(b_.mem.load_address);
            return r0_of(from < static_cast<std::uint32_t>(M.lanes) ? static_cast<int>(from) : lane_);
        }
        std::uint32_t lanes = 0;
        for_each_lane(state_.warp(warp_).mask, [&](int lane) {
            const bool belongs = b_.mem.op == memory_op::match ? r0_of(lane) == r0_of(lane_) : ((r0_of(lane) & 1u) != 0) != b_.mem.load_sense;
            lanes |= belongs ? 1u << lane : 0u;
        });
        return lanes;
    }

    bool condition() const { return ((value(b_.mem.cond) & 1u) != 0) == b_.mem.sense; }

    void store() {
        out_.stores = b_.has_store && (!b_.mem.store_guarded || condition());
        if (!out_.stores) return;
        out_.store_address = value(b_.mem.store_address);
        out_.store_data = value(b_.mem.store_data);
        if (out_.fault) return;
        out_.fault = fault_of<M>(state_, out_.store_address, b_.mem.store_size, b_.mem.is_private);
        out_.fault_of_store = out_.fault.has_value();
    }

    const machine_block& b_;
    const launch_state<M>& state_;
    int warp_, lane_;
    std::array<std::uint32_t, 16> value_{};
    lane_evaluation out_{};
};

}  // namespace detail

/// Evaluates a block for a lane from the state as it is.
template <sizes M>
lane_evaluation evaluate_lane(const machine_block& block, const launch_state<M>& state, int warp, int lane) {
    return detail::lane_evaluator<M>(block, state, warp, lane).run();
}

}  // namespace qwengpu::machine
