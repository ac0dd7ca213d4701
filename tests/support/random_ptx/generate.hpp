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
#include "support/random_ptx/frame.hpp"
#include "support/random_ptx/program.hpp"
#include "support/random_ptx/templates.hpp"

namespace qwengpu::test::random_ptx {

/// What a program may hold.
struct features {
    bool wide = true, shorts = true, floats = true, memory = true, shared = true, collectives = true, atomics = true, calls = true, jumps = true, exits = true;
};

namespace detail {

inline std::string replaced(std::string text, std::string_view what, const std::string& with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) text.replace(at, what.size(), with);
    return text;
}

class generator {
public:
    /// A quarter of the seeds makes atomics of 64 bits.
    generator(std::uint64_t seed, features f) : random_(seed), allowed_(f), has_long_(seed % 4 == 0) {}

    program make() {
        program p;
        constexpr std::array<std::uint32_t, 7> sizes{1, 3, 4, 4, 6, 8, 12};
        p.threads = sizes[static_cast<std::size_t>(random_.below(7))];
        p.blocks = p.threads <= 8 && random_.percent(30) ? 2 : 1;
        p.shape = shape_of(p.threads);
        threads_ = static_cast<int>(p.threads);
        leaves_ = allowed_.exits && random_.percent(12);
        if (leaves_) allowed_.shared = allowed_.collectives = false;  // who has left writes nothing that others could read
        one_warp_ = p.threads <= 4 && p.blocks == 1;
        full_warps_ = p.threads % 4 == 0;
        p.input_seed = random_.word();
        p.body = pieces(random_.between(4, 14), 0, true);
        return p;
    }

private:
    std::array<std::uint32_t, 3> shape_of(std::uint32_t threads) {
        if (random_.percent(60) || threads < 4) return {threads, 1, 1};
        const std::uint32_t y = threads == 4 ? 1 : threads == 6 ? 3 : 2;
        return random_.percent(50) ? std::array<std::uint32_t, 3>{threads / y / (threads == 6 ? 1 : 2), y, threads == 6 ? 1U : 2U} : std::array<std::uint32_t, 3>{threads / 2, 2, 1};
    }

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
        const std::string how = random_.percent(15) ? "volatile." : "";
        switch (random_.below(9)) {
            case 0: return index(k.mask) + "  cvt.u64.u32 %a, %i;\n  add.s64 %a, %a, %in;\n  ld." + how + "global." + type + " " + reg(k.reg) + ", [%a+32];\n";
            case 1: return index(k.mask) + "  and.b32 %i, %i, 15;\n  cvt.u64.u32 %a, %i;\n  add.s64 %a, %a, %out;\n  st." + how + "global." + store_type + " [%a], " + reg(k.reg) + ";\n";
            case 2: return index(k.mask) + "  and.b32 %i, %i, 15;\n  cvt.u64.u32 %a, %i;\n  add.s64 %a, %a, %out;\n  ld." + how + "global." + type + " " + reg(k.reg) + ", [%a];\n";
            case 3: return index(k.mask) + "  mov.u64 %a, loc;\n  cvt.u64.u32 %b, %i;\n  add.s64 %a, %a, %b;\n  st.local." + store_type + " [%a], " + reg(k.reg) + ";\n";
            case 4: return index(k.mask) + "  mov.u64 %a, loc;\n  cvta.local.u64 %a, %a;\n  cvt.u64.u32 %b, %i;\n  add.s64 %a, %a, %b;\n  ld." + type + " " + reg(k.reg) + ", [%a];\n";
            case 5: return vector_access();
            case 6: return parameter();
            default: return index("12") + "  mov.u64 %a, tab;\n  cvt.u64.u32 %b, %i;\n  add.s64 %a, %a, %b;\n  ld.const.u32 " + reg('r') + ", [%a];\n";
        }
    }

