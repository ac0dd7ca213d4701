// SPDX-License-Identifier: MIT
// Finds the place of the first error in what a compiler printed: clang's "file:3:5: error:", nvcc's "file(3): error:".
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include <qwengpu/error.hpp>

namespace qwengpu::cuda {

namespace detail {

/// Reads a number at the start of `s` and takes it off; 0 if there is none.
inline int take_number(std::string_view& s) {
    int n = 0;
    const auto [end, status] = std::from_chars(s.data(), s.data() + s.size(), n);
    if (status != std::errc{}) return 0;
    s.remove_prefix(static_cast<std::size_t>(end - s.data()));
    return n;
}

/// The place that a line of output begins with, if the line tells of an error.
inline place place_in(std::string_view line) {
    if (line.find("error") == line.npos) return {};
    for (std::size_t k = 1; k < line.size(); ++k) {
        if (line[k] != ':' && line[k] != '(') continue;
        std::string_view rest = line.substr(k + 1);
        const int number = take_number(rest);
        const std::string_view close = line[k] == '(' ? "):" : ":";
        if (number <= 0 || !rest.starts_with(close)) continue;
        rest.remove_prefix(close.size());
        return {std::string(line.substr(0, k)), number, line[k] == ':' ? take_number(rest) : 0};
    }
    return {};
}

/// The place in "In file included from a.cu:1:" and in "a.cu:5:16: note: in instantiation of"; nothing for other lines.
inline place place_of_use(std::string_view line) {
    const std::string_view included = "In file included from ";
    if (line.starts_with(included)) return place_in(std::string(line.substr(included.size())) + " error");
    return line.find(": note: in instantiation of ") == line.npos ? place{} : place_in(std::string(line) + " error");
}

}  // namespace detail

/// Place of the first error in `output`; just `file` if none is found.
inline place first_place(std::string_view output, const std::string& file) {
    while (!output.empty()) {
        const std::size_t end = output.find('\n');
        if (place p = detail::place_in(output.substr(0, end)); p.line > 0) return p;
        output = end == output.npos ? std::string_view{} : output.substr(end + 1);
    }
    return {file, 0, 0};
}

/// Place of the first error in `output`. If that is in a header of ours, in `folder`: where a file of the user includes or uses it.
inline place first_place_outside(std::string_view output, const std::string& file, const std::string& folder) {
    const auto ours = [&](const place& p) { return p.file.starts_with(folder); };
    const place first = first_place(output, file);
    if (!ours(first)) return first;
    place before;
    bool reached = false;
    while (!output.empty()) {
        const std::size_t end = output.find('\n');
        const std::string_view line = output.substr(0, end);
        output = end == output.npos ? std::string_view{} : output.substr(end + 1);
        const place use = detail::place_of_use(line);
        if (use.line > 0 && !ours(use)) {
            if (reached) return use;
            before = use;
        } else if (detail::place_in(line).line > 0) {
            if (reached) break;
            reached = true;
        }
    }
    return before.line > 0 ? before : place{file, 0, 0};
}

}  // namespace qwengpu::cuda
