// SPDX-License-Identifier: MIT
// The 45 layers, as the list of what they do, in the order of the signals (docs/layers.md has them by layer).
#pragma once

#include <qwengpu/stage/alu_stages.hpp>
#include <qwengpu/stage/context.hpp>
#include <qwengpu/stage/counters.hpp>
#include <qwengpu/stage/emit.hpp>
#include <qwengpu/stage/fairness.hpp>
#include <qwengpu/stage/grid.hpp>
#include <qwengpu/stage/intent.hpp>
#include <qwengpu/stage/load.hpp>
#include <qwengpu/stage/plan.hpp>
#include <qwengpu/stage/position.hpp>
#include <qwengpu/stage/program_store.hpp>
#include <qwengpu/stage/registers.hpp>
#include <qwengpu/stage/result.hpp>
#include <qwengpu/stage/scheduler.hpp>
#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/special.hpp>
#include <qwengpu/stage/uniform.hpp>
#include <qwengpu/stage/writes.hpp>

namespace qwengpu::stage {

/// The machine of sizes M as a network of layers of the given shape. Returns its named signals.
template <machine::sizes M>
signals build_pipeline(network& net, const nn::shape& shape) {
    using machine::group;
    signals s{.token = inputs(net, shape), .context = {}, .program = {}, .position = {}, .write = {}, .data = {}, .schedule = {}};

    // Front: which record is this, where in it are we, what did the token complete, which operands come next?
    build_context<M>(net, shape, s);
    build_fairness_counter<M>(net, shape, s);
    s.program.header = fetch_group<M>(net, shape, plan::fetch_header, "h", group::header, s);
    s.program.uniformity = fetch_group<M>(net, shape, plan::count, "u", group::uniformity, s);
    build_position_counter<M>(net, shape, s);
    build_position<M>(net, s);
    build_writes<M>(net, s);
    s.program.stage1 = fetch_group<M>(net, shape, plan::fetch_early, "s1", group::stage1, s);
    s.program.memory = fetch_group<M>(net, shape, plan::fetch_early, "m", group::memory, s);
    build_special<M>(net, s);
    build_registers<M>(net, shape, s);
    build_uniform<M>(net, s);

    // The four stages, for the lane whose position comes next.
    build_stage1<M>(net, shape, s);
    build_load<M>(net, shape, s);
    build_stage3<M>(net, shape, s);
    build_stage4<M>(net, shape, s);

    // Beside them: what follows when the record is complete.
    build_grid<M>(net, shape, s);
    build_scheduler<M>(net, shape, s);

    // Back: the next token.
    const auto intent = build_intents(net, s);
    const auto result = build_result<M>(net, shape, s, intent);
    build_emit<M>(net, s, intent, result);
    return s;
}

}  // namespace qwengpu::stage
