// SPDX-License-Identifier: MIT
// Decodes named signals of a pass from the residual stream, each right after the layer that completes it.
#pragma once

#include <qwengpu/nn/observer.hpp>
#include <qwengpu/stage/compiled_layers.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qwengpu::stage {

/// What a probe decodes, in this order.
inline constexpr std::array<std::string_view, 9> probed_names{"r0", "r1", "r2", "r3", "special", "t1", "t2", "t3", "t4"};

/// The signals of one pass. `lane` is -1 if the pass writes no position of a record.
struct probed_signals {
    int lane = -1;
    std::array<std::uint32_t, probed_names.size()> values{};
};

class probe {
public:
    template <machine::sizes M>
    explicit probe(const compiled_layers<M>& compiled) {
        const auto& s = compiled.named();
        const std::array<const word*, probed_names.size()> words{&s.data.port[0], &s.data.port[1], &s.data.port[2], &s.data.port[3], &s.data.special,
                                                                 &s.data.t1,      &s.data.t2,      &s.data.t3,      &s.data.t4};
        for (const word* w : words) places_.push_back(place_of(compiled, *w));
        lanes_ = place_of(compiled, s.position.next_lane);
    }

    /// The layer whose MLP completes each signal.
    [[nodiscard]] std::array<int, probed_names.size()> layers() const {
        std::array<int, probed_names.size()> result{};
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = places_[i].layer;
        return result;
    }

    /// An observer of one pass that fills in `out`.
    [[nodiscard]] auto into(probed_signals& out) const {
        return [this, &out](int layer, nn::point point, const auto& residual) {
            if (point != nn::point::after_mlp) return;
            if (layer == lanes_.layer) out.lane = lane_of(bits(lanes_, residual));
            for (std::size_t i = 0; i < places_.size(); ++i) {
                if (places_[i].layer == layer) out.values[i] = bits(places_[i], residual);
            }
        };
    }

private:
    struct place {
        int layer = 0;
        std::vector<int> channels;
    };

    template <machine::sizes M>
    static place place_of(const compiled_layers<M>& compiled, const word& w) {
        place p;
        for (const signal s : w) {
            p.channels.push_back(compiled.info(s).channel);
            p.layer = std::max(p.layer, compiled.info(s).ready / 2);
        }
        return p;
    }

    template <class Residual>
    static std::uint32_t bits(const place& p, const Residual& residual) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < p.channels.size(); ++i) {
            if (p.channels[i] >= 0 && residual(p.channels[i], 0) > 0.5F) value |= std::uint32_t{1} << i;
        }
        return value;
    }
    static int lane_of(std::uint32_t one_hot) {
        for (int l = 0; l < 32; ++l) {
            if (one_hot == std::uint32_t{1} << l) return l;
        }
        return -1;
    }

    std::vector<place> places_;
    place lanes_;
};

}  // namespace qwengpu::stage
