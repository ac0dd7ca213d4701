// SPDX-License-Identifier: MIT
// Writes fused blocks with their registers as a machine program: ports, sources, constants, targets, and the lines each part
// came from. Rows of the constants from 13 on hold the parameters that are wanted, then the literals of more than 16 bits.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/error.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/ptx/allocate.hpp>
#include <qwengpu/ptx/ast.hpp>
#include <qwengpu/ptx/emit_variables.hpp>
#include <qwengpu/ptx/schedule.hpp>

namespace qwengpu::ptx {

namespace detail {

/// Gives parameters and literals their rows.
class constant_rows {
public:
    constant_rows(const parsed_module& m, const function& kernel, const ir::function& f, const std::vector<fused_block>& blocks) {
        const std::size_t before = kernel.parameters.size() + f.module_variables.size();
        std::vector<int> words(before + ir::shared_sizes, 0);
        for (const fused_block& b : blocks) for_each_operand(f, b, [&](const ir::operand& o, int) {
            if (o.kind != ir::from::parameter) return;
            int& n = words[o.bits >> 16];
            n = std::max(n, static_cast<int>(o.bits & 0xffffU) + 1);
        });
        for (std::size_t k = 0; k < kernel.parameters.size(); ++k) add_parameter(m, kernel, f, k, words[k]);
        for (std::size_t k = kernel.parameters.size(); k < before; ++k) variable_rows_.push_back(words[k] > 0 ? next_++ : 0);
        for (std::size_t k = 0; k < ir::shared_sizes; ++k) size_rows_[k] = words[before + k] > 0 ? next_++ : 0;
    }

    [[nodiscard]] int of_parameter(const ir::operand& o) const {
        const std::size_t behind = parameters_.size() + variable_rows_.size();
        if ((o.bits >> 16) >= behind) return size_rows_[(o.bits >> 16) - behind];
        if ((o.bits >> 16) >= parameters_.size()) return variable_rows_[(o.bits >> 16) - parameters_.size()];
        return parameters_[o.bits >> 16].first_row + static_cast<int>(o.bits & 0xffffU);
    }
    int of_literal(std::uint32_t bits) {
        const auto [at, fresh] = literal_rows_.try_emplace(bits, next_);
        if (fresh) literals_.push_back({next_++, bits});
        return at->second;
    }
    [[nodiscard]] int end() const { return next_; }
    /// Rows of the sizes of dynamic and of all shared memory; 0 where the code does not ask.
    [[nodiscard]] const std::array<int, ir::shared_sizes>& sizes() const { return size_rows_; }
    /// Rows of the addresses of module variables; 0 where the code does not ask.
    [[nodiscard]] const std::vector<int>& variables() const { return variable_rows_; }
    [[nodiscard]] const std::vector<machine::kernel_parameter>& parameters() const { return parameters_; }
    [[nodiscard]] const std::vector<machine::constant_literal>& literals() const { return literals_; }

private:
    void add_parameter(const parsed_module& m, const function& kernel, const ir::function& f, std::size_t k, int words) {
        machine::kernel_parameter p;
        const parameter& from = kernel.parameters[k];
        const variable* v = from.in_register ? nullptr : &kernel.variables[from.id];
        p.name = v != nullptr ? v->name : kernel.registers[from.id].name;
        p.bytes = v != nullptr ? static_cast<int>(v->bytes()) : m.address_size / 8;
        p.is_pointer = f.pointers[k];
        p.rows = words;
        p.first_row = words > 0 ? next_ : 0;
        next_ += words;
        parameters_.push_back(std::move(p));
    }

    int next_ = machine::first_free_constant;
    std::vector<machine::kernel_parameter> parameters_;
    std::vector<int> variable_rows_;
    std::array<int, ir::shared_sizes> size_rows_{};
    std::vector<machine::constant_literal> literals_;
    std::map<std::uint32_t, int> literal_rows_;
};

/// Writes one block.
class block_writer {
public:
    block_writer(const ir::function& f, const fused_block& from, const ir::webs& w, const allocation& a, constant_rows& rows)
        : f_(f), from_(from), webs_(w), allocation_(a), rows_(rows) {}

