// SPDX-License-Identifier: MIT
// One PTX instruction, lowered and optimised, as a list of the machine's instructions that can be run millions of times.
// The words %a, %b, %c (registers .b32) are given, the result is what the instruction leaves in %d (and %e).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <qwengpu/machine/instruction_table.hpp>
#include <qwengpu/ptx/compile.hpp>
#include <qwengpu/ptx/read.hpp>

namespace qwengpu::test {

class float_sequence {
public:
    /// `body` is PTX between the loads of %a, %b, %c and the stores of %d and %e; predicates %p, %q and 64-bit %w are there.
    explicit float_sequence(const std::string& body) : module_(ptx::read(around(body), "test.ptx")) {
        f_ = ptx::detail::prepare(module_, module_.functions.front());
        for (auto v : f_.blocks[0].body) add(v);
        values_.resize(f_.values.size());
    }

    std::uint32_t operator()(std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) { return both(a, b, c)[0]; }

    std::array<std::uint32_t, 2> both(std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0) {
        const std::array<std::uint32_t, 3> given{a, b, c};
        for (const auto& [v, n] : inputs_) values_[v] = given[n];
        for (auto v : steps_) {
            const auto& i = f_.at(v);
            values_[v] = machine::evaluate(i.op, get(i.a), get(i.b), get(i.c), i.mod);
        }
        return {get(results_.at(0)), get(results_.at(1))};
    }

    /// Instructions of one kind, or all.
    [[nodiscard]] std::size_t count(ptx::ir::alu_op op) const {
        std::size_t n = 0;
        for (auto v : steps_) n += f_.at(v).op == op ? 1U : 0U;
        return n;
    }
    [[nodiscard]] std::size_t size() const { return steps_.size(); }
    /// Instructions of which a block can have only one.
    [[nodiscard]] std::size_t stage3_only() const {
        std::size_t n = 0;
        for (auto v : steps_) n += machine::find_instruction(f_.at(v).op)->only_stage3 ? 1U : 0U;
        return n;
    }

private:
    static std::string around(const std::string& body) {
        return ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 k_p) {\n.reg .b32 %a, %b, %c, %d, %e; .reg .pred %p, %q;\n"
               ".reg .b64 %p0, %w, %v; .reg .b16 %h;\nld.param.u64 %p0, [k_p];\nld.global.u32 %a, [%p0];\nld.global.u32 %b, [%p0+4];\n"
               "ld.global.u32 %c, [%p0+8];\n" + body + "\nst.global.u32 [%p0+12], %d;\nst.global.u32 [%p0+16], %e;\nret;\n}\n";
    }

    void add(ptx::ir::value_id v) {
        const auto& i = f_.at(v);
        // What is made of the parameter is an address.
        if (i.kind == ptx::ir::made_by::alu && i.a.kind == ptx::ir::from::parameter) return;
        if (i.kind == ptx::ir::made_by::alu) return steps_.push_back(v);
        if (i.kind == ptx::ir::made_by::store) return results_.push_back(i.b);
        if (i.kind == ptx::ir::made_by::load) return inputs_.push_back({v, offset_of(i.a) / 4});
        throw std::logic_error("a sequence of plain instructions was expected");
    }

    struct input { ptx::ir::value_id value; std::uint32_t index; };

    [[nodiscard]] std::uint32_t offset_of(const ptx::ir::operand& o) const {
        return o.is_value() ? f_.at(o.bits).b.bits : 0;
    }
    [[nodiscard]] std::uint32_t get(const ptx::ir::operand& o) const { return o.is_value() ? values_[o.bits] : o.bits; }

    ptx::parsed_module module_;
    ptx::ir::function f_;
    std::vector<ptx::ir::value_id> steps_;
    std::vector<input> inputs_;
    std::vector<ptx::ir::operand> results_;
    std::vector<std::uint32_t> values_;
};

}  // namespace qwengpu::test
