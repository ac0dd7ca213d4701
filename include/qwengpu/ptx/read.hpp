// SPDX-License-Identifier: MIT
// The front door of the reader: PTX text in, a checked syntax tree out.
#pragma once

#include <string>
#include <utility>

#include <qwengpu/ptx/check.hpp>
#include <qwengpu/ptx/parser.hpp>

namespace qwengpu::ptx {

/// Parses and checks PTX text; `file` is its name for messages.
/// Throws diagnostic_error (ptx.parse or ptx.type) that lists everything found.
inline parsed_module read(std::string text, const std::string& file) {
    diagnostics wrong(file);
    parsed_module m = parse(std::move(text), file, wrong);
    check(m, wrong);
    wrong.throw_if_any();
    return m;
}

}  // namespace qwengpu::ptx
