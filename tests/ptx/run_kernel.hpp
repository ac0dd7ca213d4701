// SPDX-License-Identifier: MIT
// Compiles a kernel from PTX text and runs it on the emulator, for tests of the compiler.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/ptx/compile.hpp>
#include <qwengpu/ptx/read.hpp>

namespace qwengpu::test {

using words = std::vector<std::uint32_t>;

/// An argument: words of a buffer, or the words of a number by value.
struct kernel_argument {
    bool is_buffer = false;
    words data;
};
inline kernel_argument buffer_of(words data) { return {true, std::move(data)}; }
inline kernel_argument number(std::uint64_t n) {
    return {false, {static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(n >> 32)}};
}

struct kernel_run {
    machine::ending ended = machine::ending::finished;
    std::string trap;           ///< what trapped, empty if nothing did
    int trap_line = 0;          ///< of the PTX
    std::vector<words> buffers; ///< after the launch, in the order of the arguments
    std::uint64_t lane_instructions = 0;
};

inline ptx::compiled_kernel compile_text(const std::string& text, const std::string& kernel = {}) {
    return ptx::compile_kernel(ptx::read(text, "test.ptx"), kernel);
}

inline kernel_run run_program(const machine::program& program, const machine::extent& grid, const machine::extent& block,
                              const std::vector<kernel_argument>& arguments, std::uint64_t limit = 1'000'000, int dynamic_words = 0) {
    auto image = machine::make_launch<machine::mission>(program, grid, block);
    std::vector<machine::buffer_place> places;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
        words given = arguments[k].data;
        if (arguments[k].is_buffer) {
            places.push_back(machine::add_buffer(image, given));
            given = {places.back().pointer(), 0};
        }
        machine::set_parameter(image, k, given);
    }
    std::vector<machine::buffer_place> variables;
    for (const auto& v : program.variables) {
        variables.push_back(machine::add_buffer(image, v.words, v.align / 4));
        if (v.row != 0) machine::set_constant(image, v.row, variables.back().pointer());
    }
    for (std::size_t k = 0; k < variables.size(); ++k) {
        words begin = program.variables[k].words;
        for (const auto& link : program.variables[k].links) machine::put_address(begin, link, variables[static_cast<std::size_t>(link.variable)].pointer());
        for (std::size_t w = 0; w < begin.size(); ++w) image.memory[static_cast<std::size_t>(variables[k].first_word) + w].value = begin[w];
    }
    machine::declare_shared(image, dynamic_words > 0 ? program.dynamic_shared_word - 1 + dynamic_words : program.shared_words);
    const auto out = machine::emulate(image, limit);
    kernel_run result{out.ended, {}, 0, {}, machine::ptx_lane_instructions(program, out)};
    if (out.trap) result.trap = std::string(name_of(out.trap->kind)), result.trap_line = out.trap->line.ptx_line;
    for (const auto& p : places) result.buffers.push_back(machine::words_of(out, p));
    return result;
}

inline kernel_run run_text(const std::string& text, const machine::extent& grid, const machine::extent& block,
                           const std::vector<kernel_argument>& arguments) {
    return run_program(compile_text(text).program, grid, block, arguments);
}

/// A kernel `k` with pointers `in` and `out` (registers %in, %out, %t and %i of 32 and %a of 64 bits are there) around a body.
/// Thread t has its words from in + 16 t and out + 16 t on: [%src] and [%dst].
inline std::string kernel_around(const std::string& body) {
    return R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 k_in, .param .u64 k_out)
{
    .reg .pred %p<20>;
    .reg .b16 %h<20>;
    .reg .b32 %r<40>;
    .reg .b64 %d<40>;
    .reg .b64 %src, %dst, %in, %out, %at;
    .reg .b32 %t;
    ld.param.u64 %in, [k_in];
    ld.param.u64 %out, [k_out];
    cvta.to.global.u64 %in, %in;
    cvta.to.global.u64 %out, %out;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %at, %t, 16;
    add.s64 %src, %in, %at;
    add.s64 %dst, %out, %at;
)" + body + "\n    ret;\n}\n";
}

}  // namespace qwengpu::test
