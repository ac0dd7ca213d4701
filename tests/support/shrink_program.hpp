// SPDX-License-Identifier: MIT
// Makes a failing launch small: takes away thread blocks, threads, blocks, instructions and operands as long as the failure
// stays. And a launch as text, for the report of a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/disassembly.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/legality.hpp>

namespace qwengpu::test {

namespace detail {

/// All source fields of a block.
template <class Block, class F>
void for_each_source(Block& b, F&& f) {
    for (auto* i : {&b.s1, &b.s3, &b.s4}) {
        f(i->a);
        f(i->b);
        f(i->c);
    }
    for (auto* s : {&b.mem.load_address, &b.mem.load_guard, &b.mem.load_else, &b.mem.store_address, &b.mem.store_data,
                    &b.mem.cond})
        f(*s);
}

/// Names nothing that no source reads any more.
inline void forget_unused(machine::machine_block& b) {
    const auto used = [&b](int s) {
        bool found = false;
        for_each_source(b, [&](machine::source other) { found = found || static_cast<int>(other) == s; });
        return found || (s == static_cast<int>(machine::source::r0) && machine::is_collective(b.mem.op));
    };
    for (std::size_t i = 0; i < b.ports.size(); ++i)
        if (!used(static_cast<int>(machine::source::r0) + static_cast<int>(i))) b.ports[i] = 0;
    if (!used(static_cast<int>(machine::source::special))) b.special = machine::special_register::none;
    for (auto* i : {&b.s1, &b.s3, &b.s4}) {
        bool wants = false;
        for (const machine::source s : {i->a, i->b, i->c})
            wants = wants || s == machine::source::imm || s == machine::source::constant;
        if (!wants) i->imm = 0;
    }
}

/// Simpler forms of a block, the simplest first. Not all of them are legal.
inline std::vector<machine::machine_block> simpler_blocks(const machine::machine_block& b) {
    std::vector<machine::machine_block> found;
    const auto add = [&](auto&& change) {
        machine::machine_block c = b;
        change(c);
        forget_unused(c);
        if (!(c == b)) found.push_back(c);
    };
    add([](auto& c) { const auto next = c.next; c = {}; c.next = next; });
    add([](auto& c) { c.has_branch = false; c.taken = 0; if (!c.mem.store_guarded) { c.mem.cond = {}; c.mem.sense = false; } });
    add([](auto& c) { c.mem.barrier = false; c.mem.barrier_id = c.mem.barrier_count = 0; });
    add([](auto& c) { c.mem.barrier_id = 0; });
    add([](auto& c) { c.mem.barrier_count = 0; });
    add([](auto& c) { c.lane_major = false; });
    add([](auto& c) { c.mem.is_private = false; });
    add([](auto& c) { const auto to = c.dest; c.mem = {}; c.has_store = c.has_branch = c.lane_major = false; c.taken = 0; c.dest = to; });
    add([](auto& c) { c.has_store = c.mem.store_guarded = false; c.mem.store_size = {}; c.mem.store_address = c.mem.store_data = {};
                      if (!c.has_branch) { c.mem.cond = {}; c.mem.sense = false; } });
    add([](auto& c) { c.mem.store_guarded = false; if (!c.has_branch) { c.mem.cond = {}; c.mem.sense = false; } });
    add([](auto& c) { c.mem.op = {}; c.mem.load_address = c.mem.load_guard = c.mem.load_else = {}; c.mem.load_sense = false; });
    add([](auto& c) { c.mem.load_guard = c.mem.load_else = {}; c.mem.load_sense = false; });
    for (std::size_t i = 0; i < b.dest.size(); ++i) add([i](auto& c) { c.dest[i] = 0; });
    add([](auto& c) { c.s1 = {}; });
    add([](auto& c) { c.s3 = {}; });
    add([](auto& c) { c.s4 = {}; });
    std::size_t sources = 0;
    for_each_source(b, [&](machine::source) { ++sources; });
    for (std::size_t n = 0; n < sources; ++n)
        add([n](auto& c) { std::size_t at = 0; for_each_source(c, [&](machine::source& s) { if (at++ == n) s = {}; }); });
    return found;
}

/// The same launch with another geometry.
template <machine::sizes M>
machine::launch_image<M> with_geometry(const machine::launch_image<M>& from, const machine::extent& grid,
                                       const machine::extent& block) {
    auto image = machine::make_launch<M>(from.program, grid, block);
    for (std::size_t row = machine::first_free_constant; row < from.constants.size(); ++row)
        image.constants[row] = from.constants[row];
    image.memory = from.memory;
    image.shared = from.shared;
    image.buffers = from.buffers;
    return image;
}

template <machine::sizes M, class Fails>
class shrinker {
public:
    shrinker(machine::launch_image<M> image, const Fails& fails) : image_(std::move(image)), fails_(fails) {}

