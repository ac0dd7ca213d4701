// SPDX-License-Identifier: MIT
// Where the variables of a kernel lie. Shared ones have their words at once; local ones get bytes of a space without end, of
// which only what is left after promotion gets words; module variables are addresses that a launch hands over like parameters.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/machine/sizes.hpp>
#include <qwengpu/ptx/diagnostics.hpp>
#include <qwengpu/ptx/flow.hpp>

namespace qwengpu::ptx {

using machine::address::local_window, machine::address::shared_window;

class memory_map {
public:
    /// Bytes between two local variables, so that a pointer just beside one is not taken for the other.
    static constexpr std::uint32_t gap = 1U << 14;

    /// Looks at all symbols that the instructions of the kernel name. Throws "ptx.resources" if shared memory does not suffice.
    memory_map(const flow& fl, const function& kernel) : flow_(fl), kernel_(kernel) {
        for (const flow_block& b : fl.blocks)
            for (const flow_step& s : b.steps) look(s);
        place_shared();
    }

    /// The address of a variable, or an operand that is not present for one that has none.
    [[nodiscard]] ir::operand address(const symbol& s, std::uint32_t frame) const {
        const variable* v = &named(s, frame);
        if (const auto at = shared_.find(v); at != shared_.end()) return ir::literal((machine::address::make(shared_window, 0) | at->second) - from_offset());
        if (const auto at = module_index_.find(v); at != module_index_.end())
            return ir::parameter_word(static_cast<std::uint32_t>(kernel_.parameters.size()) + at->second, 0);
        const auto at = local_index_.find({frame_key(s, frame), v});
        return at == local_index_.end() ? ir::operand{} : ir::local_place(locals_[at->second].first_byte);
    }

    [[nodiscard]] const std::vector<std::uint32_t>& module_variables() const { return modules_; }
    [[nodiscard]] const std::vector<ir::local_variable>& locals() const { return locals_; }
    /// Words of shared memory that the kernel declares, and the first of the dynamic ones, 0 if it has none.
    [[nodiscard]] int shared_words() const { return shared_words_; }
    [[nodiscard]] int dynamic_word() const { return dynamic_word_; }
    /// From this word on, those declared are our own: counters of bar.red, what cooperative groups reserve, the lock of 64-bit atomics.
    [[nodiscard]] int own_shared_word() const { return own_word_; }
    /// The first of the two words of the lock, 0 if the kernel takes none.
    [[nodiscard]] int lock_word() const { return lock_word_; }
    /// What makes an address of shared memory of an offset in it. Where no access is generic an offset is the address itself. Where
    /// one is, offsets have a window that nobody owns, so that one which nothing converted (cvta) traps.
    [[nodiscard]] std::uint32_t from_offset() const {
        return has_generic_ ? machine::address::make(shared_window, 0) - machine::address::make(ir::nobodys_window, 0) : 0;
    }
    /// The address, as an offset, of the words that are set aside for cooperative groups; there are some if the kernel names them.
    [[nodiscard]] ir::operand reserved() const {
        return ir::literal((machine::address::make(shared_window, 0) | reserved_) - from_offset());
    }
    /// How many bytes that are: what the groups of one warp of 32 threads, the largest block, may need.
    static constexpr std::uint32_t reserved_bytes = 40;
    /// The word in which the threads of a bar.red at this barrier count.
    [[nodiscard]] ir::operand counter(const barrier_choice& b) const { return ir::literal(machine::address::make(shared_window, counters_.at(b.id))); }
    /// The word in which arrivals at a barrier are counted, one of flow::arrivals.
    [[nodiscard]] ir::operand arrivals(int barrier) const {
        const auto before = flow_.arrivals & ((1U << barrier) - 1);
        return ir::literal(machine::address::make(shared_window, arrival_word_ + std::popcount(before)));
    }
    /// The word of the lock's next ticket, and that of the number that is called.
    [[nodiscard]] ir::operand next_ticket() const { return ir::literal(machine::address::make(shared_window, lock_word_)); }
    [[nodiscard]] ir::operand called_number() const { return ir::literal(machine::address::make(shared_window, lock_word_ + 1)); }

private:
    using key = std::pair<std::uint32_t, const variable*>;

    [[nodiscard]] const variable& named(const symbol& s, std::uint32_t frame) const { return flow_.module->variable_of(s, *flow_.frames[frame].code); }
    static std::uint32_t frame_key(const symbol& s, std::uint32_t frame) { return s.kind == symbol_kind::module_variable ? 0 : frame; }

    void look(const flow_step& s) {
        const std::uint32_t frame = s.calls() ? flow_.frames[s.frame].caller : s.frame;
        for (const operand& o : s.code->operands) look(o, frame);
        if (s.code->opcode == "mov") names_reserved_ = names_reserved_ || is_reserved(s.code->operands[1]);
        if (s.kind == step_kind::plain && (s.code->opcode == "mov" || s.code->opcode == "cvta"))
            for (const operand& o : s.code->operands) look_for_parameter(o, frame);
        const std::string_view op = s.code->opcode;
        has_generic_ = has_generic_ || (s.code->space == state_space::none && (op == "ld" || op == "st" || op == "atom" || op == "red"));
        if (s.kind == step_kind::red_count) counters_.try_emplace(s.waits.id, 0);
    }

    static bool is_reserved(const operand& o) {
        return o.kind == operand_kind::special && o.special >= sreg::reserved_smem_begin && o.special <= sreg::reserved_smem_1;
    }

    void look(const operand& o, std::uint32_t frame) {
        for (const operand& inner : o.items) look(inner, frame);
        if (o.kind == operand_kind::symbol_value && (o.sym.kind == symbol_kind::module_variable || o.sym.kind == symbol_kind::function_variable)) add(o.sym, frame);
    }

