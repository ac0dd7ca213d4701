// SPDX-License-Identifier: MIT
// What lowering one PTX instruction needs: its operands as 32-bit values or pairs, its destinations (a guard selects the old
// value), code of our own, and a list of what cannot be lowered. A 16-bit register is a word whose upper half is anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/ptx/flow.hpp>
#include <qwengpu/ptx/ir_simplify.hpp>
#include <qwengpu/ptx/ssa.hpp>

namespace qwengpu::ptx {

/// A 64-bit value as two words.
struct wide {
    ir::operand lo{}, hi{};
};

class lowering {
public:
    using op = machine::alu_op;

    lowering(const flow& fl, ir::function& f, diagnostics& wrong) : flow_(fl), f_(f), ssa_(f), wrong_(wrong) {}

    // The instruction in hand.
    void begin(ir::block_id b, std::uint32_t frame_id, const instruction& i) {
        block_ = b;
        frame_ = frame_id;
        now_ = &i;
        source_ = static_cast<std::uint32_t>(f_.sources.size());
        f_.sources.push_back({static_cast<int>(i.where.line), static_cast<int>(i.cuda.line), static_cast<int>(i.cuda.file)});
    }
    [[nodiscard]] const instruction& now() const { return *now_; }
    [[nodiscard]] std::uint32_t source() const { return source_; }
    [[nodiscard]] std::uint32_t frame_id() const { return frame_; }
    [[nodiscard]] const frame& frame_of(std::uint32_t id) const { return flow_.frames[id]; }
    [[nodiscard]] const function& code() const { return *flow_.frames[frame_].code; }
    [[nodiscard]] const parsed_module& module() const { return *flow_.module; }
    [[nodiscard]] ssa_builder& ssa() { return ssa_; }

    /// Adds the instruction to the list of those that cannot be lowered; `why` ends with what to do instead.
    void refuse(const std::string& why) {
        if (std::exchange(refused_, now_) != now_) wrong_.add("ptx.unsupported", now_->where, now_->full_name() + ": " + why);
    }

    // Code of our own.
    ir::operand emit(ir::instruction i) {
        i.source = source_;
        if (const auto same = ir::simplify(f_, i)) return *same;
        const ir::value_id v = f_.add(i);
        f_.blocks[block_].body.push_back(v);
        return ir::value(v);
    }
    ir::operand emit(op o, ir::operand a, ir::operand b = {}, ir::operand c = {}, unsigned mod = 0) {
        ir::instruction i;
        i.op = o;
        i.mod = static_cast<std::uint8_t>(mod);
        i.a = a;
        i.b = b;
        i.c = c;
        return emit(i);
    }
    ir::operand emit_wide(ir::made_by kind, wide x, wide y, unsigned mod = 0) {
        ir::instruction i;
        i.kind = kind;
        i.mod = static_cast<std::uint8_t>(mod);
        i.a = x.lo;
        i.b = x.hi;
        i.c = y.lo;
        i.d = y.hi;
        return emit(i);
    }
    ir::operand add(ir::operand a, ir::operand b) { return emit(op::add, a, b); }
    ir::operand sub(ir::operand a, ir::operand b) { return emit(op::add, a, b, {}, machine::mod::add_subtract); }
    ir::operand logic(unsigned table, ir::operand a, ir::operand b, ir::operand c = ir::zero) { return emit(op::lop, a, b, c, table); }
    ir::operand both(ir::operand a, ir::operand b) { return logic(ir::table::and_ab, a, b); }
    ir::operand either(ir::operand a, ir::operand b) { return logic(ir::table::or_ab, a, b); }
    ir::operand invert(ir::operand a) { return logic(ir::table::not_a, a, ir::zero); }
    ir::operand shift_left(ir::operand a, ir::operand n) { return emit(op::shl, a, n); }
    ir::operand shift_right(ir::operand a, ir::operand n) { return emit(op::shr, a, n); }
    ir::operand shift_right_signed(ir::operand a, ir::operand n) { return emit(op::sar, a, n); }
    ir::operand sign_of(ir::operand a) { return shift_right_signed(a, ir::literal(31)); }
    ir::operand compare(unsigned mod, ir::operand a, ir::operand b) { return emit(op::cmp, a, b, {}, mod); }
    ir::operand select(ir::operand condition, ir::operand yes, ir::operand no) { return emit(op::sel, yes, no, condition); }
    ir::operand multiply(ir::operand a, ir::operand b, ir::operand c = ir::zero, unsigned mod = 0) { return emit(op::mul, a, b, c, mod); }

