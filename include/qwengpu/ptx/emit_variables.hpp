// SPDX-License-Identifier: MIT
// The module variables of a program: the words they begin with, and where among these are addresses of others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <qwengpu/machine/program.hpp>
#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/function_pointer.hpp>
#include <qwengpu/ptx/ir.hpp>

namespace qwengpu::ptx::detail {

/// The module variables that are left: those whose addresses the code asks for, and those whose addresses these begin with.
class variable_writer {
public:
    variable_writer(const parsed_module& m, const ir::function& f, const std::vector<int>& rows) : m_(m) {
        for (std::size_t k = 0; k < rows.size(); ++k)
            if (rows[k] != 0) keep(f.module_variables[k], rows[k]);
    }

    std::vector<machine::module_variable> run() {
        std::vector<machine::module_variable> all;
        for (std::size_t k = 0; k < kept_.size(); ++k) all.push_back(one(kept_[k].first, kept_[k].second));
        return all;
    }

private:
    void keep(std::uint32_t id, int row) {
        if (const std::size_t at = number_of(id); at < kept_.size()) {
            kept_[at].second = std::max(kept_[at].second, row);
            return;
        }
        kept_.emplace_back(id, row);
        for (const initial_value& i : m_.variables[id].initial)
            if (i.sym.kind == symbol_kind::module_variable) keep(i.sym.id, 0);
    }

    machine::module_variable one(std::uint32_t id, int row) const {
        const variable& v = m_.variables[id];
        machine::module_variable out{v.name, static_cast<int>(v.bytes()), static_cast<int>(std::max<std::uint64_t>(v.alignment, 4)), row, {}, {}};
        out.words.assign((v.bytes() + 3) / 4, 0);
        for (const initial_value& i : v.initial) put(out, i, static_cast<std::uint64_t>(bytes_of(v.type)));
        return out;
    }

    void put(machine::module_variable& out, const initial_value& i, std::uint64_t bytes) const {
        const std::uint64_t at = i.index * bytes;
        if (i.sym.kind == symbol_kind::module_variable) {
            out.links.push_back({static_cast<int>(at), static_cast<int>(bytes), static_cast<int>(number_of(i.sym.id)), static_cast<std::uint32_t>(i.bits), i.mask});
            return;
        }
        const std::uint64_t bits = i.sym.kind == symbol_kind::function ? function_pointers::initial(i) : i.bits;
        machine::put_bytes(out.words, at, bytes, bits);
    }

    /// The place among those kept; behind the last one if it is none of them.
    [[nodiscard]] std::size_t number_of(std::uint32_t id) const {
        return static_cast<std::size_t>(std::find_if(kept_.begin(), kept_.end(), [&](const auto& v) { return v.first == id; }) - kept_.begin());
    }

    const parsed_module& m_;
    std::vector<std::pair<std::uint32_t, int>> kept_;  ///< id and row
};

}  // namespace qwengpu::ptx::detail
