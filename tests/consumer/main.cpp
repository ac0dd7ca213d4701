// SPDX-License-Identifier: MIT
// Runs a program of one machine block, which stores 42, against the installed headers and the libraries they bring along.
#include <array>
#include <cstdint>

#include <Eigen/Core>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/nn/sparse_matrix.hpp>

namespace machine = qwengpu::machine;

machine::program store_42(int pointer_row) {
    machine::machine_block block;
    block.s1 = {.op = machine::alu_op::add, .a = machine::source::constant, .imm = static_cast<std::uint16_t>(pointer_row)};
    block.s3 = {.op = machine::alu_op::add, .a = machine::source::imm, .imm = 42};
    block.mem = {.store_address = machine::source::t1, .store_data = machine::source::t3};
    block.has_store = true;
    block.next = static_cast<std::uint16_t>(machine::mission.exit_block());
    return {.name = "store_42", .blocks = {block}};
}

int main() {
    constexpr int pointer_row = machine::first_free_constant;
    auto image = machine::make_launch<machine::mission>(store_42(pointer_row), {1, 1, 1}, {1, 1, 1});
    const auto buffer = machine::add_buffer(image, std::array<std::uint32_t, 1>{0});
    machine::set_constant(image, pointer_row, buffer.pointer());
    const auto stored = machine::words_of(machine::emulate(image), buffer).at(0);

    const auto weights = qwengpu::nn::sparse_matrix::from_triplets(1, 1, {{0, 0, 42}}).to_dense();
    fmt::print("{}\n", nlohmann::json{{"stored", stored}}.dump());
    return stored == 42 && weights(0, 0) == 42 ? 0 : 1;
}
