// SPDX-License-Identifier: MIT
// The text around the body of a random PTX program: variables, helpers to call, registers with values from the input; and
// behind it what writes every register to the output. A kernel takes pointers to input, output and sums, and a struct.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/random_ptx/program.hpp"

namespace qwengpu::test::random_ptx {

/// Words of the buffers and of the struct; the output has so many for each thread.
inline constexpr std::uint32_t input_words = 16, words_per_thread = 4, sum_words = 24, struct_words = 3;

namespace detail {

inline constexpr std::string_view before = R"(.version 7.8
.target sm_80
.address_size 64
.const .align 4 .b32 tab[4] = {17, -3, 0x7fffffff, 0x12345678};
.global .align 4 .b32 gacc[8];
.global .align 8 .b64 glong[2];
.func (.param .b32 z) helper0(.param .b32 a, .param .b32 b)
{
  .reg .b32 %x, %y; .reg .pred %p;
  ld.param.b32 %x, [a]; ld.param.b32 %y, [b];
  setp.lt.s32 %p, %x, %y;
  @%p bra less;
  xor.b32 %x, %x, %y;
  st.param.b32 [z], %x;
  ret;
less:
  mad.lo.s32 %x, %x, 3, %y;
  st.param.b32 [z], %x;
  ret;
}
.func (.param .b32 z) helper1(.param .b32 a, .param .b32 b)
{
  .reg .b32 %x, %y; .param .b32 t;
  ld.param.b32 %x, [a]; ld.param.b32 %y, [b];
  { .param .b32 u; .param .b32 v; .param .b32 w;
    st.param.b32 [u], %y; st.param.b32 [v], %x;
    call.uni (w), helper0, (u, v);
    ld.param.b32 %y, [w];
  }
  shf.l.wrap.b32 %x, %x, %y, 7;
  st.param.b32 [z], %x;
  ret;
}
.global .align 8 .u64 helpers[2] = {helper0, helper1};
.visible .entry k(.param .u64 k_in, .param .u64 k_out, .param .u64 k_sum, .param .align 8 .b8 k_by_value[12])
{
  .reg .b32 %r<6>, %c<4>, %lin, %n, %i, %s, %live, %most, %z;
  .reg .b64 %d<3>, %in, %out, %sum, %a, %b;
  .reg .b16 %h<3>;
  .reg .f32 %f<4>;
  .reg .pred %p<3>, %q;
  .shared .align 4 .b32 sm[12];
  .shared .align 4 .b8 sm8[12];
  .shared .align 4 .b32 acc[8];
  .shared .align 8 .b64 slong[2];
  .local .align 16 .b8 loc[32];
  ld.param.u64 %in, [k_in]; ld.param.u64 %out, [k_out]; ld.param.u64 %sum, [k_sum];
  cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out; cvta.to.global.u64 %sum, %sum;
  mov.u32 %lin, %tid.z; mov.u32 %n, %ntid.y; mov.u32 %i, %tid.y; mad.lo.u32 %lin, %lin, %n, %i;
  mov.u32 %s, %ntid.x; mov.u32 %i, %tid.x; mad.lo.u32 %lin, %lin, %s, %i; mul.lo.u32 %n, %n, %s; mov.u32 %s, %ntid.z; mul.lo.u32 %n, %n, %s;
  activemask.b32 %live; popc.b32 %z, %live; setp.eq.u32 %q, %z, 4; selp.b32 %most, 3, 1, %q; setp.eq.u32 %q, %z, 1; selp.b32 %most, 0, %most, %q;
  mov.u32 %r0, %ctaid.x; mad.lo.u32 %i, %r0, %n, %lin; mul.wide.u32 %a, %i, 16; add.s64 %out, %out, %a;
  mul.wide.u32 %a, %lin, 4; add.s64 %a, %in, %a;
  ld.global.u32 %r0, [%a]; ld.global.u32 %r1, [%a+16]; ld.global.u32 %r2, [%in+24]; mov.u32 %r3, %lin; mov.u32 %r4, 7; mov.u32 %r5, -2;
  mov.b32 %f0, %r0; mov.b32 %f1, %r1; mov.f32 %f2, 0f3fc00000; cvt.rn.f32.s32 %f3, %lin;
  mov.b64 %d0, {%r0, %r1}; cvt.s64.s32 %d1, %r1; mov.u64 %d2, 5;
  cvt.u16.u32 %h0, %r0; cvt.u16.u32 %h1, %lin; mov.u16 %h2, -9;
  setp.lt.s32 %p0, %r0, %r1; setp.eq.u32 %p1, %lin, 1; setp.ne.u32 %p2, %lin, %lin;
)";

inline constexpr std::string_view after = R"(
  add.f32 %f0, %f0, 0f00000000; add.f32 %f1, %f1, 0f00000000; add.f32 %f2, %f2, 0f00000000; add.f32 %f3, %f3, 0f00000000;
  mov.b32 %i, %f0; xor.b32 %r0, %r0, %i; mov.b32 %i, %f1; add.u32 %r1, %r1, %i;
  mov.b32 %i, %f2; xor.b32 %r2, %r2, %i; mov.b32 %i, %f3; add.u32 %r3, %r3, %i;
  mov.b64 {%i, %s}, %d0; xor.b32 %r0, %r0, %i; add.u32 %r1, %r1, %s;
  mov.b64 {%i, %s}, %d1; xor.b32 %r2, %r2, %i; add.u32 %r3, %r3, %s;
  mov.b64 {%i, %s}, %d2; xor.b32 %r0, %r0, %i; add.u32 %r1, %r1, %s;
  cvt.u32.u16 %i, %h0; add.u32 %r0, %r0, %i; cvt.u32.u16 %i, %h1; add.u32 %r1, %r1, %i; cvt.u32.u16 %i, %h2; add.u32 %r2, %r2, %i;
  selp.b32 %i, 3, 5, %p0; mul.lo.u32 %r3, %r3, %i; selp.b32 %i, 1, 2, %p1; add.u32 %r2, %r2, %i; selp.b32 %i, 9, 8, %p2; add.u32 %r1, %r1, %i;
  shf.l.wrap.b32 %r4, %r4, %r4, 3; xor.b32 %r3, %r3, %r4; shf.l.wrap.b32 %r5, %r5, %r5, 9; xor.b32 %r2, %r2, %r5;
  st.global.u32 [%out], %r0; st.global.u32 [%out+4], %r1; st.global.u32 [%out+8], %r2; st.global.u32 [%out+12], %r3;
)";

inline constexpr std::string_view sums = R"(
  bar.sync 0;
  setp.ne.u32 %q, %lin, 0; @%q bra finished;
  mov.u32 %i, 0;
collect:
  mov.u32 %s, acc; add.u32 %s, %s, %i; ld.shared.u32 %r0, [%s]; cvt.u64.u32 %b, %i; add.s64 %a, %sum, %b; st.global.u32 [%a], %r0;
  mov.u64 %a, gacc; add.s64 %a, %a, %b; ld.global.u32 %r1, [%a]; add.s64 %a, %sum, %b; st.global.u32 [%a+32], %r1;
  add.u32 %i, %i, 4; setp.lt.u32 %q, %i, 32; @%q bra collect;
finished:
)";

