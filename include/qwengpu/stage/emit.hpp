// SPDX-License-Identifier: MIT
// Layer 44: replaces the token that was read by the next one, in the channels of the embedding. A class weighs 64 and
// every payload bit 1, so that the row of the next token wins the head's argmax by 1 or more.
#pragma once

#include <qwengpu/stage/intent.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/result.hpp>
#include <qwengpu/stage/signals.hpp>

#include <string>
#include <vector>

namespace qwengpu::stage {

/// Weight of the class in the code of the next token; more than the bits of any payload of another class.
inline constexpr float class_weight = 64.0F;

namespace detail {

/// Writes into the embedding's channels, all in one MLP.
class token_writer {
public:
    token_writer(network& net, const inputs& code) : net_(net), code_(code) {
        for (const auto& s : code.classes) wipe(s);
        for (const auto* rails : {&code.low, &code.low_zero, &code.high, &code.high_zero}) {
            for (const auto& s : *rails) wipe(s);
        }
    }
    void write_class(const linear& when, token_class c) { net_.gate(plan::back + 3, when, {{code_.is(c), class_weight}}); }
    /// Payload bits from `first` on.
    void write(const linear& when, const std::vector<linear>& bits, std::size_t first) {
        for (std::size_t i = 0; i < bits.size(); ++i) {
            const std::size_t at = first + i;
            net_.gate(plan::back + 3, all({when, bits[i]}), {{at < 16 ? code_.low[at] : code_.high[at - 16], 1.0F}});
            net_.gate(plan::back + 3, all({when, no(bits[i])}), {{at < 16 ? code_.low_zero[at] : code_.high_zero[at - 16], 1.0F}});
        }
    }

private:
    void wipe(signal s) { net_.gate(plan::back + 3, s, {{s, -1.0F}}); }
    network& net_;
    const inputs& code_;
};

inline std::vector<linear> bits_of(const word& w, std::size_t first, std::size_t count) {
    std::vector<linear> bits;
    for (std::size_t i = first; i < first + count; ++i) bits.emplace_back(w[i]);
    return bits;
}
inline std::vector<linear> bits_of(const word& w) { return bits_of(w, 0, w.size()); }

inline std::vector<linear> binary_of(const word& one_hot, int bits) {
    std::vector<linear> result(static_cast<std::size_t>(bits));
    for (std::size_t k = 0; k < one_hot.size(); ++k) {
        for (std::size_t b = 0; b < result.size(); ++b) {
            if (((k >> b) & 1U) != 0) result[b] += one_hot[k];
        }
    }
    return result;
}

template <machine::sizes M>
void write_schedule(token_writer& out, const signals& s, const intents& i) {
    const auto& next = s.schedule;
    const auto warp = binary_of(next.next_warp, machine::bits_for(M.warps));
    out.write_class(i.end, token_class::end);
    out.write_class(i.cta, token_class::cta);
    out.write_class(i.start, token_class::start);
    out.write(i.start, bits_of(next.start_mask), 0);
    out.write(i.start, bits_of(next.start_warp), 10);
    out.write_class(i.mask, token_class::mask);
    out.write(i.mask, bits_of(next.mask), 0);
    out.write(i.mask, warp, 10);
    out.write_class(i.hdr, token_class::hdr);
    out.write(i.hdr, bits_of(next.block), 0);
    out.write(i.hdr, warp, 10);
    out.write_class(i.release, token_class::release);
    out.write(i.release, binary_of(next.release, machine::bits_for(M.barriers)), 0);
    out.write(i.release, {next.release_phase}, 3);
    out.write_class(i.fair, token_class::fair);
    for (int lane = 0; lane < M.lanes; ++lane) {
        const auto bits = [](int n) {
            std::vector<linear> all_bits;
            for (int b = 0; b < machine::bits_for(M.lanes); ++b) all_bits.emplace_back((n >> b & 1) != 0 ? 1.0 : 0.0);
            return all_bits;
        };
        const linear is = equals(s.context.fair_lane, static_cast<unsigned>(lane));
        out.write(all({i.fair, next.same_lane, is}), bits(lane), 0);
        out.write(all({i.fair, no(next.same_lane), is}), bits((lane + 1) % M.lanes), 0);
    }
}

template <machine::sizes M>
void write_record(token_writer& out, const intents& i, const result_signals& r) {
    const linear sound = no(linear(r.misaligned) + linear(r.outside));
    auto when = [&](signal s) { return all({s, sound}); };
    out.write_class(when(i.all), token_class::all);
    out.write_class(when(i.branch), token_class::br);
    out.write(when(i.branch), {r.taken}, 0);
    out.write_class(when(r.skip), token_class::skip);
    out.write_class(when(r.addr), token_class::addr);
    out.write(when(r.addr), bits_of(r.store_address, 2, static_cast<std::size_t>(machine::bits_for(M.words))), 0);
    out.write(when(r.addr), bits_of(r.store_address, 27, text::window_bits), 7);
    out.write_class(when(r.lo), token_class::lo);
    out.write_class(when(r.short_word), token_class::short_word);
    out.write(when(r.lo), bits_of(r.value, 0, 16), 0);
    out.write(when(r.short_word), bits_of(r.value), 0);
    out.write_class(i.hi, token_class::hi);
    out.write(i.hi, bits_of(r.value, 16, 16), 16);
    auto trap = [&](signal s, unsigned kind) {
        out.write_class(s, token_class::trap);
        out.write(s, {linear(kind & 1U), linear((kind >> 1) & 1U), linear((kind >> 2) & 1U)}, 0);
    };
    trap(r.outside, 1);
    trap(r.misaligned, 2);
    trap(i.illegal, 3);
    trap(i.deadlock, 4);
}

}  // namespace detail

template <machine::sizes M>
void build_emit(network& net, const signals& s, const intents& i, const result_signals& r) {
    detail::token_writer out(net, s.token);
    detail::write_schedule<M>(out, s, i);
    detail::write_record<M>(out, i, r);
}

}  // namespace qwengpu::stage
