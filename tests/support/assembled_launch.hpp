// SPDX-License-Identifier: MIT
// Launches of assembled programs: pointers to the buffers are in constants 13, 14, ...
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/machine/assembly.hpp>
#include <qwengpu/machine/launch_image.hpp>

namespace qwengpu::test {

template <machine::sizes M = machine::mission>
machine::launch_image<M> assembled_launch(const std::string& text, const machine::extent& block,
                                          const std::vector<std::vector<std::uint32_t>>& buffers = {},
                                          const machine::extent& grid = {1, 1, 1}) {
    auto image = machine::make_launch<M>(machine::assemble<M>(text), grid, block);
    for (const std::vector<std::uint32_t>& values : buffers) {
        const machine::buffer_place place = machine::add_buffer(image, values);
        machine::set_constant(image, machine::first_free_constant - 1 + place.window, place.pointer());
    }
    return image;
}

}  // namespace qwengpu::test