    /// A word whose low 8, 16 or 32 bits hold a number of this type, extended to all 32 bits.
    ir::operand extend(ir::operand x, scalar_type t) {
        const int bits = bits_of(t);
        if (bits >= 32) return x;
        if (!is_signed(t)) return both(x, ir::literal((1U << bits) - 1));
        const ir::operand by = ir::literal(static_cast<std::uint32_t>(32 - bits));
        return shift_right_signed(shift_left(x, by), by);
    }

    // Operands.
    /// Any operand that is a value, as a pair; the high word of a register of 32 bits is 0.
    wide read_wide(const operand& o) {
        switch (o.kind) {
            case operand_kind::reg: return read_register(o);
            case operand_kind::integer: case operand_kind::f32_bits: case operand_kind::f64_bits:
                return {ir::literal(static_cast<std::uint32_t>(o.value)), ir::literal(static_cast<std::uint32_t>(static_cast<std::uint64_t>(o.value) >> 32))};
            case operand_kind::special: return {read_special(o), ir::zero};
            case operand_kind::symbol_value:
                refuse("the address of " + std::string(o.text) + " is not known here: only buffers passed as parameters are in memory; pass a pointer instead");
                return {ir::zero, ir::zero};
            default: refuse("this form of operand is not supported; write it with registers"); return {ir::zero, ir::zero};
        }
    }
    ir::operand read(const operand& o) { return read_wide(o).lo; }
    /// Operand n as a word of the instruction's type, extended if that is 16 bits.
    ir::operand word(std::size_t n) { return extend(read(now_->operands[n]), now_->type()); }
    ir::operand raw_word(std::size_t n) { return read(now_->operands[n]); }
    wide pair(std::size_t n) { return read_wide(now_->operands[n]); }
    /// A predicate as 0 or 1.
    ir::operand predicate(const operand& o) {
        const ir::operand p = read(o);
        return o.negated ? logic(ir::table::xor_ab, p, ir::literal(1)) : p;
    }

    // Destinations.
    void write(const operand& d, ir::operand x) { write(d, {x, ir::zero}); }
    void write(const operand& d, wide x) {
        if (d.kind == operand_kind::sink) return;
        if (d.kind != operand_kind::reg || d.part != 0) return refuse("this form of destination is not supported; write to a scalar register");
        write_variable(register_variable(d.id), x.lo);
        if (is_wide(d)) write_variable(register_variable(d.id) + 1, x.hi);
    }
    void result(ir::operand x) { write(now_->operands[0], x); }
    void result(wide x) { write(now_->operands[0], x); }
    [[nodiscard]] bool is_wide(const operand& o) const {
        return o.kind == operand_kind::reg && bits_of(code().registers[o.id].type) == 64;
    }

    /// The guard of the instruction, if it has one, for instructions that carry it themselves.
    [[nodiscard]] ir::operand guard() {
        if (!now_->predicate) return {};
        return ssa_.read(block_, register_variable(now_->predicate->reg));
    }
    [[nodiscard]] bool guard_sense() const { return now_->predicate && !now_->predicate->negated; }

    // Variables below the level of operands.
    ir::operand read_variable(std::uint32_t variable) { return ssa_.read(block_, variable); }
    /// The operand, if it is a parameter of the kernel, is a pointer.
    void mark_pointer(const ir::operand& o) {
        if (o.kind == ir::from::parameter && (o.bits & 0xffffU) == 0) f_.pointers[o.bits >> 16] = true;
    }
    /// Writes a variable; under a guard the old value stays where it does not hold.
    void write_variable(std::uint32_t variable, ir::operand x) {
        if (now_->predicate) {
            const ir::operand old = ssa_.read(block_, variable);
            x = now_->predicate->negated ? select(guard(), old, x) : select(guard(), x, old);
        }
        ssa_.write(block_, variable, x);
    }
    void write_unguarded(std::uint32_t variable, ir::operand x) { ssa_.write(block_, variable, x); }
    [[nodiscard]] std::uint32_t register_variable(std::uint32_t reg) const { return variable_of(frame_, reg); }
    [[nodiscard]] std::uint32_t variable_of(std::uint32_t fr, std::uint32_t reg) const { return 2 * (flow_.frames[fr].first_register + reg); }
    /// The carry flag of add.cc and its kin.
    [[nodiscard]] static constexpr std::uint32_t carry_flag() { return 0x7fffffffU; }

