// SPDX-License-Identifier: MIT
// What happens when the registers do not suffice. A spiller changes the kernel so that it needs fewer, or throws; the only
// one for now has nowhere to put values and says so.
#pragma once

#include <concepts>
#include <string>

#include <qwengpu/ptx/allocate.hpp>
#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/ir.hpp>

namespace qwengpu::ptx {

/// What a spiller is asked: the kernel, and which registers are missing where.
struct shortage {
    const parsed_module& module;
    const ir::function& kernel;
    const allocation& registers;
    int there = 0;
};

/// `relieve` returns the kernel with fewer values alive at once, or throws diagnostic_error "ptx.resources".
template <class S>
concept spiller = requires(const S& s, const shortage& what) {
    { s.relieve(what) } -> std::same_as<ir::function>;
};

/// Refuses, and names the line where most values are alive.
struct no_spilling {
    [[noreturn]] ir::function relieve(const shortage& what) const {
        const machine::source_line line = what.kernel.sources[what.registers.source];
        const std::string text = "kernel " + what.kernel.name + " needs " + std::to_string(what.registers.needed) +
                                 " registers at line " + std::to_string(line.ptx_line) + "; " + std::to_string(what.there) +
                                 " are there, so " + std::to_string(what.registers.needed - what.there) +
                                 " words for each thread are missing; keep fewer values alive at once (smaller loop bodies, no unrolling)";
        throw diagnostic_error(what.module.file, {{"ptx.resources", text, {static_cast<std::uint32_t>(line.ptx_line), 0}}});
    }
};

static_assert(spiller<no_spilling>);

}  // namespace qwengpu::ptx
