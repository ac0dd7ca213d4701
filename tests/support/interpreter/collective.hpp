// SPDX-License-Identifier: MIT
// Instructions that a group of lanes executes together in the tests' PTX interpreter: shfl, vote, match, redux, activemask.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include <qwengpu/ptx/ast.hpp>

#include "support/interpreter/thread.hpp"

namespace qwengpu::test::interpreter {

/// Lanes of one warp that stand at one instruction, in ascending order.
using lane_group = std::vector<thread*>;

inline bool is_collective(std::string_view op) {
    return op == "shfl" || op == "vote" || op == "match" || op == "redux" || op == "activemask" || op == "elect";
}

namespace detail {

inline thread* lane_of(const lane_group& g, u64 lane) {
    for (thread* t : g)
        if (t->lane == lane) return t;
    return nullptr;
}

struct shuffle_source {
    s64 lane = 0;
    bool valid = false;
};

/// The lane a lane reads from. The warp has four lanes, so nothing beyond lane 3 is in range.
inline shuffle_source source_of(const ptx::instruction& i, u64 lane, u64 b, u64 c) {
    const s64 self = static_cast<s64>(lane), offset = static_cast<s64>(b & 31), clamp = static_cast<s64>(c & 31), segment = static_cast<s64>((c >> 8) & 31);
    const s64 most = std::min<s64>((self & segment) | (clamp & ~segment), 3), least = self & segment;
    if (i.has("up")) return {self - offset, self - offset >= ((self & segment) | (clamp & ~segment))};
    const s64 j = i.has("down") ? self + offset : i.has("bfly") ? self ^ offset : least | (offset & ~segment);
    return {j, j <= most};
}

inline void shuffle(const block_context& c, const lane_group& g, const ptx::instruction& i) {
    std::vector<u64> values, valid;
    for (const thread* t : g) {
        const auto from = source_of(i, t->lane, read(c, *t, i.operands[2], scalar_type::b32), read(c, *t, i.operands[3], scalar_type::b32));
        const thread* other = from.valid ? lane_of(g, static_cast<u64>(from.lane)) : t;
        values.push_back(read(c, other != nullptr ? *other : *t, i.operands[1], scalar_type::b32));
        valid.push_back(from.valid ? 1 : 0);
    }
    for (std::size_t k = 0; k < g.size(); ++k) {
        const ptx::operand& d = i.operands[0];
        const bool pair = d.kind == ptx::operand_kind::pair;
        write(*g[k], pair ? d.items[0] : d, scalar_type::b32, values[k]);
        if (pair) write(*g[k], d.items[1], scalar_type::pred, valid[k]);
    }
}

inline void vote(const block_context& c, const lane_group& g, const ptx::instruction& i) {
    u64 ballot = 0, present = 0;
    for (const thread* t : g) {
        present |= u64{1} << t->lane;
        ballot |= read(c, *t, i.operands[1], scalar_type::pred) << t->lane;
    }
    const bool r = i.has("all") ? ballot == present : i.has("any") ? ballot != 0 : (ballot == present || ballot == 0);
    for (thread* t : g) write(*t, i.operands[0], scalar_type::none, i.has("ballot") ? ballot : u64{r});
}

inline void match(const block_context& c, const lane_group& g, const ptx::instruction& i) {
    std::vector<u64> masks;
    u64 present = 0;
    for (const thread* t : g) {
        u64 m = 0;
        for (const thread* other : g)
            if (read(c, *other, i.operands[1], i.type()) == read(c, *t, i.operands[1], i.type())) m |= u64{1} << other->lane;
        masks.push_back(m);
        present |= u64{1} << t->lane;
    }
    for (std::size_t k = 0; k < g.size(); ++k) {
        const ptx::operand& d = i.operands[0];
        if (i.has("any")) {
            write(*g[k], d, scalar_type::b32, masks[k]);
            continue;
        }
        const bool all = masks[k] == present, pair = d.kind == ptx::operand_kind::pair;
        write(*g[k], pair ? d.items[0] : d, scalar_type::b32, all ? present : 0);
        if (pair) write(*g[k], d.items[1], scalar_type::pred, all ? 1 : 0);
    }
}

inline void reduce(const block_context& c, const lane_group& g, const ptx::instruction& i) {
    const scalar_type type = i.type();
    u64 sum = read(c, *g[0], i.operands[1], type);
    for (std::size_t k = 1; k < g.size(); ++k) {
        const u64 x = read(c, *g[k], i.operands[1], type);
        const s128 a = number_of(sum, type), b = number_of(x, type);
        sum = i.has("add") ? sum + x : i.has("and") ? (sum & x) : i.has("or") ? (sum | x) : i.has("xor") ? (sum ^ x) : static_cast<u64>(i.has("min") ? std::min(a, b) : std::max(a, b));
    }
    for (thread* t : g) write(*t, i.operands[0], scalar_type::b32, sum);
}

}  // namespace detail

inline void execute_collective(const block_context& c, const lane_group& g, const ptx::instruction& i) {
    if (i.opcode == "shfl") return detail::shuffle(c, g, i);
    if (i.opcode == "vote") return detail::vote(c, g, i);
    if (i.opcode == "match") return detail::match(c, g, i);
    if (i.opcode == "redux") return detail::reduce(c, g, i);
    if (i.opcode != "activemask") throw fault("no rule for " + i.full_name());
    u64 mask = 0;
    for (const thread* t : g) mask |= u64{1} << t->lane;
    for (thread* t : g) write(*t, i.operands[0], scalar_type::b32, mask);
}

}  // namespace qwengpu::test::interpreter
