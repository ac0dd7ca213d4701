// SPDX-License-Identifier: MIT
// Front, layer 6: the register file. One head per lane and read port, one row per warp and register; all lanes are read,
// so that the pass can tell whether they agree, and the MLP keeps the lane whose position comes next.
#pragma once

#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>

namespace qwengpu::stage {

inline constexpr int port_count = 4;

namespace detail {

template <machine::sizes M>
word read_lane(network& net, const nn::shape& shape, const signals& s, int lane, int port) {
    const auto name = "lane" + std::to_string(lane) + ".r" + std::to_string(port);
    const word out = net.make_word(name, 32);
    memory head(name, shape.key_dim, shape.value_dim);
    for (int w = 0; w < M.warps; ++w) {
        const linear warp = equals(s.context.warp, static_cast<unsigned>(w));
        for (int r = 1; r < M.registers; ++r) {
            const int row = w * M.registers + r;
            head.write(row, all({s.write.lane[static_cast<std::size_t>(lane)], warp, equals(s.write.dest, static_cast<unsigned>(r))}));
            head.read(row, all({s.context.hdr, warp, equals(s.program.port(port), static_cast<unsigned>(r))}));
        }
    }
    hold_word(head, s.token, out);
    head.place(net, plan::registers);
    return out;
}

}  // namespace detail

template <machine::sizes M>
void build_registers(network& net, const nn::shape& shape, signals& s) {
    for (int port = 0; port < port_count; ++port) {
        auto& chosen = s.data.port[static_cast<std::size_t>(port)];
        chosen = net.make_word("r" + std::to_string(port), 32);
        for (int lane = 0; lane < M.lanes; ++lane) {
            s.data.registers.push_back(detail::read_lane<M>(net, shape, s, lane, port));
            const auto& raw = s.data.registers.back();
            for (std::size_t i = 0; i < 32; ++i)
                net.gate(plan::registers, all({s.position.next_lane[static_cast<std::size_t>(lane)], raw[i]}), {{chosen[i], 1.0F}});
        }
    }
}

}  // namespace qwengpu::stage
