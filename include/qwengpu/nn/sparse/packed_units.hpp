// SPDX-License-Identifier: MIT
// Hidden units of a SwiGLU, each with its rows of `gate` and `up` and its column of `down` side by side in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse/entry_lists.hpp"

namespace qwengpu::nn::sparse {

class packed_units {
public:
    struct unit {
        std::span<const entry> gate, up, down;
    };

    packed_units() = default;

    /// Lists of as many units each.
    packed_units(const entry_lists& gate, const entry_lists& up, const entry_lists& down) {
        for (int i = 0; i < gate.count(); ++i) {
            const place p{append(gate[i]), append(up[i]), append(down[i])};
            places_.push_back(p);
        }
        places_.push_back({static_cast<std::uint32_t>(entries_.size()), 0, 0});
    }

    [[nodiscard]] int count() const { return places_.empty() ? 0 : static_cast<int>(places_.size()) - 1; }

    [[nodiscard]] unit operator[](int i) const {
        const place *p = &places_[static_cast<std::size_t>(i)];
        return {between(p->gate, p->up), between(p->up, p->down), between(p->down, p[1].gate)};
    }

    /// Announces that a unit will be asked for soon.
    void announce(int i) const { prefetch(&places_[static_cast<std::size_t>(i)]); }
    /// And then, once its place is at hand, its entries.
    void announce_entries(int i) const {
        const entry* first = entries_.data() + places_[static_cast<std::size_t>(i)].gate;
        prefetch(first);
        prefetch(first + entries_of_line);
    }

private:
    static constexpr int entries_of_line = 64 / sizeof(entry);

    /// Where the lists of a unit begin; each ends where the next begins.
    struct place {
        std::uint32_t gate, up, down;
    };

    std::uint32_t append(std::span<const entry> list) {
        const auto first = static_cast<std::uint32_t>(entries_.size());
        entries_.insert(entries_.end(), list.begin(), list.end());
        return first;
    }

    [[nodiscard]] std::span<const entry> between(std::uint32_t first, std::uint32_t last) const {
        return {entries_.data() + first, last - first};
    }

    std::vector<place> places_;
    std::vector<entry> entries_;
};

}  // namespace qwengpu::nn::sparse
