// SPDX-License-Identifier: MIT
// Makes SSA form while code is made, as in Braun et al., "Simple and Efficient Construction of Static Single Assignment
// Form" (2013). Variables are numbers; a variable that was never written reads as zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ir.hpp>

namespace qwengpu::ptx {

class ssa_builder {
public:
    /// The blocks of `f` and their predecessors are there already.
    explicit ssa_builder(ir::function& f) : f_(f), state_(f.blocks.size()) {}

    void write(ir::block_id b, std::uint32_t variable, ir::operand o) { state_[b].now[variable] = o; }

    ir::operand read(ir::block_id b, std::uint32_t variable) {
        std::vector<ir::block_id> path;
        while (true) {
            const auto found = state_[b].now.find(variable);
            if (found != state_[b].now.end()) return remember(path, variable, found->second);
            path.push_back(b);
            if (!state_[b].sealed || f_.blocks[b].predecessors.size() != 1) break;
            b = f_.blocks[b].predecessors[0];
        }
        return remember(path, variable, at_join(b, variable));
    }

    /// All predecessors of the block are complete: the phis that waited get their inputs.
    void seal(ir::block_id b) {
        state_[b].sealed = true;
        const auto waiting = std::exchange(state_[b].waiting, {});
        for (const auto& [variable, phi] : waiting) fill(b, variable, phi);
    }
    [[nodiscard]] bool sealed(ir::block_id b) const { return state_[b].sealed; }

private:
    struct block_state {
        std::unordered_map<std::uint32_t, ir::operand> now{};
        std::vector<std::pair<std::uint32_t, ir::value_id>> waiting{};
        bool sealed = false;
    };

    ir::operand remember(const std::vector<ir::block_id>& path, std::uint32_t variable, ir::operand o) {
        for (ir::block_id b : path) state_[b].now[variable] = o;
        return o;
    }

    ir::operand at_join(ir::block_id b, std::uint32_t variable) {
        if (state_[b].sealed && f_.blocks[b].predecessors.empty()) return ir::zero;
        const ir::value_id phi = f_.add_phi(b, 0);
        write(b, variable, ir::value(phi));
        if (state_[b].sealed) fill(b, variable, phi);
        else state_[b].waiting.emplace_back(variable, phi);
        return ir::value(phi);
    }

    void fill(ir::block_id b, std::uint32_t variable, ir::value_id phi) {
        for (std::size_t k = 0; k < f_.blocks[b].predecessors.size(); ++k) {
            const ir::operand o = read(f_.blocks[b].predecessors[k], variable);
            f_.inputs(phi).push_back(o);
        }
    }

    ir::function& f_;
    std::vector<block_state> state_;
};

}  // namespace qwengpu::ptx
