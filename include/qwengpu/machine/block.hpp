// SPDX-License-Identifier: MIT
// A machine block: up to four instructions, one per stage, as plain data (docs/machine.md, "A machine block").
#pragma once

#include <array>
#include <cstdint>

namespace qwengpu::machine {

/// Where an operand comes from (4 bits).
enum class source : std::uint8_t { zero, r0, r1, r2, r3, imm, constant, special, t1, t2, t3, t4 };

/// The special register a block may read (3 bits).
enum class special_register : std::uint8_t { none, tid_x, tid_y, tid_z, laneid, warpid, thread };

/// Operation of an ALU stage (6 bits). From `mul` on: stage 3 only.
enum class alu_op : std::uint8_t {
    none = 0, add = 1, lop = 2, shl = 3, shr = 4, sar = 5, cmp = 6, sel = 7, min = 8, max = 9,
    prmt = 10, insert = 11, funnel = 12, fcmp = 13, fmin = 14, fmax = 15,
    mul = 16, popc = 17, clz = 18, brev = 19, rcp = 20,
    fma = 21, fadd = 22, fmul = 23, i2f = 24, f2i = 25, fround = 26
};

/// Whether the operation names a relation by mod, and may combine its result with c.
constexpr bool compares(alu_op op) { return op == alu_op::cmp || op == alu_op::fcmp; }

/// Operation of the memory stage (4 bits): loads, then the collectives from `shuffle` on.
enum class memory_op : std::uint8_t {
    none = 0, load = 1, load_u8 = 2, load_s8 = 3, load_u16 = 4, load_s16 = 5, load_byte_word = 6, load_half_word = 7,
    shuffle = 8, ballot = 9, match = 10
};
inline constexpr int memory_op_count = 11;

constexpr bool is_load(memory_op op) { return op >= memory_op::load && op <= memory_op::load_half_word; }
constexpr bool is_collective(memory_op op) { return op >= memory_op::shuffle && op <= memory_op::match; }

/// How many bytes an access asks to be aligned to (2 bits).
enum class access_size : std::uint8_t { word, half, byte };

/// How many bytes that are.
constexpr std::uint32_t bytes_of(access_size size) { return 4u >> static_cast<unsigned>(size); }

/// The alignment a load asks for.
constexpr access_size size_of(memory_op op) {
    switch (op) {
        case memory_op::load_u8: case memory_op::load_s8: case memory_op::load_byte_word: return access_size::byte;
        case memory_op::load_u16: case memory_op::load_s16: case memory_op::load_half_word: return access_size::half;
        default: return access_size::word;
    }
}

/// Bits of `mod`, by operation.
namespace mod {
inline constexpr std::uint8_t add_shift = 0x03;     ///< add: a + (b << shift)
inline constexpr std::uint8_t add_subtract = 0x04;  ///< add: a - b
inline constexpr std::uint8_t add_carry = 0x08;     ///< add: plus bit 0 of c, minus it with add_subtract
inline constexpr std::uint8_t cmp_lt = 0x01, cmp_eq = 0x02, cmp_gt = 0x04;
inline constexpr std::uint8_t is_signed = 0x08;     ///< cmp, min, max
inline constexpr std::uint8_t cmp_and = 0x10, cmp_or = 0x20, cmp_xor = 0x30, cmp_combine = 0x30;
inline constexpr std::uint8_t cmp_not_c = 0x40;
inline constexpr std::uint8_t mul_high = 0x01, mul_signed = 0x02;
inline constexpr std::uint8_t insert_half = 0x01;   ///< insert: a half word, not a byte
inline constexpr std::uint8_t funnel_left = 0x01;   ///< funnel: the high word of the pair shifted to the left
inline constexpr std::uint8_t fcmp_nan = 0x08;      ///< fcmp: true if an operand is NaN
inline constexpr std::uint8_t fcmp_ftz = 0x80;      ///< fcmp: subnormal operands count as zeros
inline constexpr std::uint8_t fmin_nan = 0x08;      ///< fmin, fmax: NaN if an operand is
inline constexpr std::uint8_t rounding = 0x03;      ///< fma to fround: 0 nearest even, 1 to zero, 2 down, 3 up
inline constexpr std::uint8_t ftz = 0x04;           ///< fma to fround but i2f, fmin, fmax: subnormals become zeros
inline constexpr std::uint8_t saturate = 0x08;      ///< all of these: the result is clamped to [+0, 1]; i2f, f2i: is_signed
inline constexpr std::uint8_t negate_product = 0x10, negate_c = 0x20;  ///< fma, fadd (a, c), fmul
inline constexpr std::uint8_t wide = 0x40, high_word = 0x80;           ///< i2f, f2i: 64 bits; f2i: their high word
inline constexpr std::uint8_t lop_a = 0xf0, lop_b = 0xcc, lop_c = 0xaa;  ///< lop: the tables of its operands
}  // namespace mod

/// One instruction of stage 1, 3 or 4.
struct alu_instruction {
    alu_op op = alu_op::none;
    source a = source::zero, b = source::zero, c = source::zero;
    std::uint8_t mod = 0;
    std::uint16_t imm = 0;  ///< sign-extended if a source is `imm`; its low bits name the row if one is `constant`

