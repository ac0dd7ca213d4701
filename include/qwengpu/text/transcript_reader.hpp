// SPDX-License-Identifier: MIT
// Reads a transcript token by token and tells an observer what happens, in the events the emulator tells it in (all but
// `stages`, which are no tokens). It needs the program to know what a record holds; it computes nothing.
#pragma once

#include <qwengpu/error.hpp>
#include <qwengpu/machine/observer.hpp>
#include <qwengpu/machine/program.hpp>
#include <qwengpu/text/record_cursor.hpp>
#include <qwengpu/text/spelling.hpp>
#include <qwengpu/text/vocabulary.hpp>
#include <qwengpu/text/words.hpp>

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <optional>
#include <string>

namespace qwengpu::text {

/// Where a transcript stands. `lane` and `slot` say what comes next in a record that is not complete.
struct transcript_place {
    std::uint64_t tokens = 0;   ///< tokens read since `launch`
    std::uint64_t records = 0;  ///< records begun
    machine::extent ctaid{};
    int warp = 0, block = 0;  ///< of the last record
    bool in_record = false;   ///< a record is begun and not complete
    int lane = 0;
    machine::slot slot = machine::slot::branch;
    bool uniform = false;  ///< `all` was written in this record
};

/// Reads what a model writes after `launch`. The program must outlive the reader.
template <machine::sizes M = machine::mission>
class transcript_reader {
    using V = vocabulary<M>;

public:
    transcript_reader(const machine::program& program, machine::observer& watch) : program_(program), watch_(watch) {
        watch_.launch();
    }

    /// Takes the next token. Error "text.transcript" says which token does not fit and what was wanted.
    void read(token id) {
        ++place_.tokens;
        if (id >= V::size) throw error("text.transcript", fmt::format("token {}, {}, is no token of this machine", place_.tokens, id));
        const auto t = V::decode(id);
        if (!take(t))
            throw error("text.transcript", fmt::format("token {} is {}, where {} is wanted", place_.tokens, spell<M>(id), wanted()));
    }

    /// Whether the low half of a word is read and its high half is to come.
    [[nodiscard]] bool half_read() const { return words_.half_read(); }

    [[nodiscard]] bool ended() const { return phase_ == phase::ended; }

    [[nodiscard]] transcript_place place() const {
        auto p = place_;
        p.in_record = phase_ == phase::record || phase_ == phase::word;
        if (p.in_record && !illegal_ && !cursor_.complete()) {
            p.lane = cursor_.lane();
            p.slot = cursor_.slot();
            p.uniform = cursor_.uniform();
        }
        return p;
    }

    /// What may come next, in words.
    [[nodiscard]] std::string wanted() const {
        switch (phase_) {
            case phase::launch: return "`cta`";
            case phase::ctaid: return words_.half_read() ? "`hi`" : fmt::format("coordinate {} of the thread block", "xyz"[coordinate_]);
            case phase::first_start: return "`start` of warp 0";
            case phase::start: return fmt::format("`start` of warp {}, or a record", warp_ + 1);
            case phase::record: return illegal_ ? "`trap:3`" : fmt::format("{} of lane {}", slot_text(), cursor_.lane());
            case phase::word: return words_.half_read() ? "`hi`" : fmt::format("a word, {} of lane {}", slot_text(), cursor_.lane());
            case phase::between: return "a record, `mask`, `fair`, `release`, `cta` or `end`";
            case phase::trapped: return "`end`";
            case phase::ended: break;
        }
        return "nothing";
    }

private:
    enum class phase : std::uint8_t { launch, ctaid, first_start, start, between, record, word, trapped, ended };

    bool take(const decoded_token& t) {
        switch (phase_) {
            case phase::launch: return t.id == token_class::cta && begin_cta();
            case phase::ctaid: return coordinate(t);
            case phase::first_start: return t.id == token_class::start && t.second == 0 && start(t);
            case phase::start: return t.id == token_class::start ? static_cast<int>(t.second) == warp_ + 1 && start(t) : between(t);
            case phase::between: return between(t);
            case phase::record: return position(t);
            case phase::word: return word(t);
            case phase::trapped: return t.id == token_class::end && end();
            case phase::ended: break;
        }
        return false;
    }

    bool begin_cta() {
        phase_ = phase::ctaid;
        coordinate_ = 0;
        return true;
    }

    bool coordinate(const decoded_token& t) {
        if (!words_.takes(t.id)) return false;
        const auto value = words_.take(t);
        if (!value) return true;
        place_.ctaid[coordinate_++] = *value;
        if (coordinate_ < 3) return true;
        phase_ = phase::first_start;
        watch_.cta(place_.ctaid);
        return true;
    }

    bool start(const decoded_token& t) {
        warp_ = static_cast<int>(t.second);
        set_mask(t);
        phase_ = phase::start;
        watch_.start(warp_, masks_[t.second]);
        return true;
    }

