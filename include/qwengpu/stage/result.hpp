// SPDX-License-Identifier: MIT
// Back, layers 41-43: the word to write, the store's address and its check, the branch; then which class of token the
// next one is, but for a trap.
#pragma once

#include <qwengpu/circuit/adder.hpp>
#include <qwengpu/stage/address_check.hpp>
#include <qwengpu/stage/intent.hpp>
#include <qwengpu/stage/memory_fields.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/signals.hpp>

#include <vector>

namespace qwengpu::stage {

/// What the last layer turns into a token.
struct result_signals {
    word value;          ///< the word under way
    word store_address;
    signal taken;        ///< the condition holds
    signal lo, short_word, skip, addr;  ///< unless `misaligned` or `outside`
    signal misaligned, outside;
};

namespace detail {

struct store_operands {
    word address, cond;
};

// Layer 41.
inline store_operands pick_results(network& net, signals& s, const memory_fields& f, result_signals& r) {
    using machine::source;
    auto sources = common_sources(s);
    const std::vector<std::pair<source, const word*>> made{{source::t1, &s.data.t1}, {source::t2, &s.data.t2}, {source::t3, &s.data.t3}, {source::t4, &s.data.t4}};
    for (const auto& [code, bits] : made) sources.push_back(from(code, *bits));
    const int decode = plan::back - 1, pick = plan::back;
    const auto& slots = s.position.next_slot;
    r.value = net.make_word("value", 32);
    r.store_address = net.make_word("store.address", 32);
    const word cond = net.make_word("cond", 1);
    pick_source(net, pick, decode_sources(net, decode, "store.address", f.store_address, sources, s.program.present(1)), sources, r.store_address);
    pick_source(net, pick, decode_sources(net, decode, "store.data", f.store_data, sources, slots[1]), sources, r.value);
    pick_source(net, pick, decode_sources(net, decode, "cond", f.cond, sources, s.context.hdr), sources, cond);
    const word* by_slot[] = {&s.data.t4, &s.data.t3, &s.data.t2, &s.data.t1};
    for (std::size_t i = 0; i < 32; ++i) {
        for (std::size_t k = 0; k < 4; ++k) net.gate(pick, all({slots[2 + k], (*by_slot[k])[i]}), {{r.value[i], 1.0F}});
        if (i < s.schedule.cta_value.size()) net.gate(pick, s.schedule.cta_value[i], {{r.value[i], 1.0F}});
    }
    return {r.store_address, cond};
}

// Layer 42: does the word fit a `short`, i.e. are its 21 high bits all alike?
inline signal fits_short(network& net, int layer, const word& value) {
    linear high;
    for (std::size_t i = text::short_bits - 1; i < value.size(); ++i) high += value[i];
    const signal fits = net.threshold(layer, "value.fits_short", high, static_cast<double>(value.size() - text::short_bits + 1));
    net.step(layer, no(high), 1, {{fits, 1.0F}});
    return fits;
}

// Layer 43.
inline void decide(network& net, int layer, const signals& s, const memory_fields& f, const intents& i, const address_check& check, signal fits, result_signals& r) {
    r.lo = net.all_of(layer, "result.lo", {i.word, no(fits)});
    r.short_word = net.all_of(layer, "result.short", {i.word, fits});
    r.skip = net.all_of(layer, "result.skip", {i.store, f.store_guarded, no(r.taken)});
    r.addr = net.one_of(layer, "result.addr", {all({i.store, no(f.store_guarded)}), all({i.store, f.store_guarded, r.taken})});
    r.misaligned = net.one_of(layer, "result.misaligned", {all({i.checks, s.data.load_misaligned})});
    r.outside = net.one_of(layer, "result.outside", {all({i.checks, s.data.load_outside})});
    const linear load_traps = linear(s.data.load_misaligned) + linear(s.data.load_outside);
    const linear stores = all({i.checks, s.program.present(1), no(load_traps)});
    for (const auto& when : {all({stores, no(f.store_guarded)}), all({stores, f.store_guarded, r.taken})}) {
        net.gate(layer, all({when, check.misaligned}), {{r.misaligned, 1.0F}});
        net.step(layer, circuit::enabled(check.outside(), all({when, no(check.misaligned)})), 1, {{r.outside, 1.0F}});
    }
}

}  // namespace detail

template <machine::sizes M>
result_signals build_result(network& net, const nn::shape& shape, signals& s, const intents& i) {
    const memory_fields f(s.program.memory);
    result_signals r;
    const auto store = detail::pick_results(net, s, f, r);
    const int layer = plan::back + 1;
    const linear whole = no(circuit::sum(f.store_size)), half(f.store_size[0]);
    const auto check = check_address<M>(net, shape, layer, "store", {store.address, s.program.present(1), whole, half, f.is_private}, s);
    r.taken = net.one_of(layer, "taken", {all({store.cond[0], f.sense}), all({no(store.cond[0]), no(f.sense)})});
    detail::decide(net, layer + 1, s, f, i, check, detail::fits_short(net, layer, r.value), r);
    return r;
}

}  // namespace qwengpu::stage
