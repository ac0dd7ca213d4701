// SPDX-License-Identifier: MIT
// What access_checker.hpp finds, as data and as a line of text: data races, and reads of what nobody wrote.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/program.hpp>

namespace qwengpu::machine {

/// A race: two threads, no barrier between, and one of them wrote. Uninitialised: nobody wrote it. Out of lifetime: the last
/// who did was a thread block before this one, whose shared and local memory is gone.
/// Returned: local memory behind the variables of the functions that are under way.
enum class finding_kind : std::uint8_t { race, uninitialised, out_of_lifetime, returned };

enum class access_kind : std::uint8_t { read, write, atomic };

/// Who did an access, and where the program says so.
struct access_place {
    extent ctaid{};
    int thread = 0;  ///< in its thread block: warp * lanes + lane
    int block = 0;   ///< machine block
    access_kind kind = access_kind::read;
    source_line line{};
};

/// `later` is the access that was found; of a race, `earlier` is the other one.
struct finding {
    finding_kind kind = finding_kind::race;
    std::uint32_t address = 0;  ///< of the first byte that is concerned
    access_place earlier{}, later{};
    std::uint64_t times = 1;    ///< bytes and threads for which the same two instructions were found
};

namespace detail {

/// Findings in the order in which they came; the same two instructions once.
class finding_list {
public:
    void add(const finding& f) {
        const auto [entry, is_new] = seen_.try_emplace({f.kind, f.earlier.block, f.earlier.kind, f.later.block, f.later.kind}, all_.size());
        if (is_new) all_.push_back(f);
        else all_[entry->second].times += f.times;
    }
    [[nodiscard]] const std::vector<finding>& all() const { return all_; }

private:
    std::vector<finding> all_;
    std::map<std::tuple<finding_kind, int, access_kind, int, access_kind>, std::size_t> seen_;
};

}  // namespace detail

constexpr std::string_view name_of(finding_kind kind) {
    switch (kind) {
        case finding_kind::race: return "data race";
        case finding_kind::uninitialised: return "uninitialised read";
        case finding_kind::out_of_lifetime: case finding_kind::returned: return "read out of lifetime";
    }
    return "unknown finding";
}

namespace detail {

inline std::string name_of_file(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

inline std::string text_of(const access_place& a, const program& p) {
    constexpr std::array<std::string_view, 3> verbs{"reads", "writes", "changes it atomically"};
    std::string text = "thread " + std::to_string(a.thread) + " of thread block (" + std::to_string(a.ctaid[0]) + ", " +
                       std::to_string(a.ctaid[1]) + ", " + std::to_string(a.ctaid[2]) + ") " +
                       std::string(verbs[static_cast<std::size_t>(a.kind)]) + " in block " + std::to_string(a.block);
    const auto file = static_cast<std::size_t>(a.line.cuda_file);
    if (a.line.cuda_line > 0)
        text += ", " + (file < p.cuda_files.size() ? name_of_file(p.cuda_files[file]) + ":" : std::string("CUDA line ")) + std::to_string(a.line.cuda_line);
    if (a.line.ptx_line > 0) text += ", PTX line " + std::to_string(a.line.ptx_line);
    return text;
}

/// "byte 1 of word 3 of shared memory"; a buffer's words count from its beginning.
inline std::string memory_text(std::uint32_t a, std::string_view buffer, int first_word) {
    const int window = address::window(a), first = window == address::shared_window ? 1 : first_word;
    const std::string memory = window == address::shared_window  ? "shared memory"
                               : window == address::local_window ? "local memory"
                               : buffer.empty()                  ? "window " + std::to_string(window)
                                                                 : std::string(buffer);
    return "byte " + std::to_string(a & address::byte_mask) + " of word " + std::to_string(address::word(a) - first) + " of " + memory;
}

}  // namespace detail

/// One line. `buffer` names the memory of a window below 28 and `first_word` is where it begins.
inline std::string to_string(const finding& f, const program& p, std::string_view buffer = "", int first_word = 0) {
    std::string text = std::string(name_of(f.kind)) + ": " + detail::memory_text(f.address, buffer, first_word) + ": ";
    constexpr std::array<std::string_view, 4> reasons{"; no barrier is between them", "; nobody wrote it", "; only an earlier thread block wrote it",
                                                      "; no local variable that is alive there holds it (has its function returned?)"};
    if (f.kind == finding_kind::race) text += detail::text_of(f.earlier, p) + "; ";
    text += detail::text_of(f.later, p) + std::string(reasons[static_cast<std::size_t>(f.kind)]);
    return f.times > 1 ? text + " (" + std::to_string(f.times) + " times)" : text;
}

}  // namespace qwengpu::machine
