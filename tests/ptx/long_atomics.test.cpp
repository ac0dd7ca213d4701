// SPDX-License-Identifier: MIT
// 64-bit atomics in hand-written PTX: every operation on global, shared and generic addresses, in lane order within a warp, and
// as one step each between warps and between lanes that have parted: what all threads were told must fit into one order.
#include <qwengpu/ptx/compile.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;
using u64 = std::uint64_t;
using s64 = std::int64_t;

/// What a launch leaves: the number that all threads work on, and the results that the threads wrote one after another.
struct long_run {
    u64 number = 0;
    std::vector<u64> results;
    machine::program program;
};

u64 pair_at(const test::words& w, std::size_t k) { return w[2 * k] | u64{w[2 * k + 1]} << 32; }

/// Registers: %d8 the address of the number, %d0 = `in` of the thread, %r20 = thread, [%d9] room for its `each` results. `#` is the space.
long_run run(const std::string& text, const std::string& space, u64 start, const std::vector<u64>& in, std::size_t each = 1) {
    test::words given{static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(start >> 32)};
    for (u64 x : in) given.insert(given.end(), {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)});
    const auto threads = static_cast<std::uint32_t>(in.size());
    std::string body = text;
    for (std::size_t p = body.find('#'); p != body.npos; p = body.find('#')) body.replace(p, 1, space.empty() ? "" : "." + space);
    const bool is_global = space == "global";
    const std::string before = "mov.u32 %r20, %t;\nmul.wide.u32 %d10, %t, 8;\nadd.s64 %d10, %d10, %in;\nld.global.u64 %d0, [%d10+8];\nmul.wide.u32 %d9, %t, " +
                               std::to_string(8 * each) + ";\nadd.s64 %d9, %d9, %out;\nmov.u64 %d8, %in;\n";
    const std::string to_shared = ".shared .align 8 .b8 gap[8];\n.shared .align 8 .u64 number;\nld.global.u64 %d11, [%in];\nst.shared.u64 [number], %d11;\nst.shared.u64 [gap], %d11;\nmov.u64 %d8, number;\n" +
                                  std::string(space.empty() ? "cvta.shared.u64 %d8, %d8;\n" : "") + "bar.sync 0;\n";
    const std::string from_shared = "bar.sync 0;\nld.shared.u64 %d11, [number];\nst.global.u64 [%in], %d11;\n";
    const auto program = test::compile_text(test::kernel_around(before + (is_global ? "" : to_shared) + body + (is_global ? "" : "\n" + from_shared))).program;
    const auto r = test::run_program(program, {1, 1, 1}, {threads, 1, 1}, {test::buffer_of(given), test::buffer_of(test::words(2 * each * in.size()))}, 100'000);
    INFO(r.trap << " line " << r.trap_line);
    INFO(threads << " threads");
    REQUIRE(r.ended == machine::ending::finished);
    long_run out{pair_at(r.buffers[0], 0), {}, program};
    for (std::size_t k = 0; k < each * in.size(); ++k) out.results.push_back(pair_at(r.buffers[1], k));
    return out;
}

using number_function = std::function<u64(u64 old, u64 x, u64 y)>;

/// One warp: the exact results in lane order. `operands` may name %d0 = in[t] and %d1 = 3 * in[t].
void check(const std::string& op, const std::string& operands, u64 start, const number_function& f) {
    const std::vector<u64> in{0x8000000000000007ULL, 5, 0x7ffffffffffffff0ULL, 0x1ffffffffULL};
    for (const char* space : {"global", "shared", ""}) {
        INFO(op << " " << operands << " in '" << space << "'");
        const long_run one = run("mul.lo.s64 %d1, %d0, 3;\natom#." + op + " %d2, [%d8], " + operands + ";\nst.global.u64 [%d9], %d2;", space, start, in);
        u64 number = start;
        for (std::size_t t = 0; t < in.size(); ++t) {
            CHECK(one.results[t] == number);
            number = f(number, in[t], 3 * in[t]);
        }
        CHECK(one.number == number);
        if (op.find("cas") == op.npos && op.find("exch") == op.npos)
            CHECK(run("mul.lo.s64 %d1, %d0, 3;\nred#." + op + " [%d8], " + operands + ";", space, start, in).number == number);
    }
}

