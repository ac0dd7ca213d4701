// SPDX-License-Identifier: MIT
// Random typed PTX programs: arithmetic of all widths, predicates, branches, loops, tables of jumps, calls, every memory with
// all access widths, barriers, collectives and atomics. A program's result does not depend on the order of its threads, but for
// what the machine promises: lanes of one warp are served in order. Warps exchange words through shared memory between barriers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/choices.hpp"
#include "support/random_ptx/program.hpp"
#include "support/random_ptx/templates.hpp"

namespace qwengpu::test::random_ptx {

/// What a program may hold.
struct features {
    bool wide = true, shorts = true, floats = true, memory = true, shared = true, collectives = true, atomics = true, calls = true, jumps = true;
};

inline constexpr std::uint32_t input_words = 16, words_per_thread = 4;

namespace detail {

inline std::string replaced(std::string text, std::string_view what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) text.replace(at, what.size(), with);
    return text;
}

class generator {
public:
    generator(std::uint64_t seed, features f) : random_(seed), allowed_(f) {}

    program make() {
        program p;
        constexpr std::array<std::uint32_t, 7> sizes{1, 3, 4, 4, 6, 8, 12};
        p.threads = sizes[static_cast<std::size_t>(random_.below(7))];
        p.blocks = p.threads <= 8 && random_.percent(30) ? 2 : 1;
        one_warp_ = p.threads <= 4 && p.blocks == 1;
        full_warps_ = p.threads % 4 == 0;
        p.input_seed = random_.word();
        p.body = pieces(random_.between(4, 14), 0, true);
        return p;
    }

private:
    std::string number(int n) { return std::to_string(n); }
    std::string reg(char kind) {
        switch (kind) {
            case 'r': return "%r" + number(random_.below(6));
            case 'd': return "%d" + number(random_.below(3));
            case 'h': return "%h" + number(random_.below(3));
            case 'f': return "%f" + number(random_.below(4));
            default: return "%p" + number(random_.below(3));
        }
    }
    std::string operand(char kind) {
        if (kind == 'r' && random_.percent(15)) return std::to_string(static_cast<std::int32_t>(random_.interesting_word()));
        if (kind == 'r' && random_.percent(6)) return "%lin";
        if (kind == 'h' && random_.percent(10)) return number(random_.below(200) - 100);
        return reg(kind);
    }

    /// $n may be a literal only where it is read, and not inside a vector.
    std::string filled(const instruction_template& t) {
        std::string text(t.text);
        const bool vectors = text.find("{$") != std::string::npos;
        const std::size_t results = text.find("$1}, $2") != std::string::npos || text.find("$0|$1") != std::string::npos ? 2 : text.find("$1, $4") != std::string::npos ? 2 : 1;
        std::vector<std::string> taken;
        for (std::size_t k = 0; k < t.kinds.size(); ++k) {
            std::string name = k < results || vectors ? reg(t.kinds[k]) : operand(t.kinds[k]);
            while (k < results && std::find(taken.begin(), taken.end(), name) != taken.end()) name = reg(t.kinds[k]);
            taken.push_back(name);
            text = replaced(std::move(text), "$" + number(static_cast<int>(k)), name);
        }
        return text;
    }

    std::string arithmetic() {
        const int which = random_.below(100);
        std::span<const instruction_template> from = integer_templates;
        if (which < 20 && allowed_.wide) from = wide_templates;
        else if (which < 32 && allowed_.shorts) from = short_templates;
        else if (which < 55 && allowed_.floats) from = float_templates;
        const auto& t = from[static_cast<std::size_t>(random_.below(static_cast<int>(from.size())))];
        std::string text = filled(t);
        if (random_.percent(10) && text[0] != '{') text = (random_.percent(50) ? "@" : "@!") + reg('p') + " " + text;
        return "  " + text + "\n";
    }

    std::string index(const char* scale_and_mask) { return "  and.b32 %i, " + reg('r') + ", " + scale_and_mask + ";\n"; }

