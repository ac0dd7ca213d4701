// SPDX-License-Identifier: MIT
// Names inside a function: registers, ranges of registers (%r<9> makes %r0 to %r8) and variables, in nested scopes. A range costs
// one entry however long it is; a register gets its id when it is first used.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/lexer.hpp>

namespace qwengpu::ptx {

/// What a name in a function means.
struct named {
    bool is_register = false;
    std::uint32_t id = 0;  ///< of a register or of a variable of the function
};

/// The scopes of one function while its body is parsed; fills its register table.
class scope_stack {
public:
    scope_stack() { open(); }

    void open() { scopes_.emplace_back(); }
    void close() { scopes_.pop_back(); }
    [[nodiscard]] std::size_t depth() const { return scopes_.size(); }

    /// Declares one register. Throws syntax_error if the name is taken in this scope.
    void declare_register(const token& name, scalar_type type, int vector) {
        add(name).range = {type, vector, 0, name.where, {}};
    }
    /// Declares `prefix`0 to `prefix`(count - 1).
    void declare_range(const token& prefix, std::uint64_t count, scalar_type type, int vector) {
        auto [place_of, fresh] = scopes_.back().ranges.try_emplace(prefix.text);
        if (!fresh) throw syntax_error(prefix.where, twice(prefix, place_of->second.declared));
        place_of->second = {type, vector, count, prefix.where, {}};
    }
    void declare_variable(const token& name, std::uint32_t id) {
        entry& e = add(name);
        e.is_variable = true;
        e.variable = id;
        e.range.declared = name.where;
    }

    /// Looks a name up, innermost scope first; a register that is met for the first time is added to `f.registers`.
    std::optional<named> find(std::string_view name, function& f) {
        for (auto s = scopes_.rbegin(); s != scopes_.rend(); ++s)
            if (auto found = find_in(*s, name, f)) return found;
        return std::nullopt;
    }

private:
    struct declaration {
        scalar_type type = scalar_type::none;
        int vector = 1;
        std::uint64_t count = 0;
        place declared{};
        std::unordered_map<std::uint64_t, std::uint32_t> ids{};
    };
    struct entry {
        bool is_variable = false;
        std::uint32_t variable = 0;
        declaration range{};
    };
    struct scope {
        std::unordered_map<std::string_view, entry> names;
        std::unordered_map<std::string_view, declaration> ranges;
    };

    static std::string twice(const token& name, place first) {
        return "'" + printable(name.text) + "' is declared twice in this scope (first in line " + std::to_string(first.line) + ")";
    }

    entry& add(const token& name) {
        auto [place_of, fresh] = scopes_.back().names.try_emplace(name.text);
        if (!fresh) throw syntax_error(name.where, twice(name, place_of->second.range.declared));
        return place_of->second;
    }

    static std::uint32_t id_in(declaration& r, std::uint64_t number, std::string_view name, function& f) {
        const auto [place_of, fresh] = r.ids.try_emplace(number, static_cast<std::uint32_t>(f.registers.size()));
        if (fresh) f.registers.push_back({std::string(name), r.type, r.vector, r.declared});
        return place_of->second;
    }

    static std::optional<named> find_in(scope& s, std::string_view name, function& f) {
        if (const auto e = s.names.find(name); e != s.names.end()) {
            if (e->second.is_variable) return named{false, e->second.variable};
            return named{true, id_in(e->second.range, 0, name, f)};
        }
        return s.ranges.empty() ? std::nullopt : find_numbered(s, name, f);
    }

    /// Tries every split of the name into a prefix and a number without leading zeros.
    static std::optional<named> find_numbered(scope& s, std::string_view name, function& f) {
        for (std::size_t at = name.size(); at-- > 1 && detail::is_digit(name[at]);) {
            if (name[at] == '0' && at + 1 != name.size()) continue;
            const auto r = s.ranges.find(name.substr(0, at));
            std::uint64_t number = 0;
            if (r == s.ranges.end() || !detail::digits_to(name.substr(at), 10, number)) continue;
            if (number < r->second.count) return named{true, id_in(r->second, number, name, f)};
        }
        return std::nullopt;
    }

    std::vector<scope> scopes_;
};

}  // namespace qwengpu::ptx