    /// A parameter whose address is taken gets a copy in local memory.
    void look_for_parameter(const operand& o, std::uint32_t frame) {
        if (o.kind != operand_kind::symbol_value || o.sym.kind != symbol_kind::function_variable) return;
        const function& code = *flow_.frames[frame].code;
        if (code.parameter_number(o.sym.id) >= 0) add_local(code.variables[o.sym.id], frame);
    }

    void add(const symbol& s, std::uint32_t frame) {
        const variable& v = named(s, frame);
        if (v.space == state_space::shared && std::find(in_shared_.begin(), in_shared_.end(), &v) == in_shared_.end()) in_shared_.push_back(&v);
        if (v.space == state_space::local) add_local(v, frame_key(s, frame));
        if (s.kind == symbol_kind::module_variable && (v.space == state_space::global || v.space == state_space::constant)) add_module(s.id);
    }

    void add_local(const variable& v, std::uint32_t frame) {
        const auto [at, fresh] = local_index_.try_emplace(key{frame, &v}, locals_.size());
        if (!fresh) return;
        const std::uint32_t first = locals_.empty() ? gap : locals_.back().first_byte + locals_.back().bytes + gap;
        locals_.push_back({frame, (first + 15) & ~15U, static_cast<std::uint32_t>(std::min<std::uint64_t>(v.bytes(), 1U << 20))});
    }

    /// A variable, and those whose addresses it begins with.
    void add_module(std::uint32_t id) {
        const variable& v = flow_.module->variables[id];
        if (!module_index_.try_emplace(&v, static_cast<std::uint32_t>(modules_.size())).second) return;
        modules_.push_back(id);
        for (const initial_value& i : v.initial)
            if (i.sym.kind == symbol_kind::module_variable) add_module(i.sym.id);
    }

    /// In the order of their names in the code; dynamic arrays all begin behind the rest. Where wide alignment leaves too little, words suffice.
    void place_shared() {
        constexpr std::uint64_t there = machine::mission.words - 2;
        std::uint64_t end = 0;
        for (std::uint64_t most : {128U, 4U}) {
            end = 4;
            for (const variable* v : in_shared_)
                if (!is_dynamic(*v)) end = place(*v, end, most);
            end = (end + 3) & ~std::uint64_t{3};
            arrival_word_ = static_cast<int>(end / 4);
            end += 4 * static_cast<std::uint64_t>(std::popcount(flow_.arrivals));
            own_word_ = static_cast<int>(end / 4);
            for (auto& [id, word] : counters_) word = static_cast<int>(end / 4), end += 4;
            if (names_reserved_) reserved_ = static_cast<std::uint32_t>(end + 7) & ~7U, end = reserved_ + reserved_bytes;
            if (flow_.sections > 0) lock_word_ = static_cast<int>(end / 4), end += 8;
            if (end / 4 <= there + 1) break;
        }
        if (end / 4 > there + 1) too_large(end / 4 - 1, there);
        shared_words_ = static_cast<int>(end / 4) - 1;
        place_dynamic(end);
    }

    static bool is_dynamic(const variable& v) { return v.elements() == 0; }

    /// The first multiple of the variable's alignment, but of `most` at most, from `end` on.
    static std::uint64_t aligned(std::uint64_t end, const variable& v, std::uint64_t most) {
        const std::uint64_t align = std::min(v.alignment, most);
        return (end + align - 1) / align * align;
    }

    std::uint64_t place(const variable& v, std::uint64_t end, std::uint64_t most) {
        const std::uint64_t first = aligned(end, v, most);
        shared_[&v] = static_cast<std::uint32_t>(std::min<std::uint64_t>(first, 1U << 20));
        return first + v.bytes();
    }

    void place_dynamic(std::uint64_t end) {
        for (const variable* v : in_shared_)
            if (is_dynamic(*v)) dynamic_word_ = std::max(dynamic_word_, static_cast<int>(aligned(end, *v, 16) / 4));
        for (const variable* v : in_shared_)
            if (is_dynamic(*v)) shared_[v] = static_cast<std::uint32_t>(dynamic_word_) * 4;
    }

    [[noreturn]] void too_large(std::uint64_t words, std::uint64_t there) const {
        std::uint64_t bytes = 0;
        for (const variable* v : in_shared_) bytes += v->bytes();
        const std::string besides = std::string(names_reserved_ ? ", and the 40 that cooperative groups reserve" : "") + (flow_.arrivals != 0 ? ", and a word for each barrier with arrivals" : "") + (flow_.sections > 0 ? ", and the 8 of the lock of its 64-bit atomics" : "");
        throw diagnostic_error(flow_.module->file, {{"ptx.resources", "kernel " + kernel_.name + " asks for " + std::to_string(bytes) + " bytes of shared memory" + besides + " (" + std::to_string(words) +
                                                         " words); " + std::to_string(4 * there) + " (" + std::to_string(there) + " words) are there; use smaller arrays", kernel_.where}});
    }

    const flow& flow_;
    const function& kernel_;
    std::vector<const variable*> in_shared_;
    std::map<const variable*, std::uint32_t> shared_, module_index_;
    std::map<int, int> counters_;
    std::map<key, std::size_t> local_index_;
    std::vector<ir::local_variable> locals_;
    std::vector<std::uint32_t> modules_;
    int shared_words_ = 0, own_word_ = 0, arrival_word_ = 0, dynamic_word_ = 0, lock_word_ = 0;
    std::uint32_t reserved_ = 0;
    bool names_reserved_ = false;
    bool has_generic_ = false;  ///< an access that does not say of which space it is
};

}  // namespace qwengpu::ptx
