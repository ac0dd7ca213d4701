// SPDX-License-Identifier: MIT
// Which values are alive at the ends of blocks. Only values that cross a block's end are tracked; a phi is alive in its own
// block from the start, and its inputs at the end of the predecessors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <qwengpu/ptx/ir.hpp>

namespace qwengpu::ptx::ir {

/// A set of small numbers.
class bit_set {
public:
    explicit bit_set(std::size_t n = 0) : words_((n + 63) / 64, 0) {}
    void set(std::size_t k) { words_[k / 64] |= std::uint64_t{1} << (k % 64); }
    void reset(std::size_t k) { words_[k / 64] &= ~(std::uint64_t{1} << (k % 64)); }
    [[nodiscard]] bool test(std::size_t k) const { return ((words_[k / 64] >> (k % 64)) & 1U) != 0; }
    /// Adds all of `other`; says whether that added anything.
    bool merge(const bit_set& other) {
        bool changed = false;
        for (std::size_t k = 0; k < words_.size(); ++k) {
            changed = changed || (other.words_[k] & ~words_[k]) != 0;
            words_[k] |= other.words_[k];
        }
        return changed;
    }
    friend bool operator==(const bit_set&, const bit_set&) = default;
    void remove(const bit_set& other) {
        for (std::size_t k = 0; k < words_.size(); ++k) words_[k] &= ~other.words_[k];
    }

private:
    std::vector<std::uint64_t> words_;
};

class liveness {
public:
    explicit liveness(const function& f) : number_(f.values.size(), none), home_(f.values.size(), trap_target) {
        find_homes(f);
        number_crossing(f);
        solve(f);
    }

    /// The block in which a value is made.
    [[nodiscard]] block_id home(value_id v) const { return home_[v]; }
    /// Whether the value is ever alive at the end of a block.
    [[nodiscard]] bool crosses(value_id v) const { return number_[v] != none; }
    [[nodiscard]] bool alive_in(block_id b, value_id v) const { return crosses(v) && in_[b].test(number_[v]); }
    [[nodiscard]] bool alive_out(block_id b, value_id v) const { return crosses(v) && out_[b].test(number_[v]); }
    /// The values that cross the end of some block.
    [[nodiscard]] const std::vector<value_id>& crossing() const { return crossing_; }

private:
    static constexpr std::uint32_t none = 0xffffffffU;

    void find_homes(const function& f) {
        for (block_id b = 0; b < f.blocks.size(); ++b) {
            for (value_id v : f.blocks[b].phis) home_[v] = b;
            for (value_id v : f.blocks[b].body) home_[v] = b;
        }
    }

    void cross(value_id v) {
        if (number_[v] != none) return;
        number_[v] = static_cast<std::uint32_t>(crossing_.size());
        crossing_.push_back(v);
    }

    void number_crossing(const function& f) {
        for (block_id b = 0; b < f.blocks.size(); ++b) {
            const auto used_here = [&](const operand& o) { if (o.is_value() && home_[o.bits] != b) cross(o.bits); };
            for (value_id v : f.blocks[b].phis) {
                cross(v);
                for (const operand& o : f.inputs(v)) if (o.is_value()) cross(o.bits);
            }
            for (value_id v : f.blocks[b].body) for_each_operand(f.at(v), used_here);
            if (f.blocks[b].end.cond.present()) used_here(f.blocks[b].end.cond);
        }
    }

    void solve(const function& f) {
        const std::size_t n = crossing_.size();
        std::vector<bit_set> made(f.blocks.size(), bit_set(n));
        in_.assign(f.blocks.size(), bit_set(n));
        out_.assign(f.blocks.size(), bit_set(n));
        for (block_id b = 0; b < f.blocks.size(); ++b) start_block(f, b, made[b]);
        for (bool changed = true; changed;) {
            changed = false;
            for (block_id b = static_cast<block_id>(f.blocks.size()); b-- > 0;) {
                for (block_id s : successors(f.blocks[b])) {
                    bit_set from = in_[s];
                    for (value_id v : f.blocks[s].phis) from.reset(number_[v]);
                    changed = out_[b].merge(from) || changed;
                }
                bit_set through = out_[b];
                through.remove(made[b]);
                changed = in_[b].merge(through) || changed;
            }
        }
    }

    void start_block(const function& f, block_id b, bit_set& made) {
        const auto use = [&](const operand& o) { if (o.is_value() && home_[o.bits] != b) in_[b].set(number_[o.bits]); };
        for (value_id v : f.blocks[b].phis) {
            in_[b].set(number_[v]);
            for (std::size_t k = 0; k < f.inputs(v).size(); ++k)
                if (const operand& o = f.inputs(v)[k]; o.is_value()) out_[f.blocks[b].predecessors[k]].set(number_[o.bits]);
        }
        for (value_id v : f.blocks[b].body) {
            for_each_operand(f.at(v), use);
            if (crosses(v)) made.set(number_[v]);
        }
        if (f.blocks[b].end.cond.present()) use(f.blocks[b].end.cond);
    }

    std::vector<std::uint32_t> number_;
    std::vector<block_id> home_;
    std::vector<value_id> crossing_;
    std::vector<bit_set> in_, out_;
};

}  // namespace qwengpu::ptx::ir
