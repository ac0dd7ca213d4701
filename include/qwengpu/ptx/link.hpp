// SPDX-License-Identifier: MIT
// Finds the kernel to run in a module.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cxxabi.h>

#include <qwengpu/error.hpp>
#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/diagnostics.hpp>

namespace qwengpu::ptx {

/// The kernels (.entry with a body) in the order of the file.
inline std::vector<const function*> kernels(const parsed_module& m) {
    std::vector<const function*> found;
    for (const function& f : m.functions)
        if (f.is_entry && f.has_body) found.push_back(&f);
    return found;
}

namespace detail {

/// What C++ calls a function, without result and parameters: scale<int, 4> for _Z5scaleIiLi4EEvPT_S0_; empty for names of C.
inline std::string readable_name(const std::string& mangled) {
    if (!mangled.starts_with("_Z")) return {};
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> whole(abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
    if (status != 0 || !whole) return {};
    std::string text(whole.get());
    std::size_t begin = 0, depth = 0, at = 0;
    for (; at < text.size() && (depth > 0 || text[at] != '('); ++at) {
        if (text[at] == '<') ++depth;
        if (text[at] == '>') --depth;
        if (text[at] == ' ' && depth == 0) begin = at + 1;
    }
    return text.substr(begin, at - begin);
}

inline std::string without_spaces(std::string_view text) {
    std::string s(text);
    std::erase(s, ' ');
    return s;
}

}  // namespace detail

/// Whether `name` is the function's name, or its C++ name without parameters: vecadd for _Z6vecaddPKfS0_Pfi, and scale,
/// scale<int, 4> for _Z5scaleIiLi4EEvPT_S0_.
inline bool is_named(const function& f, std::string_view name) {
    if (f.name == name) return true;
    const std::string readable = detail::without_spaces(detail::readable_name(f.name)), wanted = detail::without_spaces(name);
    return !wanted.empty() && (readable == wanted || readable.substr(0, readable.find('<')) == wanted);
}

/// The kernel of this name; with an empty name the only one. Throws error "ptx.link" that says which kernels there are.
inline const function& find_kernel(const parsed_module& m, std::string_view name) {
    const auto fail = [&](const std::string& message) { return error("ptx.link", message, qwengpu::place{printable(m.file, 4096), 0, 0}); };
    const auto all = kernels(m);
    if (all.empty()) throw fail("the file has no kernel (.entry): mark one with __global__ in CUDA, or .entry in PTX");
    std::string list;
    std::vector<const function*> meant;
    for (const function* f : all) {
        if (f->name == name) return *f;
        if (is_named(*f, name)) meant.push_back(f);
        const std::string readable = detail::readable_name(f->name);
        list += (list.empty() ? "" : ", ") + printable(f->name, 200) + (readable.empty() ? "" : " (" + printable(readable, 200) + ")");
    }
    if (meant.size() == 1) return *meant[0];
    if (meant.size() > 1) throw fail("several kernels are called '" + printable(name) + "'; name one of " + list);
    if (!name.empty()) throw fail("no kernel '" + printable(name) + "' in the file; there " + (all.size() == 1 ? "is " : "are ") + list);
    if (all.size() > 1) throw fail("the file has " + std::to_string(all.size()) + " kernels and none is named; name one of " + list);
    return *all[0];
}

}  // namespace qwengpu::ptx
