// SPDX-License-Identifier: MIT
// Makes every instruction fit a stage by itself: at most one constant and one kind of special register in an ALU instruction,
// no constant in the memory stage or under a branch. What is too much becomes a move of its own.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <qwengpu/ptx/ir.hpp>

namespace qwengpu::ptx::ir {

/// A move: the sum of the operand and zero.
inline instruction move_of(operand o, std::uint32_t source) {
    instruction i;
    i.op = alu_op::add;
    i.a = o;
    i.b = zero;
    i.source = source;
    return i;
}

inline bool is_move(const instruction& i) { return i.is_alu(alu_op::add) && i.mod == 0 && i.b.is(0); }

namespace detail {

class legaliser {
public:
    explicit legaliser(function& f) : f_(f) {}

    void run() {
        for (block& b : f_.blocks) {
            const std::vector<value_id> before = std::exchange(b.body, {});
            body_ = &b.body;
            for (value_id v : before) {
                source_ = f_.at(v).source;
                instruction i = f_.at(v);
                fit(i);
                f_.at(v) = i;
                b.body.push_back(v);
            }
            source_ = b.end.source;
            if (b.end.cond.is_constant()) b.end.cond = moved(b.end.cond);
        }
    }

private:
    operand moved(const operand& o) {
        body_->push_back(f_.add(move_of(o, source_)));
        return value(body_->back());
    }

    void fit(instruction& i) {
        if (i.is_memory()) {
            if (i.kind == made_by::atomic) return fit_atomic(i);
            // What a part of a word is made of goes through the insertion in stage 4, which may have a constant.
            for_each_operand(i, [&](operand& o) { if (o.is_constant() && !(i.stores_part() && &o == &i.b)) o = moved(o); });
        } else if (i.kind == made_by::collective) {
            if (i.a.is_constant()) i.a = moved(i.a);
            if (!i.b.is_value() && !i.b.is(0)) i.b = moved(i.b);
        } else {
            keep_one(i, [](const operand& o) { return o.is_constant(); });
            keep_one(i, [](const operand& o) { return o.kind == from::special; });
        }
    }

    /// Stage 3 may have one constant; what is stored as it is may not be one.
    void fit_atomic(instruction& i) {
        if (i.a.is_constant()) i.a = moved(i.a);
        const bool data_is_stored = i.op == alu_op::none || i.op == alu_op::cmp;
        if (data_is_stored && i.b.is_constant()) i.b = moved(i.b);
        if (i.masked && i.c.is_constant()) i.c = moved(i.c);
        keep_one(i, [](const operand& o) { return o.kind == from::special; });
    }

    /// Of the operands of a kind, those that differ from the last one move out.
    template <class F>
    void keep_one(instruction& i, F&& of_kind) {
        operand kept{};
        for (operand* o : {&i.c, &i.b, &i.a}) {
            if (!of_kind(*o)) continue;
            if (!kept.present()) kept = *o;
            if (*o != kept) *o = moved(*o);
        }
    }

    function& f_;
    std::vector<value_id>* body_ = nullptr;
    std::uint32_t source_ = 0;
};

}  // namespace detail

/// After this every instruction fits a stage; simplifying again could undo it.
inline void legalise(function& f) { detail::legaliser(f).run(); }

}  // namespace qwengpu::ptx::ir