    void set_mask(const decoded_token& t) { masks_[t.second] = static_cast<machine::lane_mask>(t.first); }

    bool between(const decoded_token& t) {
        switch (t.id) {
            case token_class::hdr: return record(static_cast<int>(t.second), static_cast<int>(t.first));
            case token_class::cta: return begin_cta();
            case token_class::end: return end();
            case token_class::fair: phase_ = phase::between; return watch_.fair(static_cast<int>(t.first)), true;
            case token_class::mask:
                phase_ = phase::between;
                set_mask(t);
                return watch_.mask(static_cast<int>(t.second), masks_[t.second]), true;
            case token_class::release: phase_ = phase::between; return watch_.release(static_cast<int>(t.first), static_cast<int>(t.second)), true;
            default: return t.id == token_class::trap && trap(t, machine::trap_kind::deadlock);
        }
    }

    bool record(int warp, int block) {
        const auto mask = masks_[static_cast<std::size_t>(warp)];
        if (mask == 0) return false;
        ++place_.records;
        place_.warp = warp;
        place_.block = block;
        illegal_ = machine::find_block(program_, block) == nullptr;
        cursor_ = illegal_ ? record_cursor({}, mask) : record_cursor(current(), mask);
        watch_.record(warp, block, mask);
        phase_ = illegal_ ? phase::record : after_position();
        return true;
    }

    [[nodiscard]] phase after_position() const { return cursor_.complete() ? phase::between : phase::record; }
    [[nodiscard]] const machine::machine_block& current() const { return program_.blocks[static_cast<std::size_t>(place_.block)]; }

    bool position(const decoded_token& t) {
        if (illegal_) return t.id == token_class::trap && trap(t, machine::trap_kind::illegal_block);
        if (t.id == token_class::trap)
            return cursor_.may_trap() && (trap(t, machine::trap_kind::out_of_bounds) || trap(t, machine::trap_kind::misaligned));
        if (t.id == token_class::all) return cursor_.takes_all() && all();
        if (cursor_.slot() == machine::slot::branch) return t.id == token_class::br && branch(t.first != 0);
        if (cursor_.slot() != machine::slot::store) return word(t);
        if (t.id == token_class::skip) return current().mem.store_guarded && skip();
        if (t.id != token_class::addr) return false;
        address_ = t;
        phase_ = phase::word;
        return true;
    }

    bool all() {
        cursor_.all();
        watch_.all();
        return true;
    }

    bool branch(bool taken) {
        watch_.branch(cursor_.lane(), taken);
        return advance();
    }

    bool skip() {
        watch_.skip(cursor_.lane());
        return advance();
    }

    bool advance() {
        cursor_.advance();
        phase_ = after_position();
        return true;
    }

    /// A token of the word that the position holds: of a store, behind its address, or of a register.
    bool word(const decoded_token& t) {
        if (!words_.takes(t.id)) return false;
        phase_ = phase::word;
        const auto value = words_.take(t);
        if (!value) return true;
        if (cursor_.slot() == machine::slot::store)
            watch_.store(cursor_.lane(), static_cast<int>(address_.second), static_cast<int>(address_.first), *value);
        else
            watch_.write(cursor_.lane(), machine::stage_of(cursor_.slot()), machine::register_of(current(), cursor_.slot()), *value);
        return advance();
    }

    bool trap(const decoded_token& t, machine::trap_kind kind) {
        if (static_cast<machine::trap_kind>(t.first) != kind) return false;
        machine::trap what{kind, place_.warp, cursor_.lane(), place_.block, place_.ctaid};
        what.by_store = !illegal_ && current().has_store;
        what.line = line_of_access(what.by_store);
        phase_ = phase::trapped;
        watch_.trap(what);
        return true;
    }

    /// Line of the load or store of the block, else the block's.
    [[nodiscard]] machine::source_line line_of_access(bool by_store) const {
        const auto at = static_cast<std::size_t>(place_.block);
        if (at >= program_.notes.size()) return {};
        const auto& line = by_store ? program_.notes[at].store : program_.notes[at].stages[1];
        return line.ptx_line != 0 ? line : machine::line_of(program_, place_.block);
    }

    bool end() {
        phase_ = phase::ended;
        watch_.end();
        return true;
    }

    [[nodiscard]] std::string slot_text() const {
        if (cursor_.slot() == machine::slot::branch) return "the branch";
        if (cursor_.slot() == machine::slot::store) return "the store";
        return fmt::format("register R{}", machine::register_of(current(), cursor_.slot()));
    }

    const machine::program& program_;
    machine::observer& watch_;
    phase phase_ = phase::launch;
    transcript_place place_;
    machine::one_per<machine::lane_mask, M.warps> masks_{};
    record_cursor cursor_;
    word_reader<M> words_;
    decoded_token address_;
    std::size_t coordinate_ = 0;
    int warp_ = 0;
    bool illegal_ = false;
};

}  // namespace qwengpu::text