/// Threads told `results[k]` and added `added[k]`: whether that is one chain from `start` to `end`.
bool is_chain(u64 start, u64 end, const std::vector<u64>& results, const std::vector<u64>& added) {
    std::multimap<u64, u64> steps;
    for (std::size_t k = 0; k < results.size(); ++k) steps.emplace(results[k], added[k]);
    u64 at = start;
    while (!steps.empty()) {
        const auto next = steps.find(at);
        if (next == steps.end()) return false;
        at += next->second;
        steps.erase(next);
    }
    return at == end;
}

std::vector<u64> thread_numbers(std::size_t threads) {
    std::vector<u64> in;
    for (std::size_t t = 0; t < threads; ++t) in.push_back(0x80000000ULL * (t + 1) + 0x60000001ULL * t);
    return in;
}

}  // namespace

TEST_CASE("64-bit atomics give what was there, lane by lane") {
    check("add.u64", "%d0", 0xfffffffffffffffcULL, [](auto a, auto x, auto) { return a + x; });
    check("add.u64", "0xffffffffffffffff", 1, [](auto a, auto, auto) { return a - 1; });
    check("and.b64", "%d0", 0xff000000ff0000ffULL, [](auto a, auto x, auto) { return a & x; });
    check("or.b64", "%d0", 0x100000000100ULL, [](auto a, auto x, auto) { return a | x; });
    check("xor.b64", "%d0", 0x123456789abcdefULL, [](auto a, auto x, auto) { return a ^ x; });
    check("exch.b64", "%d0", 9, [](auto, auto x, auto) { return x; });
    check("exch.b64", "0x500000006", 9, [](auto, auto, auto) { return 0x500000006ULL; });
    check("min.u64", "%d0", 0x8000000000000001ULL, [](auto a, auto x, auto) { return std::min(a, x); });
    check("max.u64", "%d0", 6, [](auto a, auto x, auto) { return std::max(a, x); });
    check("min.s64", "%d0", 6, [](auto a, auto x, auto) { return static_cast<s64>(x) < static_cast<s64>(a) ? x : a; });
    check("max.s64", "%d0", 0x8000000000000000ULL, [](auto a, auto x, auto) { return static_cast<s64>(x) > static_cast<s64>(a) ? x : a; });
    check("cas.b64", "5, %d1", 5, [](auto a, auto, auto y) { return a == 5 ? y : a; });
    check("cas.b64", "%d0, %d1", 0x1ffffffffULL, [](auto a, auto x, auto y) { return a == x ? y : a; });
    check("cas.b64", "%d0, %d1", 0x100000005ULL, [](auto a, auto x, auto y) { return a == x ? y : a; });
}

TEST_CASE("sums of many warps on one number are a chain, whatever the threads do besides") {
    const std::vector<u64> in = thread_numbers(29);
    u64 sum = 17;
    for (u64 x : in) sum += x;
    // Lanes come at different times: a loop of as many rounds as the lane's bits say.
    const std::string late = "and.b32 %r21, %r20, 5;\nround:\nsub.u32 %r21, %r21, 1;\nsetp.ge.s32 %p1, %r21, 0;\n@%p1 bra round;\n";
    for (const char* space : {"global", "shared", ""})
        for (const std::string& before : {std::string(), late}) {
            const long_run r = run(before + "atom#.add.u64 %d2, [%d8], %d0;\nst.global.u64 [%d9], %d2;", space, 17, in);
            CHECK(r.number == sum);
            CHECK(is_chain(17, sum, r.results, in));
        }
}

