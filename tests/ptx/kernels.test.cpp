// SPDX-License-Identifier: MIT
// Kernels of the corpus from the PTX of nvcc and of clang: compiled, run on the emulator, and memory as expected by results
// that were computed without this library. Also what the programs cost.

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/ptx_text.hpp"

#include "corpus_case.hpp"

namespace {

using namespace qwengpu;

struct corpus_file {
    std::string name;
    std::vector<std::string> kernels;
};

/// Integer kernels with 32-bit accesses, by file.
const std::vector<corpus_file>& integer_kernels() {
    static const std::vector<corpus_file> files{
        {"bits", {"bit_intrinsics", "bit_tricks", "perm_shift"}}, {"branches", {"uniform_branch", "predicated_store", "one_lane"}},
        {"call", {"call_simple", "call_chain", "call_divergent", "call_pointer"}}, {"collatz", {"collatz"}}, {"conv1d", {"conv1d"}},
        {"divmod", {"divmod_s", "divmod_u", "div_const_s", "div_const_u"}}, {"do_while", {"log2_steps", "first_repeat", "goto_loop"}},
        {"early_return", {"return_guard"}}, {"fibonacci", {"fib_iter", "fib_double"}}, {"gcd", {"gcd_k"}}, {"grid_stride", {"grid_stride"}},
        {"hash", {"fmix32"}}, {"horner", {"horner_i"}}, {"index3d", {"index3d", "dims"}}, {"life", {"life_bits", "life_cells"}},
        {"mandelbrot", {"mandel_fixed"}}, {"matmul", {"matmul_i"}}, {"merge_sorted", {"merge_sorted"}},
        {"multi", {"fill_iota", "add_scalar", "square_all"}}, {"pointers", {"stride_walk", "list_sum", "list_bytes", "swap_ends"}},
        {"rng", {"xorshift32", "lcg"}}, {"saxpy", {"saxpy_i"}}, {"scale", {"scale_i"}}, {"search", {"lower_bound_k"}},
        {"select", {"min_max_abs", "clamp_k", "sat_add"}}, {"sieve", {"sieve", "is_prime"}}, {"switch_op", {"switch_op", "switch_sparse"}},
        {"to_base", {"to_bcd"}}, {"transpose", {"transpose_naive"}}, {"vecadd", {"vecadd"}}};
    return files;
}

int check_kernel(const std::string& compiler, const std::string& file, const std::string& kernel) {
    const std::string path = std::string(QWENGPU_TEST_DATA) + "/kernels/ptx/" + compiler + "/" + file + ".ptx";
    const auto compiled = ptx::compile_kernel(ptx::read(test::slurp(path), path), kernel);
    int checked = 0;
    for (const test::corpus_case& c : test::cases_of(file, kernel)) {
        INFO(compiler << " " << c.name);
        const auto run = test::run_program(compiled.program, c.grid, c.block, c.arguments);
        CHECK(run.trap.empty());
        CHECK(run.ended == machine::ending::finished);
        CHECK(run.buffers == c.expected);
        ++checked;
    }
    return checked;
}

}  // namespace

TEST_CASE("integer kernels of the corpus leave the expected memory") {
    for (const char* compiler : {"nvcc", "clang"}) {
        int cases = 0;
        for (const corpus_file& f : integer_kernels())
            for (const std::string& k : f.kernels) cases += check_kernel(compiler, f.name, k);
        CHECK(cases == 131);
    }
}

TEST_CASE("kernels that nvcc did not optimise run too, where they keep nothing in local memory") {
    CHECK(check_kernel("nvcc_O0", "vecadd", "vecadd") == 4);
    CHECK(check_kernel("nvcc_O0", "gcd", "gcd_k") == 3);
    CHECK(check_kernel("nvcc_O0", "switch_op", "switch_op") == 2);
}

TEST_CASE("lane instructions are those of the PTX text") {
    // 22 instructions, which all 4 lanes of all blocks execute where n is a multiple; with n = 0 only the first 10 and ret.
    const std::string path = std::string(QWENGPU_TEST_DATA) + "/kernels/ptx/nvcc/vecadd.ptx";
    const auto compiled = ptx::compile_kernel(ptx::read(test::slurp(path), path), "vecadd");
    const auto launch = [&](std::uint32_t n) {
        const test::words zeros(4);
        return test::run_program(compiled.program, {1, 1, 1}, {4, 1, 1},
                                 {test::buffer_of(zeros), test::buffer_of(zeros), test::buffer_of(zeros), test::number(n)})
            .lane_instructions;
    };
    CHECK(launch(4) == 22 * 4);
    CHECK(launch(0) == 11 * 4);
    CHECK(launch(3) == 22 * 3 + 11);
}