    /// An access of one of the memories that are there, at a place worked out from a register.
    std::string access() {
        struct kind { const char* type; char reg; const char* mask; };
        static constexpr std::array<kind, 8> kinds{{{"u32", 'r', "28"}, {"b32", 'f', "28"}, {"u8", 'r', "31"}, {"s8", 'r', "31"}, {"u16", 'h', "30"},
                                                    {"s16", 'r', "30"}, {"b64", 'd', "24"}, {"s32", 'd', "28"}}};
        const kind& k = kinds[static_cast<std::size_t>(random_.below(8))];
        const std::string type = k.type;
        const std::string store_type = type == "s8" ? "u8" : type == "s16" ? "u16" : type == "s32" ? "u32" : type;
        switch (random_.below(6)) {
            case 0: return index(k.mask) + "  cvt.u64.u32 %a, %i;\n  add.s64 %a, %a, %in;\n  ld.global." + type + " " + reg(k.reg) + ", [%a+32];\n";
            case 1: return index(k.mask) + "  and.b32 %i, %i, 15;\n  cvt.u64.u32 %a, %i;\n  add.s64 %a, %a, %out;\n  st.global." + store_type + " [%a], " + reg(k.reg) + ";\n";
            case 2: return index(k.mask) + "  and.b32 %i, %i, 15;\n  cvt.u64.u32 %a, %i;\n  add.s64 %a, %a, %out;\n  ld.global." + type + " " + reg(k.reg) + ", [%a];\n";
            case 3: return index(k.mask) + "  mov.u64 %a, loc;\n  cvt.u64.u32 %b, %i;\n  add.s64 %a, %a, %b;\n  st.local." + store_type + " [%a], " + reg(k.reg) + ";\n";
            case 4: return index(k.mask) + "  mov.u64 %a, loc;\n  cvta.local.u64 %a, %a;\n  cvt.u64.u32 %b, %i;\n  add.s64 %a, %a, %b;\n  ld." + type + " " + reg(k.reg) + ", [%a];\n";
            default: return index("12") + "  mov.u64 %a, tab;\n  cvt.u64.u32 %b, %i;\n  add.s64 %a, %a, %b;\n  ld.const.u32 " + reg('r') + ", [%a];\n";
        }
    }

    /// Everybody writes its own words of shared memory; after a barrier everybody reads somebody's.
    std::string exchange() {
        const std::string fence = random_.percent(70) ? "  bar.sync 0;\n" : random_.percent(50) ? "  barrier.sync 1;\n" : "  bar.red.popc.u32 " + reg('r') + ", 0, " + reg('p') + ";\n";
        std::string write, read;
        if (random_.percent(40)) {
            write = "  mov.u32 %s, sm8;\n  add.u32 %s, %s, %lin;\n  st.shared.u8 [%s], " + reg('r') + ";\n";
            read = "  mov.u32 %s, sm8;\n  add.u32 %s, %s, %i;\n  ld.shared." + std::string(random_.percent(50) ? "u8 " : "s8 ") + reg('r') + ", [%s];\n";
        } else if (random_.percent(50)) {
            write = "  mov.u32 %s, sm;\n  mad.lo.u32 %s, %lin, 4, %s;\n  st.shared.u32 [%s], " + reg('r') + ";\n";
            read = "  mov.u32 %s, sm;\n  shl.b32 %i, %i, 2;\n  add.u32 %s, %s, %i;\n  ld.shared.u32 " + reg('r') + ", [%s];\n";
        } else {
            write = "  mov.u64 %a, sm;\n  cvta.shared.u64 %a, %a;\n  mad.wide.u32 %a, %lin, 4, %a;\n  st.f32 [%a], " + reg('f') + ";\n";
            read = "  mov.u64 %a, sm;\n  cvta.shared.u64 %a, %a;\n  mad.wide.u32 %a, %i, 4, %a;\n  ld.f32 " + reg('f') + ", [%a];\n";
        }
        const std::string pick = "  add.u32 %i, %lin, " + number(random_.between(1, 5)) + ";\n  rem.u32 %i, %i, %n;\n";
        return write + fence + pick + read + fence;
    }

    std::string collective() {
        const std::string mask = random_.percent(50) ? "%live" : "-1";
        const std::string width = random_.percent(70) ? "0x1c" : "0x1e";
        switch (full_warps_ ? random_.below(9) : random_.between(3, 8)) {  // a lane that is not there has no value
            case 0: return "  shfl.sync.bfly.b32 " + reg('r') + ", " + reg('r') + ", " + number(random_.below(4)) + ", " + width + "1f, " + mask + ";\n";
            case 1: return "  shfl.sync.down.b32 " + reg('r') + "|" + reg('p') + ", " + reg('r') + ", " + number(random_.below(4)) + ", " + width + "1f, " + mask + ";\n";
            case 2: return "  shfl.sync.up.b32 " + reg('r') + "|" + reg('p') + ", " + reg('r') + ", " + number(random_.below(4)) + ", " + width + "00, " + mask + ";\n";
            case 3: return "  and.b32 %i, " + reg('r') + ", %most;\n  shfl.sync.idx.b32 " + reg('r') + ", " + reg('r') + ", %i, 0x1c1f, " + mask + ";\n";
            case 4: return "  vote.sync.ballot.b32 " + reg('r') + ", " + (random_.percent(50) ? "!" : "") + reg('p') + ", " + mask + ";\n";
            case 5: return std::string("  vote.sync.") + (random_.percent(40) ? "all" : random_.percent(50) ? "any" : "uni") + ".pred " + reg('p') + ", " + reg('p') + ", " + mask + ";\n";
            case 6: return "  and.b32 %i, " + reg('r') + ", 1;\n  match.any.sync.b32 " + reg('r') + ", %i, " + mask + ";\n";
            case 7: return "  match.all.sync.b32 " + reg('r') + "|" + reg('p') + ", " + reg('r') + ", " + mask + ";\n";
            default: {
                static constexpr std::array<const char*, 6> how{"add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"};
                return std::string("  redux.sync.") + how[static_cast<std::size_t>(random_.below(6))] + " " + reg('r') + ", " + reg('r') + ", " + mask + ";\n";
            }
        }
    }