TEST_CASE("lanes that wait at different places, in loops and under guards, all come to their turn") {
    const std::vector<u64> in = thread_numbers(14);
    const std::string text = R"(
and.b32 %r1, %r20, 3;
setp.eq.u32 %p1, %r1, 0;
setp.eq.u32 %p2, %r1, 1;
setp.eq.u32 %p3, %r1, 2;
mov.u32 %r2, 3;
again:
@%p1 bra first;
@%p2 bra second;
@%p3 atom#.add.u64 %d2, [%d8], %d0;
@!%p3 atom#.add.u64 %d2, [%d8], %d0;
bra joined;
second:
add.s64 %d3, %d0, 0;
atom#.add.u64 %d2, [%d8], %d3;
bra joined;
first:
atom#.add.u64 %d2, [%d8], %d0;
joined:
st.global.u64 [%d9], %d2;
add.s64 %d9, %d9, 8;
sub.u32 %r2, %r2, 1;
setp.ne.u32 %p4, %r2, 0;
@%p4 bra again;
)";
    std::vector<u64> added;
    u64 sum = 1;
    for (u64 x : in)
        for (int k = 0; k < 3; ++k) added.push_back(x), sum += x;
    for (const char* space : {"global", "shared"}) {
        const long_run r = run(text, space, 1, in, 3);
        CHECK(r.number == sum);
        CHECK(is_chain(1, sum, r.results, added));
    }
    const std::string silent = text.substr(0, text.find("st.global")) + text.substr(text.find("sub.u32"));
    CHECK(run(silent, "global", 1, in, 0).number == sum);
}

TEST_CASE("swapping hands every number on, once") {
    const std::vector<u64> in = thread_numbers(29);
    const long_run r = run("mov.u32 %r2, 5;\nround:\natom#.exch.b64 %d0, [%d8], %d0;\nsub.u32 %r2, %r2, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra round;\nst.global.u64 [%d9], %d0;", "global", 99, in);
    std::vector<u64> before = in, after = r.results;
    before.push_back(99);
    after.push_back(r.number);
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    CHECK(before == after);
}

TEST_CASE("a loop of cas is an operation of one's own, and the greatest of keys with places is found") {
    const std::vector<u64> in = thread_numbers(29);
    // x = 3 x + in, which depends on the order; the results tell it.
    const std::string loop = "ld#.u64 %d3, [%d8];\nround:\nmov.u64 %d2, %d3;\nmul.lo.s64 %d4, %d2, 3;\nadd.s64 %d4, %d4, %d0;\natom#.cas.b64 %d3, [%d8], %d2, %d4;\n"
                             "setp.ne.s64 %p1, %d3, %d2;\n@%p1 bra round;\nst.global.u64 [%d9], %d2;";
    const long_run r = run(loop, "shared", 1, in);
    std::map<u64, u64> steps;
    for (std::size_t t = 0; t < in.size(); ++t) steps.emplace(r.results[t], in[t]);
    REQUIRE(steps.size() == in.size());
    u64 x = 1;
    for (std::size_t n = 0; n < in.size(); ++n) {
        REQUIRE(steps.contains(x));
        x = 3 * x + steps[x];
    }
    CHECK(r.number == x);

    const std::string greatest = "mul.lo.u32 %r1, %r20, 2654435761;\nshr.u32 %r1, %r1, 20;\nmov.b64 %d1, {%r20, %r1};\nred#.max.u64 [%d8], %d1;";
    u64 most = 0;
    for (std::uint32_t t = 0; t < 29; ++t) most = std::max(most, u64{(t * 2654435761U) >> 20} << 32 | t);
    CHECK(run(greatest, "global", 0, in).number == most);
}