    machine::machine_block run() {
        if (from_.stage[1] != no_value && f_.at(from_.stage[1]).kind == ir::made_by::collective) first_port(f_.at(from_.stage[1]).b);
        for (int k = 0; k < 4; ++k) stage(k);
        if (from_.store != no_value) store();
        if (from_.barrier >= 0) {
            out_.mem.barrier = true;
            out_.mem.barrier_id = static_cast<std::uint8_t>(from_.barrier);
            out_.mem.barrier_count = static_cast<std::uint8_t>(from_.barrier_count);
        }
        if (from_.branch) {
            out_.has_branch = true;
            out_.mem.cond = source(from_.condition, 4, nullptr);
            out_.mem.sense = from_.sense;
        }
        return out_;
    }

private:
    void stage(int k) {
        const auto at = static_cast<std::size_t>(k);
        const ir::value_id v = from_.stage[at];
        if (v == no_value) return;
        const ir::instruction& i = f_.at(v);
        if (from_.write[at]) out_.dest[at] = allocation_.registers.at(webs_.of(v));
        if (i.kind == ir::made_by::atomic) return atomic(i);
        if (i.kind == ir::made_by::collective) return collective(i);
        if (k == 1) return load(i);
        machine::alu_instruction& out = k == 0 ? out_.s1 : k == 2 ? out_.s3 : out_.s4;
        out.op = i.op;
        out.mod = i.mod;
        out.a = source(i.a, k, &out);
        out.b = source(i.b, k, &out);
        out.c = source(i.c, k, &out);
    }

    void load(const ir::instruction& i) {
        machine::memory_instruction& m = out_.mem;
        m.op = i.access;
        m.load_address = source(i.a, 1, nullptr);
        m.load_guard = source(i.b, 1, nullptr);
        m.load_sense = i.b.present() && i.sense;
        m.is_private = i.is_private;
        m.load_else = source(i.c, 1, nullptr);
    }

    /// A collective reads R0; register 0 is zero.
    void first_port(const ir::operand& o) {
        if (o.is_value()) port(allocation_.registers.at(webs_.of(o.bits)));
        else ports_ = 1;
    }

    void collective(const ir::instruction& i) {
        machine::memory_instruction& m = out_.mem;
        m.op = i.access;
        if (i.access == machine::memory_op::shuffle) m.load_address = source(i.a, 1, nullptr);
        if (i.access == machine::memory_op::ballot) m.load_sense = i.sense;
    }

    void atomic(const ir::instruction& i) {
        machine::memory_instruction& m = out_.mem;
        out_.has_store = true;
        m.store_address = source(i.a, 1, nullptr);
        m.is_private = i.is_private;
        // An exchange whose result nobody asks is a store.
        if (i.op != machine::alu_op::none || from_.write[1]) {
            out_.lane_major = true;
            m.op = machine::memory_op::load;
            m.load_address = m.store_address;
        }
        m.store_data = i.op == machine::alu_op::none || i.op == machine::alu_op::cmp ? source(i.b, 1, nullptr) : machine::source::t3;
        if (i.op == machine::alu_op::none) return;
        if (i.masked) return masked_atomic(i);
        out_.s3.op = i.op;
        out_.s3.mod = i.mod;
        out_.s3.a = machine::source::t2;
        const bool compares = i.op == machine::alu_op::cmp, adds_float = i.op == machine::alu_op::fadd;
        (adds_float ? out_.s3.c : out_.s3.b) = source(compares ? i.c : i.b, 2, &out_.s3);
        m.store_guarded = m.sense = compares;
        if (compares) m.cond = machine::source::t3;
    }

    /// The mask in stage 3, min or max in stage 4.
    void masked_atomic(const ir::instruction& i) {
        out_.s3.op = machine::alu_op::lop;
        out_.s3.mod = i.op == machine::alu_op::min ? ir::table::or_ab : ir::table::and_ab;
        out_.s3.a = machine::source::t2;
        out_.s3.b = source(i.c, 2, nullptr);
        out_.s4.op = i.op;
        out_.s4.mod = i.mod;
        out_.s4.a = machine::source::t3;
        out_.s4.b = source(i.b, 3, &out_.s4);
        out_.mem.store_data = machine::source::t4;
    }

    void store() {
        const ir::instruction& i = f_.at(from_.store);
        machine::memory_instruction& m = out_.mem;
        out_.has_store = true;
        m.is_private = i.is_private;
        m.store_address = source(i.a, 4, nullptr);
        m.store_data = i.stores_part() ? part_in_word(i) : source(i.b, 4, nullptr);
        m.store_guarded = i.c.present();
        if (!m.store_guarded) return;
        m.cond = source(i.c, 4, nullptr);
        m.sense = i.sense;
    }

