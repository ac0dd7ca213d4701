// SPDX-License-Identifier: MIT
// Blocks of 64 floats, the unit in which the sparse engine looks for what is not zero: a mask has one bit per float.
// The same results with and without vector instructions: sums go through the same eight partial sums.
#pragma once

#include <bit>
#include <cstdint>

#include "qwengpu/nn/rounding.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace qwengpu::nn::sparse {

inline constexpr int block_width = 64;

constexpr int blocks_for(int n) { return (n + block_width - 1) / block_width; }
constexpr int padded(int n) { return blocks_for(n) * block_width; }

/// Calls visit(i) for every set bit, ascending.
template <class Visit>
inline void for_each_bit(std::uint64_t mask, Visit&& visit) {
    for (; mask != 0; mask &= mask - 1) visit(std::countr_zero(mask));
}

namespace portable {

/// Which of 64 floats are not zero (a NaN is not).
inline std::uint64_t nonzero(const float* x) {
    std::uint64_t mask = 0;
    for (int i = 0; i < block_width; ++i) mask |= std::uint64_t{x[i] != 0.0F} << i;
    return mask;
}

/// Sum of the squares of 64 floats, in double.
inline double sum_of_squares(const float* x) {
    double s[8] = {};
    for (int i = 0; i < block_width; i += 8)
        for (int j = 0; j < 8; ++j) s[j] += static_cast<double>(x[i + j]) * static_cast<double>(x[i + j]);
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

}  // namespace portable

#if defined(__AVX512F__)

inline std::uint64_t nonzero(const float* x) {
    std::uint64_t mask = 0;
    for (int i = 0; i < block_width; i += 16)
        mask |= std::uint64_t{_mm512_cmp_ps_mask(_mm512_loadu_ps(x + i), _mm512_setzero_ps(), _CMP_NEQ_UQ)} << i;
    return mask;
}

inline double sum_of_squares(const float* x) {
    __m512d s = _mm512_setzero_pd();
    for (int i = 0; i < block_width; i += 8) {
        const __m512d v = _mm512_cvtps_pd(_mm256_loadu_ps(x + i));
        s = _mm512_add_pd(s, _mm512_mul_pd(v, v));
    }
    const __m256d half = _mm256_add_pd(_mm512_castpd512_pd256(s), _mm512_extractf64x4_pd(s, 1));
    const __m128d quarter = _mm_add_pd(_mm256_castpd256_pd128(half), _mm256_extractf128_pd(half, 1));
    return _mm_cvtsd_f64(_mm_add_sd(quarter, _mm_unpackhi_pd(quarter, quarter)));
}

#elif defined(__SSE2__)

namespace detail {

// Squares of two floats, the lower ones of x, in double.
inline __m128d squares(__m128 x) {
    const __m128d v = _mm_cvtps_pd(x);
    return _mm_mul_pd(v, v);
}

}  // namespace detail

// 16 comparisons of four floats each.
inline std::uint64_t nonzero(const float* x) {
    std::uint64_t mask = 0;
    for (int i = 0; i < block_width; i += 16) {
        const auto found = [&](int j) { return _mm_castps_si128(_mm_cmpneq_ps(_mm_loadu_ps(x + i + 4 * j), _mm_setzero_ps())); };
        const __m128i low = _mm_packs_epi32(found(0), found(1)), high = _mm_packs_epi32(found(2), found(3));
        mask |= std::uint64_t{static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(low, high)))} << i;
    }
    return mask;
}

inline double sum_of_squares(const float* x) {
    __m128d s01 = _mm_setzero_pd(), s23 = s01, s45 = s01, s67 = s01;
    for (int i = 0; i < block_width; i += 8) {
        const __m128 low = _mm_loadu_ps(x + i), high = _mm_loadu_ps(x + i + 4);
        s01 = _mm_add_pd(s01, detail::squares(low));
        s23 = _mm_add_pd(s23, detail::squares(_mm_movehl_ps(low, low)));
        s45 = _mm_add_pd(s45, detail::squares(high));
        s67 = _mm_add_pd(s67, detail::squares(_mm_movehl_ps(high, high)));
    }
    const __m128d quarter = _mm_add_pd(_mm_add_pd(s01, s45), _mm_add_pd(s23, s67));
    return _mm_cvtsd_f64(_mm_add_sd(quarter, _mm_unpackhi_pd(quarter, quarter)));
}

#else

using portable::nonzero;
using portable::sum_of_squares;

#endif

/// out += x * scale over n floats, n a multiple of 16.
inline void add_scaled(float* __restrict out, const float* __restrict x, float scale, int n) {
    for (int i = 0; i < n; i += 16)
        for (int j = 0; j < 16; ++j) out[i + j] += x[i + j] * scale;
}

/// Rounds 64 floats in place.
template <rounding R>
inline void round_block(float* x) {
    for (int i = 0; i < block_width; ++i) x[i] = R::round(x[i]);
}

/// Asks for a cache line that will be read soon.
inline void prefetch(const void* address) { __builtin_prefetch(address); }

}  // namespace qwengpu::nn::sparse
