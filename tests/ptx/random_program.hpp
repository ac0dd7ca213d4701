// SPDX-License-Identifier: MIT
// A random kernel as a tree: instructions (some with a guard), two-sided branches, loops with a counter. `text()` is its PTX,
// `run()` its meaning for one thread. Every thread reads four words and writes its registers at the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "random_kernel.hpp"

namespace qwengpu::test {

/// Registers of a thread: four of 32 bits, two of 64 bits, two predicates.
struct thread_state {
    std::array<u64, 4> r{};
    std::array<u64, 2> d{};
    std::array<u64, 2> p{};

    u64& at(char kind, std::size_t n) { return kind == 'r' ? r[n] : kind == 'd' ? d[n] : p[n]; }
};

struct statement {
    enum class kind { op, branch, loop } what = kind::op;
    const random_op* op = nullptr;
    std::array<std::size_t, 5> reg{};    ///< operand registers; result first
    std::array<bool, 5> is_literal{};
    std::array<u32, 5> literal{};
    int guard = -1;                      ///< predicate, or -1
    bool guard_sense = true;
    std::vector<statement> yes, no;      ///< sides of a branch; body of a loop
    std::size_t counter = 0;             ///< loop: trips are (r[counter] & 3) + 1
};

class random_program {
public:
    random_program(std::uint64_t seed, int statements, bool control_flow) : random_(seed), control_flow_(control_flow) {
        body_ = sequence(statements, 0);
    }

    [[nodiscard]] std::string text() const {
        std::string out = "    ld.global.u32 %r0, [%src];\n    ld.global.u32 %r1, [%src+4];\n    ld.global.u32 %r2, [%src+8];\n"
                          "    ld.global.u32 %r3, [%src+12];\n    mov.b64 %d0, {%r1, %r2};\n    cvt.s64.s32 %d1, %r3;\n"
                          "    setp.lt.s32 %p0, %r0, %r1;\n    setp.ne.s32 %p1, %r2, %t;\n    mul.wide.u32 %at, %t, 48;\n"
                          "    add.s64 %dst, %out, %at;\n";
        int labels = 0;
        write(body_, out, labels);
        for (int k = 0; k < 4; ++k) out += "    st.global.u32 [%dst+" + std::to_string(4 * k) + "], %r" + std::to_string(k) + ";\n";
        for (int k = 0; k < 2; ++k) {
            const std::string d = "%d" + std::to_string(k), at = std::to_string(16 + 8 * k), high = std::to_string(20 + 8 * k);
            out += "    st.global.u32 [%dst+" + at + "], " + d + ";\n    shr.u64 " + d + ", " + d + ", 32;\n    st.global.u32 [%dst+" + high + "], " + d + ";\n";
            out += "    selp.u32 %r9, 1, 0, %p" + std::to_string(k) + ";\n    st.global.u32 [%dst+" + std::to_string(32 + 4 * k) + "], %r9;\n";
        }
        return out;
    }

    /// The twelve words that a thread writes (the last two stay 0).
    [[nodiscard]] std::array<u32, 12> run(const std::array<u32, 4>& in, u32 tid) const {
        thread_state s;
        for (std::size_t k = 0; k < 4; ++k) s.r[k] = in[k];
        s.d = {u64{in[2]} << 32 | in[1], static_cast<u64>(sx(in[3]))};
        s.p = {u64{sx(in[0]) < sx(in[1])}, u64{in[2] != tid}};
        execute(body_, s);
        std::array<u32, 12> out{};
        for (std::size_t k = 0; k < 4; ++k) out[k] = static_cast<u32>(s.r[k]);
        for (std::size_t k = 0; k < 2; ++k) {
            out[4 + 2 * k] = static_cast<u32>(s.d[k]);
            out[5 + 2 * k] = static_cast<u32>(s.d[k] >> 32);
            out[8 + k] = static_cast<u32>(s.p[k]);
        }
        return out;
    }

private:
    std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

    std::vector<statement> sequence(int n, int depth) {
        std::vector<statement> all;
        for (int k = 0; k < n; ++k) {
            const bool nested = control_flow_ && depth < 3 && below(5) == 0;
            all.push_back(!nested ? instruction() : below(2) == 0 ? branch(depth) : loop(depth));
        }
        return all;
    }

