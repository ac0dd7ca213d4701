// SPDX-License-Identifier: MIT
// Random launches that end: legal programs over all instructions, sources, guards and shapes of divergence, in thread blocks of
// one to three dimensions. Branches backwards are taken only while a counter that no other block writes is small.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <qwengpu/machine/block.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/machine/sizes.hpp>

#include "support/choices.hpp"
#include "support/random_block.hpp"

namespace qwengpu::test {

/// Bounds of a random launch.
struct random_options {
    int max_blocks = 20;         ///< machine blocks
    int max_thread_blocks = 4;
    int max_threads = 1 << 20;   ///< of a thread block; the machine's threads bound it too
    int max_buffers = 3;
    int max_rounds = 6;          ///< how often a lane goes back, about
    int faulty_percent = 12;     ///< of programs that may access what they may not, or run off their blocks
    bool mix_ports = false;      ///< blocks read registers through any of their ports; assembly gives ports in order
};

template <machine::sizes M>
class random_program {
public:
    random_program(std::uint64_t seed, const random_options& options) : choose_(seed), options_(options) {
        faulty_ = choose_.percent(options.faulty_percent);
        names_.special_percent = choose_.below(3) * 12;
        names_.mix_ports = options.mix_ports;
        plan_buffers();
        plan_registers();
    }

    machine::launch_image<M> make() {
        const int blocks = std::min(choose_.between(2, std::max(2, options_.max_blocks)), M.exit_block());
        program_.name = "random";
        for (int id = 0; id < blocks; ++id) program_.blocks.push_back(block(id, blocks));
        machine::extent grid = shape(std::max(1, options_.max_thread_blocks));
        auto image = machine::make_launch<M>(program_, grid, shape(std::min(M.threads(), options_.max_threads)));
        for (const int words : buffer_words_) add_buffer(image, words);
        for (std::size_t i = 0; i < buffer_words_.size(); ++i)
            machine::set_constant(image, machine::first_free_constant + static_cast<int>(i), image.buffers[i].pointer());
        return image;
    }

private:
    using source = machine::source;

    /// Sizes are powers of two, so that an index masked to the smallest is in bounds everywhere.
    void plan_buffers() {
        const int rows = M.constants - machine::first_free_constant;
        const int count = std::min({choose_.between(1, std::max(1, options_.max_buffers)), rows, (M.words - 2) / 2});
        const int room = (M.words - 2) / std::max(1, count);
        for (int i = 0; i < count; ++i) buffer_words_.push_back(1 << choose_.below(machine::bits_for(room + 1)));
        smallest_ = *std::min_element(buffer_words_.begin(), buffer_words_.end());
        for (int row = 0; row < machine::first_free_constant + count; ++row) names_.constants.push_back(row);
        const int last = std::min(M.constants, machine::first_free_constant + count + choose_.below(8));
        for (int row = machine::first_free_constant + count; row < last; ++row) {
            program_.literals.push_back({row, choose_.interesting_word()});
            names_.constants.push_back(row);
        }
    }

    /// Register 1 counts the ways back, 2 holds an index that is in bounds; the others are free for anything.
    void plan_registers() {
        const int last = std::min(M.registers - 1, choose_.between(3, std::max(3, M.registers - 1)));
        for (int r = 1; r <= last; ++r) names_.readable.push_back(r);
        for (int r = index_register + 1; r <= last; ++r) names_.writable.push_back(r);
    }

    machine::extent shape(int most) {
        machine::extent e{1, 1, 1};
        const int dimensions = choose_.between(1, 3);
        for (int i = 0; i < dimensions; ++i) {
            const auto at = static_cast<std::size_t>(choose_.below(3));
            const int room = most / static_cast<int>(e[0] * e[1] * e[2] / e[at]);
            e[at] = static_cast<std::uint32_t>(choose_.between(1, i + 1 < dimensions ? std::max(1, room / 2) : room));
        }
        return e;
    }

    void add_buffer(machine::launch_image<M>& image, int words) {
        std::vector<std::uint32_t> values;
        for (int i = 0; i < words; ++i) values.push_back(choose_.interesting_word());
        machine::add_buffer(image, values);
    }

    machine::machine_block block(int id, int blocks) {
        machine::machine_block b = id == 0 && choose_.percent(60) ? entry() : any_block(id, blocks);
        for (int again = 0; again < 3 && b == machine::machine_block{}; ++again) b = any_block(id, blocks);
        b.next = static_cast<std::uint16_t>(forward(id, blocks, 75));
        return b;
    }

    machine::machine_block any_block(int id, int blocks) {
        random_block<M> make(choose_, names_);
        if (id > 0 && choose_.percent(20))
            way_back(make, id);
        else
            ordinary(make, id, blocks);
        return make.finish();
    }

    /// An entry that gives the lanes different registers.
    machine::machine_block entry() {
        random_block<M> make(choose_, names_);
        make.block.special = static_cast<machine::special_register>(choose_.between(1, 6));
        make.block.s1 = {machine::alu_op::add, source::special, source::special, source::zero, 1, 0};
        make.block.s4 = {machine::alu_op::lop, source::special, source::imm, source::zero,
                         machine::mod::lop_a & machine::mod::lop_b, static_cast<std::uint16_t>(smallest_ - 1)};
        make.block.dest[3] = index_register;
        return make.finish();
    }

