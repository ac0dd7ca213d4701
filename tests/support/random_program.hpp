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
#include "support/float_words.hpp"
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
    bool floats = true;          ///< what of the machine programs use, beside integers, words of buffers and branches
    bool sub_words = true, other_memories = true, atomics = true, collectives = true, barriers = true, meeting_blocks = true;
};

template <machine::sizes M>
class random_program {
public:
    random_program(std::uint64_t seed, const random_options& options) : choose_(seed), options_(options) {
        faulty_ = choose_.percent(options.faulty_percent);
        names_.special_percent = choose_.below(3) * 12;
        names_.mix_ports = options.mix_ports;
        names_.floats = options.floats;
        plan_buffers();
        plan_registers();
    }

    machine::launch_image<M> make() {
        const int blocks = std::min(choose_.between(2, std::max(2, options_.max_blocks)), M.exit_block());
        program_.name = "random";
        for (int id = 0; id < blocks; ++id) program_.blocks.push_back(block(id, blocks));
        if (options_.meeting_blocks && choose_.percent(25)) move_to_meeting_blocks(program_, blocks > 2 ? choose_.between(1, blocks - 1) : 1);
        machine::extent grid = shape(std::max(1, options_.max_thread_blocks));
        auto image = machine::make_launch<M>(program_, grid, shape(std::min(M.threads(), options_.max_threads)));
        for (const int words : buffer_words_) add_buffer(image, words);
        for (std::size_t i = 0; i < buffer_words_.size(); ++i)
            machine::set_constant(image, machine::first_free_constant + static_cast<int>(i), image.buffers[i].pointer());
        if (shared_words_ > 0) machine::declare_shared(image, shared_words_);
        return image;
    }

private:
    using source = machine::source;

    /// Where words may be: the row of the constants that points there.
    struct space {
        int row = 0;
        bool is_private = false;
    };

    /// Blocks from `first` on get the numbers of meeting blocks, as far as there are as many.
    static void move_to_meeting_blocks(machine::program& p, int first) {
        const int end = static_cast<int>(p.blocks.size()), shift = M.meeting_block() - first;
        if (shift <= 0 || end + shift > M.exit_block()) return;
        const auto moved = [&](std::uint16_t id) { return static_cast<std::uint16_t>(id >= first && id < end ? id + shift : id); };
        for (auto& b : p.blocks) {
            b.next = moved(b.next);
            if (b.has_branch) b.taken = moved(b.taken);
        }
        p.blocks.insert(p.blocks.begin() + first, static_cast<std::size_t>(shift), machine::no_block);
    }

    /// Sizes are powers of two, so that an index masked to the smallest is in bounds everywhere.
    void plan_buffers() {
        const int rows = M.constants - machine::first_free_constant, for_buffers = options_.other_memories ? rows - 2 : rows;
        const int count = std::min({choose_.between(1, std::max(1, options_.max_buffers)), for_buffers, (M.words - 2) / 2});
        const int room = (M.words - 2) / std::max(1, count);
        for (int i = 0; i < count; ++i) buffer_words_.push_back(1 << choose_.below(machine::bits_for(room + 1)));
        smallest_ = *std::min_element(buffer_words_.begin(), buffer_words_.end());
        for (int row = 0; row < machine::first_free_constant + count; ++row) names_.constants.push_back(row);
        for (int i = 0; i < count; ++i) spaces_.push_back({machine::first_free_constant + i});
        if (options_.other_memories) plan_other_memories();
        for (int n = choose_.below(8); n > 0; --n) literal(word());
    }

    /// A row for a literal, 0 if there is none left.
    int literal(std::uint32_t value) {
        const int row = machine::first_free_constant + static_cast<int>(buffer_words_.size() + program_.literals.size());
        if (row >= M.constants) return 0;
        program_.literals.push_back({row, value});
        names_.constants.push_back(row);
        return row;
    }

    std::uint32_t word() { return options_.floats && choose_.percent(30) ? any_float(choose_) : choose_.interesting_word(); }

