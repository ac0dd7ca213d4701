// SPDX-License-Identifier: MIT
// How large a grid may be: what the constants say of it, that each of many thread blocks runs once, and what is too large.
#include <qwengpu/launch/kernel.hpp>
#include <qwengpu/launch/prepare.hpp>
#include <qwengpu/machine/emulator.hpp>

#include "support/catch.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

using namespace qwengpu;

namespace {

/// out[0] += 1, out[1] = the largest %ctaid.x.
const std::string count_blocks = R"(.version 7.8
.target sm_75
.address_size 64
.visible .entry k(.param .u64 k_out)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<2>;
    ld.param.u64 %d1, [k_out];
    mov.u32 %r1, %ctaid.x;
    red.global.add.u32 [%d1], 1;
    red.global.max.u32 [%d1 + 4], %r1;
    ret;
}
)";

machine::launch_image<> image_of(const std::array<std::int64_t, 3>& grid) {
    launch_request request;
    request.grid = grid;
    request.args = {in("out", std::vector<unsigned>{0, 0})};
    return prepare(kernel_from_ptx(count_blocks, "k.ptx").program, request);
}

std::string refusal(const std::array<std::int64_t, 3>& grid) {
    try {
        image_of(grid);
    } catch (const error& e) {
        return e.what();
    }
    return "none";
}

}  // namespace

TEST_CASE("more thread blocks in x than 16 bits can count, each once", "[launch]") {
    const auto image = image_of({70'000, 1, 1});
    const auto out = machine::emulate(image, 1'000'000);
    CHECK(out.ended == machine::ending::finished);
    CHECK(machine::words_of(out, image.buffers[0]) == std::vector<std::uint32_t>{70'000, 69'999});
}

TEST_CASE("the largest grids, and what is larger", "[launch]") {
    const auto image = image_of({2147483647, 65535, 65535});
    CHECK(image.constants[machine::constant_row::last_ctaid].value == 2147483646);
    CHECK(image.constants[machine::constant_row::nctaid + 1].value == 65535);
    const std::string possible = "; from 1 to 2147483647 are possible in x, from 1 to 65535 in y and z [launch.grid]";
    CHECK(refusal({2147483648, 1, 1}) == "the grid is 2147483648 x 1 x 1 thread blocks" + possible);
    CHECK(refusal({1, 65536, 1}) == "the grid is 1 x 65536 x 1 thread blocks" + possible);
    CHECK(refusal({1, 1, 65536}).find("[launch.grid]") != std::string::npos);
    CHECK(refusal({0, 1, 1}).find("[launch.grid]") != std::string::npos);
}
