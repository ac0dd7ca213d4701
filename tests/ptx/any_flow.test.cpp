// SPDX-License-Identifier: MIT
// Control flow that no structured language has: random graphs of up to 80 nodes with up to four ways in, walked by the host
// beside the emulator; switches inside functions; parts of words and vectors as arguments of calls.
#include <qwengpu/ptx/compile.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/catch.hpp"

#include "run_kernel.hpp"

namespace {

using namespace qwengpu;

constexpr std::uint32_t threads = 8, most_steps = 12;

/// x = x * factor + addend; after most_steps nodes the walk ends, else it goes on at `set` or `clear` by a bit of x.
struct node {
    std::uint32_t factor, addend, bit;
    std::size_t set, clear;
};

std::vector<node> random_graph(std::size_t n, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<node> all;
    for (std::size_t i = 0; i < n; ++i) {
        const auto factor = static_cast<std::uint32_t>(random() % 256 | 1), addend = static_cast<std::uint32_t>(random() % 256);
        all.push_back({factor, addend, 1U << random() % 4, random() % n, random() % n});
    }
    return all;
}

/// Thread t begins at node (t mod 4) * (n / 4).
std::string kernel_of(const std::vector<node>& graph) {
    const auto name = [](std::size_t i) { return "N" + std::to_string(i); };
    std::string text = "mov.u32 %r1, %t; mov.u32 %r2, 0; and.b32 %r5, %t, 3;\n";
    for (std::size_t k = 1; k < 4; ++k) text += "setp.eq.u32 %p1, %r5, " + std::to_string(k) + "; @%p1 bra " + name(k * (graph.size() / 4)) + ";\n";
    text += "bra N0;\n";
    for (std::size_t i = 0; i < graph.size(); ++i) {
        const node& n = graph[i];
        text += name(i) + ": mad.lo.u32 %r1, %r1, " + std::to_string(n.factor) + ", " + std::to_string(n.addend) + "; add.u32 %r2, %r2, 1;\n" +
                "setp.ge.u32 %p2, %r2, " + std::to_string(most_steps) + "; @%p2 bra END; and.b32 %r4, %r1, " + std::to_string(n.bit) +
                "; setp.ne.u32 %p3, %r4, 0;\n@%p3 bra " + name(n.set) + "; bra " + name(n.clear) + ";\n";
    }
    return test::kernel_around(text + "END: st.global.u32 [%dst], %r1;");
}

std::uint32_t walk(const std::vector<node>& graph, std::uint32_t t) {
    std::uint32_t x = t;
    std::size_t at = t % 4 * (graph.size() / 4);
    for (std::uint32_t step = 1;; ++step) {
        const node& n = graph[at];
        x = x * n.factor + n.addend;
        if (step == most_steps) return x;
        at = (x & n.bit) != 0 ? n.set : n.clear;
    }
}

test::words firsts_of(const std::string& text, std::uint32_t count) {
    const auto r = test::run_text(text, {1, 1, 1}, {count, 1, 1}, {test::buffer_of(test::words(4 * count)), test::buffer_of(test::words(4 * count))});
    CHECK(r.trap.empty());
    REQUIRE(r.ended == machine::ending::finished);
    test::words found;
    for (std::size_t t = 0; t < count; ++t) found.push_back(r.buffers[1][4 * t]);
    return found;
}

/// The kernel around `body` behind device functions.
std::string with_functions(const std::string& functions, const std::string& body) {
    std::string text = test::kernel_around(body);
    return text.insert(text.find(".visible"), functions + "\n");
}

}  // namespace

TEST_CASE("random flow graphs with four ways in") {
    for (const std::size_t n : {4U, 7U, 16U, 40U, 80U})
        for (std::uint32_t seed = 1; seed <= 3; ++seed) {
            CAPTURE(n, seed);
            const auto graph = random_graph(n, seed);
            test::words expected;
            for (std::uint32_t t = 0; t < threads; ++t) expected.push_back(walk(graph, t));
            CHECK(firsts_of(kernel_of(graph), threads) == expected);
        }
}

TEST_CASE("a switch in a function that is called twice") {
    const std::string functions = R"(.func (.reg .u32 r) which(.reg .u32 x)
{
    .reg .u32 i;
    ways: .branchtargets A, B, C;
    min.u32 i, x, 2;
    brx.idx i, ways;
    A: mov.u32 r, 5; ret;
    B: mov.u32 r, 6; bra D;
    C: mov.u32 r, 7;
    D: add.u32 r, r, 10; ret;
})";
    CHECK(firsts_of(with_functions(functions, "call (%r1), which, (%t); add.u32 %r2, %t, 1; call (%r2), which, (%r2);\n"
                                              "mad.lo.u32 %r1, %r1, 100, %r2; st.global.u32 [%dst], %r1;"), 4) == test::words{516, 1617, 1717, 1717});
}

TEST_CASE("bytes, half words and vectors of an argument, a predicate as argument, a guarded call") {
    const std::string functions = R"(.func (.param .b32 back) parts(.param .align 4 .b8 p[12])
{
    .reg .b32 %r<5>;
    ld.param.u8 %r1, [p+1];
    ld.param.s16 %r2, [p+2];
    ld.param.v2.u32 {%r3, %r4}, [p+4];
    add.u32 %r1, %r1, %r2;
    mad.lo.u32 %r1, %r3, 10, %r1;
    mad.lo.u32 %r1, %r4, 100, %r1;
    st.param.b32 [back], %r1;
    ret;
}
.func (.reg .u32 r) chosen(.reg .u32 x, .reg .pred z) { selp.u32 r, x, 7, z; ret; })";
    CHECK(firsts_of(with_functions(functions, R"({ .param .align 4 .b8 q[12]; .param .b32 back;
        st.param.b8 [q], 9; st.param.b8 [q+1], 200; st.param.b16 [q+2], -5; st.param.v2.b32 [q+4], {%t, 3};
        call.uni (back), parts, (q); ld.param.b32 %r1, [back]; }
        setp.eq.u32 %p1, %t, 2; @!%p1 call (%r1), chosen, (%r1, %p1);
        st.global.u32 [%dst], %r1;)"), 4) == test::words{7, 7, 515, 7});
}

TEST_CASE("one atomic on shared memory in some lanes, on global memory in others") {
    const std::string functions = ".shared .u32 s;";
    CHECK(firsts_of(with_functions(functions, R"(setp.eq.u32 %p2, %t, 0; @%p2 st.shared.u32 [s], 100; bar.sync 0;
        mov.u64 %d4, s; cvta.shared.u64 %d4, %d4; cvta.global.u64 %d6, %out; and.b32 %r3, %t, 1; setp.eq.u32 %p1, %r3, 0;
        selp.b64 %d5, %d4, %d6, %p1; add.u32 %r4, %t, 1; atom.add.u32 %r1, [%d5+0], %r4;
        bar.sync 0; ld.shared.u32 %r6, [s]; mad.lo.u32 %r1, %r6, 1000, %r1; ld.global.u32 %r7, [%out]; bar.sync 0;
        mad.lo.u32 %r1, %r7, 1000000, %r1; st.global.u32 [%dst], %r1;)"), 4) == test::words{6104100, 6104000, 6104101, 6104002});
}