    /// Without a result: sums whose order does not matter, an operation for each word. With one: only where one warp runs converged.
    std::string atomic(bool converged) {
        static constexpr std::array<const char*, 6> how{"add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"};
        const auto k = static_cast<std::size_t>(random_.below(6));
        if (!converged || !one_warp_ || random_.percent(40)) {
            if (random_.percent(50) && allowed_.shared)
                return std::string("  red.shared.") + how[k] + " [acc+" + number(4 * static_cast<int>(k)) + "], " + reg('r') + ";\n";
            return std::string("  red.global.") + how[k] + " [gacc+" + number(4 * static_cast<int>(k)) + "], " + reg('r') + ";\n";
        }
        static constexpr std::array<const char*, 5> more{"exch.b32", "inc.u32", "dec.u32", "add.s32", "max.s32"};
        if (random_.percent(30)) return "  atom.global.cas.b32 " + reg('r') + ", [gacc+24], " + reg('r') + ", " + reg('r') + ";\n";
        if (random_.percent(20) && allowed_.floats) return "  atom.global.add.f32 " + reg('f') + ", [gacc+28], " + reg('f') + ";\n";
        return std::string("  atom.global.") + more[static_cast<std::size_t>(random_.below(5))] + " " + reg('r') + ", [gacc+24], " + reg('r') + ";\n";
    }

    std::string call() {
        return "  { .param .b32 a0; .param .b32 a1; .param .b32 z;\n    st.param.b32 [a0], " + reg('r') + ";\n    st.param.b32 [a1], " + reg('r') +
               ";\n    call.uni (z), helper" + number(random_.below(2)) + ", (a0, a1);\n    ld.param.b32 " + reg('r') + ", [z];\n  }\n";
    }

    std::string label() { return "L" + number(labels_++); }

    piece branch(int depth) {
        const std::string otherwise = label(), end = label();
        const bool both = random_.percent(50);
        piece p{"  @" + std::string(random_.percent(50) ? "!" : "") + reg('p') + " bra " + otherwise + ";\n", pieces(random_.between(1, 4), depth + 1, false), {}, {}, {}};
        p.middle = "  bra " + end + ";\n" + otherwise + ":\n";
        if (both) p.other = pieces(random_.between(1, 3), depth + 1, false);
        p.tail = end + ":\n";
        return p;
    }

    piece loop(int depth, bool converged) {
        const std::string top = label(), counter = "%c" + number(depth);
        const bool same_for_all = converged && random_.percent(50);
        piece p{"  mov.u32 " + counter + ", " + number(random_.between(1, 3)) + ";\n", {}, {}, {}, {}};
        if (!same_for_all) p.head += "  and.b32 %i, " + reg('r') + ", 3;\n  add.u32 " + counter + ", %i, 1;\n";
        p.head += top + ":\n";
        p.inner = pieces(random_.between(1, 4), depth + 1, same_for_all);
        p.tail = "  sub.u32 " + counter + ", " + counter + ", 1;\n  setp.ne.u32 %q, " + counter + ", 0;\n  @%q bra " + top + ";\n";
        return p;
    }

    /// Three blocks that jump among each other while there is fuel; the flow is mostly irreducible.
    piece tangle(int depth) {
        std::array<std::string, 4> names{label(), label(), label(), label()};
        const std::string fuel = "%c" + number(depth);
        piece p{"  mov.u32 " + fuel + ", " + number(random_.between(2, 6)) + ";\n  @" + reg('p') + " bra " + names[1] + ";\n", {}, {}, {}, {}};
        for (std::size_t k = 0; k < 3; ++k) {
            piece b{names[k] + ":\n  sub.u32 " + fuel + ", " + fuel + ", 1;\n  setp.eq.u32 %q, " + fuel + ", 0;\n  @%q bra " + names[3] + ";\n", {}, {}, {}, {}};
            for (int n = random_.between(1, 3); n-- > 0;) b.inner.push_back({arithmetic()});
            b.tail = "  @" + reg('p') + " bra " + names[static_cast<std::size_t>(random_.below(3))] + ";\n";
            if (k == 2) b.tail += "  bra " + names[static_cast<std::size_t>(random_.below(4))] + ";\n";
            p.inner.push_back(std::move(b));
        }
        p.tail = names[3] + ":\n";
        return p;
    }

