// SPDX-License-Identifier: MIT
// The compiler's own form of a kernel: 32-bit values in SSA form, basic blocks, and the machine's instructions on them.
// Values are ids into `function::values`; predicates are the words 0 and 1; 64-bit registers are pairs of words.
// Invariant: phi inputs run parallel to the predecessors of their block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/program.hpp>

namespace qwengpu::ptx::ir {

using machine::alu_op;
using value_id = std::uint32_t;
using block_id = std::uint32_t;

/// Targets that are no blocks: the end of the thread, and a trap.
inline constexpr block_id exit_target = 0xffffffffU, trap_target = 0xfffffffeU;
constexpr bool is_block(block_id b) { return b < trap_target; }

/// What an operand is. Rows are geometry rows of the constants; a parameter word gets its row when the program is made;
/// parameters behind the kernel's own are the addresses of module variables. `local` is an address that is a word only when
/// it is known what is left of local memory: no instruction of the machine sees it.
enum class from : std::uint8_t { none, value, literal, row, parameter, special, local };

struct operand {
    from kind = from::none;
    std::uint32_t bits = 0;  ///< value id; literal; row; parameter << 16 | word; special register; byte of all local variables

    friend bool operator==(const operand&, const operand&) = default;
    [[nodiscard]] constexpr bool present() const { return kind != from::none; }
    [[nodiscard]] constexpr bool is_value() const { return kind == from::value; }
    [[nodiscard]] constexpr bool is_literal() const { return kind == from::literal; }
    [[nodiscard]] constexpr bool is(std::uint32_t literal) const { return kind == from::literal && bits == literal; }
    /// Whether it needs a stage's 16 bits: a literal that is not 0, or a row of the constants.
    [[nodiscard]] constexpr bool is_constant() const {
        return (is_literal() && bits != 0) || kind == from::row || kind == from::parameter || kind == from::local;
    }
};

constexpr operand value(value_id id) { return {from::value, id}; }
constexpr operand literal(std::uint32_t bits) { return {from::literal, bits}; }
constexpr operand row(int n) { return {from::row, static_cast<std::uint32_t>(n)}; }
constexpr operand parameter_word(std::uint32_t parameter, std::uint32_t word) {
    return {from::parameter, parameter << 16 | word};
}
/// Numbers that every launch brings along behind parameters and variables: bytes of dynamic and of all shared memory.
inline constexpr std::size_t shared_sizes = 2;
constexpr operand local_place(std::uint32_t byte) { return {from::local, byte}; }
constexpr operand special(machine::special_register r) { return {from::special, static_cast<std::uint32_t>(r)}; }
inline constexpr operand zero = literal(0);
/// Whether a literal is its low 16 bits, extended by their sign: that is what fits a stage.
constexpr bool fits_stage(std::uint32_t bits) { return bits + 0x8000U < 0x10000U; }
/// The literal that fits a stage and has these 16 bits.
constexpr operand stage_literal(std::uint32_t low) { return literal((low & 0x8000U) != 0 ? low | 0xffff0000U : low); }
/// A window of addresses that owns nothing.
inline constexpr int nobodys_window = machine::address::shared_window + 1;

/// What a value is made by. `wide_*` are halves of 64-bit operations on a pair (a, b) and a pair (c, d), low word first;
/// they and `divide` are expanded before blocks are formed.
enum class made_by : std::uint8_t { alu, load, store, phi, wide_compare, wide_add_high, wide_sub_high, divide, collective, atomic };

/// Bits of `mod` of a division.
inline constexpr std::uint8_t divide_signed = 1, divide_remainder = 2;

/// What memory an access may be of.
enum class region : std::uint8_t { any, global, shared, local };

/// An instruction and the value it makes (a store makes none).
///   alu    op(a, b, c) as the machine's table says        load   `access` at a, if bit 0 of b equals sense (none: always), else c
///   store  word b (or its low bytes, by `size`) to a, if bit 0 of c equals sense
///   phi    inputs of `function::phi_inputs[a.bits]`
///   collective  `access` of the word b, of the lane a if it is a shuffle
///   atomic  the word that was at a, where op(that word, b) is now (b itself if op is none); with `cmp`: b if it equals c; with a
///           `masked` min or max: op(that word with the bits of c set (min) or with no others (max), b)
struct instruction {
    made_by kind = made_by::alu;
    alu_op op = alu_op::none;
    std::uint8_t mod = 0;
    machine::memory_op access = machine::memory_op::load;  ///< of a load: a word, or a byte or half word, extended
    machine::access_size size = machine::access_size::word;  ///< of a store; a part of a word takes a load and an insertion too
    bool sense = false;
    machine::access_strength strength = machine::access_strength::plain;  ///< of a load or store; what is not plain is neither dropped nor merged
    bool kept = false;    ///< a load that may trap: not dropped, unless it proves to be of local memory
    bool settled = false;               ///< alive for a moment only: to keep it in memory gains nothing
    bool is_half = false;               ///< an atomic that is a part of one: what was there may not be asked
    bool masked = false;                ///< an atomic min or max
    bool meets = false;                 ///< a collective that waits for all lanes of the warp
    bool is_private = false;            ///< an access that may be of local memory
    region where = region::any;         ///< of an access
    std::uint32_t epoch = 0;            ///< of an access: fences before it in the kernel's text
    std::uint32_t frame = 0;            ///< of an access: the copy of a function whose text it is in
    std::uint32_t local_end = 0;        ///< of an access: where in local memory that function's variables end; 0: not known
    operand a{}, b{}, c{}, d{};
    std::uint32_t source = 0;  ///< index into `function::sources`