TEST_CASE("a lock of cas and exch on 64 bits lets one thread in at a time, also of one warp") {
    // Between taking and giving back, a thread adds its number to a plain sum in two steps: every thread of a warp, or one of each.
    const std::string text = R"(
.shared .align 8 .u64 sum;
setp.eq.u32 %p1, %r20, 0;
mov.u64 %d12, 0;
@%p1 st.shared.u64 [sum], %d12;
bar.sync 0;
and.b32 %r3, %r20, 3;
setp.ne.u32 %p3, %r3, 0;
TAKES
try:
atom.global.cas.b64 %d2, [%d8], 0, 0x100000001;
setp.ne.s64 %p2, %d2, 0;
@%p2 bra try;
ld.volatile.shared.u64 %d3, [sum];
add.s64 %d3, %d3, %d0;
st.volatile.shared.u64 [sum], %d3;
atom.global.exch.b64 %d4, [%d8], 0;
meet:
bar.sync 0;
ld.shared.u64 %d5, [sum];
st.global.u64 [%d9], %d5;
)";
    const auto check_sum = [&](std::size_t threads, bool one_of_each) {
        const std::vector<u64> in = thread_numbers(threads);
        u64 sum = 0;
        for (std::size_t t = 0; t < threads; ++t) sum += !one_of_each || t % 4 == 0 ? in[t] : 0;
        std::string body = text;
        body.replace(body.find("TAKES"), 5, one_of_each ? "@%p3 bra meet;" : "");
        const long_run r = run(body, "global", 0, in);
        CHECK(r.number == 0);
        for (u64 x : r.results) CHECK(x == sum);
    };
    for (std::size_t threads : {std::size_t{2}, std::size_t{4}, std::size_t{8}, std::size_t{13}, std::size_t{16}}) check_sum(threads, false);
    for (std::size_t threads : {std::size_t{5}, std::size_t{8}, std::size_t{16}, std::size_t{29}}) check_sum(threads, true);
}

TEST_CASE("a thread that spins on an atomic lets the one through that it waits for") {
    // Warp 1 waits with atomics for what warp 0 does with one.
    const std::string text = R"(
setp.lt.u32 %p1, %r20, 4;
@%p1 bra gives;
wait:
atom#.cas.b64 %d2, [%d8], 4, 4;
setp.ne.s64 %p2, %d2, 4;
@%p2 bra wait;
st.global.u64 [%d9], %d2;
bra done;
gives:
atom#.add.u64 %d2, [%d8], 1;
st.global.u64 [%d9], %d2;
done:
)";
    for (std::size_t threads : {std::size_t{5}, std::size_t{8}, std::size_t{16}, std::size_t{21}, std::size_t{29}}) {
        const long_run r = run(text, "global", 0, thread_numbers(threads));
        for (std::size_t t = 0; t < threads; ++t) CHECK(r.results[t] == (t < 4 ? t : 4));
    }
}

TEST_CASE("lanes that wait for different sections stand in one block, which writes nothing") {
    std::string text;
    for (const char* op : {"add.u64", "exch.b64", "max.s64", "cas.b64"})
        text += std::string("atom.global.") + op + " %d2, [%d8], %d0" + (op == std::string("cas.b64") ? ", %d8" : "") + ";\nst.global.u64 [%d9], %d2;\n";
    const machine::program p = run(text, "global", 0, thread_numbers(3)).program;
    std::size_t waits = 0;
    for (std::size_t k = 0; k < p.blocks.size(); ++k) {
        const machine::machine_block& b = p.blocks[k];
        if (!b.valid || !b.has_branch || b.taken != k) continue;
        ++waits;
        CHECK((b.mem.op == machine::memory_op::load && !b.has_store && b.dest == std::array<std::uint8_t, 4>{}));
    }
    CHECK(waits == 1);
}

TEST_CASE("without need there is no lock; with one, all 64-bit atomics of the kernel take it") {
    const std::vector<u64> in = thread_numbers(5);
    const std::string silent = "atom#.add.u64 %d2, [%d8], %d0;\nred#.xor.b64 [%d8], %d0;\n";
    const long_run without = run(silent, "global", 0, in);
    CHECK(without.program.shared_words == 0);
    const long_run with = run(silent + "st.global.u64 [%d9], %d2;", "global", 0, in);
    CHECK(with.program.shared_words == 2);
    CHECK(with.number == without.number);
    const auto atomics = std::count_if(with.program.blocks.begin(), with.program.blocks.end(), [](const auto& b) { return b.valid && b.lane_major; });
    CHECK(atomics == 8);  // for each a ticket, two words and a call
}

