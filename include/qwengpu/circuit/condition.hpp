// SPDX-License-Identifier: MIT
// The result of a comparison as 0 or 1: whether the case that holds is among those asked for, combined with a bit.
#pragma once

#include <qwengpu/circuit/network.hpp>

#include <array>
#include <vector>

namespace qwengpu::circuit {

/// Cases of which exactly one holds (1; the others 0 or less), each with the bit that asks for it.
struct asked_case {
    linear holds;
    signal asked;
};

/// out += the asked case holds, and / or / xor `other`. Of `combine` (none, and, or, xor) at most one is 1; if none is, nothing is
/// added. One level.
inline void write_condition(network& net, int layer, const std::array<signal, 4>& combine, const std::vector<asked_case>& cases, signal other, signal out) {
    for (const auto& c : cases) {
        net.gate(layer, all({c.holds, c.asked, combine[0]}), {{out, 1.0F}});
        net.gate(layer, all({c.holds, c.asked, combine[1], other}), {{out, 1.0F}});
        net.gate(layer, all({c.holds, c.asked, combine[2], no(other)}), {{out, 1.0F}});
        net.gate(layer, all({c.holds, c.asked, combine[3], no(other)}), {{out, 1.0F}});
        net.gate(layer, all({c.holds, no(c.asked), combine[3], other}), {{out, 1.0F}});
    }
    net.gate(layer, all({combine[2], other}), {{out, 1.0F}});
}

}  // namespace qwengpu::circuit
