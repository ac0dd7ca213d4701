// SPDX-License-Identifier: MIT
// Literals of more than 16 bits take a row of the constants each. Where there are more of them than rows, those that are used
// least are made by instructions: the high half, shifted up, plus the low half.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_legalise.hpp>

namespace qwengpu::ptx::ir {

namespace detail {

/// The `wanted` literals with the fewest uses; fewer if there are not as many. Around a lock every block is one of the machine's.
inline std::set<std::uint32_t> rarest_literals(const function& f, std::size_t wanted) {
    std::map<std::uint32_t, std::size_t> uses;
    std::set<std::uint32_t> fixed;
    for (const block& b : f.blocks)
        for (value_id v : b.body)
            for_each_operand(f.at(v), [&](const operand& o) {
                if (!o.is_literal() || fits_stage(o.bits)) return;
                ++uses[o.bits];
                if (b.part != lock_part::none && b.part != lock_part::section) fixed.insert(o.bits);
            });
    for (const std::uint32_t bits : fixed) uses.erase(bits);
    std::vector<std::pair<std::size_t, std::uint32_t>> order;
    for (const auto& [bits, n] : uses) order.emplace_back(n, bits);
    std::sort(order.begin(), order.end());
    std::set<std::uint32_t> chosen;
    for (std::size_t k = 0; k < std::min(wanted, order.size()); ++k) chosen.insert(order[k].second);
    return chosen;
}

inline operand make_literal(function& f, std::vector<value_id>& body, std::uint32_t bits, std::uint32_t source) {
    const operand low = stage_literal(bits & 0xffffU), high = stage_literal((bits - low.bits) >> 16);
    const auto put = [&](instruction i) {
        i.source = source;
        i.settled = true;
        body.push_back(f.add(i));
        return value(body.back());
    };
    const operand top = put(move_of(high, source));
    const operand shifted = put({.op = alu_op::shl, .a = top, .b = literal(16)});
    return put({.op = alu_op::add, .a = shifted, .b = low});
}

}  // namespace detail

/// Makes the `wanted` rarest literals by instructions; says whether there were that many.
inline bool make_rare_literals(function& f, std::size_t wanted) {
    const std::set<std::uint32_t> rare = detail::rarest_literals(f, wanted);
    for (block& b : f.blocks) {
        std::vector<value_id> body;
        for (value_id v : b.body) {
            instruction i = f.at(v);
            for_each_operand(i, [&](operand& o) { if (o.is_literal() && rare.contains(o.bits)) o = detail::make_literal(f, body, o.bits, i.source); });
            f.at(v) = i;
            body.push_back(v);
        }
        b.body = std::move(body);
    }
    return rare.size() == wanted;
}

}  // namespace qwengpu::ptx::ir
