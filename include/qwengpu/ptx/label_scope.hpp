// SPDX-License-Identifier: MIT
// Labels of a function while it is parsed. A label may be used before it is defined and is known in its scope and those inside;
// inner labels hide outer ones, so a use waits until its scope closes and then asks the scope around. Labels that nothing uses
// (debug information is full of them) make no entry.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/lexer.hpp>

namespace qwengpu::ptx {

class label_scopes {
public:
    label_scopes() { open(); }

    void open() { scopes_.emplace_back(); }

    /// Closes a scope: uses without a definition move to the scope around it.
    void close() {
        const auto inner = std::move(scopes_.back());
        scopes_.pop_back();
        if (scopes_.empty()) return;
        for (const auto& [name, id] : inner) {
            if (known_[id].defined) continue;
            const auto [outer, fresh] = scopes_.back().try_emplace(name, id);
            if (fresh) continue;
            known_[id].same_as = outer->second;
            known_[outer->second].used = true;
        }
    }

    /// Id for a use of the label. Ids are provisional until `finish`.
    std::uint32_t use(std::string_view name, place where) {
        const std::uint32_t id = enter(name, where);
        known_[id].used = true;
        return id;
    }

    /// Defines a label before the instruction at `position`. Returns what is wrong if it is defined in this scope already.
    [[nodiscard]] std::optional<diagnostic> define(const token& name, std::uint32_t position) {
        label& l = known_[enter(name.text, name.where)];
        if (l.defined)
            return diagnostic{"ptx.parse", "label " + printable(name.text) + " is defined twice (first in line " + std::to_string(l.defined_at.line) + ")", name.where};
        l.defined = true;
        l.defined_at = name.where;
        l.position = position;
        return std::nullopt;
    }

    /// Closes the function: writes its label table, replaces provisional ids, returns the uses nothing was found for.
    std::vector<diagnostic> finish(function& f) {
        while (!scopes_.empty()) close();
        std::vector<diagnostic> missing;
        std::vector<std::uint32_t> final_id(known_.size(), 0);
        for (std::uint32_t k = 0; k < known_.size(); ++k) {
            const label& l = known_[k];
            if (l.same_as != k || !l.used) continue;
            if (!l.defined) missing.push_back({"ptx.parse", "label " + printable(l.name) + " is not defined in this function", l.used_at});
            final_id[k] = static_cast<std::uint32_t>(f.labels.size());
            f.labels.push_back({l.name, l.position, l.defined_at});
        }
        for (std::uint32_t k = 0; k < known_.size(); ++k) final_id[k] = final_id[root(k)];
        renumber(f, final_id);
        return missing;
    }

private:
    struct label {
        std::string name;
        place used_at, defined_at;
        std::uint32_t position;
        std::uint32_t same_as;  ///< itself, or the label of an outer scope that it turned out to be
        bool defined = false;
        bool used = false;
    };

    std::uint32_t enter(std::string_view name, place where) {
        const auto [it, fresh] = scopes_.back().try_emplace(name, next_id());
        if (fresh) known_.push_back({std::string(name), where, {}, 0, next_id()});
        return it->second;
    }

    [[nodiscard]] std::uint32_t next_id() const { return static_cast<std::uint32_t>(known_.size()); }
    [[nodiscard]] std::uint32_t root(std::uint32_t id) const {
        while (known_[id].same_as != id) id = known_[id].same_as;
        return id;
    }

    static void renumber(function& f, const std::vector<std::uint32_t>& final_id) {
        for (instruction& i : f.code)
            for (operand& o : i.operands)
                if (o.kind == operand_kind::label) o.id = final_id[o.id];
        for (branch_table& t : f.branch_tables)
            for (std::uint32_t& id : t.labels) id = final_id[id];
    }

    std::vector<std::unordered_map<std::string_view, std::uint32_t>> scopes_;
    std::vector<label> known_;
};

}  // namespace qwengpu::ptx
