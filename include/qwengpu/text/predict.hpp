// SPDX-License-Identifier: MIT
// How many tokens a record of a block takes: at least (words short, `all` as soon as nothing but registers is left) and
// at most (no two lanes alike, every word in two tokens). A trap takes fewer.
#pragma once

#include <qwengpu/machine/dependencies.hpp>

namespace qwengpu::text {

struct token_range {
    int least = 0, most = 0;

    token_range& operator+=(const token_range& other) {
        least += other.least;
        most += other.most;
        return *this;
    }
};

namespace detail {

/// Tokens of one position of a slot.
constexpr token_range position_tokens(const machine::machine_block& b, machine::slot s) {
    if (s == machine::slot::branch) return {1, 1};
    if (s == machine::slot::store) return {b.mem.store_guarded ? 1 : 2, 3};
    return {1, 2};
}

}  // namespace detail

/// Tokens of a record of this block with `lanes` lanes in its mask, its `hdr` included.
constexpr token_range predict(const machine::machine_block& b, int lanes) {
    token_range all{1, 1};
    const auto rest = machine::rest_of_dependencies(b);
    bool uniform = false;
    for (std::size_t i = 0; i < machine::all_slots.size(); ++i) {
        if (!machine::present(b, machine::all_slots[i])) continue;
        if (!uniform && lanes > 1 && (rest[i] & machine::special_port) == 0) uniform = true, ++all.least;
        const auto one = detail::position_tokens(b, machine::all_slots[i]);
        all.least += one.least * (uniform ? 1 : lanes);
        all.most += one.most * lanes;
    }
    return all;
}

}  // namespace qwengpu::text
