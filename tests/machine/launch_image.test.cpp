// SPDX-License-Identifier: MIT
// What a launch begins with: geometry in the constants, buffers and their windows, parameters; and what does not fit.
#include <qwengpu/machine/launch_image.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/catch.hpp"

namespace {

using namespace qwengpu::machine;
using words = std::vector<std::uint32_t>;

program small_program() {
    program p;
    p.name = "k";
    p.blocks.resize(1);
    return p;
}

std::string id_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const qwengpu::error& e) {
        return e.id();
    }
    return "";
}

}  // namespace

TEST_CASE("the geometry lies in the first thirteen constants") {
    const auto image = make_launch(small_program(), {5, 2, 7}, {4, 3, 2});
    const words expected{4, 1, 6, 4, 1, 6, 5, 2, 7, 4, 3, 2, 3 | 2 << 5 | 23 << 10};
    for (std::size_t row = 0; row < expected.size(); ++row) {
        INFO("row " << row);
        CHECK(image.constants[row] == constant_word{expected[row], true});
    }
    CHECK_FALSE(image.constants[13].used);
    CHECK(image.threads() == 24);
    CHECK(image.warps() == 6);
}

TEST_CASE("the last warp may have fewer lanes") {
    const auto image = make_launch(small_program(), {1, 1, 1}, {7, 1, 1});
    CHECK(image.warps() == 2);
    CHECK(image.lanes_of_warp(0) == 0xf);
    CHECK(image.lanes_of_warp(1) == 0x7);
    CHECK(image.lanes_of_warp(2) == 0);
}

TEST_CASE("literals are set where the program wants them") {
    program p = small_program();
    p.literals = {{20, 77}};
    const auto image = make_launch(p, {1, 1, 1}, {1, 1, 1});
    CHECK(image.constants[20] == constant_word{77, true});
    CHECK_FALSE(image.constants[19].used);
}

TEST_CASE("buffers follow each other and have windows of their own") {
    auto image = make_launch(small_program(), {1, 1, 1}, {1, 1, 1});
    const auto a = add_buffer(image, words{10, 11, 12});
    const auto none = add_buffer(image, words{});
    const auto b = add_buffer(image, words{20}, 4);
    CHECK(a.pointer() == 0x08000004);
    CHECK(none.pointer() == 0x10000010);
    CHECK(b.pointer() == 0x18000010);
    CHECK(image.memory[0] == memory_word{0, 0});
    CHECK(image.memory[3] == memory_word{12, 1});
    CHECK(image.memory[4] == memory_word{20, 3});
    CHECK(image.memory[5] == memory_word{0, 0});
    CHECK(image.buffers.size() == 3);
}

TEST_CASE("all 126 words can be used, and no more") {
    auto image = make_launch(small_program(), {1, 1, 1}, {1, 1, 1});
    CHECK(id_of([&] { add_buffer(image, words(127)); }) == "launch.memory");
    CHECK(add_buffer(image, words(100)).first_word == 1);
    CHECK(id_of([&] { add_buffer(image, words(27)); }) == "launch.memory");
    CHECK(add_buffer(image, words(26)).first_word == 101);
    CHECK(add_buffer(image, words{}).words == 0);
    CHECK(image.memory[126].window == 2);
    CHECK(image.memory[127].window == 0);
}

TEST_CASE("there are 27 windows") {
    auto image = make_launch(small_program(), {1, 1, 1}, {1, 1, 1});
    for (int i = 1; i <= 27; ++i) CHECK(add_buffer(image, words{0}).window == i);
    CHECK(id_of([&] { add_buffer(image, words{0}); }) == "launch.memory");
}

TEST_CASE("parameters go to the rows the program reads") {
    program p = small_program();
    p.parameters = {{"a", 4, true, 13, 1}, {"n", 8, false, 14, 2}, {"unused", 4, false, 0, 0}};
    auto image = make_launch(p, {1, 1, 1}, {1, 1, 1});
    set_parameter(image, 0, words{5});
    set_parameter(image, 1, words{6, 7});
    set_parameter(image, 2, words{8});
    CHECK(image.constants[13].value == 5);
    CHECK(image.constants[14].value == 6);
    CHECK(image.constants[15] == constant_word{7, true});
    CHECK_FALSE(image.constants[16].used);
    CHECK(image.constants[0].value == 0);
    CHECK(id_of([&] { set_parameter(image, 3, words{1}); }) == "launch.parameter");
    CHECK(id_of([&] { set_parameter(image, 1, words{1}); }) == "launch.parameter");
}

TEST_CASE("geometry, constants and programs that do not fit") {
    const auto launch = [](const extent& grid, const extent& block) {
        return id_of([&] { make_launch(small_program(), grid, block); });
    };
    CHECK(launch({1, 1, 1}, {32, 1, 1}).empty());
    CHECK(launch({1000000, 1, 1}, {1, 1, 32}).empty());
    CHECK(launch({1, 1, 1}, {33, 1, 1}) == "launch.geometry");
    CHECK(launch({1, 1, 1}, {8, 5, 1}) == "launch.geometry");
    CHECK(launch({1, 1, 1}, {0x10000, 0x10000, 1}) == "launch.geometry");
    CHECK(launch({1, 0, 1}, {1, 1, 1}) == "launch.geometry");
    CHECK(launch({1, 1, 1}, {1, 1, 0}) == "launch.geometry");
    CHECK(id_of([] { make_launch(program{}, {1, 1, 1}, {1, 1, 1}); }) == "machine.illegal");
    auto image = make_launch(small_program(), {1, 1, 1}, {1, 1, 1});
    CHECK(id_of([&] { set_constant(image, 128, 0); }) == "launch.constant");
    CHECK(id_of([&] { set_constant(image, -1, 0); }) == "launch.constant");
}
