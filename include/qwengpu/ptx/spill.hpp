// SPDX-License-Identifier: MIT
// What happens when the registers do not suffice. A spiller changes the kernel so that it needs fewer, or throws. The one that
// is used keeps whole webs in local memory: stored where they are made, loaded where they are used, both inside the machine
// block that is there anyway; what is made of constants alone is made again instead (G. Chaitin's spilling, by web).
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/ptx/allocate.hpp>
#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_graph.hpp>
#include <qwengpu/ptx/ir_pack_spills.hpp>
#include <qwengpu/ptx/webs.hpp>

namespace qwengpu::ptx {

/// What a spiller is asked: the kernel, out of SSA form with these webs, and which registers are missing where.
struct shortage {
    const parsed_module& module;
    const ir::function& kernel;
    const ir::webs& webs;
    const allocation& registers;
    int there = 0, local_words = 0;
};

/// `relieve` returns the kernel with fewer values alive at once, or throws diagnostic_error "ptx.resources".
template <class S>
concept spiller = requires(const S& s, const shortage& what) {
    { s.relieve(what) } -> std::same_as<ir::function>;
};

namespace detail {

/// `words`: of local memory that the kernel would take.
[[noreturn]] inline void fail_for_registers(const shortage& what, int words) {
    const machine::source_line line = what.kernel.sources[what.registers.source];
    const std::string text = "kernel " + what.kernel.name + " needs " + std::to_string(what.registers.needed) + " registers at line " +
                             std::to_string(line.ptx_line) + "; " + std::to_string(what.there) +
                             " are there, and its variables and the values that find no register take " + std::to_string(words) + " words of local memory for each thread; " +
                             std::to_string(what.local_words) + " are there, so " + std::to_string(words - what.local_words) + " are missing; keep fewer values alive at once (smaller loop bodies, #pragma unroll 1)";
    throw diagnostic_error(what.module.file, {{"ptx.resources", text, {static_cast<std::uint32_t>(line.ptx_line), 0}}});
}

/// What it costs to keep a web in memory, in tokens or so, and whether it can be made again instead.
struct spill_choice {
    ir::value_id web = 0;
    double cost = 0;
    bool remake = false;
};

class local_spill {
public:
    explicit local_spill(const shortage& what) : what_(what), f_(what.kernel), graph_(ir::graph_of(f_)), lives_(f_) {}

    ir::function run() {
        const int missing = std::max(1, what_.registers.needed - what_.there);
        std::vector<spill_choice> choices = possible();
        if (choices.empty() || missing > what_.local_words + static_cast<int>(choices.size())) fail_for_registers(what_, f_.local_words + missing);
        std::sort(choices.begin(), choices.end(), [](const spill_choice& a, const spill_choice& b) { return std::pair(a.cost, a.web) < std::pair(b.cost, b.web); });
        const std::size_t most = std::min(choices.size(), static_cast<std::size_t>(missing));
        for (std::size_t k = 0; k < most; ++k) take(choices[k]);
        for (ir::block_id b = 0; b < f_.blocks.size(); ++b) one_block(b);
        if (f_.local_words > what_.local_words) ir::pack_spills(f_);
        if (f_.local_words > what_.local_words) fail_for_registers(what_, f_.local_words);
        return std::move(f_);
    }

private:
    /// Where a spilled web is: a word of local memory, or an instruction that makes it again.
    struct home {
        std::uint32_t address = 0;
        bool remake = false;
        ir::instruction how{};
    };

    std::vector<spill_choice> possible() {
        std::map<ir::value_id, double> cost;
        for (ir::value_id web : what_.registers.crowd) cost[web] = 0;
        for (ir::block_id b : graph_.order) {
            const double weight = std::pow(8.0, graph_.depth(b));
            const auto use = [&](const ir::operand& o) { if (o.is_value()) add(cost, o.bits, weight); };
            for (ir::value_id v : f_.blocks[b].body) {
                ir::for_each_operand(f_.at(v), use);
                add(cost, v, 3 * weight);
            }
            use(f_.blocks[b].end.cond);
        }
        std::vector<spill_choice> found;
        for (const auto& [web, c] : cost) {
            const auto& members = what_.webs.members(web);
            if (std::all_of(members.begin(), members.end(), [&](ir::value_id v) { return f_.at(v).settled; })) continue;
            const bool again = members.size() == 1 && made_of_constants(f_.at(web));
            found.push_back({web, again ? c / 8 : c, again});
        }
        return found;
    }

