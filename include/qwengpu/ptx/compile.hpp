// SPDX-License-Identifier: MIT
// The front door of the compiler: a kernel of a checked PTX module becomes a machine program. This file is the list of the
// passes; each has a header of its own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <qwengpu/error.hpp>
#include <qwengpu/machine/legality.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/ptx/allocate.hpp>
#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/capacity.hpp>
#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/divide.hpp>
#include <qwengpu/ptx/emit.hpp>
#include <qwengpu/ptx/ir_clean.hpp>
#include <qwengpu/ptx/ir_hoist.hpp>
#include <qwengpu/ptx/ir_legalise.hpp>
#include <qwengpu/ptx/ir_literals.hpp>
#include <qwengpu/ptx/ir_locals.hpp>
#include <qwengpu/ptx/ir_promote.hpp>
#include <qwengpu/ptx/ir_recompute.hpp>
#include <qwengpu/ptx/layout.hpp>
#include <qwengpu/ptx/link.hpp>
#include <qwengpu/ptx/lower.hpp>
#include <qwengpu/ptx/narrow.hpp>
#include <qwengpu/ptx/schedule.hpp>
#include <qwengpu/ptx/share_waits.hpp>
#include <qwengpu/ptx/spill.hpp>
#include <qwengpu/ptx/webs.hpp>

namespace qwengpu::ptx {

/// How hard the compiler tries.
struct compile_options {
    std::size_t search_width = 8;  ///< ways to form blocks that are followed at once; 1 is quickest, and its programs run longer
};

/// A kernel as the machine runs it. The program holds blocks, parameters and literals with their rows, and for every block
/// its lines and how many PTX instructions of the input it stands for.
struct compiled_kernel {
    machine::program program;
    int registers = 0;         ///< how many of the machine's registers it uses
    int ptx_instructions = 0;  ///< in the kernel's text
    place where{};             ///< of the kernel's name
};

namespace detail {

/// Whether somebody asks what was there before an atomic that is two of the machine's.
inline bool asks_for_halves(const ir::function& f) {
    bool asks = false;
    ir::for_each_place(f, [&](const ir::operand& o) { asks = asks || (o.is_value() && f.at(o.bits).is_half); });
    return asks;
}

/// The kernel as words, blocks in their shape, everything ready to be fused. 64-bit atomics get a lock where they need it.
inline ir::function prepare(const parsed_module& m, const function& kernel, bool locked = false) {
    ir::function f = lower_kernel(m, kernel, locked);
    ir::optimise(f);
    ir::promote_locals(f);
    ir::optimise(f);
    ir::find_regions(f);
    ir::place_locals(f);
    ir::expand_wide(f);
    ir::optimise(f);
    ir::expand_divisions(f);
    ir::optimise(f);
    ir::hoist_reciprocals(f);
    ir::recompute_cheap_values(f);
    ir::drop_unused(f);
    return asks_for_halves(f) ? prepare(m, kernel, true) : f;
}

/// A kernel whose blocks are formed and whose values have registers.
struct fitted_kernel {
    ir::function code;
    ir::webs webs;
    std::vector<fused_block> blocks;
    allocation registers;
};

/// Forms blocks and allocates registers. Where they do not suffice, again, with less freedom to part from the input's order;
/// `quick` begins with little of it.
inline fitted_kernel fit(ir::function f, int registers, const compile_options& options, bool quick = false) {
    ir::give_loops_one_latch(f);
    ir::legalise(f);
    fitted_kernel k{std::move(f), ir::webs(), {}, {}};
    k.webs = ir::make_webs(k.code);
    allocation least;
    for (std::size_t window : {std::size_t{40}, std::size_t{16}, std::size_t{8}, std::size_t{4}, std::size_t{1}}) {
        if (quick && window > 4) continue;
        fuse::effort how;
        how.beam = options.search_width;
        how.window = window;
        how.registers = window == 40 ? registers : registers - 3;
        k.blocks = schedule_blocks(k.code, k.webs, how);
        k.registers = allocate_registers(k.code, k.blocks, k.webs, registers);
        if (k.registers.fits) return k;
        if (least.needed == 0 || k.registers.needed < least.needed) least = k.registers;
        if (window > 1 && k.registers.needed > 2 * registers) break;
    }
    k.registers = least;
    return k;
}

/// The same, with values in local memory where registers do not suffice at all.
template <machine::sizes M, spiller Spiller>
fitted_kernel fit_with_spills(const parsed_module& m, ir::function f, const compile_options& options, const Spiller& spill) {
    constexpr int registers = M.registers - 1;
    fitted_kernel k = fit(std::move(f), registers, options);
    if (k.registers.fits) return k;
    while (!k.registers.fits) k = fit(spill.relieve({m, k.code, k.webs, k.registers, registers, M.local_words}), registers, options, true);
    fitted_kernel better = fit(k.code, registers, options);
    return better.registers.fits ? std::move(better) : std::move(k);
}

}  // namespace detail

/// Compiles a kernel of a checked module for the machine M.
/// @throws diagnostic_error "ptx.unsupported" with everything that cannot be compiled, "ptx.resources" if it does not fit
template <machine::sizes M = machine::mission, spiller Spiller = spill_to_local_memory>
compiled_kernel compile_kernel(const parsed_module& m, const function& kernel, const compile_options& options = {}, const Spiller& spill = {}) {
    constexpr auto there = static_cast<std::size_t>(M.exit_block());
    ir::function f = detail::prepare(m, kernel);
    detail::check_local_words(m, kernel, f.local_words, M.local_words);
    detail::check_blocks(m, kernel, f, detail::least_blocks(f), there, "at least ");
    detail::fitted_kernel k = detail::fit_with_spills<M>(m, std::move(f), options, spill);
    share_waits(k.code, k.blocks, k.webs, k.registers);
    auto [program, needs] = emit_program(m, kernel, k.code, k.blocks, k.webs, k.registers, M.exit_block());
    while (needs.constants > M.constants && ir::make_rare_literals(k.code, static_cast<std::size_t>(needs.constants - M.constants))) {
        k = detail::fit_with_spills<M>(m, std::move(k.code), options, spill);
        share_waits(k.code, k.blocks, k.webs, k.registers);
        std::tie(program, needs) = emit_program(m, kernel, k.code, k.blocks, k.webs, k.registers, M.exit_block());
    }
    detail::check_blocks(m, kernel, k.code, static_cast<std::size_t>(needs.blocks), there, "");
    detail::check_meetings(m, kernel, static_cast<std::size_t>(needs.meetings), static_cast<std::size_t>(M.exit_block() - M.meeting_block()));
    if (needs.constants > M.constants)
        detail::fail_for_resources(m, kernel, "needs " + std::to_string(needs.constants) + " rows of constants; " + std::to_string(M.constants) +
                                                  " are there; use fewer parameters");
    machine::require_legal<M>(program);
    return {std::move(program), k.registers.used, static_cast<int>(kernel.code.size()), kernel.where};
}

/// Compiles the kernel of this name; with an empty name the only one there is.
/// @throws error "ptx.link" if there is no such kernel, and as above
template <machine::sizes M = machine::mission>
compiled_kernel compile_kernel(const parsed_module& m, std::string_view name, const compile_options& options = {}) {
    return compile_kernel<M>(m, find_kernel(m, name), options);
}

}  // namespace qwengpu::ptx