    /// The word around the place, with the part put in by stage 4.
    machine::source part_in_word(const ir::instruction& i) {
        const bool half = i.size == machine::access_size::half;
        machine::memory_instruction& m = out_.mem;
        m.op = half ? machine::memory_op::load_half_word : machine::memory_op::load_byte_word;
        m.store_size = i.size;
        m.load_address = m.store_address;
        m.load_guard = source(i.c, 1, nullptr);
        m.load_sense = i.c.present() && i.sense;
        out_.s4.op = machine::alu_op::insert;
        out_.s4.mod = half ? machine::mod::insert_half : std::uint8_t{0};
        out_.s4.a = machine::source::t2;
        out_.s4.b = source(i.b, 3, &out_.s4);
        out_.s4.c = m.store_address;
        return machine::source::t4;
    }

    machine::source source(const ir::operand& o, int stage, machine::alu_instruction* in) {
        switch (o.kind) {
            case ir::from::none: case ir::from::local: return machine::source::zero;
            case ir::from::special: out_.special = static_cast<machine::special_register>(o.bits); return machine::source::special;
            case ir::from::literal: return o.bits == 0 ? machine::source::zero : literal(o.bits, in);
            case ir::from::row: return constant(static_cast<int>(o.bits), in);
            case ir::from::parameter: return constant(rows_.of_parameter(o), in);
            case ir::from::value: break;
        }
        if (const int made = from_.made_in(o, stage); made >= 0)
            return static_cast<machine::source>(static_cast<int>(machine::source::t1) + made);
        return port(allocation_.registers.at(webs_.of(o.bits)));
    }

    machine::source literal(std::uint32_t bits, machine::alu_instruction* in) {
        if (!ir::fits_stage(bits)) return constant(rows_.of_literal(bits), in);
        in->imm = static_cast<std::uint16_t>(bits);
        return machine::source::imm;
    }
    static machine::source constant(int row, machine::alu_instruction* in) {
        in->imm = static_cast<std::uint16_t>(row);
        return machine::source::constant;
    }

    machine::source port(std::uint8_t reg) {
        std::size_t k = 0;
        while (k < ports_ && out_.ports[k] != reg) ++k;
        if (k == out_.ports.size()) throw error("ptx.internal", "a machine block reads more registers than it has ports; please report this kernel");
        if (k == ports_) out_.ports[ports_++] = reg;
        return static_cast<machine::source>(static_cast<std::size_t>(machine::source::r0) + k);
    }

    const ir::function& f_;
    const fused_block& from_;
    const ir::webs& webs_;
    const allocation& allocation_;
    constant_rows& rows_;
    machine::machine_block out_;
    std::size_t ports_ = 0;
};

/// Lines of the PTX and CUDA sources, with the files of the module numbered from 0.
class line_writer {
public:
    line_writer(const parsed_module& m, const ir::function& f) : f_(f) {
        for (const auto& [number, name] : m.files) {
            index_.emplace(number, static_cast<int>(names_.size()));
            names_.push_back(name);
        }
    }
    [[nodiscard]] machine::source_line of(std::uint32_t source) const {
        machine::source_line line = f_.sources[source];
        const auto file = index_.find(static_cast<std::uint32_t>(line.cuda_file));
        line.cuda_file = file == index_.end() ? 0 : file->second;
        if (file == index_.end()) line.cuda_line = 0;
        return line;
    }
    [[nodiscard]] machine::block_notes notes(const fused_block& b) const {
        machine::block_notes n;
        for (std::size_t k = 0; k < 4; ++k)
            if (b.stage[k] != no_value) n.stages[k] = of(f_.at(b.stage[k]).source);
        if (b.store != no_value) n.store = of(f_.at(b.store).source), n.store_strength = f_.at(b.store).strength;
        if (b.stage[1] != no_value) {
            const ir::instruction& access = f_.at(b.stage[1]);
            n.load_strength = access.strength;
            n.local_end = access.local_end;
            if (access.kind == ir::made_by::atomic) n.store = n.stages[1], n.store_strength = machine::access_strength::exchange;
        }
        if (b.branch || b.meeting || b.barrier >= 0) n.branch = of(b.source);
        n.ptx_instructions = b.ptx_instructions;
        n.ptx_if_taken = b.ptx_if_taken;
        return n;
    }
    [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

private:
    const ir::function& f_;
    std::map<std::uint32_t, int> index_;
    std::vector<std::string> names_;
};

/// Numbers of the machine's blocks: in their order, but those where lanes meet are the highest, and a trap is a number
/// without a block, one for each line.
class block_numbers {
public:
    block_numbers(const std::vector<fused_block>& blocks, int exit) : exit_(exit), of_(blocks.size()) {
        meeting_ = static_cast<int>(std::count_if(blocks.begin(), blocks.end(), [](const fused_block& b) { return b.meeting; }));
        int meets = exit - meeting_;
        for (std::size_t k = 0; k < blocks.size(); ++k) of_[k] = blocks[k].meeting ? meets++ : next_++;
    }

