// SPDX-License-Identifier: MIT
// f32 compared, their minimum and maximum, in three levels. It looks on while the comparer of words orders a and b as signed
// numbers: two negative floats are ordered the other way round; zeros of both signs are equal; NaN is apart.
#pragma once

#include <qwengpu/circuit/comparer.hpp>
#include <qwengpu/circuit/condition.hpp>

#include <array>
#include <string>

namespace qwengpu::circuit {

/// Which operation; at most one of compare, min, max is 1.
struct float_comparer_controls {
    signal compare, compare_ftz;        ///< compare_ftz: besides compare
    signal min, max, flush, nan_wins;   ///< flush, nan_wins: besides min or max
    std::array<signal, 4> combine;      ///< compare with combination none, and, or, xor
};

namespace detail {

struct float_classes {
    signal nan_a, nan_b, zeros, flush_a, flush_b;
};

// First level: NaN is an exponent of ones with a fraction; what counts as zero.
inline float_classes classify_floats(network& net, int layer, const std::string& name, const word& a, const word& b, const float_comparer_controls& k) {
    const linear minmax = linear(k.min) + linear(k.max);
    auto bits = [](const word& x, std::ptrdiff_t first, std::ptrdiff_t count) { return sum({x.begin() + first, x.begin() + first + count}); };
    auto nan = [&](const char* label, const word& x) {
        return net.threshold(layer, name + label, enabled(32.0 * (bits(x, 23, 8) - linear(8.0)) + bits(x, 0, 23), minmax + linear(k.compare)), 1);
    };
    auto flush = [&](const char* label, const word& x) { return net.threshold(layer, name + label, enabled(no(bits(x, 23, 8)), k.flush), 1); };
    const float_classes f{nan(".nan_a", a), nan(".nan_b", b), net.make(name + ".zeros"), flush(".flush_a", a), flush(".flush_b", b)};
    net.step(layer, enabled(no(bits(a, 0, 31) + bits(b, 0, 31)), all({k.compare, no(k.compare_ftz)})), 1, {{f.zeros, 1.0F}});
    net.step(layer, enabled(no(bits(a, 23, 8) + bits(b, 23, 8)), k.compare_ftz), 1, {{f.zeros, 1.0F}});
    return f;
}

}  // namespace detail

/// out += the result. `words` is the signed comparison of a and b, ready after `layer + 1`; `asked` are the bits less, equal, greater,
/// unordered; `other` is what a comparison is combined with. Levels: `layer` to `layer + 2`.
inline void compare_floats(network& net, int layer, const std::string& name, const word& a, const word& b, const comparison& words, const float_comparer_controls& k,
                           const word& asked, signal other, const word& out) {
    const auto f = detail::classify_floats(net, layer, name, a, b, k);
    const linear ordered = all({no(f.nan_a), no(f.nan_b)}), minmax = linear(k.min) + linear(k.max);
    const linear mixed = all({a[31], no(b[31])}), negative = all({a[31], b[31]}), positive = no(a[31]);
    // As the words are ordered, or the other way round; for min and max: the smaller word is a's, or b's.
    auto either = [&](const char* label, const std::vector<linear>& terms) { return net.one_of(layer + 1, name + label, terms); };
    const linear unequal = all({k.compare, ordered, no(f.zeros)}), least = all({k.min, ordered}), most = all({k.max, ordered});
    const signal same = either(".same", {all({unequal, positive}), all({unequal, mixed})}), reversed = either(".reversed", {all({unequal, negative})});
    const signal keep = either(".keep", {all({least, positive}), all({least, mixed}), all({most, negative})});
    const signal swap = either(".swap", {all({most, positive}), all({most, mixed}), all({least, negative})});
    const signal unordered = net.threshold(layer + 1, name + ".unordered", enabled(linear(f.nan_a) + linear(f.nan_b), k.compare), 1);
    const signal only_a = either(".only_a", {all({minmax, f.nan_b, no(f.nan_a), no(k.nan_wins)})}), only_b = either(".only_b", {all({minmax, f.nan_a, no(f.nan_b), no(k.nan_wins)})});
    const signal nan = either(".nan", {all({minmax, f.nan_a, f.nan_b}), all({k.nan_wins, f.nan_a, no(f.nan_b)}), all({k.nan_wins, f.nan_b, no(f.nan_a)})});

    const linear less = words.less, equal = words.equal, greater = linear(1.0) - less - equal;
    const std::vector<asked_case> cases{{all({same, less}), asked[0]},    {all({reversed, greater}), asked[0]}, {f.zeros, asked[1]},
                                        {all({same, equal}), asked[1]},   {all({reversed, equal}), asked[1]},   {all({same, greater}), asked[2]},
                                        {all({reversed, less}), asked[2]}, {unordered, asked[3]}};
    write_condition(net, layer + 2, k.combine, cases, other, out[0]);
    outputs quiet;
    for (std::size_t i = 0; i < 32; ++i) {
        const linear bit_a = i < 31 ? all({a[i], no(f.flush_a)}) : linear(a[i]), bit_b = i < 31 ? all({b[i], no(f.flush_b)}) : linear(b[i]);
        for (const auto& when : {all({keep, less}), all({swap, no(less)}), linear(only_a)}) net.gate(layer + 2, all({when, bit_a}), {{out[i], 1.0F}});
        for (const auto& when : {all({keep, no(less)}), all({swap, less}), linear(only_b)}) net.gate(layer + 2, all({when, bit_b}), {{out[i], 1.0F}});
        if (i < 31) quiet.emplace_back(out[i], 1.0F);
    }
    net.gate(layer + 2, nan, quiet);
}

}  // namespace qwengpu::circuit