    [[nodiscard]] bool is_alu(alu_op o) const { return kind == made_by::alu && op == o; }
    [[nodiscard]] bool is_memory() const { return kind == made_by::load || kind == made_by::store || kind == made_by::atomic; }
    [[nodiscard]] bool pinned() const { return strength != machine::access_strength::plain; }
    [[nodiscard]] bool writes_memory() const { return kind == made_by::store || kind == made_by::atomic; }
    [[nodiscard]] bool stores_part() const { return kind == made_by::store && size != machine::access_size::word; }
    /// How many bytes an access touches.
    [[nodiscard]] std::uint32_t bytes() const {
        return machine::bytes_of(kind == made_by::store ? size : machine::size_of(access));
    }
};

/// Calls f on every operand that is there; inputs of a phi are not among them.
template <class Instruction, class F>
void for_each_operand(Instruction& i, F&& f) {
    if (i.kind == made_by::phi) return;
    for (auto* o : {&i.a, &i.b, &i.c, &i.d})
        if (o->present()) f(*o);
}

/// Where a block goes: to `taken` where bit 0 of `cond` equals `sense`, else to `next`. No condition: always to `next`.
struct terminator {
    operand cond{};
    bool sense = true;
    block_id taken = exit_target, next = exit_target;
    std::uint32_t source = 0;
    int ptx_if_taken = 0, ptx_if_next = 0;  ///< PTX instructions of empty blocks on the way
    std::uint32_t trap_if_taken = 0, trap_if_next = 0;  ///< sources of traps at the ends of those ways; 0: `source`
    int barrier = -1, barrier_count = 0;    ///< the lanes wait at it before they go to `next`; its count as the machine has it
    bool meets_warp = false;                ///< the lanes of the warp meet before they go to `next`

