// SPDX-License-Identifier: MIT
// Gives the webs that are written their registers: lives over the fused blocks, then graph colouring after Chaitin and
// Briggs. A register that a block reads may be the one it writes, unless a later slot of the block is still made from it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ir_liveness.hpp>
#include <qwengpu/ptx/schedule.hpp>

namespace qwengpu::ptx {

/// Registers by web. If they do not suffice, `registers` is empty and `needed` and `source` say how many and where.
struct allocation {
    std::unordered_map<ir::value_id, std::uint8_t> registers;
    int used = 0;
    int needed = 0;
    std::uint32_t source = 0;
    std::vector<ir::value_id> crowd{};  ///< webs that are alive there
    bool fits = true;
};

namespace detail {

class allocator {
public:
    allocator(const ir::function& f, const std::vector<fused_block>& blocks, const ir::webs& w, int registers)
        : f_(f), blocks_(blocks), webs_(w), registers_(registers) {}

    allocation run() {
        number_webs();
        solve();
        conflicts_.resize(webs_known_.size());
        for (std::size_t b = 0; b < blocks_.size(); ++b) find_conflicts(b);
        colour();
        return std::move(out_);
    }

private:
    std::size_t number_of(ir::value_id v) {
        const auto [at, fresh] = number_.try_emplace(webs_.of(v), webs_known_.size());
        if (fresh) webs_known_.push_back(webs_.of(v));
        return at->second;
    }

    void number_webs() {
        reads_.resize(blocks_.size());
        writes_.resize(blocks_.size());
        for (std::size_t b = 0; b < blocks_.size(); ++b) {
            for_each_read(f_, blocks_[b], [&](ir::value_id v) { reads_[b].push_back(number_of(v)); });
            for (std::size_t k = 0; k < 4; ++k)
                if (blocks_[b].write[k]) writes_[b].push_back(number_of(blocks_[b].stage[k]));
        }
    }

    void solve() {
        const std::size_t n = webs_known_.size();
        in_.assign(blocks_.size(), ir::bit_set(n));
        out_sets_.assign(blocks_.size(), ir::bit_set(n));
        for (bool changed = true; changed;) {
            changed = false;
            for (std::size_t b = blocks_.size(); b-- > 0;) {
                for (std::uint32_t s : {blocks_[b].next, blocks_[b].branch ? blocks_[b].taken : ir::exit_target})
                    if (ir::is_block(s)) changed = out_sets_[b].merge(in_[s]) || changed;
                ir::bit_set through = out_sets_[b];
                for (std::size_t w : writes_[b]) through.reset(w);
                for (std::size_t r : reads_[b]) through.set(r);
                changed = in_[b].merge(through) || changed;
            }
        }
    }

    void conflict(std::size_t a, std::size_t b) {
        if (a == b) return;
        conflicts_[a].push_back(b);
        conflicts_[b].push_back(a);
    }

    void find_conflicts(std::size_t b) {
        std::vector<std::size_t> alive;
        for (std::size_t w = 0; w < webs_known_.size(); ++w)
            if (out_sets_[b].test(w)) alive.push_back(w);
        int pressure = static_cast<int>(alive.size());
        for (std::size_t w : writes_[b]) {
            if (!out_sets_[b].test(w)) ++pressure;
            for (std::size_t other : alive) conflict(w, other);
            for (std::size_t other : writes_[b]) conflict(w, other);
        }
        if (pressure > out_.needed) {
            out_.needed = pressure;
            out_.source = source_of(b);
            out_.crowd.clear();
            for (std::size_t w : alive) out_.crowd.push_back(webs_known_[w]);
            for (std::size_t w : writes_[b])
                if (!out_sets_[b].test(w)) out_.crowd.push_back(webs_known_[w]);
        }
        find_hazards(b);
    }

    [[nodiscard]] std::uint32_t source_of(std::size_t b) const {
        for (ir::value_id v : blocks_[b].stage)
            if (v != no_value) return f_.at(v).source;
        return blocks_[b].store != no_value ? f_.at(blocks_[b].store).source : blocks_[b].source;
    }

    /// The webs in registers that the value of a stage is made from, through earlier stages too.
    void made_from(const fused_block& b, int stage, std::vector<std::size_t>& found) {
        ir::for_each_operand(f_.at(b.stage[static_cast<std::size_t>(stage)]), [&](const ir::operand& o) {
            if (!o.is_value()) return;
            if (const int made = b.made_in(o, stage); made >= 0) made_from(b, made, found);
            else found.push_back(number_of(o.bits));
        });
    }

