// SPDX-License-Identifier: MIT
// What lowering one PTX instruction needs: its operands as 32-bit values or pairs, its destinations (a guard selects the old
// value), code of our own, and a list of what cannot be lowered. A 16-bit register is a word whose upper half is anything.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/ptx/absent_register.hpp>
#include <qwengpu/ptx/flow.hpp>
#include <qwengpu/ptx/ir_simplify.hpp>
#include <qwengpu/ptx/memory_map.hpp>
#include <qwengpu/ptx/ssa.hpp>

namespace qwengpu::ptx {

/// A 64-bit value as two words.
struct wide {
    ir::operand lo{}, hi{};
};

namespace detail {

/// Of a trap that this instruction goes to, should it be one that can.
inline machine::trap_cause cause_of_trap(const instruction& i) {
    if (i.opcode == "trap" || i.opcode == "brkpt") return machine::trap_cause::asked;
    if (i.opcode == "bar" || i.opcode == "barrier") return machine::trap_cause::barrier;
    if (i.opcode != "call") return machine::trap_cause::unknown;
    return i.operands[1].kind == operand_kind::symbol_value ? machine::trap_cause::assertion : machine::trap_cause::callee;
}

}  // namespace detail

class lowering {
public:
    using op = machine::alu_op;

    lowering(const flow& fl, const memory_map& map, ir::function& f, diagnostics& wrong) : flow_(fl), map_(map), f_(f), ssa_(f), wrong_(wrong) {}

    // The instruction in hand.
    void begin(ir::block_id b, std::uint32_t frame_id, const instruction& i, bool unguarded = false, barrier_choice waits = {}) {
        unguarded_ = unguarded;
        waits_ = waits;
        guard_ = {};
        block_ = b;
        frame_ = frame_id;
        now_ = &i;
        source_ = static_cast<std::uint32_t>(f_.sources.size());
        f_.sources.push_back({static_cast<int>(i.where.line), static_cast<int>(i.cuda.line), static_cast<int>(i.cuda.file)});
        f_.causes.push_back(detail::cause_of_trap(i));
    }
    [[nodiscard]] const instruction& now() const { return *now_; }
    [[nodiscard]] const barrier_choice& waits() const { return waits_; }
    [[nodiscard]] std::uint32_t source() const { return source_; }
    [[nodiscard]] std::uint32_t frame_id() const { return frame_; }
    [[nodiscard]] const frame& frame_of(std::uint32_t id) const { return flow_.frames[id]; }
    [[nodiscard]] const function& code() const { return *flow_.frames[frame_].code; }
    [[nodiscard]] const parsed_module& module() const { return *flow_.module; }
    [[nodiscard]] const flow& whole() const { return flow_; }
    [[nodiscard]] ssa_builder& ssa() { return ssa_; }

    /// Adds the instruction to the list of those that cannot be lowered; `why` ends with what to do instead.
    void refuse(const std::string& why) {
        if (std::exchange(refused_, now_) != now_) wrong_.add("ptx.unsupported", now_->where, now_->full_name() + ": " + why);
    }

