// SPDX-License-Identifier: MIT
// A compiler that fails itself prints pages about itself: a request for a bug report, its arguments, a stack. Only what stands
// before that helps whoever wrote the source.
#pragma once

#include <cstddef>
#include <string>

namespace qwengpu::cuda::detail {

/// What a compiler printed, but for LLVM's report of its own crash.
inline std::string without_crash_report(std::string text) {
    const std::size_t report = text.find("PLEASE submit a bug report");
    if (report == std::string::npos) return text;
    text.resize(report);
    return text + "the compiler itself failed here, not the source alone: write this another way, or use another compiler\n";
}

}  // namespace qwengpu::cuda::detail