    statement instruction() {
        static constexpr std::array<u32, 12> corners{0, 1, 2, 3, 7, 31, 32, 255, 0x7fffffffU, 0x80000000U, 0xffffffffU, 0xfffffff9U};
        statement s;
        s.op = &random_ops()[below(random_ops().size())];
        for (std::size_t k = 0; k < s.op->kinds.size(); ++k) {
            s.reg[k] = below(s.op->kinds[k] == 'r' ? 4 : 2);
            s.is_literal[k] = k > 1 && s.op->kinds[k] == 'r' && below(3) == 0;
            s.literal[k] = below(2) == 0 ? corners[below(corners.size())] : static_cast<u32>(random_());
        }
        if (s.op->text[0] != '{' && below(5) == 0) {
            s.guard = static_cast<int>(below(2));
            s.guard_sense = below(2) == 0;
        }
        return s;
    }

    statement branch(int depth) {
        statement s;
        s.what = statement::kind::branch;
        s.guard = static_cast<int>(below(2));
        s.guard_sense = below(2) == 0;
        s.yes = sequence(static_cast<int>(below(4)) + 1, depth + 1);
        if (below(2) == 0) s.no = sequence(static_cast<int>(below(4)) + 1, depth + 1);
        return s;
    }

    statement loop(int depth) {
        statement s;
        s.what = statement::kind::loop;
        s.counter = below(4);
        s.yes = sequence(static_cast<int>(below(4)) + 1, depth + 1);
        loops_ = loops_ + 1;
        s.reg[0] = loops_;
        return s;
    }

    static std::string name_of(const statement& s, std::size_t k) {
        if (s.is_literal[k]) return std::to_string(static_cast<s32>(s.literal[k]));
        return std::string("%") + s.op->kinds[k] + std::to_string(s.reg[k]);
    }

    static std::string guard_text(const statement& s) {
        return s.guard < 0 ? "" : "@" + std::string(s.guard_sense ? "" : "!") + "%p" + std::to_string(s.guard) + " ";
    }

    static void write_op(const statement& s, std::string& out) {
        std::string line(s.op->text);
        for (std::size_t k = 0; k < s.op->kinds.size(); ++k) {
            const std::string mark = "$" + std::to_string(k);
            for (std::size_t at = line.find(mark); at != line.npos; at = line.find(mark)) line.replace(at, mark.size(), name_of(s, k));
        }
        out += "    " + guard_text(s) + line + "\n";
    }

    static void write(const std::vector<statement>& all, std::string& out, int& labels) {
        for (const statement& s : all) {
            if (s.what == statement::kind::op) write_op(s, out);
            if (s.what == statement::kind::branch) write_branch(s, out, labels);
            if (s.what == statement::kind::loop) write_loop(s, out, labels);
        }
    }

    static void write_branch(const statement& s, std::string& out, int& labels) {
        const std::string n = std::to_string(++labels);
        out += "    " + guard_text(s) + "bra Y" + n + ";\n";
        write(s.no, out, labels);
        out += "    bra.uni E" + n + ";\nY" + n + ":\n";
        write(s.yes, out, labels);
        out += "E" + n + ":\n";
    }

    static void write_loop(const statement& s, std::string& out, int& labels) {
        const std::string n = std::to_string(++labels), counter = "%r" + std::to_string(10 + s.reg[0]);
        out += "    and.b32 " + counter + ", %r" + std::to_string(s.counter) + ", 3;\nL" + n + ":\n";
        write(s.yes, out, labels);
        out += "    setp.ne.s32 %p" + std::to_string(9) + ", " + counter + ", 0;\n    sub.s32 " + counter + ", " + counter + ", 1;\n    @%p9 bra L" + n + ";\n";
    }

    static void execute(const std::vector<statement>& all, thread_state& s) {
        for (const statement& x : all) {
            const bool holds = x.guard < 0 || (s.p[static_cast<std::size_t>(x.guard)] != 0) == x.guard_sense;
            if (x.what == statement::kind::op && holds) execute_op(x, s);
            if (x.what == statement::kind::branch) execute(holds ? x.yes : x.no, s);
            if (x.what == statement::kind::loop)
                for (u64 trips = (s.r[x.counter] & 3) + 1; trips > 0; --trips) execute(x.yes, s);
        }
    }

    static void execute_op(const statement& x, thread_state& s) {
        std::array<u64, 4> in{};
        for (std::size_t k = 1; k < x.op->kinds.size(); ++k) in[k - 1] = x.is_literal[k] ? u64{x.literal[k]} : s.at(x.op->kinds[k], x.reg[k]);
        const u64 result = x.op->result(in[0], in[1], in[2], in[3]);
        s.at(x.op->kinds[0], x.reg[0]) = x.op->kinds[0] == 'r' ? low(result) : x.op->kinds[0] == 'p' ? result & 1 : result;
    }

    std::mt19937_64 random_;
    bool control_flow_;
    std::size_t loops_ = 0;
    std::vector<statement> body_;
};

}  // namespace qwengpu::test