    // Code of our own.
    ir::operand emit(ir::instruction i) {
        i.source = source_;
        if (i.is_memory()) i.epoch = fences_, i.frame = frame_;
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
    /// a + b + bit 0 of the carry, or a - b - it.
    ir::operand add_carry(ir::operand a, ir::operand b, ir::operand carry) { return emit(op::add, a, b, carry, machine::mod::add_carry); }
    ir::operand sub_borrow(ir::operand a, ir::operand b, ir::operand borrow) {
        return emit(op::add, a, b, borrow, machine::mod::add_carry | machine::mod::add_subtract);
    }
    /// Bytes of high:low chosen by the four nibbles of the selector, as prmt.
    ir::operand permute(ir::operand low, ir::operand high, unsigned selector) { return emit(op::prmt, low, high, ir::stage_literal(selector)); }
    /// The low word of high:low >> n, and the high word of high:low << n; n counts modulo 32.
    ir::operand funnel_right(ir::operand low, ir::operand high, ir::operand n) { return emit(op::funnel, low, high, n); }
    ir::operand funnel_left(ir::operand low, ir::operand high, ir::operand n) { return emit(op::funnel, low, high, n, machine::mod::funnel_left); }
    ir::operand multiply(ir::operand a, ir::operand b, ir::operand c = ir::zero, unsigned mod = 0) { return emit(op::mul, a, b, c, mod); }

    /// A word whose low 8, 16 or 32 bits hold a number of this type, extended to all 32 bits.
    ir::operand extend(ir::operand x, scalar_type t) { return part(x, t, 0); }
    /// Number k of this type in a word, extended to all 32 bits.
    ir::operand part(ir::operand x, scalar_type t, unsigned k) {
        const auto bits = static_cast<unsigned>(bits_of(t));
        if (bits >= 32) return x;
        if (!is_signed(t) && k == 0) return both(x, ir::literal((1U << bits) - 1));
        if (!is_signed(t) && bits * (k + 1) == 32) return shift_right(x, ir::literal(bits * k));
        const unsigned top = bits == 8 ? k : 2 * k + 1, fill = is_signed(t) ? top | 8U : 4U;
        return permute(x, ir::zero, bits == 8 ? top | fill * 0x1110U : 2 * k | top << 4 | fill * 0x1100U);
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
                return {symbol_address(o), ir::zero};
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

    /// The address of a variable; of a .param variable a place that only loads can do something with.
    ir::operand symbol_address(const operand& o) {
        const auto offset = static_cast<std::uint32_t>(o.value);
        if (o.sym.kind == symbol_kind::function) return function_address(o.sym.id, offset);
        const ir::operand at = map_.address(o.sym, frame_);
        if (module().variable_of(o.sym, code()).space == state_space::param && at.present()) copy_parameter(o.sym.id, at.bits);
        if (!at.present()) return refuse("the variable " + std::string(o.text) + " is in no memory of this machine; use global, shared or local memory"), ir::zero;
        return behind(at, offset);
    }
    /// The address some bytes behind another one. Local variables are apart, so a sum of one stays one.
    ir::operand behind(ir::operand address, std::uint32_t bytes) {
        return address.kind == ir::from::local ? ir::local_place(address.bits + bytes) : add(address, ir::literal(bytes));
    }
    /// The space of the variable that the operand names.
    [[nodiscard]] state_space space_of(const operand& o) const {
        return o.sym.kind == symbol_kind::function ? state_space::none : module().variable_of(o.sym, code()).space;
    }
    /// Whether the operand names a .param variable itself.
    [[nodiscard]] bool names_parameter(const operand& o) const {
        return o.kind == operand_kind::symbol_value && o.sym.kind == symbol_kind::function_variable && code().variables[o.sym.id].space == state_space::param;
    }
    /// Which of the kernel's parameters a .param variable is; its number, or -1.
    [[nodiscard]] int parameter_number(std::uint32_t id) const { return frame_ == 0 ? code().parameter_number(id) : -1; }
    /// A word of a .param variable.
    ir::operand parameter_word(std::uint32_t id, std::uint32_t word) {
        const int number = parameter_number(id);
        if (number >= 0) return ir::parameter_word(static_cast<std::uint32_t>(number), word);
        return read_variable(parameter_variable(frame_, id, 4 * word));
    }
    [[nodiscard]] const memory_map& map() const { return map_; }
    /// How many atomics are under the lock.
    [[nodiscard]] std::uint32_t sections() const { return flow_.sections; }
    /// The value is alive for a moment only: it is not worth a place in memory.
    void settle(const ir::operand& o) { if (o.is_value()) f_.at(o.bits).settled = true; }
    [[nodiscard]] ir::terminator& end() { return f_.blocks[block_].end; }
    /// Accesses after this come after those before it.
    void fence() { ++fences_; }

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

    /// The guard of the instruction, if it has one, as it was before the instruction wrote anything.
    [[nodiscard]] ir::operand guard() {
        if (is_guarded() && !guard_.present()) guard_ = ssa_.read(block_, register_variable(now_->predicate->reg));
        return guard_;
    }
    [[nodiscard]] bool guard_sense() const { return is_guarded() && !now_->predicate->negated; }
    /// Whether the instruction looks at its guard: not where the guard chose the way here.
    [[nodiscard]] bool is_guarded() const { return now_->predicate.has_value() && !unguarded_; }

    // Variables below the level of operands.
    ir::operand read_variable(std::uint32_t variable) { return ssa_.read(block_, variable); }
    /// The operand, if it is a parameter of the kernel, is a pointer.
    void mark_pointer(const ir::operand& o) {
        if (o.kind == ir::from::parameter && (o.bits & 0xffffU) == 0 && !f_.structures[o.bits >> 16]) f_.pointers[o.bits >> 16] = true;
    }
    /// Writes a variable; under a guard the old value stays where it does not hold.
    void write_variable(std::uint32_t variable, ir::operand x) {
        if (is_guarded()) {
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
    /// A number in a .param variable of a function, whose words are variables.
    ir::operand read_place(std::uint32_t fr, std::uint32_t id, std::uint32_t at, scalar_type t) {
        return extend(shift_right(read_variable(parameter_variable(fr, id, at & ~3U)), ir::literal(8 * (at % 4))), t);
    }
    void write_place(std::uint32_t fr, std::uint32_t id, std::uint32_t at, ir::operand x, scalar_type t) {
        const std::uint32_t word = parameter_variable(fr, id, at & ~3U);
        if (bits_of(t) >= 32) return write_variable(word, x);
        const unsigned half = bits_of(t) == 16 ? unsigned{machine::mod::insert_half} : 0U;
        write_variable(word, emit(op::insert, read_variable(word), x, ir::literal(at % 4), half));
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

    ir::operand function_address(std::uint32_t id, std::uint32_t offset) {
        if (module().functions[id].is_entry) refuse("the address of a kernel is not supported: a kernel cannot launch kernels; launch them one after another");
        return ir::literal(function_pointers::address_of(id) + offset);
    }

    /// A parameter whose address is taken: its words go to local memory, from which promotion takes back what it can.
    void copy_parameter(std::uint32_t id, std::uint32_t first_byte) {
        const auto words = static_cast<std::uint32_t>((code().variables[id].bytes() + 3) / 4);
        for (std::uint32_t k = 0; k < words; ++k) {
            ir::instruction i;
            i.kind = ir::made_by::store;
            i.a = ir::local_place(first_byte + 4 * k);
            i.b = parameter_word(id, k);
            i.where = ir::region::local;
            emit(i);
        }
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
            case sreg::reserved_smem_begin: case sreg::reserved_smem_0: case sreg::reserved_smem_1: return map_.reserved();
            case sreg::reserved_smem_end: return add(map_.reserved(), ir::literal(memory_map::reserved_bytes));
            case sreg::reserved_smem_cap: return ir::literal(memory_map::reserved_bytes);
            case sreg::clusterid_x: case sreg::clusterid_y: case sreg::clusterid_z: return ir::row(machine::constant_row::ctaid + n(sreg::clusterid_x));
            case sreg::nclusterid_x: case sreg::nclusterid_y: case sreg::nclusterid_z: return ir::row(machine::constant_row::nctaid + n(sreg::nclusterid_x));
            case sreg::cluster_ctaid_x: case sreg::cluster_ctaid_y: case sreg::cluster_ctaid_z: case sreg::cluster_ctarank: case sreg::is_explicit_cluster: return ir::zero;
            case sreg::cluster_nctaid_x: case sreg::cluster_nctaid_y: case sreg::cluster_nctaid_z: case sreg::cluster_nctarank: return ir::literal(1);  // a thread block is a cluster
            case sreg::envreg: return ir::zero;  // what a driver says of a launch: nothing, as of one that is not cooperative
            case sreg::dynamic_smem_size: return shared_size(0);
            case sreg::total_smem_size: return shared_size(1);
            case sreg::tid_w: case sreg::ntid_w: case sreg::ctaid_w: case sreg::nctaid_w: return ir::zero;
            default: break;
        }
        refuse("there is no special register " + std::string(o.text) + " on this machine: " + std::string(detail::why_no_register(o.text)));
        return ir::zero;
    }

    /// Bytes of dynamic (0) or all (1) shared memory, which the launch puts into its constants behind parameters and variables.
    ir::operand shared_size(std::uint32_t which) {
        return ir::parameter_word(static_cast<std::uint32_t>(f_.pointers.size() - ir::shared_sizes) + which, 0);
    }

    /// Threads / lanes, rounded up; the shape row holds threads - 1 from bit 10 on.
    ir::operand warps() {
        const auto shift = static_cast<std::uint32_t>(10 + machine::bits_for(machine::mission.lanes));
        return add(shift_right(ir::row(machine::constant_row::shape), ir::literal(shift)), ir::literal(1));
    }

    const flow& flow_;
    const memory_map& map_;
    ir::function& f_;
    ssa_builder ssa_;
    diagnostics& wrong_;
    ir::block_id block_ = 0;
    bool unguarded_ = false;
    barrier_choice waits_{};
    ir::operand guard_{};
    std::uint32_t fences_ = 0;
    std::uint32_t frame_ = 0, source_ = 0, next_place_ = 0x80000000U;
    const instruction *now_ = nullptr, *refused_ = nullptr;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::map<std::uint32_t, std::uint32_t>> parameter_places_;
};

}  // namespace qwengpu::ptx
