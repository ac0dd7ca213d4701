// SPDX-License-Identifier: MIT
// The first place where a model and the emulator part, with everything needed to understand it, and its report.
#pragma once

#include <qwengpu/diff/signals.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/text/transcript_reader.hpp>

#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

namespace qwengpu::diff {

/// A signal that differs, the layer after which it is complete, and both values.
struct signal_difference {
    signal which = signal::r0;
    int layer = 0;
    std::uint32_t emulator = 0, model = 0;
};

/// One side's view of what comes next: its tokens (a word's two where it takes two) and the value they hold, if any.
struct side {
    std::vector<std::string> tokens;
    std::optional<std::uint32_t> value;
};

/// A difference. `place` is where both stood before it.
struct divergence {
    text::transcript_place place;
    std::string position;           ///< what comes next there, in words
    std::string instruction;        ///< disassembly of what makes it, "" outside of a record
    machine::source_line line;      ///< where that came from
    std::string cuda_file;
    side emulator, model;
    std::vector<signal_difference> signals;  ///< in the order of their layers
    std::optional<int> lane_of_model;        ///< the lane the model works on, if it is another one
};

namespace detail {

inline std::string value_text(const side& s) {
    std::string tokens;
    for (const auto& t : s.tokens) tokens += (tokens.empty() ? "" : " ") + t;
    if (tokens.empty()) tokens = "nothing more";
    if (!s.value) return tokens;
    return fmt::format("{} = {} = 0x{:08x}", tokens, static_cast<std::int32_t>(*s.value), *s.value);
}

inline std::string line_text(const divergence& d) {
    std::string text = d.line.ptx_line > 0 ? fmt::format("PTX line {}", d.line.ptx_line) : "no source line";
    if (d.line.cuda_line > 0) text += fmt::format(", CUDA line {}{}", d.line.cuda_line, d.cuda_file.empty() ? "" : " of " + d.cuda_file);
    return text;
}

inline std::string signal_text(const signal_difference& s) {
    return fmt::format("{} at layer {}: emulator {} = 0x{:08x}, model {} = 0x{:08x}, bits 0x{:08x}", signal_names[static_cast<std::size_t>(s.which)],
                       s.layer, static_cast<std::int32_t>(s.emulator), s.emulator, static_cast<std::int32_t>(s.model), s.model,
                       s.emulator ^ s.model);
}

}  // namespace detail

/// The report, a line for each fact.
inline std::string to_string(const divergence& d) {
    const auto& p = d.place;
    auto text = fmt::format("first difference after token {} of the transcript: record {}, thread block ({}, {}, {})", p.tokens, p.records,
                            p.ctaid[0], p.ctaid[1], p.ctaid[2]);
    if (p.in_record) text += fmt::format(", warp {}, lane {}, block {}", p.warp, p.lane, p.block);
    text += fmt::format("\n  next         {}{}", d.position, p.uniform ? ", for all lanes of the record" : "");
    if (!d.instruction.empty()) text += fmt::format("\n  instruction  {}  ({})", d.instruction, detail::line_text(d));
    text += "\n  emulator     " + detail::value_text(d.emulator) + "\n  model        " + detail::value_text(d.model);
    if (d.lane_of_model) text += fmt::format("\n  the model works on lane {}", *d.lane_of_model);
    for (const auto& s : d.signals) text += "\n  signal       " + detail::signal_text(s);
    return text;
}

}  // namespace qwengpu::diff