/// The numbers of 64 bits behind the sums of words.
inline constexpr std::string_view long_sums = R"(
  bar.sync 0;
  setp.ne.u32 %q, %lin, 0; @%q bra ended;
  ld.shared.u64 %d0, [slong]; ld.shared.u64 %d1, [slong+8]; st.global.u64 [%sum+64], %d0; st.global.u64 [%sum+72], %d1;
  ld.global.u64 %d0, [glong]; ld.global.u64 %d1, [glong+8]; st.global.u64 [%sum+80], %d0; st.global.u64 [%sum+88], %d1;
ended:
)";

}  // namespace detail

inline std::string program::text() const {
    std::string body_text;
    print(body, body_text);
    std::string all(detail::before);
    if (body_text.find("loc;") != std::string::npos)
        for (int k = 0; k < 8; ++k) all += "  st.local.u32 [loc+" + std::to_string(4 * k) + "], %r" + std::to_string(k % 4) + ";\n";
    const bool counts = body_text.find("acc+") != std::string::npos;
    if (counts) all += "  setp.lt.u32 %q, %lin, 1; @!%q bra ready;\n  mov.u32 %i, 0;\nclear: mov.u32 %s, acc; add.u32 %s, %s, %i; st.shared.u32 [%s], 0; add.u32 %i, %i, 4; setp.lt.u32 %q, %i, 32; @%q bra clear;\nready: bar.sync 0;\n";
    const bool counts_long = body_text.find("long+") != std::string::npos;
    if (counts_long) all += "  mov.u64 %a, 0; setp.eq.u32 %q, %lin, 0;\n  @%q st.shared.u64 [slong], %a; @%q st.shared.u64 [slong+8], %a;\n  bar.sync 0;\n";
    all += body_text;
    all += detail::after;
    if (counts) all += detail::sums;
    if (counts_long) all += detail::long_sums;
    return all + "  ret;\n}\n";
}

}  // namespace qwengpu::test::random_ptx
