// SPDX-License-Identifier: MIT
// Finds the kernel to run in a module.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// Whether `name` is the function's name, or its C++ name without parameters: vecadd for _Z6vecaddPKfS0_Pfi.
inline bool is_named(const function& f, std::string_view name) {
    if (f.name == name) return true;
    const std::string mangled = "_Z" + std::to_string(name.size()) + std::string(name);
    return !name.empty() && f.name.starts_with(mangled);
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
        list += (list.empty() ? "" : ", ") + printable(f->name, 200);
    }
    if (meant.size() == 1) return *meant[0];
    if (meant.size() > 1) throw fail("several kernels are called '" + printable(name) + "'; name one of " + list);
    if (!name.empty()) throw fail("no kernel '" + printable(name) + "' in the file; there " + (all.size() == 1 ? "is " : "are ") + list);
    if (all.size() > 1) throw fail("the file has " + std::to_string(all.size()) + " kernels and none is named; name one of " + list);
    return *all[0];
}

}  // namespace qwengpu::ptx
