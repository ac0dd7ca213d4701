// SPDX-License-Identifier: MIT
// The special register of a block (layers 1-6): %tid from the thread's number and the block's shape by tables,
// x = t mod nx, then y and z from q = t div nx and ny; %laneid, %warpid and the thread's number as they are.
#pragma once

#include <qwengpu/machine/block.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>
#include <vector>

namespace qwengpu::stage {

namespace detail {

inline linear reads(const signals& s, machine::special_register r) { return equals(s.program.special(), static_cast<unsigned>(r)); }

inline word decode(network& net, int layer, const std::string& name, const word& bits, int count) {
    word hot;
    for (int k = 0; k < count; ++k) hot.push_back(net.all_of(layer, name + std::to_string(k), {equals(bits, static_cast<unsigned>(k))}));
    return hot;
}

inline signal& made(network& net, signal& s, const std::string& name) {
    if (!s.valid()) s = net.make(name);
    return s;
}

inline void add_binary(std::vector<std::pair<signal, float>>& to, unsigned value, const word& out) {
    for (unsigned b = 0; b < out.size(); ++b) {
        if (((value >> b) & 1U) != 0) to.emplace_back(out[b], 1.0F);
    }
}

// Per lane: tid.x in binary, t div nx one-hot (bits and numbers that no thread has are not valid).
struct lane_tables {
    std::vector<word> x, quotient;
};

template <machine::sizes M>
lane_tables divide_by_width(network& net, const signals& s) {
    const word warp = decode(net, plan::fetch_header, "tid.warp", s.context.warp, M.warps);
    const word width = decode(net, plan::fetch_header, "tid.width", {s.context.shape.begin(), s.context.shape.begin() + 5}, M.threads());
    lane_tables t;
    t.x.assign(static_cast<std::size_t>(M.lanes), word(static_cast<std::size_t>(machine::bits_for(M.threads()))));
    t.quotient.assign(static_cast<std::size_t>(M.lanes), word(static_cast<std::size_t>(M.threads())));
    for (int w = 0; w < M.warps; ++w) {
        for (int nx = 1; nx <= M.threads(); ++nx) {
            std::vector<std::pair<signal, float>> to;
            for (int l = 0; l < M.lanes; ++l) {
                const int thread = w * M.lanes + l;
                const auto lane = ".lane" + std::to_string(l);
                for (std::size_t b = 0; b < t.x[static_cast<std::size_t>(l)].size(); ++b) {
                    if (((thread % nx) >> b & 1) == 0) continue;
                    to.emplace_back(made(net, t.x[static_cast<std::size_t>(l)][b], "tid.x" + lane + "[" + std::to_string(b) + "]"), 1.0F);
                }
                auto& quotient = t.quotient[static_cast<std::size_t>(l)][static_cast<std::size_t>(thread / nx)];
                to.emplace_back(made(net, quotient, "tid.q" + std::to_string(thread / nx) + lane), 1.0F);
            }
            net.gate(plan::fetch_header + 1, all({warp[static_cast<std::size_t>(w)], width[static_cast<std::size_t>(nx - 1)]}), to);
        }
    }
    return t;
}

template <machine::sizes M>
void write_tid(network& net, signals& s, const lane_tables& t) {
    using machine::special_register;
    const int layer = plan::fetch_early;
    const auto threads = static_cast<std::size_t>(M.threads());
    const word quotient = net.make_word("tid.q", M.threads());
    for (std::size_t l = 0; l < static_cast<std::size_t>(M.lanes); ++l) {
        const signal lane = s.position.next_lane[l];
        for (std::size_t b = 0; b < t.x[l].size(); ++b) {
            if (t.x[l][b].valid()) net.gate(layer, all({lane, t.x[l][b], reads(s, special_register::tid_x)}), {{s.data.special[b], 1.0F}});
        }
        for (std::size_t q = 0; q < threads; ++q) {
            if (t.quotient[l][q].valid()) net.gate(layer, all({lane, t.quotient[l][q]}), {{quotient[q], 1.0F}});
        }
    }
    const word height = decode(net, layer, "tid.height", {s.context.shape.begin() + 5, s.context.shape.begin() + 10}, M.threads());
    for (std::size_t q = 0; q < threads; ++q) {
        for (std::size_t ny = 1; ny <= threads; ++ny) {
            auto table = [&](special_register which, std::size_t value) {
                std::vector<std::pair<signal, float>> to;
                add_binary(to, static_cast<unsigned>(value), s.data.special);
                if (!to.empty()) net.gate(layer + 1, all({quotient[q], height[ny - 1], reads(s, which)}), to);
            };
            table(special_register::tid_y, q % ny);
            table(special_register::tid_z, q / ny);
        }
    }
}

}  // namespace detail

template <machine::sizes M>
void build_special(network& net, signals& s) {
    using machine::special_register;
    s.data.special = net.make_word("special", machine::bits_for(M.threads()));
    detail::write_tid<M>(net, s, detail::divide_by_width<M>(net, s));
    const int layer = plan::fetch_early;
    const auto lane_bits = static_cast<std::size_t>(machine::bits_for(M.lanes));
    for (unsigned l = 0; l < static_cast<unsigned>(M.lanes); ++l) {
        std::vector<std::pair<signal, float>> to;
        detail::add_binary(to, l, s.data.special);
        for (const auto which : {special_register::laneid, special_register::thread})
            net.gate(layer, all({s.position.next_lane[l], detail::reads(s, which)}), to);
    }
    for (std::size_t b = 0; b < s.context.warp.size(); ++b) {
        net.gate(layer, all({s.context.warp[b], detail::reads(s, special_register::warpid)}), {{s.data.special[b], 1.0F}});
        net.gate(layer, all({s.context.warp[b], detail::reads(s, special_register::thread)}), {{s.data.special[lane_bits + b], 1.0F}});
    }
}

}  // namespace qwengpu::stage
