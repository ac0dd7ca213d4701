// SPDX-License-Identifier: MIT
// Several launches in one sequence of tokens: memory stays from one to the next, as do the module's variables, also where a
// model runs them: the next prompt follows the last `end` (docs/machine.md, "The prompt").
#pragma once

#include <qwengpu/error.hpp>
#include <qwengpu/launch/placement.hpp>
#include <qwengpu/launch/prepare.hpp>
#include <qwengpu/launch/run.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace qwengpu {

namespace detail {

/// A trap is a block that is not there; in a session an earlier program may have left one in that place. So its block gets
/// one that loads from nowhere.
inline void make_traps_sure(machine::program& p) {
    const auto make_sure = [&](std::size_t id) {
        if (id >= p.blocks.size() || p.blocks[id].valid) return;
        p.blocks[id] = {};
        p.blocks[id].dest[1] = 1;
        p.blocks[id].mem.op = machine::memory_op::load;
    };
    for (std::size_t k = 0; k < p.blocks.size(); ++k) {
        make_sure(p.blocks[k].next);
        if (p.blocks[k].has_branch) make_sure(p.blocks[k].taken);
    }
}

}  // namespace detail

/// Launches that share memory, on the emulator alone. A buffer is known by its name: passed again with values it gets
/// these, passed as `kept` it stays as it is.
template <machine::sizes M = machine::mission>
class emulated_session {
public:
    /// Errors: those of prepare(), and "launch.session" after a launch that was stopped before its end.
    launch_result launch(machine::program program, const launch_request& request, const launch_options& options = {}) {
        auto image = next_image(std::move(program), request);
        launch_result r{image.program, image.buffers, text::prompt_of(image, place()).size(), {}, {}, {}, 0, 0};
        r.emulator = detail::run_emulator(request, image, options, false, &sequence_).result;
        over_ = r.emulator->ended == launch_ending::step_limit;
        return r;
    }

protected:
    machine::launch_image<M> next_image(machine::program program, const launch_request& request) {
        if (over_) throw error("launch.session", "the last launch of the session was stopped before its end; begin a new session");
        detail::make_traps_sure(program);
        auto after = memory_;
        auto image = prepare<M>(std::move(program), request, after);
        memory_ = std::move(after);
        return image;
    }
    [[nodiscard]] text::prompt_place place() const { return sequence_.emulator || sequence_.model ? text::prompt_place::later : text::prompt_place::first; }

    memory_table<M> memory_;
    detail::sequence_so_far<M> sequence_;
    bool over_ = false;
};

/// The same on a model, and on the emulator beside it unless `on` says otherwise. The model must outlive the session.
template <text::language_model Model, machine::sizes M = machine::mission>
class model_session : private emulated_session<M> {
public:
    explicit model_session(const Model& model, run_on on = run_on::both) : model_(model), on_(on), state_(model.fresh()) {}

    /// Errors: as above.
    launch_result launch(machine::program program, const launch_request& request, const launch_options& options = {}) {
        if (on_ == run_on::emulator) return emulated_session<M>::launch(std::move(program), request, options);
        const auto image = this->next_image(std::move(program), request);
        auto prompt = text::prompt_of(image, this->place());
        if (last_) prompt.insert(prompt.begin(), *last_);
        auto r = detail::run_in_sequence(request, image, prompt, model_, state_, on_, options, this->sequence_);
        this->over_ = r.model->ended != launch_ending::finished && r.model->ended != launch_ending::trapped;
        if (!r.model->transcript.empty()) last_ = r.model->transcript.back();
        return r;
    }

private:
    const Model& model_;
    run_on on_;
    typename Model::state state_;
    std::optional<text::token> last_;  ///< that the model made and has not read yet
};

}  // namespace qwengpu