    /// Distinct registers, as a vector holds them.
    std::string vector_of(char kind, int count) {
        std::vector<std::string> names;
        while (static_cast<int>(names.size()) < count)
            if (std::string name = reg(kind); std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
        std::string text;
        for (const std::string& name : names) text += (text.empty() ? "{" : ", ") + name;
        return text + "}";
    }

    /// Two or four values at once, of the input, of the thread's words of the output or of local memory.
    std::string vector_access() {
        struct kind { const char* type; char reg; int count; const char* mask; };
        static constexpr std::array<kind, 7> kinds{{{"v2.u32", 'r', 2, "24"}, {"v4.u32", 'r', 4, "16"}, {"v2.f32", 'f', 2, "24"}, {"v4.f32", 'f', 4, "16"},
                                                    {"v2.b64", 'd', 2, "16"}, {"v2.u16", 'h', 2, "28"}, {"v4.u8", 'r', 4, "28"}}};
        const kind& k = kinds[static_cast<std::size_t>(random_.below(7))];
        const std::string type = k.type, values = vector_of(k.reg, k.count), at = index(k.mask) + "  cvt.u64.u32 %b, %i;\n", to = "  add.s64 %a, %a, %b;\n";
        switch (random_.below(4)) {
            case 0: return at + "  add.s64 %a, %in, %b;\n  ld.global." + type + " " + values + ", [%a+32];\n";
            case 1: return "  st.global." + type + " [%out], " + values + ";\n";
            case 2: return at + "  mov.u64 %a, loc;\n" + to + "  st.local." + type + " [%a], " + values + ";\n";
            default: return at + "  mov.u64 %a, loc;\n" + to + "  ld.local." + type + " " + values + ", [%a];\n";
        }
    }

    /// A member of the struct that the kernel is given by value.
    std::string parameter() {
        switch (random_.below(5)) {
            case 0: return "  ld.param.u32 " + reg('r') + ", [k_by_value+" + number(4 * random_.below(3)) + "];\n";
            case 1: return "  ld.param.u8 " + reg('r') + ", [k_by_value+" + number(random_.below(12)) + "];\n";
            case 2: return "  ld.param.s16 " + reg('r') + ", [k_by_value+" + number(2 * random_.below(6)) + "];\n";
            case 3: return "  ld.param.f32 " + reg('f') + ", [k_by_value+" + number(4 * random_.below(3)) + "];\n";
            default: return "  ld.param.v2.u32 " + vector_of('r', 2) + ", [k_by_value];\n";
        }
    }

    /// Barriers of all kinds; those with a number of threads only where warps are full.
    std::string fence() {
        switch (random_.below(8)) {
            case 0: return "  barrier.sync 1;\n";
            case 1: return "  bar.red.popc.u32 " + reg('r') + ", 0, " + reg('p') + ";\n";
            case 2: return "  bar.red.and.pred " + reg('p') + ", 0, " + reg('p') + ";\n";
            case 3: return "  bar.red.or.pred " + reg('p') + ", 2, !" + reg('p') + ";\n";
            case 4: return full_warps_ ? "  bar.sync 3, " + number(threads_) + ";\n" : "  bar.sync 3;\n";
            default: return "  bar.sync 0;\n";
        }
    }

    /// Everybody writes its own words of shared memory; after a barrier everybody reads somebody's.
    std::string exchange() {
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
        return write + fence() + pick + read + fence();
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
        if (has_long_ && random_.percent(60)) return long_atomic(converged);
        if (!converged || !one_warp_ || random_.percent(40)) {
            if (random_.percent(50) && allowed_.shared)
                return std::string("  red.shared.") + how[k] + " [acc+" + number(4 * static_cast<int>(k)) + "], " + reg('r') + ";\n";
            return std::string("  red.global.") + how[k] + " [gacc+" + number(4 * static_cast<int>(k)) + "], " + reg('r') + ";\n";
        }
        return "  bar.warp.sync -1;\n" + atomic_in_order();
    }

    /// The same with numbers of 64 bits: two of them.
    std::string long_atomic(bool converged) {
        const std::string at = allowed_.shared && random_.percent(50) ? ".shared." : ".global.", number = at == ".shared." ? "slong" : "glong";
        if (one_warp_ && converged && random_.percent(70)) return "  bar.warp.sync -1;\n" + long_atomic_in_order(at, number);
        if (!one_warp_ && random_.percent(50)) return "  red" + at + "max.s64 [" + number + "+8], " + reg('d') + ";\n";
        if (random_.percent(30)) return "  @" + reg('p') + " red" + at + "add.u64 [" + number + "+0], " + reg('d') + ";\n";
        return "  red" + at + "add.u64 [" + number + "+0], " + reg('d') + ";\n";
    }

    std::string long_atomic_in_order(const std::string& at, const std::string& number) {
        static constexpr std::array<const char*, 9> how{"add.u64", "exch.b64", "min.s64", "min.u64", "max.s64", "max.u64", "and.b64", "or.b64", "xor.b64"};
        const std::string guard = random_.percent(25) ? "  @!" + reg('p') + " " : "  ", result = reg('d'), value = reg('d');
        if (random_.percent(25)) return guard + "atom" + at + "cas.b64 " + result + ", [" + number + "+8], " + reg('d') + ", " + value + ";\n";
        return guard + "atom" + at + how[static_cast<std::size_t>(random_.below(9))] + " " + result + ", [" + number + "+8], " + value + ";\n";
    }

    /// The lanes of the one warp have met; they are served in their order.
    std::string atomic_in_order() {
        static constexpr std::array<const char*, 5> more{"exch.b32", "inc.u32", "dec.u32", "add.s32", "max.s32"};
        const std::string op = more[static_cast<std::size_t>(random_.below(5))], result = reg('r'), value = reg('r');
        if (random_.percent(30)) return "  atom.global.cas.b32 " + result + ", [gacc+24], " + reg('r') + ", " + value + ";\n";
        if (random_.percent(25) && allowed_.shared) return "  atom.shared." + op + " " + result + ", [acc+24], " + value + ";\n";
        if (random_.percent(20) && allowed_.floats) return "  atom.global.add.f32 " + reg('f') + ", [gacc+28], " + reg('f') + ";\n";
        return "  atom.global." + op + " " + result + ", [gacc+24], " + value + ";\n";
    }

    std::string call() {
        const std::string first = reg('r'), second = reg('r'), result = reg('r');
        const bool pointed = random_.percent(40);
        const std::string callee = pointed ? "%w" : "helper" + number(random_.below(2)), proto = label();
        return "  { .param .b32 a0; .param .b32 a1; .param .b32 z;\n" + (pointed ? pointer() : "") + "    st.param.b32 [a0], " + first + ";\n    st.param.b32 [a1], " + second + ";\n" +
               (pointed ? "    " + proto + ": .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n" : "") + "    call" + (pointed ? "" : ".uni") + " (z), " + callee +
               ", (a0, a1)" + (pointed ? ", " + proto : "") + ";\n    ld.param.b32 " + result + ", [z];\n  }\n";
    }

    /// A function in %w: known, chosen, or from the table.
    std::string pointer() {
        const std::string by = reg('r'), name = "helper" + number(random_.below(2));
        const std::string registers = "    .reg .b64 %w, %v; .reg .b32 %k; .reg .pred %s;\n    mov.u64 %w, " + name + ";\n";
        if (random_.percent(20)) return registers;
        if (random_.percent(50)) return registers + "    mov.u64 %v, helper0; setp.lt.s32 %s, " + by + ", 5; selp.b64 %w, %v, %w, %s;\n";
        return registers + "    mov.u64 %w, helpers; and.b32 %k, " + by + ", 1; mul.wide.u32 %v, %k, 8; add.s64 %w, %w, %v; ld.global.u64 %w, [%w];\n";
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
        if (which < 61 && leaves_) return {"  setp.ne.and.u32 %q, %lin, 0, " + reg('p') + ";\n  @%q " + (random_.percent(50) ? "exit" : "ret") + ";\n"};
        return {arithmetic()};
    }

    std::vector<piece> pieces(int count, int depth, bool converged) {
        std::vector<piece> all;
        while (count-- > 0) all.push_back(one(depth, converged));
        return all;
    }

    choices random_;
    features allowed_;
    bool has_long_ = false, one_warp_ = false, full_warps_ = false, leaves_ = false;
    int threads_ = 0, labels_ = 0;
};

}  // namespace detail

/// The program of a seed.
inline program any_program(std::uint64_t seed, features f = {}) { return detail::generator(seed, f).make(); }

}  // namespace qwengpu::test::random_ptx