TEST_CASE("the lock's words count as shared memory, and the refusal says so") {
    const auto text = [](int words) {
        return test::kernel_around(".shared .align 4 .b8 room[" + std::to_string(4 * words) + "];\nst.shared.u32 [room], %t;\natom.global.exch.b64 %d1, [%out], 5;\n");
    };
    CHECK(test::compile_text(text(124)).program.shared_words == 126);
    CHECK_THROWS_WITH(test::compile_text(text(125)), Catch::Matchers::Contains("500 bytes of shared memory, and the 8 of the lock of its 64-bit atomics (127 words)"));
}

TEST_CASE("an address outside of all buffers traps in the section, where the atomic stands") {
    const auto r = test::run_text(test::kernel_around("atom.global.exch.b64 %d1, [%out+8], 5;\n"), {1, 1, 1}, {3, 1, 1}, {test::buffer_of({0}), test::buffer_of({0, 0})});
    CHECK(r.ended == machine::ending::trapped);
    CHECK(r.trap == "out of bounds");
}

TEST_CASE("a kernel with more values than registers around its 64-bit atomics") {
    std::string text;
    for (int k = 0; k < 20; ++k) text += "add.s32 %r" + std::to_string(k + 10) + ", %t, " + std::to_string(1000 * k + 7) + ";\nmul.lo.s32 %r" + std::to_string(k + 10) + ", %r" + std::to_string(k + 10) + ", %t;\n";
    text += "mul.wide.u32 %d10, %t, 8;\nadd.s64 %d10, %d10, %in;\nld.global.u64 %d0, [%d10+8];\nsetp.gt.u32 %p1, %t, 2;\nmov.u64 %d2, 0;\n@%p1 atom.global.add.u64 %d2, [%in], %d0;\n@!%p1 atom.global.max.u64 %d2, [%in], %d0;\n";
    text += "mov.b64 {%r1, %r2}, %d2;\n";
    for (int k = 0; k < 20; ++k) text += "xor.b32 %r1, %r1, %r" + std::to_string(k + 10) + ";\n";
    text += "st.global.v2.u32 [%dst], {%r1, %r2};\n";
    const std::vector<u64> in = thread_numbers(7);
    test::words given{0, 0};
    for (u64 x : in) given.insert(given.end(), {static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(x >> 32)});
    const auto r = test::run_text(test::kernel_around(text), {1, 1, 1}, {7, 1, 1}, {test::buffer_of(given), test::buffer_of(test::words(28))});
    REQUIRE(r.ended == machine::ending::finished);
    std::vector<u64> told;
    for (std::uint32_t t = 0; t < 7; ++t) {
        std::uint32_t mask = 0;
        for (std::uint32_t k = 0; k < 20; ++k) mask ^= (t + 1000 * k + 7) * t;
        told.push_back(u64{r.buffers[1][4 * t] ^ mask} | u64{r.buffers[1][4 * t + 1]} << 32);
    }
    // Every order of the sum and the maxima: the four that add are lanes 3 to 6, the maxima lanes 0 to 2.
    u64 number = 0;
    std::vector<bool> done(7, false);
    for (int step = 0; step < 7; ++step) {
        std::size_t next = 7;
        for (std::size_t t = 0; t < 7; ++t)
            if (!done[t] && told[t] == number && (next == 7 || t < 3)) next = t;
        REQUIRE(next < 7);
        done[next] = true;
        number = next > 2 ? number + in[next] : std::max(number, in[next]);
    }
    CHECK(number == pair_at(r.buffers[0], 0));
}