    void plan_other_memories() {
        namespace at = machine::address;
        shared_words_ = choose_.percent(70) ? 1 << choose_.below(machine::bits_for(M.words - 1)) : 0;
        while (shared_words_ > M.words - 2) shared_words_ /= 2;
        const int own = 1 << choose_.below(machine::bits_for(M.local_words));
        if (shared_words_ > 0) add_space(at::make(at::shared_window, 1), shared_words_, false);
        add_space(at::make(at::local_window, 0), own, true);
        if (!faulty_) return;
        const int last_own = M.local_words - 1;
        for (const std::uint32_t where : {at::make(at::local_window, last_own), at::make(at::local_window, last_own + 1), at::make(at::shared_window, 0), at::make(30, 1),
                                          at::make(at::shared_window, shared_words_ + 1), at::make(at::local_window, 0) | 512u, at::make(1, 1) + 1, at::make(1, 1) + 2, at::make(1, 1) + 3})
            if (choose_.percent(50)) wrong_rows_.push_back(literal(where));
        std::erase(wrong_rows_, 0);
    }

    void add_space(std::uint32_t pointer, int words, bool is_private) {
        const int row = literal(pointer);
        if (row == 0) return;
        spaces_.push_back({row, is_private});
        smallest_ = std::min(smallest_, words);
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
        for (int i = 0; i < words; ++i) values.push_back(word());
        machine::add_buffer(image, values);
    }

    machine::machine_block block(int id, int blocks) {
        machine::machine_block b = id == 0 && choose_.percent(60) ? entry() : any_block(id, blocks);
        for (int again = 0; again < 3 && b == machine::machine_block{}; ++again) b = any_block(id, blocks);
        b.next = static_cast<std::uint16_t>(forward(id, blocks, 75));
        if (b.next == M.exit_block()) b.mem.barrier = false, b.mem.barrier_id = b.mem.barrier_count = 0;
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
        const int kind = choose_.below(15);
        if (kind < 3) load(make);
        if (kind == 10 && options_.sub_words) return part_store(make);
        if (kind == 11 && options_.atomics) return atomic(make);
        if (kind == 12 && options_.collectives) collective(make);
        if (kind == 13) return copy(make);
        if (kind >= 3 && kind < 6) store(make);
        if (kind == 6) index(make);
        if (make.block.s1.op == machine::alu_op::none) make.block.s1 = make.any_instruction(1);
        if (choose_.percent(70)) make.block.s3 = make.any_instruction(3);
        if (make.block.s4.op == machine::alu_op::none && choose_.percent(60)) make.block.s4 = make.any_instruction(4);
        finish_store(make);
        if (kind == 14 && options_.barriers) return barrier(make.block.mem);
        if (choose_.percent(35)) branch_forward(make, id, blocks);
    }

    void barrier(machine::memory_instruction& m) {
        m.barrier = true;
        m.barrier_id = static_cast<std::uint8_t>(choose_.percent(70) ? 0 : choose_.below(M.barriers));
        m.barrier_count = static_cast<std::uint8_t>(choose_.percent(70) ? 0 : choose_.between(1, std::max(1, M.threads() / 4)));
    }

    /// A byte or half word: the word that holds it with the part put in.
    void part_store(random_block<M>& make) {
        auto& b = make.block;
        const auto size = choose_.percent(60) ? machine::access_size::byte : machine::access_size::half;
        const bool half = size == machine::access_size::half;
        address(make, half ? 1 : 0);
        b.has_store = true;
        b.mem.op = half ? machine::memory_op::load_half_word : machine::memory_op::load_byte_word;
        b.mem.store_size = size;
        b.mem.load_address = b.mem.store_address = source::t1;
        b.s4 = {machine::alu_op::insert, source::t2, make.any_source(4, false), source::t1, static_cast<std::uint8_t>(half ? 1 : 0), 0};
        b.mem.store_data = source::t4;
        if (choose_.percent(30)) guard_both(make);
    }

    /// A load whose value, changed or not, is stored in its place.
    void copy(random_block<M>& make) {
        auto& b = make.block;
        load(make);
        b.has_store = true;
        b.mem.store_address = source::t1;
        b.mem.store_size = machine::size_of(b.mem.op);
        b.mem.store_guarded = choose_.percent(30);
        if (choose_.percent(70)) b.s3 = make.any_instruction(3);
        finish_store(make);
    }