    machine::launch_image<M> run() {
        for (bool better = true; better;) better = geometry() || blocks() || values();
        return image_;
    }

private:
    bool accept(const machine::launch_image<M>& smaller) {
        if (!machine::violations<M>(smaller.program).empty() || !fails_(smaller)) return false;
        image_ = smaller;
        return true;
    }

    bool geometry() {
        bool better = false;
        for (std::size_t i = 0; i < 3; ++i)
            for (const bool of_grid : {true, false})
                for (std::uint32_t n = 1; n < (of_grid ? image_.grid : image_.block)[i];) {
                    machine::extent grid = image_.grid, block = image_.block;
                    (of_grid ? grid : block)[i] = n;
                    if (!accept(with_geometry(image_, grid, block))) { ++n; continue; }
                    better = true;
                }
        return better;
    }

    bool blocks() {
        bool better = false;
        while (image_.program.blocks.size() > 1 && without_last()) better = true;
        for (std::size_t id = 0; id < image_.program.blocks.size(); ++id)
            for (bool again = true; again; better = better || again) again = block(id);
        return better;
    }

    bool without_last() {
        auto smaller = image_;
        smaller.program.blocks.pop_back();
        return accept(smaller);
    }

    bool block(std::size_t id) {
        if (!image_.program.blocks[id].valid) return false;
        for (const machine::machine_block& b : simpler_blocks(image_.program.blocks[id])) {
            auto smaller = image_;
            smaller.program.blocks[id] = b;
            if (accept(smaller)) return true;
        }
        return false;
    }

    bool values() {
        bool better = false;
        for (std::size_t w = 0; w < image_.memory.size(); ++w) {
            auto smaller = image_;
            smaller.memory[w].value = 0;
            if (image_.memory[w].value != 0 && accept(smaller)) better = true;
        }
        return better;
    }

    machine::launch_image<M> image_;
    const Fails& fails_;
};

}  // namespace detail

/// A smaller launch for which `fails(image)` still holds, as it must for `image`. It is also asked about launches that do
/// not end by themselves, so it must have a step limit.
template <machine::sizes M, class Fails>
machine::launch_image<M> shrink_launch(machine::launch_image<M> image, const Fails& fails) {
    return detail::shrinker<M, Fails>(std::move(image), fails).run();
}

/// Geometry, program, constants and memory of a launch.
template <machine::sizes M>
std::string describe(const machine::launch_image<M>& image) {
    const auto numbers = [](const machine::extent& e) {
        return std::to_string(e[0]) + " x " + std::to_string(e[1]) + " x " + std::to_string(e[2]);
    };
    std::string text = "grid " + numbers(image.grid) + ", block " + numbers(image.block) + "\n";
    text += machine::disassemble(image.program, M.exit_block());
    for (std::size_t row = machine::first_free_constant; row < image.constants.size(); ++row)
        if (image.constants[row].used)
            text += "c[" + std::to_string(row) + "] = " + std::to_string(image.constants[row].value) + "\n";
    for (std::size_t w = 0; w < image.memory.size(); ++w)
        if (image.memory[w].window != 0)
            text += "word " + std::to_string(w) + " of window " + std::to_string(image.memory[w].window) + " = " +
                    std::to_string(image.memory[w].value) + "\n";
    return text;
}

}  // namespace qwengpu::test