    [[nodiscard]] bool branches() const { return cond.present(); }
    [[nodiscard]] bool waits() const { return barrier >= 0 || meets_warp; }
    /// Where a trap comes from that the block goes to.
    [[nodiscard]] std::uint32_t next_trap() const { return trap_if_next != 0 ? trap_if_next : source; }
    [[nodiscard]] std::uint32_t taken_trap() const { return trap_if_taken != 0 ? trap_if_taken : source; }
};

/// What a block is to the lock of 64-bit atomics: a lane draws a ticket, makes it a number, waits until the number is called,
/// finds out which of the sections is its own, and is alone in it.
enum class lock_part : std::uint8_t { none, ticket, number, wait, turn, section };

struct block {
    std::vector<value_id> phis, body;
    std::vector<block_id> predecessors;
    terminator end{};
    int ptx_instructions = 0;  ///< of the input, that a lane executes by running this block
    bool dead = false;
    bool meeting_point = false;  ///< stays a block although it does nothing: lanes meet here
    lock_part part = lock_part::none;
};

/// A local variable of a frame, in the space of all local variables of the kernel.
struct local_variable {
    std::uint32_t frame = 0, first_byte = 0, bytes = 0;
};

/// A kernel. Block 0 is the entry and has no predecessors.
struct function {
    std::string name;
    std::vector<instruction> values;
    std::vector<std::vector<operand>> phi_inputs;
    std::vector<block> blocks;
    std::vector<machine::source_line> sources;
    std::vector<machine::trap_cause> causes;  ///< parallel to `sources`: of a trap that such an instruction goes to
    std::vector<bool> pointers;  ///< for each parameter: whether it is known to be a pointer; then for each module variable, and for the sizes
    std::vector<bool> structures; ///< for each parameter: whether it is more than one number; the sizes count as that, so that they are no pointers
    std::vector<std::uint32_t> module_variables;  ///< ids of those it uses, in the order of their addresses behind the parameters
    int shared_words = 0, dynamic_word = 0;       ///< of shared memory: words that it declares, first of the dynamic ones (0: none)
    int own_shared_word = 0;                      ///< and the first that is not the kernel's but the compiler's
    int lock_word = 0;                            ///< and the first of the two of the lock; 0: there is none
    std::vector<local_variable> locals;
    std::vector<std::uint32_t> caller_of_frame;   ///< of frame 0: itself
    int local_words = 0;                          ///< of local memory: words that its variables and spilled values take
    int spill_words = 0;                          ///< how many of them, the last ones, are of spilled values

    [[nodiscard]] instruction& at(value_id v) { return values[v]; }
    [[nodiscard]] const instruction& at(value_id v) const { return values[v]; }
    [[nodiscard]] std::vector<operand>& inputs(value_id phi) { return phi_inputs[values[phi].a.bits]; }
    [[nodiscard]] const std::vector<operand>& inputs(value_id phi) const { return phi_inputs[values[phi].a.bits]; }

    value_id add(const instruction& i) {
        values.push_back(i);
        return static_cast<value_id>(values.size() - 1);
    }
    value_id add_phi(block_id b, std::uint32_t source) {
        instruction phi{.kind = made_by::phi, .source = source};
        phi.a.bits = static_cast<std::uint32_t>(phi_inputs.size());
        phi_inputs.emplace_back();
        blocks[b].phis.push_back(add(phi));
        return blocks[b].phis.back();
    }
};

/// The blocks a block goes to (one or two, without exits), `next` last.
inline std::vector<block_id> successors(const block& b) {
    std::vector<block_id> s;
    if (b.end.branches() && is_block(b.end.taken)) s.push_back(b.end.taken);
    if (is_block(b.end.next)) s.push_back(b.end.next);
    return s;
}

/// Calls f(operand&) on every operand of the kernel: of instructions, phis and branches.
template <class Function, class F>
void for_each_place(Function& fn, F&& f) {
    for (auto& b : fn.blocks) {
        for (value_id v : b.phis)
            for (auto& o : fn.inputs(v)) f(o);
        for (value_id v : b.body) for_each_operand(fn.at(v), f);
        if (b.end.cond.present()) f(b.end.cond);
    }
}

/// Whether the instruction may be dropped if nobody uses its value.
inline bool is_pure(const instruction& i) { return !i.writes_memory() && !i.pinned() && !(i.kept && i.where != region::local); }

/// The same comparison with its operands exchanged.
constexpr std::uint8_t mirrored(std::uint8_t mod) {
    const unsigned lt = (mod & machine::mod::cmp_lt) ? unsigned{machine::mod::cmp_gt} : 0U;
    const unsigned gt = (mod & machine::mod::cmp_gt) ? unsigned{machine::mod::cmp_lt} : 0U;
    return static_cast<std::uint8_t>((mod & ~unsigned{machine::mod::cmp_lt | machine::mod::cmp_gt}) | lt | gt);
}

}  // namespace qwengpu::ptx::ir
