// SPDX-License-Identifier: MIT
// A rewriter replaces single instructions by sequences, in place: new code goes before the instruction it stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ir.hpp>
#include <qwengpu/ptx/ir_optimise.hpp>

namespace qwengpu::ptx::ir {

class rewriter {
public:
    explicit rewriter(function& f) : f_(f) {}

    /// Calls `f(i)` for every instruction of the bodies; if it returns an operand, that takes the place of the value.
    /// `f` makes code with `emit`.
    template <class F>
    void run(F&& f) {
        for (block& b : f_.blocks) {
            const std::vector<value_id> before = std::exchange(b.body, {});
            for (value_id v : before) {
                body_ = &b.body;
                source_ = f_.at(v).source;
                const operand by = f(instruction(f_.at(v)));
                if (by.present()) replaced_.emplace_back(v, by);
                else b.body.push_back(v);
            }
        }
        apply();
    }

    operand emit(instruction i) {
        i.source = source_;
        if (const auto same = simplify(f_, i)) return *same;
        body_->push_back(f_.add(i));
        return value(body_->back());
    }
    operand emit(alu_op o, operand a, operand b = {}, operand c = {}, unsigned mod = 0) {
        instruction i;
        i.op = o;
        i.mod = static_cast<std::uint8_t>(mod);
        i.a = a;
        i.b = b;
        i.c = c;
        return emit(i);
    }
    operand add(operand a, operand b) { return emit(alu_op::add, a, b); }
    operand sub(operand a, operand b) { return emit(alu_op::add, a, b, {}, machine::mod::add_subtract); }
    operand compare(unsigned mod, operand a, operand b, operand c = {}) { return emit(alu_op::cmp, a, b, c, mod); }
    operand select(operand condition, operand yes, operand no) { return emit(alu_op::sel, yes, no, condition); }

private:
    void apply() {
        detail::replacements by(f_.values.size());
        for (const auto& [v, o] : replaced_) by.set(v, o);
        for_each_place(f_, [&](operand& o) { o = by.of(o); });
    }

    function& f_;
    std::vector<value_id>* body_ = nullptr;
    std::uint32_t source_ = 0;
    std::vector<std::pair<value_id, operand>> replaced_;
};

}  // namespace qwengpu::ptx::ir
