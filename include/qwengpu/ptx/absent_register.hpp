// SPDX-License-Identifier: MIT
// Special registers that this machine does not have: the reason, and what to do instead.
#pragma once

#include <string_view>

namespace qwengpu::ptx::detail {

struct absent_register {
    std::string_view begin;  ///< of the names it is about
    std::string_view why;
};

inline constexpr absent_register absent_registers[] = {
    {"%clock", "it has no clock, since a record takes no time and a launch is the same every time; leave the timing out, the report of a launch counts its records"},
    {"%globaltimer", "it has no clock, since a record takes no time and a launch is the same every time; pass the time to the kernel as an argument"},
    {"%smid", "it has one multiprocessor, which runs one thread block after another; use %ctaid"},
    {"%nsmid", "it has one multiprocessor, which runs one thread block after another; use %nctaid"},
    {"%gridid", "launches have no numbers; pass one as an argument"},
    {"%pm", "nothing counts what happens; the report of a launch counts its records"},
};

/// Why the machine has no special register of this name.
constexpr std::string_view why_no_register(std::string_view name) {
    for (const absent_register& r : absent_registers)
        if (name.starts_with(r.begin)) return r.why;
    return "do without it";
}

}  // namespace qwengpu::ptx::detail
