// SPDX-License-Identifier: MIT
// All that is wrong with a PTX file, gathered and thrown as one error: `what()` has a line for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <qwengpu/error.hpp>
#include <qwengpu/ptx/types.hpp>

namespace qwengpu::ptx {

/// Text of a file for a message: bytes that are not printable ASCII become `?`, and it ends after `limit` of them.
inline std::string printable(std::string_view text, std::size_t limit = 60) {
    std::string s(text.substr(0, limit));
    for (char& c : s)
        if (c < 0x20 || c > 0x7e) c = '?';
    return text.size() > limit ? s + "..." : s;
}

/// One thing that is wrong. Ids: ptx.parse, ptx.type, ptx.link, ptx.unsupported, ptx.resources.
struct diagnostic {
    std::string id;
    std::string message;
    ptx::place where{};
};

/// What a PTX file is refused for. `id()` and `where()` are those of the first diagnostic; `message()` has a line for each.
class diagnostic_error : public qwengpu::error {
public:
    /// `all` holds at least one.
    diagnostic_error(const std::string& file, std::vector<diagnostic> all)
        : error(all.front().id, join(file, all), at(file, all.front().where)), all_(std::move(all)) {}

    [[nodiscard]] const std::vector<diagnostic>& all() const noexcept { return all_; }

private:
    static qwengpu::place at(const std::string& file, ptx::place w) {
        return {printable(file, 4096), static_cast<int>(w.line), static_cast<int>(w.column)};
    }
    static std::string join(const std::string& file, const std::vector<diagnostic>& all) {
        std::string text = all.front().message;
        for (std::size_t k = 1; k < all.size(); ++k) text += "\n" + to_string(at(file, all[k].where)) + ": " + all[k].message;
        return text;
    }

    std::vector<diagnostic> all_;
};

/// Gathers diagnostics of one file; keeps the first `limit`.
class diagnostics {
public:
    explicit diagnostics(std::string file, std::size_t limit = 50) : file_(std::move(file)), limit_(limit) {}

    void add(std::string_view id, ptx::place where, std::string message) {
        if (all_.size() < limit_) all_.push_back({std::string(id), std::move(message), where});
    }
    [[nodiscard]] bool empty() const { return all_.empty(); }
    [[nodiscard]] bool full() const { return all_.size() >= limit_; }
    [[nodiscard]] const std::vector<diagnostic>& all() const { return all_; }

    /// Throws a diagnostic_error if there is anything: in the order of the file, but errors of syntax before errors of type.
    void throw_if_any() const {
        if (all_.empty()) return;
        std::vector<diagnostic> sorted = all_;
        std::stable_sort(sorted.begin(), sorted.end(), [](const diagnostic& a, const diagnostic& b) { return key(a) < key(b); });
        if (full()) sorted.back().message += "\n(these are the first " + std::to_string(limit_) + "; there may be more)";
        throw diagnostic_error(file_, std::move(sorted));
    }

private:
    using sort_key = std::tuple<bool, std::uint32_t, std::uint32_t>;
    static sort_key key(const diagnostic& d) { return {d.id != "ptx.parse", d.where.line, d.where.column}; }

    std::string file_;
    std::size_t limit_;
    std::vector<diagnostic> all_;
};

}  // namespace qwengpu::ptx
