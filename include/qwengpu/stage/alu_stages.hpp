// SPDX-License-Identifier: MIT
// Stage 1 (layers 7-10), stage 3 (14-36; the integer units are done by 21, the float unit by 35) and
// stage 4 (37-40): an ALU each; stage 3 multiplies, counts, starts reciprocals and computes with floats besides.
#pragma once

#include <qwengpu/circuit/float_unit/unit.hpp>
#include <qwengpu/circuit/multiplier.hpp>
#include <qwengpu/circuit/reciprocal.hpp>
#include <qwengpu/stage/operands.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/program_store.hpp>
#include <qwengpu/stage/signals.hpp>

#include <string>

namespace qwengpu::stage {

template <machine::sizes M>
void build_stage1(network& net, const nn::shape& shape, signals& s) {
    const alu_layers at{plan::registers, plan::address, plan::address};
    s.data.t1 = build_alu_stage<M>(net, shape, at, "t1", s.program.stage1, common_sources(s), s).result;
}

namespace detail {

// Operations of stage 3 alone, from level `layer` on, added to the stage's result.
inline void build_long_units(network& net, int decode, int layer, const word& group, const alu_stage& stage) {
    using machine::alu_op;
    const circuit::alu_fields f(group);
    auto on = [&](const char* name, alu_op op, const std::vector<linear>& more = {}) {
        std::vector<linear> bits{equals(f.op, static_cast<unsigned>(op))};
        bits.insert(bits.end(), more.begin(), more.end());
        return net.all_of(decode, std::string("t3.") + name, bits);
    };
    const auto& x = stage.operands;
    const circuit::multiply_enables multiply{on("mul.low", alu_op::mul, {no(f.mod[0])}), on("mul.high", alu_op::mul, {f.mod[0]}), on("mul.signed", alu_op::mul, {f.mod[1]})};
    circuit::multiply(net, layer, "t3.mul", x.a, x.b, x.c, multiply, stage.result);
    circuit::count_ones(net, layer, x.a, on("popc", alu_op::popc), stage.result);
    circuit::count_leading_zeros(net, layer, x.a, on("clz", alu_op::clz), stage.result);
    circuit::reverse_bits(net, layer, x.a, on("brev", alu_op::brev), stage.result);
    circuit::reciprocal(net, layer, "t3.rcp", x.a, on("rcp", alu_op::rcp), stage.result);
    circuit::float_unit::build(net, decode, layer, "t3.float", group, x, stage.result);
}

}  // namespace detail

template <machine::sizes M>
void build_stage3(network& net, const nn::shape& shape, signals& s) {
    using machine::source;
    s.program.stage3 = fetch_group<M>(net, shape, plan::fetch_compute, "s3", machine::group::stage3, s);
    auto sources = common_sources(s);
    sources.push_back(detail::from(source::t1, s.data.t1));
    sources.push_back(detail::from(source::t2, s.data.t2));
    const alu_layers at{plan::compute - 1, plan::compute, plan::compute};
    const auto stage = build_alu_stage<M>(net, shape, at, "t3", s.program.stage3, std::move(sources), s);
    detail::build_long_units(net, at.decode, at.pick + 1, s.program.stage3, stage);
    s.data.t3 = stage.result;
}

template <machine::sizes M>
void build_stage4(network& net, const nn::shape& shape, signals& s) {
    using machine::source;
    s.program.stage4 = fetch_group<M>(net, shape, plan::fetch_commit, "s4", machine::group::stage4, s);
    auto sources = common_sources(s);
    sources.push_back(detail::from(source::t1, s.data.t1));
    sources.push_back(detail::from(source::t2, s.data.t2));
    sources.push_back(detail::from(source::t3, s.data.t3));
    const alu_layers at{plan::commit - 1, plan::commit, plan::commit};
    s.data.t4 = build_alu_stage<M>(net, shape, at, "t4", s.program.stage4, std::move(sources), s).result;
}

}  // namespace qwengpu::stage
