// SPDX-License-Identifier: MIT
// A launch request of the library, run on the tests' PTX interpreter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/launch/request.hpp>
#include <qwengpu/ptx/ast.hpp>

#include "support/interpreter/launch.hpp"

namespace qwengpu::test::interpreter {

inline given given_of(const argument& a) {
    given g;
    if (a.what == argument::kind::pointer) return {true, a.array.bytes, {}};
    for (const argument& m : a.members) g.members.push_back(given_of(m));
    if (a.what == argument::kind::scalar)
        for (int k = 0; k < row(a.type).bytes; ++k) g.content.push_back(static_cast<std::uint8_t>(a.value >> (8 * k)));
    return g;
}

/// Runs kernel `name` (empty: the only one) of the module.
inline result run(const ptx::parsed_module& module, const std::string& name, const launch_request& request, std::uint64_t limit = 10'000'000) {
    const ptx::function* kernel = nullptr;
    for (const ptx::function& f : module.functions)
        if (f.is_entry && (name.empty() || f.name == name)) kernel = &f;
    if (kernel == nullptr) throw fault("no kernel " + name);
    const auto extent_of = [](const auto& e) { return extent{static_cast<u32>(e[0]), static_cast<u32>(e[1]), static_cast<u32>(e[2])}; };
    std::vector<given> arguments;
    for (const argument& a : request.args) arguments.push_back(given_of(a));
    return launch(module, *kernel, extent_of(request.grid), extent_of(request.block)).run(arguments, static_cast<std::uint64_t>(request.dynamic_shared_bytes), limit);
}

}  // namespace qwengpu::test::interpreter
