// SPDX-License-Identifier: MIT
// A program: machine blocks, what the kernel wants in its constants, and for people the lines each part came from.
// Block 0 is the entry. `notes` is empty or runs parallel to `blocks`.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/machine/block.hpp>

namespace qwengpu::machine {

/// Where something came from: a line of the PTX, and of the CUDA source where the PTX says so. 0: not known.
struct source_line {
    int ptx_line = 0;
    int cuda_line = 0;
    int cuda_file = 0;  ///< index into program::cuda_files; meaningful where cuda_line is not 0

    friend bool operator==(const source_line&, const source_line&) = default;
};

/// How an access goes with others of one place at the same time, after PTX's memory model. What is not plain is *strong* there.
enum class access_strength : std::uint8_t {
    plain,
    is_volatile,
    relaxed,      ///< `.relaxed` and all that orders more
    exchange      ///< a store that is an atomic: what was there is not asked
};

/// Why a program goes to a number without a block, which traps: what the kernel asked for, and what it may not do.
enum class trap_cause : std::uint8_t {
    unknown,
    asked,      ///< __trap() or PTX's `trap`
    assertion,  ///< an assert that does not hold
    barrier,    ///< a barrier by a number or for a count of threads that no barrier has
    callee      ///< a call through a pointer that names no function it could call
};

/// What people want to know about a block.
struct block_notes {
    std::array<source_line, 4> stages{};  ///< of the instructions of stages 1..4
    source_line store{}, branch{};  ///< `branch`: of the barrier too
    access_strength load_strength = access_strength::plain, store_strength = access_strength::plain;
    std::uint32_t local_end = 0;  ///< the address behind the local variables that are alive where the load stands; 0: not known
    int ptx_instructions = 0;  ///< how many PTX instructions count as executed when a lane runs the block
    int ptx_if_stored = 0;     ///< and how many more if the lane's guarded store happens
    int ptx_if_taken = 0;      ///< and how many more if the lane's branch is taken
    trap_cause cause = trap_cause::unknown;  ///< of a number without a block
};

/// A parameter of the kernel and the rows of the constants that hold it.
struct kernel_parameter {
    std::string name;
    int bytes = 4;             ///< size in the kernel's signature
    bool is_pointer = false;   ///< then one row holds the narrowed pointer
    int first_row = 0;         ///< row of its lowest word that is wanted; 0 if the program reads none of it
    int rows = 0;              ///< rows from there on, one word each
};

/// A word of the constants that the program brings along.
struct constant_literal {
    int row = 0;
    std::uint32_t value = 0;
};

/// Bytes of a module variable that begin as an address, or as a part of one: `offset` behind the variable with this number in
/// `program::variables`. Of the address, those bits are taken that `mask` has, the lowest of them as bit 0.
struct variable_link {
    int byte = 0, bytes = 4;
    int variable = 0;
    std::uint32_t offset = 0;
    std::uint64_t mask = ~0ULL;
};

/// The bits of an address that a mask takes, the lowest of them as bit 0.
constexpr std::uint64_t masked_part(std::uint64_t address, std::uint64_t mask) { return mask == 0 ? 0 : (address & mask) >> std::countr_zero(mask); }

/// Puts the low `bytes` bytes of a number, up to 8, into words from byte `at` on; there they are zero. What is behind the words is left out.
inline void put_bytes(std::vector<std::uint32_t>& words, std::uint64_t at, std::uint64_t bytes, std::uint64_t number) {
    for (std::uint64_t k = 0; k < bytes && k < 8 && (at + k) / 4 < words.size(); ++k)
        words[(at + k) / 4] |= static_cast<std::uint32_t>((number >> (8 * k)) & 0xffU) << (8 * ((at + k) % 4));
}

/// Puts the address into its bytes. `pointer` is that of the variable.
inline void put_address(std::vector<std::uint32_t>& words, const variable_link& link, std::uint32_t pointer) {
    put_bytes(words, static_cast<std::uint64_t>(link.byte), static_cast<std::uint64_t>(link.bytes), masked_part(pointer + link.offset, link.mask));
}

/// A variable of the module (__device__, __constant__) that the kernel uses. It begins every launch with its words, unless a
/// session keeps it.
struct module_variable {
    std::string name;
    int bytes = 4, align = 4;
    int row = 0;  ///< row of the constants that holds its address; 0: only other variables know it
    std::vector<std::uint32_t> words{};
    std::vector<variable_link> links{};
};

/// The first row of the constants that belongs to the kernel; the rows below hold the launch's geometry.
inline constexpr int first_free_constant = 13;

/// A compiled kernel. Where `blocks` has no block of some number it has `no_block`.
struct program {
    std::string name;
    std::vector<machine_block> blocks;
    std::vector<block_notes> notes{};
    std::vector<kernel_parameter> parameters{};
    std::vector<constant_literal> literals{};
    std::vector<module_variable> variables{};
    int shared_words = 0;        ///< of shared memory, from word 1 on, that the kernel declares itself
    int dynamic_shared_word = 0; ///< the first word of its dynamic arrays; 0: it has none
    int own_shared_word = 0;     ///< from this word on, those that the kernel declares are the compiler's own, and begin as 0; 0: none are
    int lock_word = 0;           ///< of these, the first of the two of the lock of 64-bit atomics; 0: there is none
    int dynamic_bytes_row = 0, shared_bytes_row = 0; ///< rows of the constants for the bytes of dynamic and of all shared memory; 0: not asked for
    int local_words = 0;         ///< of local memory that a thread uses
    std::vector<std::string> cuda_files{};
    std::string ptx_file{};
};

/// Whether a block of the program waits at a barrier; then the prompt says in which phase all barriers begin.
inline bool has_barrier(const program& p) {
    return std::any_of(p.blocks.begin(), p.blocks.end(), [](const machine_block& b) { return b.mem.barrier; });
}

/// The block of a number, or nullptr where the program has none.
inline const machine_block* find_block(const program& p, int id) {
    const auto at = static_cast<std::size_t>(id);
    return at < p.blocks.size() && p.blocks[at].valid ? &p.blocks[at] : nullptr;
}

/// The first line that is known among those of a block: its stages', its store's, its branch's.
inline source_line line_of(const block_notes& n) {
    for (const source_line& line : {n.stages[0], n.stages[1], n.stages[2], n.stages[3], n.store, n.branch})
        if (line.ptx_line != 0) return line;
    return {};
}

/// Line of block `id`, or nothing known.
inline source_line line_of(const program& p, int id) {
    const auto at = static_cast<std::size_t>(id);
    return id >= 0 && at < p.notes.size() ? line_of(p.notes[at]) : source_line{};
}

/// Why block `id`, which is none, traps.
inline trap_cause cause_of(const program& p, int id) {
    const auto at = static_cast<std::size_t>(id);
    return id >= 0 && at < p.notes.size() ? p.notes[at].cause : trap_cause::unknown;
}

/// Line of the barrier of block `id`, or the block's.
inline source_line line_of_barrier(const program& p, int id) {
    const auto at = static_cast<std::size_t>(id);
    return id >= 0 && at < p.notes.size() && p.notes[at].branch.ptx_line != 0 ? p.notes[at].branch : line_of(p, id);
}

}  // namespace qwengpu::machine
