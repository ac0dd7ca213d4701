// SPDX-License-Identifier: MIT
// Compares what a model writes, token by token and pass by pass, with what the emulator wrote. It stops at the first
// difference; both sides' values are then put together, so that a word that differs is shown whole.
#pragma once

#include <qwengpu/diff/divergence.hpp>
#include <qwengpu/diff/expected_signals.hpp>
#include <qwengpu/diff/signals.hpp>
#include <qwengpu/diff/stage_trace.hpp>
#include <qwengpu/machine/disassembly.hpp>
#include <qwengpu/text/transcript_reader.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace qwengpu::diff {

/// One comparison of a launch. Program, expected tokens and trace must outlive it.
template <machine::sizes M = machine::mission>
class comparator {
    using V = text::vocabulary<M>;

public:
    comparator(const machine::program& program, std::span<const text::token> expected, const stage_trace* trace = nullptr,
               const signal_layers& layers = {})
        : program_(program), expected_(expected), trace_(trace), layers_(layers), reader_(program, nobody_) {}

    /// Takes the signals of the pass that will answer with the next token. Call before `token`.
    void signals(const pass_signals& seen) {
        const auto place = reader_.place();
        if (found_ || trace_ == nullptr || !place.in_record || is_illegal(place)) return;
        const auto* before = trace_->find(place.records - 1, place.lane, place.slot != machine::slot::branch);
        if (before == nullptr) return;
        ++passes_;
        const auto wanted = expected_signals(block(place), place.slot, place.lane, *before);
        compare_values(wanted, seen);
        if (seen.lane && *seen.lane != place.lane) lane_of_model_ = seen.lane;
        if (!parted_.empty() || lane_of_model_) start_report();
    }

    /// Takes the model's next token; false once nothing more needs to be known.
    bool token(text::token t) {
        if (found_ && complete_) return false;
        if (!found_ && (at_ >= expected_.size() || t != expected_[at_])) start_report();
        if (found_) return add_to_report(t);
        reader_.read(t);
        ++at_;
        return true;
    }

    /// To be called when the model has stopped: tokens that are missing at its end are a difference too.
    void finish() {
        if (!found_ && at_ < expected_.size()) start_report();
    }

    [[nodiscard]] const std::optional<divergence>& found() const { return found_; }
    [[nodiscard]] std::uint64_t tokens() const { return at_; }     ///< tokens that agreed
    [[nodiscard]] std::uint64_t passes() const { return passes_; }  ///< passes whose signals were compared

private:
    [[nodiscard]] bool is_illegal(const text::transcript_place& p) const {
        return machine::find_block(program_, p.block) == nullptr;
    }
    [[nodiscard]] const machine::machine_block& block(const text::transcript_place& p) const {
        return program_.blocks[static_cast<std::size_t>(p.block)];
    }

    void compare_values(const pass_signals& wanted, const pass_signals& seen) {
        for (std::size_t i = 0; i < wanted.values.size(); ++i)
            if (wanted.values[i] && seen.values[i] && *wanted.values[i] != *seen.values[i])
                parted_.push_back({static_cast<signal>(i), layers_[i], *wanted.values[i], *seen.values[i]});
        std::stable_sort(parted_.begin(), parted_.end(), [](const auto& a, const auto& b) { return a.layer < b.layer; });
    }

    void start_report() {
        found_ = divergence{};
        auto& d = *found_;
        d.place = reader_.place();
        d.position = reader_.wanted();
        if (d.place.in_record && !is_illegal(d.place)) describe_instruction(d);
        d.signals = parted_;
        d.lane_of_model = lane_of_model_;
        // A word is shown from its first half on, which both sides may have agreed on.
        const std::size_t begin = reader_.half_read() ? at_ - 1 : at_;
        d.emulator = view(expected_.subspan(begin, std::min<std::size_t>(2, expected_.size() - begin)));
        if (reader_.half_read()) model_.push_back(expected_[begin]);
    }

    void describe_instruction(divergence& d) const {
        const auto& b = block(d.place);
        const auto at = static_cast<std::size_t>(d.place.block);
        const auto notes = at < program_.notes.size() ? program_.notes[at] : machine::block_notes{};
        const int stage = machine::stage_of(d.place.slot);
        if (d.place.slot == machine::slot::branch) {
            d.instruction = machine::branch_line(b, M.exit_block());
            d.line = notes.branch;
        } else if (d.place.slot == machine::slot::store) {
            d.instruction = machine::store_line(b);
            d.line = notes.store;
        } else {
            d.instruction = machine::stage_line(b, stage);
            d.line = notes.stages[static_cast<std::size_t>(stage - 1)];
        }
        if (d.line.ptx_line == 0) d.line = machine::line_of(notes);
        const auto file = static_cast<std::size_t>(d.line.cuda_file);
        if (d.line.cuda_line > 0 && file < program_.cuda_files.size()) d.cuda_file = program_.cuda_files[file];
    }

    /// Adds a token of the model to the report; true if one more is needed to complete a word.
    bool add_to_report(text::token t) {
        model_.push_back(t);
        complete_ = model_.size() > 1 || t >= V::size || V::class_of(t) != text::token_class::lo;
        found_->model = view(model_);
        return !complete_;
    }

    /// Tokens as they are shown: a word's one or two tokens and its value, else the first token alone.
    static side view(std::span<const text::token> tokens) {
        side s;
        text::word_reader<M> word;
        for (const auto t : tokens) {
            if (t >= V::size) return {{fmt::format("token {}", t)}, std::nullopt};
            if (!s.tokens.empty() && !word.takes(V::class_of(t))) break;
            s.tokens.push_back(text::spell<M>(t));
            if (!word.takes(V::class_of(t))) break;
            s.value = word.take(V::decode(t));
            if (s.value) break;
        }
        return s;
    }

    const machine::program& program_;
    std::span<const text::token> expected_;
    const stage_trace* trace_;
    signal_layers layers_;
    static inline machine::observer nobody_{};  ///< has no state, so every comparison may share it
    text::transcript_reader<M> reader_;
    std::size_t at_ = 0;
    std::uint64_t passes_ = 0;
    std::vector<signal_difference> parted_;
    std::optional<int> lane_of_model_;
    std::optional<divergence> found_;
    std::vector<text::token> model_;
    bool complete_ = false;
};

}  // namespace qwengpu::diff
