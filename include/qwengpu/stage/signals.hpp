// SPDX-License-Identifier: MIT
// The signals that travel between the parts of the pipeline, by name. Each part fills in what it makes.
#pragma once

#include <qwengpu/stage/inputs.hpp>

#include <array>
#include <vector>

namespace qwengpu::stage {

/// The record the token belongs to, as latched in state.
struct context_signals {
    signal launch, cta, start, hdr;  ///< kind of the last of these tokens
    word block, warp;
    signal all;                      ///< `all` was written in this record
    signal fair;                     ///< the next record is picked for fairness
    word fair_lane;                  ///< lane of the last `fair`
    signal fair_near, fair_over;     ///< so many records since the last `fair` or `cta` that it may be due; that it is
    word address, constant;          ///< payloads of the last `addr` (word, window) and `const`
    signal memory_write;             ///< this token completes a word of memory
    signal prompt_constant;          ///< this token completes a word that follows `const`
    word mask;                       ///< lanes of the record's warp
    word shape;                      ///< ntid.x-1 (5 bits), ntid.y-1 (5), threads-1 (5)
};

/// The program's groups of the record's block, 48 bits each; all 0 if it has none.
struct program_signals {
    word header, uniformity, stage1, memory, stage3, stage4;

    static word cut(const word& bits, int first, int count) { return {bits.begin() + first, bits.begin() + first + count}; }
    [[nodiscard]] word port(int p) const { return cut(header, 4 * p, 4); }
    [[nodiscard]] word dest(int stage) const { return cut(header, 16 + 4 * stage, 4); }
    [[nodiscard]] word next() const { return cut(header, 32, 10); }
    [[nodiscard]] word special() const { return cut(header, 42, 3); }
    [[nodiscard]] signal valid() const { return header[45]; }
    [[nodiscard]] word taken() const { return cut(uniformity, 0, 10); }
    [[nodiscard]] signal present(int slot) const { return uniformity[static_cast<std::size_t>(10 + slot)]; }
    [[nodiscard]] signal lane_major() const { return header[46]; }
    [[nodiscard]] signal barrier() const { return memory[34]; }
    [[nodiscard]] word barrier_id() const { return cut(memory, 35, 3); }
    [[nodiscard]] word barrier_count() const { return cut(memory, 38, 4); }
    [[nodiscard]] word rest(int slot) const { return cut(uniformity, 16 + 5 * slot, 5); }
};

/// Where in its record the token is, and what comes next.
struct position_signals {
    word count_is;                    ///< [c-1]: the record has c lanes
    word at_least;                    ///< [k]: k or more positions are complete (k = 0 unused)
    word next_ordinal, next_index;    ///< position to write next: slot and lane, counted among those present
    word current_ordinal, current_index;
    word next_slot, current_slot;     ///< one-hot over the six slots
    word next_lane, current_lane;     ///< one-hot
    signal next_first;                ///< the next position is the first of its lane, where accesses are checked
    signal done;                      ///< no position is left
};

/// Writes that the token completes.
struct write_signals {
    word lane;                 ///< register write: these lanes
    word dest;                 ///< to this register
    signal constant;           ///< constant write ...
    word constant_row;         ///< ... to this row
    signal owner;              ///< this `addr` gives a word of global memory an owner
    signal global_word, shared_word;  ///< this token completes a word of that memory ...
    word local_word;           ///< ... or of this lane's local memory
    word next_lane;            ///< `next` of these lanes is set ...
    word next_block;           ///< ... to this block
    word next_exit;            ///< ... or, for these lanes, to exit (`start`)
    signal next_block_is_exit;
    signal waits, phase;       ///< these lanes wait, in this phase of the block's barrier
    word count_row, count;     ///< the count of this barrier (one-hot) is set to this
};

/// Operands and results of the four stages for the lane whose position comes next.
struct data_signals {
    std::vector<word> registers;  ///< [port * lanes + lane], raw
    std::vector<signal> r0_differs;  ///< [i * lanes + j], i < j: lanes i and j differ in R0
    std::array<word, 4> port;
    word special;
    word t1, t2, t3, t4;
    signal load_misaligned, load_outside;
    signal want_all;              ///< the rest of the record is the same in all lanes
};

/// The next record, if this one is complete.
struct schedule_signals {
    word next_warp;       ///< one-hot; none: no warp can run
    signal none;
    signal some_alive;    ///< some lane is not at exit
    word release;         ///< one-hot: the lowest complete barrier, if there is one ...
    signal release_phase; ///< ... and its phase from then on
    word block, mask;
    signal mask_changes;  ///< mask must be announced
    signal fair_due;      ///< fairness goes to the next warp if its lanes stand apart ...
    signal same_lane;     ///< ... to the lane that it went to last; else to the one behind it
    signal fair;          ///< fairness must be announced
    signal start;         ///< a warp of a new thread block starts ...
    word start_warp, start_mask;
    word cta_value;       ///< the next coordinate of the thread block (16 bits)
    signal cta_last;      ///< this was the last thread block
};

struct signals {
    inputs token;
    context_signals context;
    program_signals program;
    position_signals position;
    write_signals write;
    data_signals data;
    schedule_signals schedule;
};

}  // namespace qwengpu::stage
