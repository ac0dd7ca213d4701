// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit, part 10: what a C++ user expects of the float functions: sin(float), pow(float, int), std::sqrt. Functions of
// doubles are folded if their arguments are constants; else they stay calls, which the PTX compiler refuses at their line.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

inline constexpr std::string_view device_header_overloads = R"cuda(
template <bool B, class T> struct qg_if {};
template <class T> struct qg_if<true, T> { typedef T type; };
#define QG_INTEGER(T, R) typename qg_if<__is_integral(T), R>::type
template <class T, class U> struct qg_mixed { typedef typename qg_if<__is_arithmetic(T) && __is_arithmetic(U), double>::type type; };
template <> struct qg_mixed<float, float> {};

#define QG_DOUBLE(name) \
    extern "C" __device__ __attribute__((const)) double qwengpu_f64_##name(double); \
    QG_FN double name(double a) { return __builtin_constant_p(a) ? __builtin_##name(a) : qwengpu_f64_##name(a); }
#define QG_DOUBLE2(name) \
    extern "C" __device__ __attribute__((const)) double qwengpu_f64_##name(double, double); \
    QG_FN double name(double a, double b) { return __builtin_constant_p(a) && __builtin_constant_p(b) ? __builtin_##name(a, b) : qwengpu_f64_##name(a, b); }
#define QG_BUILT_IN(name) QG_FN double name(double a) { return __builtin_##name(a); }
#define QG_ONE(name) \
    QG_FN float name(float a) { return name##f(a); } \
    template <class T> QG_FN QG_INTEGER(T, double) name(T a) { return name((double)a); }
#define QG_TWO(name) \
    QG_FN float name(float a, float b) { return name##f(a, b); } \
    template <class T, class U> QG_FN typename qg_mixed<T, U>::type name(T a, U b) { return name((double)a, (double)b); }
#define QG_FOR_BUILT_IN(X) X(sqrt) X(fabs) X(floor) X(ceil) X(trunc) X(rint) X(nearbyint) X(round)
#define QG_FOR_ONE(X) \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) \
    X(cbrt) X(erf) X(erfc) X(lgamma) X(tgamma) X(logb)
#define QG_FOR_TWO(X) X(pow) X(fmod) X(fmin) X(fmax) X(fdim) X(atan2) X(hypot) X(remainder) X(copysign) X(nextafter)
QG_FOR_BUILT_IN(QG_BUILT_IN) QG_FOR_BUILT_IN(QG_ONE)
QG_FOR_ONE(QG_DOUBLE) QG_FOR_ONE(QG_ONE)
QG_FOR_TWO(QG_DOUBLE2) QG_FOR_TWO(QG_TWO)
QG_FN float pow(float a, int n) { return powf(a, (float)n); }
QG_FN float powif(float a, int n) { return powf(a, (float)n); }
QG_FN double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
QG_FN float fma(float a, float b, float c) { return fmaf(a, b, c); }
QG_FN double abs(double a) { return __builtin_fabs(a); }
QG_FN double max(double a, double b) { return fmax(a, b); }
QG_FN double min(double a, double b) { return fmin(a, b); }
// With a constant that a float can hold, the comparison of doubles is one of floats.
#define QG_MIXED(name) \
    QG_FN double name(float a, double b) { return __builtin_constant_p(b) && (double)(float)b == b ? (double)f##name##f(a, (float)b) : f##name((double)a, b); } \
    QG_FN double name(double a, float b) { return name(b, a); }
QG_MIXED(max) QG_MIXED(min)
QG_FN float ldexp(float a, int n) { return ldexpf(a, n); }
QG_FN float scalbn(float a, int n) { return ldexpf(a, n); }
QG_FN float scalbln(float a, long n) { return scalblnf(a, n); }
QG_FN float frexp(float a, int* n) { return frexpf(a, n); }
QG_FN float modf(float a, float* whole) { return modff(a, whole); }
QG_FN float remquo(float a, float b, int* q) { return remquof(a, b, q); }
QG_FN float hypot(float a, float b, float c) { return norm3df(a, b, c); }
QG_FN int ilogb(float a) { return ilogbf(a); }
QG_FN long lrint(float a) { return lrintf(a); }
QG_FN long lround(float a) { return lroundf(a); }
QG_FN long long llrint(float a) { return llrintf(a); }
QG_FN long long llround(float a) { return llroundf(a); }
QG_FN float exp10(float a) { return exp10f(a); }
QG_FN float rsqrt(float a) { return rsqrtf(a); }
QG_FN float rcbrt(float a) { return rcbrtf(a); }
QG_FN float sinpi(float a) { return sinpif(a); }
QG_FN float cospi(float a) { return cospif(a); }
QG_FN float erfinv(float a) { return erfinvf(a); }
QG_FN float erfcinv(float a) { return erfcinvf(a); }
QG_FN float erfcx(float a) { return erfcxf(a); }
QG_FN float normcdf(float a) { return normcdff(a); }
QG_FN float normcdfinv(float a) { return normcdfinvf(a); }
QG_FN void sincos(float a, float* s, float* c) { sincosf(a, s, c); }
QG_FN void sincospi(float a, float* s, float* c) { sincospif(a, s, c); }
QG_FN bool isnormal(float a) { return fabsf(a) >= 1.17549435e-38f && isfinite(a); }
QG_FN bool isnan(double a) { return a != a; }
QG_FN bool isgreater(float a, float b) { return a > b; }
QG_FN bool isgreaterequal(float a, float b) { return a >= b; }
QG_FN bool isless(float a, float b) { return a < b; }
QG_FN bool islessequal(float a, float b) { return a <= b; }
QG_FN bool islessgreater(float a, float b) { return a < b || a > b; }
QG_FN bool isunordered(float a, float b) { return a != a || b != b; }

// Declared here before <cmath> does, these are the device's; a constexpr function that comes first would be for both sides.
namespace std {
#define QG_USING(name) using ::name;
#define QG_USING_F(name) using ::name; using ::name##f;
QG_FOR_BUILT_IN(QG_USING_F) QG_FOR_ONE(QG_USING_F) QG_FOR_TWO(QG_USING_F)
QG_USING_F(fma) QG_USING_F(ldexp) QG_USING_F(scalbn) QG_USING_F(scalbln) QG_USING_F(frexp) QG_USING_F(modf) QG_USING_F(remquo) QG_USING_F(ilogb)
QG_USING_F(lrint) QG_USING_F(lround) QG_USING_F(llrint) QG_USING_F(llround) QG_USING(abs) QG_USING(labs) QG_USING(llabs)
QG_USING(isnan) QG_USING(isinf) QG_USING(isfinite) QG_USING(isnormal) QG_USING(signbit) QG_USING(isgreater) QG_USING(isgreaterequal) QG_USING(isless)
QG_USING(islessequal) QG_USING(islessgreater) QG_USING(isunordered)
}
)cuda";

/// The parts of the host's library that nvcc's headers bring along. Of <math.h> the C header is asked for, not C++'s, which takes longer than
/// all the rest.
inline constexpr std::string_view device_header_library = R"cuda(
extern "C" {
__device__ void* malloc(size_t) noexcept;
__device__ void free(void*) noexcept;
}
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#if __has_include(<math.h>)
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#endif
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#undef fpclassify
#undef isfinite
#undef isinf
#undef isnan
#undef isnormal
#undef signbit
#undef isgreater
#undef isgreaterequal
#undef isless
#undef islessequal
#undef islessgreater
#undef isunordered
#if __has_include(<initializer_list>)
#include <initializer_list>
#endif
#if __has_include(<bits/stl_algobase.h>)  // std::min, std::max, std::swap
#include <bits/stl_algobase.h>
#endif
namespace std {
using ::malloc;
using ::free;
}
)cuda";

}  // namespace qwengpu::cuda::detail
