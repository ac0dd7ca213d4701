// SPDX-License-Identifier: MIT
// The fields of the memory group, and operands picked by them.
#pragma once

#include <qwengpu/stage/operands.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/words.hpp>

#include <string>
#include <vector>

namespace qwengpu::stage {

/// Fields of group M (docs/machine.md, "Encoding").
struct memory_fields {
    word op, load_address, load_guard, load_else, store_address, store_data, cond;
    signal load_sense, store_guarded, sense;
    word store_size;
    signal is_private;

    explicit memory_fields(const word& group)
        : op(cut(group, 0, 4)), load_address(cut(group, 4, 4)), load_guard(cut(group, 8, 4)), load_else(cut(group, 13, 4)),
          store_address(cut(group, 17, 4)), store_data(cut(group, 21, 4)), cond(cut(group, 26, 4)), load_sense(group[12]),
          store_guarded(group[25]), sense(group[30]), store_size(cut(group, 31, 2)), is_private(group[33]) {}

    /// 1 if the operation is this one.
    [[nodiscard]] linear is(machine::memory_op which) const { return equals(op, static_cast<unsigned>(which)); }

    static word cut(const word& bits, std::ptrdiff_t first, std::ptrdiff_t count) { return {bits.begin() + first, bits.begin() + first + count}; }
};

/// One signal per source: the field names it, and `door` is 1 (level `layer`). A field that is not used names source zero.
inline word decode_sources(network& net, int layer, const std::string& name, const word& field, const std::vector<operand_source>& sources, const linear& door = linear(1.0)) {
    word picks;
    for (const auto& source : sources) picks.push_back(net.all_of(layer, name + ".pick" + std::to_string(source.code), {equals(field, source.code), door}));
    return picks;
}

/// out += the picked source, its low `out.size()` bits (level `layer`).
inline void pick_source(network& net, int layer, const word& picks, const std::vector<operand_source>& sources, const word& out) {
    for (std::size_t k = 0; k < picks.size(); ++k) {
        for (std::size_t i = 0; i < out.size() && i < sources[k].bits.size(); ++i) net.gate(layer, all({picks[k], sources[k].bits[i]}), {{out[i], 1.0F}});
    }
}

}  // namespace qwengpu::stage