    piece table(int depth) {
        const std::string list = "T" + number(labels_++), end = label();
        const std::array<std::string, 3> names{label(), label(), label()};
        piece p{"  rem.u32 %i, " + reg('r') + ", 3;\n" + list + ": .branchtargets " + names[0] + ", " + names[1] + ", " + names[2] + ";\n  brx.idx %i, " + list + ";\n", {}, {}, {}, end + ":\n"};
        for (const std::string& name : names) p.inner.push_back({name + ":\n", pieces(random_.between(1, 2), depth + 1, false), {}, {}, random_.percent(80) ? "  bra " + end + ";\n" : ""});
        return p;
    }

    piece one(int depth, bool converged) {
        const int which = random_.below(100);
        if (which < 12 && allowed_.memory) return {access()};
        if (which < 20 && allowed_.shared && converged) return {exchange()};
        if (which < 28 && allowed_.collectives && converged) return {collective()};
        if (which < 34 && allowed_.atomics) return {atomic(converged)};
        if (which < 38 && allowed_.calls) return {call()};
        if (which < 48 && depth < 3) return branch(depth);
        if (which < 55 && depth < 3) return loop(depth, converged);
        if (which < 57 && depth < 3 && allowed_.jumps) return tangle(depth);
        if (which < 59 && depth < 3 && allowed_.jumps) return table(depth);
        return {arithmetic()};
    }

    std::vector<piece> pieces(int count, int depth, bool converged) {
        std::vector<piece> all;
        while (count-- > 0) all.push_back(one(depth, converged));
        return all;
    }

    choices random_;
    features allowed_;
    bool one_warp_ = false, full_warps_ = false;
    int labels_ = 0;
};

inline constexpr std::string_view before = R"(.version 7.8
.target sm_80
.address_size 64
.const .align 4 .b32 tab[4] = {17, -3, 0x7fffffff, 0x12345678};
.global .align 4 .b32 gacc[8];
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
.visible .entry k(.param .u64 k_in, .param .u64 k_out, .param .u64 k_sum)
{
  .reg .b32 %r<6>, %c<4>, %lin, %n, %i, %s, %live, %most, %z;
  .reg .b64 %d<3>, %in, %out, %sum, %a, %b;
  .reg .b16 %h<3>;
  .reg .f32 %f<4>;
  .reg .pred %p<3>, %q;
  .shared .align 4 .b32 sm[12];
  .shared .align 4 .b8 sm8[12];
  .shared .align 4 .b32 acc[6];
  .local .align 8 .b8 loc[32];
  ld.param.u64 %in, [k_in]; ld.param.u64 %out, [k_out]; ld.param.u64 %sum, [k_sum];
  cvta.to.global.u64 %in, %in; cvta.to.global.u64 %out, %out; cvta.to.global.u64 %sum, %sum;
  mov.u32 %lin, %tid.x; mov.u32 %n, %ntid.x;
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
  mov.u64 %a, gacc; add.s64 %a, %a, %b; ld.global.u32 %r1, [%a]; add.s64 %a, %sum, %b; st.global.u32 [%a+24], %r1;
  add.u32 %i, %i, 4; setp.lt.u32 %q, %i, 24; @%q bra collect;
finished:
)";

}  // namespace detail

inline std::string program::text() const {
    std::string body_text;
    print(body, body_text);
    std::string all(detail::before);
    if (body_text.find("loc;") != std::string::npos)
        for (int k = 0; k < 8; ++k) all += "  st.local.u32 [loc+" + std::to_string(4 * k) + "], %r" + std::to_string(k % 4) + ";\n";
    const bool counts = body_text.find("acc+") != std::string::npos;
    if (counts) all += "  setp.lt.u32 %q, %lin, 1; @!%q bra ready;\n  mov.u32 %i, 0;\nclear: mov.u32 %s, acc; add.u32 %s, %s, %i; st.shared.u32 [%s], 0; add.u32 %i, %i, 4; setp.lt.u32 %q, %i, 24; @%q bra clear;\nready: bar.sync 0;\n";
    all += body_text;
    all += detail::after;
    if (counts) all += detail::sums;
    return all + "  ret;\n}\n";
}

/// The program of a seed.
inline program any_program(std::uint64_t seed, features f = {}) { return detail::generator(seed, f).make(); }

}  // namespace qwengpu::test::random_ptx