    friend bool operator==(const alu_instruction&, const alu_instruction&) = default;
};

/// The load or collective of stage 2, and the store, the branch and the barrier after stage 4.
struct memory_instruction {
    memory_op op = memory_op::none;
    source load_address = source::zero, load_guard = source::zero;
    bool load_sense = false;
    source load_else = source::zero;
    source store_address = source::zero, store_data = source::zero;
    bool store_guarded = false;
    source cond = source::zero;
    bool sense = false;
    access_size store_size = access_size::word;  ///< which alignment the store asks for; it writes a whole word
    bool is_private = false;                     ///< the load or store may be of local memory
    bool barrier = false;                        ///< the lanes wait at `barrier_id` before they go on
    std::uint8_t barrier_id = 0;
    std::uint8_t barrier_count = 0;              ///< threads it takes, in units of 4; 0: all that have not exited

    friend bool operator==(const memory_instruction&, const memory_instruction&) = default;
};

/// A whole machine block. Stages 1, 3 and 4 are `s1`, `s3`, `s4`. Where a program has no block of some number, it holds
/// one that is not valid and says nothing.
struct machine_block {
    std::array<std::uint8_t, 4> ports{};  ///< registers read as r0..r3
    std::array<std::uint8_t, 4> dest{};   ///< registers written by stages 1..4, 0 = none
    special_register special = special_register::none;
    std::uint16_t next = 0;   ///< where lanes go that do not branch
    std::uint16_t taken = 0;  ///< where lanes go that branch
    bool has_branch = false;
    bool has_store = false;
    bool lane_major = false;  ///< its positions run lane by lane: an atomic
    bool valid = true;
    alu_instruction s1, s3, s4;
    memory_instruction mem;

    friend bool operator==(const machine_block&, const machine_block&) = default;
};

/// Whether the block loads a word and stores one: a lane's store must see what the lanes before it stored.
constexpr bool loads_and_stores(const machine_block& b) { return is_load(b.mem.op) && b.has_store; }

/// The block that a program holds where it has none.
inline constexpr machine_block no_block = [] {
    machine_block b;
    b.valid = false;
    return b;
}();

/// What a block writes, in the order in which a record writes it.
enum class slot : std::uint8_t { branch, store, w4, w3, w2, w1 };
inline constexpr int slot_count = 6;

/// The six groups of 48 bits of a block (docs/machine.md, "Encoding").
enum class group : std::uint8_t { header, uniformity, stage1, memory, stage3, stage4 };
inline constexpr int group_count = 6;
inline constexpr int group_bits = 48;

}  // namespace qwengpu::machine