    /// Load, change, store, lane by lane.
    void atomic(random_block<M>& make) {
        auto& b = make.block;
        address(make, 2);
        b.has_store = b.lane_major = true;
        b.mem.op = machine::memory_op::load;
        b.mem.load_address = b.mem.store_address = source::t1;
        b.s3 = make.any_instruction(3);
        if (b.s3.a != source::zero) b.s3.a = source::t2;
        if (choose_.percent(50)) b.s4 = make.any_instruction(4);
        b.mem.store_data = choose_.percent(60) ? source::t3 : make.any_source(5, false);
        b.mem.store_guarded = choose_.percent(40);
        if (b.mem.store_guarded) b.mem.cond = make.any_source(5, false), b.mem.sense = choose_.percent(50);
        b.dest[1] = choose_.percent(70) && !names_.writable.empty() ? static_cast<std::uint8_t>(names_.writable[static_cast<std::size_t>(choose_.below(static_cast<int>(names_.writable.size())))]) : std::uint8_t{0};
    }

    void guard_both(random_block<M>& make) {
        auto& m = make.block.mem;
        m.store_guarded = true;
        m.load_guard = m.cond = make.any_source(2, false);
        m.load_sense = m.sense = choose_.percent(50);
    }

    /// Its register is read first, so that it comes through R0.
    void collective(random_block<M>& make) {
        auto& m = make.block.mem;
        make.read(names_.readable[static_cast<std::size_t>(choose_.below(static_cast<int>(names_.readable.size())))]);
        m.op = static_cast<machine::memory_op>(choose_.between(static_cast<int>(machine::memory_op::shuffle), static_cast<int>(machine::memory_op::match)));
        if (m.op == machine::memory_op::ballot) m.load_sense = choose_.percent(50);
        if (m.op != machine::memory_op::shuffle) return;
        make.block.s1 = {machine::alu_op::lop, make.any_source(1, false), source::imm, source::zero, choose_.percent(50) ? std::uint8_t{0x3c} : std::uint8_t{0xc0},
                         static_cast<std::uint16_t>(choose_.below(2 * M.lanes))};
        m.load_address = source::t1;
    }

    void branch_forward(random_block<M>& make, int id, int blocks) {
        auto& b = make.block;
        if (b.mem.store_guarded) return branch(b, b.mem.cond, b.mem.sense, forward(id, blocks, 20));
        branch(b, make.any_source(5, false), choose_.percent(50), forward(id, blocks, 20));
    }

    /// Stage 1 makes an address that is in bounds and a multiple of `1 << shift`, if the program is not to fault.
    void address(random_block<M>& make, int shift) {
        auto& b = make.block;
        if (faulty_ && choose_.percent(30)) {
            b.s1 = make.any_instruction(1);
            b.mem.is_private = choose_.percent(20);
            return;
        }
        const space& to = spaces_[static_cast<std::size_t>(choose_.below(static_cast<int>(spaces_.size())))];
        auto row = static_cast<std::uint16_t>(to.row);
        b.mem.is_private = to.is_private || (faulty_ && choose_.percent(20));
        const source offset = choose_.percent(75) ? offset_source(make) : source::zero;
        if (!wrong_rows_.empty() && choose_.percent(30)) row = static_cast<std::uint16_t>(wrong_rows_[static_cast<std::size_t>(choose_.below(static_cast<int>(wrong_rows_.size())))]);
        b.s1 = {machine::alu_op::add, source::constant, offset, source::zero, static_cast<std::uint8_t>(shift), row};
    }

    source offset_source(random_block<M>& make) {
        if (smallest_ >= M.threads() && choose_.percent(40)) return make.read(machine::special_register::thread);
        if (smallest_ >= M.lanes && choose_.percent(40)) return make.read(machine::special_register::laneid);
        return make.read(index_register);
    }

    void load(random_block<M>& make) {
        auto& m = make.block.mem;
        m.op = options_.sub_words && choose_.percent(40) ? static_cast<machine::memory_op>(choose_.between(1, 7)) : machine::memory_op::load;
        address(make, 2 - static_cast<int>(machine::size_of(m.op)));
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
        address(make, 2);
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
    std::vector<space> spaces_{};
    std::vector<int> wrong_rows_{};  ///< pointers to what may not be accessed
    int shared_words_ = 0;
    int smallest_ = 1;
};

/// The random launch of a seed.
template <machine::sizes M = machine::mission>
machine::launch_image<M> random_launch(std::uint64_t seed, const random_options& options = {}) {
    return random_program<M>(seed, options).make();
}

}  // namespace qwengpu::test
