// SPDX-License-Identifier: MIT
// <cooperative_groups.h> of clang's CUDA header: groups, their ranks, exchanges, votes, partitions and reductions, against results by hand.
#include <qwengpu/cuda/device_header_groups.hpp>

#include <string>

#include <qwengpu/error.hpp>

#include "cuda/device_run.hpp"
#include "support/catch.hpp"

using namespace qwengpu::test;

namespace {

words run_groups(const std::string& body, const words& in, unsigned threads, std::size_t results) {
    const auto module = clang_module("#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\n"
                                     "namespace cg = cooperative_groups;\nextern \"C\" __global__ void k(const int* in, int* out) { const int t = threadIdx.x; (void)t;\n" + body + "\n}\n");
    const auto compiled = qwengpu::ptx::compile_kernel(module, "k");
    return run_program(compiled.program, {2, 1, 1}, {threads, 1, 1}, {buffer_of(in), buffer_of(words(results, 0))}).buffers.at(1);
}

}  // namespace

TEST_CASE("blocks and grids know their ranks and sizes") {
    CHECK(run_groups("auto b = cg::this_thread_block(); auto g = cg::this_grid();\n"
                     "out[g.thread_rank()] = b.thread_rank() + 10 * b.size() + 100 * b.group_index().x + 1000 * g.size() + 100000 * b.dim_threads().x + 1000000 * g.num_blocks();",
                     {0}, 3, 6) == words{2306030, 2306031, 2306032, 2306130, 2306131, 2306132});
    CHECK(run_groups("cg::thread_group g = cg::this_thread_block(); __shared__ int s[8]; s[t] = in[t]; g.sync(); out[t] = s[g.size() - 1 - g.thread_rank()];", {1, 2, 3, 4, 5, 6}, 6, 6) ==
          words{6, 5, 4, 3, 2, 1});
}

TEST_CASE("tiles exchange, vote and match among themselves") {
    const std::string pair = "auto p = cg::tiled_partition<2>(cg::this_thread_block());\n";
    const words in{5, 6, 7, 7, 1, 0, 3, 2};
    CHECK(run_groups(pair + "out[t] = p.shfl(in[t], 0) * 10 + p.shfl_xor(in[t], 1);", in, 8, 8) == words{56, 55, 77, 77, 10, 11, 32, 33});
    CHECK(run_groups(pair + "out[t] = p.shfl_up(in[t], 1) * 10 + p.shfl_down(in[t], 1);", in, 8, 8) == words{56, 56, 77, 77, 10, 10, 32, 32});
    CHECK(run_groups(pair + "out[t] = p.any(in[t] > 5) + 2 * p.all(in[t] > 5) + 4 * p.ballot(in[t] > 5) + 16 * p.match_any(in[t]);", in, 8, 8) == words{25, 41, 63, 63, 16, 32, 16, 32});
    CHECK(run_groups(pair + "out[t] = p.meta_group_rank() * 100 + p.meta_group_size() * 10 + p.thread_rank() + p.num_threads() * 1000;", in, 8, 8) ==
          words{2040, 2041, 2140, 2141, 2240, 2241, 2340, 2341});
    CHECK(run_groups("auto f = cg::tiled_partition<4>(cg::this_thread_block()); struct two { int a, b; }; two v{in[t], t}; v = f.shfl(v, 2); out[t] = v.a * 10 + v.b;", in, 8, 8) ==
          words{72, 72, 72, 72, 36, 36, 36, 36});
    CHECK(run_groups("auto f = cg::tiled_partition<4>(cg::this_thread_block()); float v = f.shfl_down((float)in[t], 2); long long w = f.shfl((long long)in[t] << 33, 1); out[t] = (int)v + (int)(w >> 30);", in, 8, 8) ==
          words{55, 55, 55, 55, 3, 2, 3, 2});
}

TEST_CASE("groups of the threads that are there") {
    const words in{5, 0, 7, 7, 0, 0, 3, 2};
    CHECK(run_groups("if (in[t] > 0) { auto g = cg::coalesced_threads(); out[t] = g.size() * 1000 + g.thread_rank() * 100 + g.shfl(in[t], g.size() - 1) * 10 + g.shfl_up(in[t], 1); }", in, 8, 8) ==
          words{3075, 0, 3175, 3277, 0, 0, 2023, 2123});
    CHECK(run_groups("if (in[t] > 0) { auto g = cg::coalesced_threads(); out[t] = g.ballot(in[t] == 7) * 10 + g.any(in[t] == 3) + g.match_any(in[t]) * 100; g.sync(); }", in, 8, 8) ==
          words{160, 0, 660, 660, 0, 0, 101, 201});
    CHECK(run_groups("auto f = cg::tiled_partition<4>(cg::this_thread_block()); auto g = cg::labeled_partition(f, in[t] & 1); out[t] = g.size() * 10 + g.thread_rank();", in, 8, 8) ==
          words{30, 10, 31, 32, 30, 31, 10, 32});
    CHECK(run_groups("auto f = cg::tiled_partition<4>(cg::this_thread_block()); auto g = cg::binary_partition(f, in[t] > 4); out[t] = cg::reduce(g, in[t], cg::plus<int>());", in, 8, 8) ==
          words{19, 0, 19, 19, 5, 5, 5, 5});
}

TEST_CASE("reductions and scans") {
    const words in{5, 0, 7, 7, 1, 2, 3, 4};
    const std::string four = "auto f = cg::tiled_partition<4>(cg::this_thread_block());\n";
    CHECK(run_groups(four + "out[t] = cg::reduce(f, in[t], cg::plus<int>()) * 100 + cg::reduce(f, in[t], cg::less<int>()) * 10 + cg::reduce(f, in[t], cg::greater<int>());", in, 8, 8) ==
          words{1907, 1907, 1907, 1907, 1014, 1014, 1014, 1014});
    CHECK(run_groups(four + "out[t] = cg::inclusive_scan(f, in[t]) * 100 + cg::exclusive_scan(f, in[t], cg::plus<int>());", in, 8, 8) == words{500, 505, 1205, 1912, 100, 301, 603, 1006});
    CHECK(run_groups(four + "out[t] = cg::reduce(f, in[t], cg::bit_xor<int>()) * 10 + cg::reduce(f, in[t], [](int a, int b) { return a > b ? a : b; });", in, 8, 8) ==
          words{57, 57, 57, 57, 44, 44, 44, 44});
    CHECK(run_groups(four + "cg::invoke_one(f, [&] { out[t] = 7; });", in, 8, 8) == words{7, 0, 0, 0, 7, 0, 0, 0});
}

TEST_CASE("what groups cannot do here is told") {
    const auto refusal = [](const std::string& body) {
        try {
            (void)run_groups(body, {0}, 4, 4);
        } catch (const qwengpu::error& e) {
            return e.message();
        }
        return std::string("nothing is refused");
    };
    CHECK(refusal("out[t] = cg::tiled_partition<32>(cg::this_thread_block()).size();").find("a warp of this machine has 4 lanes") != std::string::npos);
    CHECK(refusal("cg::this_grid().sync();").find("cannot wait for each other") != std::string::npos);
}