    /// Where to go on from block `id`: the next block in `straight` percent, else one further down or exit.
    int forward(int id, int blocks, int straight) {
        if (faulty_ && choose_.percent(2)) return choose_.between(blocks, M.exit_block());
        if (id + 1 >= blocks || choose_.percent(4)) return M.exit_block();
        return choose_.percent(straight) ? id + 1 : choose_.between(id + 1, blocks - 1);
    }

    void way_back(random_block<M>& make, int id) {
        auto& b = make.block;
        b.s1 = {machine::alu_op::add, make.read(counter_register), source::imm, source::zero, 0, 1};
        b.dest[0] = counter_register;
        const auto bound = static_cast<std::uint16_t>(choose_.between(1, std::max(1, options_.max_rounds)));
        const std::uint8_t how = machine::mod::cmp_lt | (choose_.percent(50) ? machine::mod::cmp_and : 0);
        b.s4 = {machine::alu_op::cmp, source::t1, source::imm, source::zero, how, bound};
        if (how != machine::mod::cmp_lt) b.s4.c = make.any_source(4, false);
        branch(b, source::t4, true, choose_.below(id + 1));
    }

    void branch(machine::machine_block& b, source cond, bool sense, int taken) {
        b.has_branch = true;
        b.mem.cond = cond;
        b.mem.sense = sense;
        b.taken = static_cast<std::uint16_t>(taken);
    }

    void ordinary(random_block<M>& make, int id, int blocks) {
        const int kind = choose_.below(10);
        if (kind < 3) load(make);
        if (kind >= 3 && kind < 6) store(make);
        if (kind == 6) index(make);
        if (make.block.s1.op == machine::alu_op::none) make.block.s1 = make.any_instruction(1);
        if (choose_.percent(70)) make.block.s3 = make.any_instruction(3);
        if (make.block.s4.op == machine::alu_op::none && choose_.percent(60)) make.block.s4 = make.any_instruction(4);
        finish_store(make);
        if (choose_.percent(35)) branch_forward(make, id, blocks);
    }

    void branch_forward(random_block<M>& make, int id, int blocks) {
        auto& b = make.block;
        if (b.mem.store_guarded) return branch(b, b.mem.cond, b.mem.sense, forward(id, blocks, 20));
        branch(b, make.any_source(5, false), choose_.percent(50), forward(id, blocks, 20));
    }

    /// Stage 1 makes an address that is in bounds, if the program is not to fault.
    void address(random_block<M>& make) {
        auto& b = make.block;
        if (faulty_ && choose_.percent(30)) {
            b.s1 = make.any_instruction(1);
            return;
        }
        const auto buffer = choose_.below(static_cast<int>(buffer_words_.size()));
        const auto row = static_cast<std::uint16_t>(machine::first_free_constant + buffer);
        const source offset = choose_.percent(75) ? offset_source(make) : source::zero;
        b.s1 = {machine::alu_op::add, source::constant, offset, source::zero, 2, row};
    }

    source offset_source(random_block<M>& make) {
        if (smallest_ >= M.threads() && choose_.percent(40)) return make.read(machine::special_register::thread);
        if (smallest_ >= M.lanes && choose_.percent(40)) return make.read(machine::special_register::laneid);
        return make.read(index_register);
    }

    void load(random_block<M>& make) {
        address(make);
        auto& m = make.block.mem;
        m.op = machine::memory_op::load;
        m.load_address = source::t1;
        if (choose_.percent(40)) {
            m.load_guard = make.any_source(2, false);
            m.load_sense = choose_.percent(50);
            m.load_else = make.any_source(2, false);
        }
        if (choose_.percent(15)) never_loads(make);
    }

    /// A guard that holds in no lane; then any address will do.
    void never_loads(random_block<M>& make) {
        auto& m = make.block.mem;
        m.load_guard = source::zero;
        m.load_sense = true;
        m.load_address = make.any_source(2, false);
    }

    void store(random_block<M>& make) {
        address(make);
        make.block.has_store = true;
        make.block.mem.store_address = source::t1;
        make.block.mem.store_guarded = choose_.percent(45);
    }

    /// What a store takes may be made by any stage.
    void finish_store(random_block<M>& make) {
        auto& b = make.block;
        if (!b.has_store) return;
        b.mem.store_data = make.any_source(5, false);
        if (!b.mem.store_guarded) return;
        b.mem.cond = make.any_source(5, false);
        b.mem.sense = choose_.percent(50);
    }

    /// A new index: something masked to the smallest buffer.
    void index(random_block<M>& make) {
        auto& b = make.block;
        b.s1 = make.any_instruction(1);
        b.s4 = {machine::alu_op::lop, make.any_source(4, false), source::imm, source::zero,
                machine::mod::lop_a & machine::mod::lop_b, static_cast<std::uint16_t>(smallest_ - 1)};
        b.dest[3] = index_register;
    }

    static constexpr int counter_register = 1, index_register = 2;

    choices choose_;
    random_options options_;
    bool faulty_ = false;
    random_names names_{};
    machine::program program_{};
    std::vector<int> buffer_words_{};
    int smallest_ = 1;
};

/// The random launch of a seed.
template <machine::sizes M = machine::mission>
machine::launch_image<M> random_launch(std::uint64_t seed, const random_options& options = {}) {
    return random_program<M>(seed, options).make();
}

}  // namespace qwengpu::test