    /// A slot writes before the slots of earlier stages, so it must leave alone what those are made from.
    void find_hazards(std::size_t at) {
        const fused_block& b = blocks_[at];
        find_hazards_of_memory(at);
        for (int late = 1; late < 4; ++late) {
            if (!b.write[static_cast<std::size_t>(late)]) continue;
            for (int early = 0; early < late; ++early) {
                if (!b.write[static_cast<std::size_t>(early)]) continue;
                std::vector<std::size_t> from;
                made_from(b, early, from);
                for (std::size_t w : from) conflict(number_of(b.stage[static_cast<std::size_t>(late)]), w);
            }
        }
    }

    /// An atomic writes what was there before it stores; a collective reads its register again for every slot.
    void find_hazards_of_memory(std::size_t at) {
        const fused_block& b = blocks_[at];
        if (b.stage[1] == no_value) return;
        const ir::instruction& i = f_.at(b.stage[1]);
        if (i.kind == ir::made_by::atomic && b.write[1])
            for (std::size_t w : reads_[at]) conflict(number_of(b.stage[1]), w);
        if (i.kind != ir::made_by::collective || !i.b.is_value()) return;
        for (std::size_t k = 0; k < 4; ++k)
            if (b.write[k]) conflict(number_of(b.stage[k]), number_of(i.b.bits));
    }

    /// Two orders are tried: the one that takes the most entangled webs first, and the program's own.
    void colour() {
        for (auto& list : conflicts_) {
            std::sort(list.begin(), list.end());
            list.erase(std::unique(list.begin(), list.end()), list.end());
        }
        std::vector<std::size_t> order = simplify();
        std::reverse(order.begin(), order.end());
        if (std::size_t failed = 0; !colour_in(order, failed)) {
            std::iota(order.begin(), order.end(), std::size_t{0});
            if (!colour_in(order, failed)) fail(failed);
        }
    }

    bool colour_in(const std::vector<std::size_t>& order, std::size_t& failed) {
        std::vector<int> colours(webs_known_.size(), 0);
        out_.used = 0;
        for (std::size_t w : order) {
            std::vector<bool> taken(static_cast<std::size_t>(registers_) + 1, false);
            for (std::size_t other : conflicts_[w]) taken[static_cast<std::size_t>(colours[other])] = true;
            int c = 1;
            while (c <= registers_ && taken[static_cast<std::size_t>(c)]) ++c;
            failed = w;
            if (c > registers_) return false;
            colours[w] = c;
            out_.used = std::max(out_.used, c);
            out_.registers[webs_known_[w]] = static_cast<std::uint8_t>(c);
        }
        return true;
    }

    void fail(std::size_t web) {
        out_.fits = false;
        if (out_.needed <= registers_) {
            out_.needed = registers_ + 1;
            out_.source = f_.at(webs_known_[web]).source;
            out_.crowd = {webs_known_[web]};
            for (std::size_t other : conflicts_[web]) out_.crowd.push_back(webs_known_[other]);
        }
    }

    /// Webs in the order in which they are taken out of the graph: always one with the fewest neighbours left.
    std::vector<std::size_t> simplify() const {
        std::vector<std::size_t> degree(conflicts_.size()), order;
        std::vector<bool> gone(conflicts_.size(), false);
        for (std::size_t w = 0; w < conflicts_.size(); ++w) degree[w] = conflicts_[w].size();
        for (std::size_t round = 0; round < conflicts_.size(); ++round) {
            std::size_t best = conflicts_.size();
            for (std::size_t w = 0; w < conflicts_.size(); ++w)
                if (!gone[w] && (best == conflicts_.size() || degree[w] < degree[best])) best = w;
            gone[best] = true;
            order.push_back(best);
            for (std::size_t other : conflicts_[best]) --degree[other];
        }
        return order;
    }

    const ir::function& f_;
    const std::vector<fused_block>& blocks_;
    const ir::webs& webs_;
    int registers_;
    allocation out_;
    std::unordered_map<ir::value_id, std::size_t> number_;
    std::vector<ir::value_id> webs_known_;
    std::vector<std::vector<std::size_t>> reads_, writes_, conflicts_;
    std::vector<ir::bit_set> in_, out_sets_;
};

}  // namespace detail

/// Registers 1 to `registers` for all webs that the blocks write.
inline allocation allocate_registers(const ir::function& f, const std::vector<fused_block>& blocks, const ir::webs& w, int registers) {
    return detail::allocator(f, blocks, w, registers).run();
}

}  // namespace qwengpu::ptx