    [[nodiscard]] int of(std::size_t fused) const { return of_[fused]; }
    int target(std::uint32_t t, std::uint32_t source) {
        if (t == ir::exit_target) return exit_;
        if (t != ir::trap_target) return of_[t];
        const auto [at, fresh] = traps_.try_emplace(source, next_);
        if (fresh) ++next_;
        return at->second;
    }
    /// Sources of the traps, with their numbers.
    [[nodiscard]] const std::map<std::uint32_t, int>& traps() const { return traps_; }
    /// How many blocks have one of the highest numbers, and how many numbers are taken.
    [[nodiscard]] int meeting() const { return meeting_; }
    [[nodiscard]] int taken() const { return next_ + meeting_; }
    /// The number behind the last block.
    [[nodiscard]] int end() const { return meeting_ > 0 ? exit_ : next_; }

private:
    int exit_, next_ = 0, meeting_ = 0;
    std::vector<int> of_;
    std::map<std::uint32_t, int> traps_;
};

}  // namespace detail

/// What the blocks of a program need of the machine besides registers.
struct demand {
    int blocks = 0, constants = 0, meetings = 0;
};

/// The machine program of a kernel; `exit` is the machine's id for the end of a thread. A trap goes to a block that is not there.
inline std::pair<machine::program, demand> emit_program(const parsed_module& m, const function& kernel, const ir::function& f,
                                                        const std::vector<fused_block>& blocks, const ir::webs& w, const allocation& a, int exit) {
    detail::constant_rows rows(m, kernel, f, blocks);
    const detail::line_writer lines(m, f);
    detail::block_numbers numbers(blocks, exit);
    std::vector<machine::machine_block> written;
    for (const fused_block& b : blocks) {
        written.push_back(detail::block_writer(f, b, w, a, rows).run());
        written.back().next = static_cast<std::uint16_t>(numbers.target(b.next, b.trap_if_next));
        if (b.branch) written.back().taken = static_cast<std::uint16_t>(numbers.target(b.taken, b.trap_if_taken));
    }
    const demand needs{numbers.taken(), rows.end(), numbers.meeting()};
    machine::program out;
    if (needs.blocks > exit) return {std::move(out), needs};
    out.blocks.assign(static_cast<std::size_t>(numbers.end()), machine::no_block);
    out.notes.resize(out.blocks.size());
    for (std::size_t k = 0; k < blocks.size(); ++k) {
        out.blocks[static_cast<std::size_t>(numbers.of(k))] = written[k];
        out.notes[static_cast<std::size_t>(numbers.of(k))] = lines.notes(blocks[k]);
    }
    for (const auto& [source, id] : numbers.traps()) {
        out.notes[static_cast<std::size_t>(id)].branch = lines.of(source);
        out.notes[static_cast<std::size_t>(id)].cause = f.causes[source];
    }
    out.name = kernel.name;
    out.parameters = rows.parameters();
    out.literals = rows.literals();
    out.variables = detail::variable_writer(m, f, rows.variables()).run();
    out.shared_words = f.shared_words;
    out.dynamic_shared_word = f.dynamic_word;
    out.own_shared_word = f.own_shared_word;
    out.lock_word = f.lock_word;
    out.dynamic_bytes_row = rows.sizes()[0];
    out.shared_bytes_row = rows.sizes()[1];
    out.local_words = f.local_words;
    out.cuda_files = lines.names();
    out.ptx_file = m.file;
    return {std::move(out), needs};
}

}  // namespace qwengpu::ptx
