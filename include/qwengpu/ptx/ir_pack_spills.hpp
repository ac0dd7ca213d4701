// SPDX-License-Identifier: MIT
// Spilled values that are never alive at the same time share a word of local memory. Which words are alive is found as for
// registers: a word is alive from a store to the last load that may follow. Only the words that spilling added are looked at:
// nobody has their addresses, every access of them names its word, or takes it from a move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_clean.hpp>
#include <qwengpu/ptx/ir_legalise.hpp>
#include <qwengpu/ptx/ir_liveness.hpp>

namespace qwengpu::ptx::ir {
namespace detail {

class spill_packing {
public:
    explicit spill_packing(function& f) : f_(f), n_(static_cast<std::size_t>(f.spill_words)), meets_(n_, bit_set(n_)) {}

    void run() {
        solve();
        for (block_id b = 0; b < f_.blocks.size(); ++b) find_meetings(b);
        rename(colours());
        drop_unused(f_);
    }

private:
    [[nodiscard]] std::uint32_t first_address() const {
        return machine::address::make(machine::address::local_window, f_.local_words - f_.spill_words);
    }

    /// The number of the spilled word that the instruction loads or stores.
    [[nodiscard]] std::optional<std::size_t> word_of(const instruction& i) const {
        if (!i.is_memory() || i.where != region::local) return std::nullopt;
        const operand address = i.a.is_value() && is_move(f_.at(i.a.bits)) ? f_.at(i.a.bits).a : i.a;
        if (!address.is_literal() || address.bits < first_address()) return std::nullopt;
        return (address.bits - first_address()) / 4;
    }

    /// From what is alive behind an instruction to what is alive before it.
    void step_back(const instruction& i, bit_set& alive) const {
        const auto w = word_of(i);
        if (!w) return;
        if (i.kind == made_by::store) alive.reset(*w);
        else alive.set(*w);
    }

    [[nodiscard]] bit_set alive_behind(block_id b) const {
        bit_set alive(n_);
        for (block_id s : successors(f_.blocks[b])) alive.merge(before_[s]);
        return alive;
    }

    void solve() {
        before_.assign(f_.blocks.size(), bit_set(n_));
        for (bool changed = true; changed;) {
            changed = false;
            for (block_id b = static_cast<block_id>(f_.blocks.size()); b-- > 0;) {
                bit_set alive = alive_behind(b);
                const auto& body = f_.blocks[b].body;
                for (std::size_t k = body.size(); k-- > 0;) step_back(f_.at(body[k]), alive);
                changed = before_[b].merge(alive) || changed;
            }
        }
    }

    /// A word that is stored meets all words that are alive then.
    void find_meetings(block_id b) {
        bit_set alive = alive_behind(b);
        const auto& body = f_.blocks[b].body;
        for (std::size_t k = body.size(); k-- > 0;) {
            const instruction& i = f_.at(body[k]);
            if (const auto w = word_of(i); w && i.kind == made_by::store)
                for (std::size_t other = 0; other < n_; ++other)
                    if (other != *w && alive.test(other)) meets_[*w].set(other), meets_[other].set(*w);
            step_back(i, alive);
        }
    }

    [[nodiscard]] std::vector<std::size_t> colours() const {
        std::vector<std::size_t> colour(n_, 0);
        for (std::size_t w = 0; w < n_; ++w) {
            std::vector<bool> taken(n_ + 1, false);
            for (std::size_t other = 0; other < w; ++other)
                if (meets_[w].test(other)) taken[colour[other]] = true;
            colour[w] = static_cast<std::size_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
        }
        return colour;
    }

    void rename(const std::vector<std::size_t>& colour) {
        const std::uint32_t first = first_address();
        std::size_t most = 0;
        for (std::size_t c : colour) most = std::max(most, c + 1);
        for (block& b : f_.blocks)
            for (value_id v : b.body)
                if (const auto w = word_of(f_.at(v))) f_.at(v).a = literal(first + 4 * static_cast<std::uint32_t>(colour[*w]));
        f_.local_words += static_cast<int>(most) - f_.spill_words;
        f_.spill_words = static_cast<int>(most);
    }

    function& f_;
    std::size_t n_;
    std::vector<bit_set> before_, meets_;
};

}  // namespace detail

/// Gives spilled words that are never alive together one place. Correct for every kernel whose spilled words are accessed by
/// the loads and stores that spilling made only.
inline void pack_spills(function& f) {
    if (f.spill_words > 1) detail::spill_packing(f).run();
}

}  // namespace qwengpu::ptx::ir