    void add(std::map<ir::value_id, double>& cost, ir::value_id v, double weight) const {
        if (const auto at = cost.find(what_.webs.of(v)); at != cost.end()) at->second += weight;
    }

    static bool made_of_constants(const ir::instruction& i) {
        if (i.kind != ir::made_by::alu || machine::find_instruction(i.op)->only_stage3) return false;
        bool all = true;
        ir::for_each_operand(i, [&](const ir::operand& o) { all = all && !o.is_value(); });
        return all;
    }

    void take(const spill_choice& c) {
        home h;
        h.remake = c.remake;
        if (c.remake) h.how = f_.at(c.web);
        else h.address = machine::address::make(machine::address::local_window, f_.local_words++), ++f_.spill_words;
        homes_.emplace(c.web, h);
    }

    [[nodiscard]] const home* find(ir::value_id v) const {
        if (v >= known_values_) return nullptr;
        const auto at = homes_.find(what_.webs.of(v));
        return at == homes_.end() ? nullptr : &at->second;
    }

    /// The order obeys the webs first: memory keeps the order of the text.
    void one_block(ir::block_id b) {
        ir::block& block = f_.blocks[b];
        const std::vector<std::size_t> order = ir::detail::order_with_rules(what_.kernel, what_.webs, lives_, b).sorted();
        const std::vector<ir::value_id> before = std::exchange(block.body, {});
        std::erase_if(block.phis, [&](ir::value_id v) { return find(v) != nullptr; });
        for (std::size_t k : order) {
            const ir::value_id v = before[k];
            const home* h = find(v);
            if (h != nullptr && h->remake) continue;
            ir::instruction i = f_.at(v);
            reload(b, i);
            if (h != nullptr) i.settled = true;
            f_.at(v) = i;
            f_.blocks[b].body.push_back(v);
            if (h != nullptr) store(b, *h, v);
        }
        const ir::operand cond = f_.blocks[b].end.cond;
        if (!cond.is_value() || find(cond.bits) == nullptr) return;
        const ir::operand now = fetch(b, *find(cond.bits), f_.blocks[b].end.source);
        f_.blocks[b].end.cond = now;
    }

    void reload(ir::block_id b, ir::instruction& i) {
        std::map<ir::value_id, ir::operand> here;
        ir::for_each_operand(i, [&](ir::operand& o) {
            const home* h = o.is_value() ? find(o.bits) : nullptr;
            if (h == nullptr) return;
            const auto [at, fresh] = here.try_emplace(what_.webs.of(o.bits), ir::operand{});
            if (fresh) at->second = fetch(b, *h, i.source);
            o = at->second;
        });
    }

    ir::operand fetch(ir::block_id b, const home& h, std::uint32_t source) {
        ir::instruction i = h.how;
        if (!h.remake) i = access(ir::made_by::load, h);
        i.source = source;
        i.settled = true;
        f_.blocks[b].body.push_back(f_.add(i));
        return ir::value(f_.blocks[b].body.back());
    }

    void store(ir::block_id b, const home& h, ir::value_id v) {
        ir::instruction i = access(ir::made_by::store, h);
        i.b = ir::value(v);
        i.source = f_.at(v).source;
        f_.blocks[b].body.push_back(f_.add(i));
    }

    static ir::instruction access(ir::made_by kind, const home& h) {
        ir::instruction i;
        i.kind = kind;
        i.a = ir::literal(h.address);
        i.where = ir::region::local;
        i.is_private = true;
        return i;
    }

    const shortage& what_;
    ir::function f_;
    std::size_t known_values_ = f_.values.size();
    ir::graph graph_;
    ir::liveness lives_;
    std::map<ir::value_id, home> homes_;
};

}  // namespace detail

/// Keeps values in local memory.
struct spill_to_local_memory {
    ir::function relieve(const shortage& what) const { return detail::local_spill(what).run(); }
};

static_assert(spiller<spill_to_local_memory>);

}  // namespace qwengpu::ptx
