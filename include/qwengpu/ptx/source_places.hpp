// SPDX-License-Identifier: MIT
// Where the lines of a PTX text came from, as its .file and .loc directives say: what is wrong with a CUDA kernel is told with the
// line that its author wrote, and the PTX line beside it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/error.hpp>
#include <qwengpu/ptx/diagnostics.hpp>

namespace qwengpu::ptx {

/// Of code that was copied in from a header, the place in `preferred` that it was copied to, if there is one.
class source_places {
public:
    source_places(const std::string& text, std::string preferred) : preferred_(std::move(preferred)) {
        // nvcc names the files behind the code.
        for_each_line(text, [&](const std::string& line, std::istringstream& words, const std::string& first) {
            if (first == ".file") add_file(line, words);
        });
        places_.emplace_back();
        for_each_line(text, [&](const std::string& line, std::istringstream& words, const std::string& first) { one_line(line, words, first); });
    }

    /// The place of a PTX line, counted from 1; without a line if none is known.
    [[nodiscard]] qwengpu::place of(std::uint32_t line) const { return line < places_.size() ? places_[line] : qwengpu::place{}; }

private:
    template <class F>
    static void for_each_line(const std::string& text, F&& f) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            std::istringstream words(line);
            std::string first;
            words >> first;
            f(line, words, first);
        }
    }

    void one_line(const std::string& line, std::istringstream& words, const std::string& first) {
        if (line.find(".entry") != line.npos || line.find(".func") != line.npos) now_ = {}, unknown_since_ = places_.size();
        if (first == ".loc") now_ = place_in(line, words);
        places_.push_back(now_);
        // What stands before a function's first .loc counts as that line.
        if (now_.line > 0)
            for (; unknown_since_ < places_.size(); ++unknown_since_) places_[unknown_since_] = now_;
    }

    /// `.file 1 "name"` or `.file 1 "folder" "name"`, with more behind it.
    void add_file(const std::string& line, std::istringstream& words) {
        int number = 0;
        std::string folder, name;
        std::istringstream quoted(line.substr(std::min(line.find('"'), line.size())));
        if (!(words >> number >> folder) || !(quoted >> std::quoted(folder))) return;
        files_[number] = quoted >> std::ws && quoted.peek() == '"' && quoted >> std::quoted(name) ? folder + "/" + name : folder;
    }

    /// `.loc file line column`, and `, inlined_at file line column` if it was copied in.
    [[nodiscard]] qwengpu::place place_in(const std::string& line, std::istringstream& words) const {
        const qwengpu::place inner = read_place(words);
        const std::size_t at = line.find("inlined_at");
        if (inner.file == preferred_ || at == line.npos) return inner;
        std::istringstream behind(line.substr(at + 10));
        const qwengpu::place outer = read_place(behind);
        return outer.file == preferred_ ? outer : inner;
    }

    [[nodiscard]] qwengpu::place read_place(std::istringstream& words) const {
        int file = 0, line = 0;
        if (!(words >> file >> line)) return {};
        const auto name = files_.find(file);
        return name == files_.end() ? qwengpu::place{} : qwengpu::place{name->second, line, 0};
    }

    std::string preferred_;
    std::map<int, std::string> files_;
    std::vector<qwengpu::place> places_;  ///< by PTX line
    qwengpu::place now_{};
    std::size_t unknown_since_ = 0;
};

/// What PTX is refused for that was made of the CUDA file `file`, with its lines. `text` is the PTX.
inline qwengpu::error in_cuda_lines(const diagnostic_error& e, const std::string& text, const std::string& file) {
    const source_places places(text, file);
    const auto place_of = [&](const diagnostic& d) {
        qwengpu::place p = places.of(d.where.line);
        if (p.line == 0) p.file = file;
        return p;
    };
    std::string message;
    for (const diagnostic& d : e.all()) {
        if (!message.empty()) message += "\n" + to_string(place_of(d)) + ": ";
        message += d.message + " (line " + std::to_string(d.where.line) + " of the PTX made of it)";
    }
    return {e.id(), message, place_of(e.all().front())};
}

}  // namespace qwengpu::ptx