    /// The variable behind a place in a .param variable of a function; `bytes_at(fr, id)` lists the places that have one.
    std::uint32_t parameter_variable(std::uint32_t fr, std::uint32_t id, std::uint32_t offset) {
        auto& places = parameter_places_[{fr, id}];
        const auto [at, fresh] = places.try_emplace(offset, next_place_);
        if (fresh) ++next_place_;
        return at->second;
    }
    [[nodiscard]] std::map<std::uint32_t, std::uint32_t> places_of(std::uint32_t fr, std::uint32_t id) const {
        const auto found = parameter_places_.find({fr, id});
        return found == parameter_places_.end() ? std::map<std::uint32_t, std::uint32_t>{} : found->second;
    }

private:
    wide read_register(const operand& o) {
        if (o.part != 0) refuse("vector registers are not supported; use scalar registers");
        const std::uint32_t v = register_variable(o.id);
        return {ssa_.read(block_, v), is_wide(o) ? ssa_.read(block_, v + 1) : ir::zero};
    }

    ir::operand read_special(const operand& o) {
        using machine::special_register;
        const auto n = [&](sreg first) { return static_cast<int>(o.special) - static_cast<int>(first); };
        const auto lane_bit = [&] { return shift_left(ir::literal(1), ir::special(special_register::laneid)); };
        const ir::operand all = ir::literal((1U << machine::mission.lanes) - 1);
        switch (o.special) {
            case sreg::tid_x: return ir::special(special_register::tid_x);
            case sreg::tid_y: return ir::special(special_register::tid_y);
            case sreg::tid_z: return ir::special(special_register::tid_z);
            case sreg::ntid_x: case sreg::ntid_y: case sreg::ntid_z: return ir::row(machine::constant_row::ntid + n(sreg::ntid_x));
            case sreg::ctaid_x: case sreg::ctaid_y: case sreg::ctaid_z: return ir::row(machine::constant_row::ctaid + n(sreg::ctaid_x));
            case sreg::nctaid_x: case sreg::nctaid_y: case sreg::nctaid_z:
                return ir::row(machine::constant_row::nctaid + n(sreg::nctaid_x));
            case sreg::laneid: return ir::special(special_register::laneid);
            case sreg::warpid: return ir::special(special_register::warpid);
            case sreg::nwarpid: return warps();
            case sreg::warp_size: return ir::literal(static_cast<std::uint32_t>(machine::mission.lanes));
            case sreg::lanemask_eq: return lane_bit();
            case sreg::lanemask_lt: return sub(lane_bit(), ir::literal(1));
            case sreg::lanemask_le: return sub(shift_left(lane_bit(), ir::literal(1)), ir::literal(1));
            case sreg::lanemask_ge: return both(sub(ir::zero, lane_bit()), all);
            case sreg::lanemask_gt: return both(sub(ir::zero, shift_left(lane_bit(), ir::literal(1))), all);
            default: break;
        }
        refuse("the special register " + std::string(o.text) + " is not there on this machine; do without it");
        return ir::zero;
    }

    /// Threads / lanes, rounded up; the shape row holds threads - 1 from bit 10 on.
    ir::operand warps() {
        const auto shift = static_cast<std::uint32_t>(10 + machine::bits_for(machine::mission.lanes));
        return add(shift_right(ir::row(machine::constant_row::shape), ir::literal(shift)), ir::literal(1));
    }

    const flow& flow_;
    ir::function& f_;
    ssa_builder ssa_;
    diagnostics& wrong_;
    ir::block_id block_ = 0;
    std::uint32_t frame_ = 0, source_ = 0, next_place_ = 0x80000000U;
    const instruction *now_ = nullptr, *refused_ = nullptr;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::uint32_t>> parameter_places_;
};

}  // namespace qwengpu::ptx
