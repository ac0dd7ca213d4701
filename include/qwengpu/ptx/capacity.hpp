// SPDX-License-Identifier: MIT
// What a kernel needs of the machine and what is there: refusals that say how much is missing, and which parts of the kernel
// are the largest.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/ir.hpp>

namespace qwengpu::ptx {

namespace detail {

[[noreturn]] inline void fail_for_resources(const parsed_module& m, const function& kernel, const std::string& what) {
    throw diagnostic_error(m.file, {{"ptx.resources", "kernel " + kernel.name + " " + what, kernel.where}});
}

/// Machine blocks that these instructions need in any case: one for each access, one for three computations.
inline std::size_t least_blocks(std::size_t accesses, std::size_t computations) { return std::max(accesses, (computations + 2) / 3); }

inline std::size_t accesses_of(const ir::function& f, const ir::block& b) {
    return static_cast<std::size_t>(std::count_if(b.body.begin(), b.body.end(), [&](ir::value_id v) { return f.at(v).is_memory(); }));
}

inline std::size_t least_blocks(const ir::function& f, const ir::block& b) {
    const std::size_t accesses = accesses_of(f, b);
    return least_blocks(accesses, b.body.size() - accesses);
}

inline std::size_t least_blocks(const ir::function& f) {
    std::size_t accesses = 0, all = 0, branches = 0;
    for (const ir::block& b : f.blocks) {
        if (b.end.branches()) ++branches;
        all += b.body.size();
        accesses += accesses_of(f, b);
    }
    return std::max(least_blocks(accesses, all - accesses), branches);
}

/// "PTX lines 31 to 90 (CUDA lines 4 to 9), at least 40 blocks".
inline std::string part_text(const ir::function& f, const ir::block& b) {
    machine::source_line low, high;
    for (ir::value_id v : b.body) {
        const machine::source_line at = f.sources[f.at(v).source];
        if (at.ptx_line == 0) continue;
        if (low.ptx_line == 0) low = high = at;
        low.ptx_line = std::min(low.ptx_line, at.ptx_line), high.ptx_line = std::max(high.ptx_line, at.ptx_line);
        if (at.cuda_line == 0) continue;
        low.cuda_line = low.cuda_line == 0 ? at.cuda_line : std::min(low.cuda_line, at.cuda_line);
        high.cuda_line = std::max(high.cuda_line, at.cuda_line);
    }
    const auto range = [](int from, int to) { return std::to_string(from) + (to > from ? " to " + std::to_string(to) : ""); };
    const std::string cuda = low.cuda_line == 0 ? "" : " (CUDA lines " + range(low.cuda_line, high.cuda_line) + ")";
    return "PTX lines " + range(low.ptx_line, high.ptx_line) + cuda + ", at least " + std::to_string(least_blocks(f, b)) + " blocks";
}

/// The three longest pieces without a branch.
inline std::string largest_parts(const ir::function& f) {
    std::vector<std::pair<std::size_t, std::size_t>> sizes;
    for (std::size_t k = 0; k < f.blocks.size(); ++k)
        if (!f.blocks[k].body.empty()) sizes.emplace_back(least_blocks(f, f.blocks[k]), k);
    std::sort(sizes.rbegin(), sizes.rend());
    std::string text;
    for (std::size_t k = 0; k < std::min<std::size_t>(sizes.size(), 3); ++k) text += (k == 0 ? "" : "; ") + part_text(f, f.blocks[sizes[k].second]);
    return text;
}

inline void check_blocks(const parsed_module& m, const function& kernel, const ir::function& f, std::size_t needed, std::size_t there, std::string_view how_sure) {
    if (needed <= there) return;
    fail_for_resources(m, kernel, "needs " + std::string(how_sure) + std::to_string(needed) + " machine blocks of " + std::to_string(there) +
                                      "; the largest parts are " + largest_parts(f) + "; keep their loops rolled up (#pragma unroll 1), or split the kernel");
}

/// Blocks where lanes meet have numbers of their own.
inline void check_meetings(const parsed_module& m, const function& kernel, std::size_t needed, std::size_t there) {
    if (needed <= there) return;
    fail_for_resources(m, kernel, "needs " + std::to_string(needed) + " blocks in which lanes of a warp meet (shuffles, votes, __syncwarp) of " + std::to_string(there) +
                                      "; keep loops around them rolled up (#pragma unroll 1), or split the kernel");
}

inline void check_local_words(const parsed_module& m, const function& kernel, int needed, int there) {
    if (needed <= there) return;
    fail_for_resources(m, kernel, "needs " + std::to_string(needed) + " of " + std::to_string(there) +
                                      " words of local memory for the arrays of each thread; use smaller arrays, or shared memory");
}

}  // namespace detail

}  // namespace qwengpu::ptx
