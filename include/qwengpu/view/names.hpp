// SPDX-License-Identifier: MIT
// Names for people: which element of which buffer a word of memory is, and which line of which source a block came from.
#pragma once

#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/program.hpp>

#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <vector>

namespace qwengpu::view {

/// A buffer as people know it.
struct named_buffer {
    std::string name;
    machine::buffer_place place;
    int element_bytes = 4;
};

/// "c[3]" for a word of a buffer of words or larger elements, "c+12" (bytes) for smaller elements; "word 17" if it is nobody's.
inline std::string name_of_word(const std::vector<named_buffer>& buffers, int window, int word) {
    for (const auto& b : buffers) {
        if (b.place.window != window) continue;
        const int bytes = 4 * (word - b.place.first_word), inside = bytes % b.element_bytes;
        if (b.element_bytes < 4) return fmt::format("{}+{}", b.name, bytes);
        return fmt::format("{}[{}]{}", b.name, bytes / b.element_bytes, inside == 0 ? "" : fmt::format("+{}", inside));
    }
    return fmt::format("word {} of window {}", word, window);
}

/// Text of a line of a source file, "" where it is not known.
using source_text = std::function<std::string(const std::string& file, int line)>;

/// "vecadd.cu:4  c[i] = a[i] + b[i];" or "PTX line 31"; "" where nothing is known.
inline std::string describe(const machine::program& program, const machine::source_line& line, const source_text& text) {
    if (line.cuda_line > 0) {
        const auto file = static_cast<std::size_t>(line.cuda_file);
        const auto name = file < program.cuda_files.size() ? program.cuda_files[file] : std::string("CUDA");
        const auto base = name.substr(name.find_last_of('/') + 1);
        const auto source = text ? text(name, line.cuda_line) : std::string{};
        return fmt::format("{}:{}{}{}", base, line.cuda_line, source.empty() ? "" : "  ", source);
    }
    return line.ptx_line > 0 ? fmt::format("PTX line {}", line.ptx_line) : "";
}

/// A word as people read it: decimal, and hexadecimal too where that says more.
inline std::string value_text(std::uint32_t value) {
    const auto n = static_cast<std::int32_t>(value);
    if (n >= -2048 && n <= 2047) return fmt::format("{}", n);
    return fmt::format("{}=0x{:x}", n, value);
}

}  // namespace qwengpu::view
