// SPDX-License-Identifier: MIT
// Verdicts over launches that ran and launches that were refused, how endings are told, and the same as JSON.
#include <qwengpu/io/result_json.hpp>
#include <qwengpu/launch/verdict.hpp>

#include "support/catch.hpp"

#include <string>

using namespace qwengpu;

namespace {

/// A case of one buffer of two numbers, which should become {3, 4} unless a stage is expected to refuse it.
launch_case expecting(const std::string& stage = "") {
    launch_case c;
    c.name = "case";
    c.request.block = {4, 2, 1};
    c.request.args = {in("a", std::vector{1, 2})};
    c.expect_error = stage;
    if (stage.empty()) c.expect = {in("a", std::vector{3, 4}).array};
    return c;
}

launch_result left(std::vector<int> values, launch_ending ended = launch_ending::finished) {
    launch_result r;
    r.program.name = "k";
    r.program.cuda_files = {"dir/k.cu"};
    r.emulator.emplace();
    r.emulator->ended = ended;
    r.emulator->memory = {in("a", values).array};
    r.emulator->transcript.resize(30);
    r.emulator->lane_instructions = 20;
    if (ended == launch_ending::trapped) {
        r.emulator->trap = machine::trap{machine::trap_kind::out_of_bounds, 1, 2, 5, {3, 0, 0}, true, 0x0800000c, {31, 4, 0}};
    }
    return r;
}

const std::string trap_words =
    "store out of bounds at address 0x0800000c in kernel k: thread block (3, 0, 0), thread (2, 1, 0), warp 1, lane 2, machine block 5, "
    "PTX line 31, k.cu line 4";

}  // namespace

TEST_CASE("memory decides over a launch that finished", "[launch]") {
    CHECK(judge(expecting(), left({3, 4})).passed);
    const auto v = judge(expecting(), left({3, 5}));
    CHECK_FALSE(v.passed);
    CHECK(v.reason == "emulator: 1 of the elements in memory not as expected; a[1] is 5, 4 is expected");
}

TEST_CASE("findings fail a launch that is as expected otherwise, with the name of the buffer", "[launch]") {
    auto r = left({3, 4});
    r.places = {{1, 5, 2}};
    const machine::access_place writer{{0, 0, 0}, 1, 6, machine::access_kind::write, {31, 4, 0}};
    const machine::access_place reader{{0, 0, 0}, 2, 7, machine::access_kind::read, {33, 5, 0}};
    r.emulator->findings = {{machine::finding_kind::race, machine::address::make(1, 6), writer, reader, 4}};
    const std::string line = "data race: byte 0 of word 1 of a: thread 1 of thread block (0, 0, 0) writes in block 6, k.cu:4, PTX line 31; thread 2 of "
                             "thread block (0, 0, 0) reads in block 7, k.cu:5, PTX line 33; no barrier is between them (4 times)";
    CHECK_FALSE(judge(expecting(), r).passed);
    CHECK(judge(expecting(), r).reason == line);
    CHECK(io::result_json(expecting(), r, judge(expecting(), r))["findings"] == io::json::array({line}));
    r.emulator->findings.push_back(r.emulator->findings.front());
    CHECK(judge(expecting(), r).reason == "2 findings, the first: " + line);
}

TEST_CASE("the model is judged too, and a difference fails", "[launch]") {
    auto r = left({3, 4});
    r.model = left({4, 4}).emulator;
    CHECK(judge(expecting(), r).reason == "model: 1 of the elements in memory not as expected; a[0] is 4, 3 is expected");
    r.model = r.emulator;
    CHECK(judge(expecting(), r).passed);
    r.difference.emplace();
    CHECK_FALSE(judge(expecting(), r).passed);
}

TEST_CASE("traps and limits", "[launch]") {
    CHECK(judge(expecting("run"), left({1, 2}, launch_ending::trapped)).passed);
    CHECK(judge(expecting("run"), left({1, 2}, launch_ending::step_limit)).passed);
    CHECK(judge(expecting("run-or-answer"), left({1, 2}, launch_ending::step_limit)).passed);
    CHECK(judge(expecting("run-or-answer"), left({1, 2})).passed);
    CHECK_FALSE(judge(expecting("run"), left({1, 2})).passed);
    CHECK_FALSE(judge(expecting("run"), left({1, 2}, launch_ending::broken)).passed);
    CHECK_FALSE(judge(expecting("parse"), left({1, 2}, launch_ending::trapped)).passed);
    const auto v = judge(expecting(), left({1, 2}, launch_ending::trapped));
    CHECK_FALSE(v.passed);
    CHECK(v.reason == "emulator: " + trap_words);
}

TEST_CASE("the address of a trap is the emulator's, where a transcript has none", "[launch]") {
    auto r = left({1, 2}, launch_ending::trapped);
    r.model = r.emulator;
    r.model->trap->address = 0;
    CHECK(describe_ending(r, *r.model, expecting().request, 4) == trap_words);
    r.emulator.reset();
    CHECK(describe_ending(r, *r.model, expecting().request, 4).starts_with("store out of bounds in kernel k"));
}

TEST_CASE("a kernel that traps itself is told alike on both sides", "[launch]") {
    auto r = left({1, 2}, launch_ending::trapped);
    r.program.notes.resize(6);
    r.program.notes[5].cause = machine::trap_cause::assertion;
    r.emulator->trap = machine::trap{machine::trap_kind::illegal_block, 1, 2, 5, {3, 0, 0}, false, 0, {31, 4, 0}};
    const std::string words = "kernel k trapped itself (an assert failed): thread block (3, 0, 0), thread (2, 1, 0), warp 1, lane 2, machine block 5, PTX line 31, k.cu line 4";
    CHECK(judge(expecting(), r).reason == "emulator: " + words);
    r.model = r.emulator;
    CHECK(describe_ending(r, *r.model, expecting().request, 4) == words);
    r.emulator.reset();
    CHECK(judge(expecting(), r).reason == "model: " + words);
}

TEST_CASE("a launch that was stopped is told with its place", "[launch]") {
    auto r = left({1, 2}, launch_ending::step_limit);
    r.program.blocks.resize(8);
    r.program.notes.resize(8);
    r.program.notes[7].branch = {12, 0, 0};
    r.emulator->records = 1000;
    r.emulator->last_block = 7;
    CHECK(describe_ending(r, *r.emulator, expecting().request, 4) ==
          "kernel k was stopped after 1000 records, in warp 0 at machine block 7, PTX line 12; the limit can be raised");
}

TEST_CASE("refusals are matched by their stage", "[launch]") {
    const error parse("ptx.parse", "no", place{"k.ptx", 3, 1}), resources("ptx.resources", "no"), launch("launch.block", "no"), compile("cuda.compile", "no");
    CHECK(stage_of(parse) == "parse");
    CHECK(stage_of(compile) == "compile");
    CHECK(stage_of(launch) == "launch");
    CHECK(stage_of(error("cuda.compiler", "none")) == "cuda.compiler");
    CHECK(judge(expecting("parse"), parse).passed);
    CHECK_FALSE(judge(expecting("type"), parse).passed);
    CHECK(judge(expecting("type"), parse).reason == "k.ptx:3:1: no [ptx.parse]");
    CHECK_FALSE(judge(expecting(), parse).passed);
    CHECK(judge(expecting("accept-or-limit"), resources).passed);
    CHECK_FALSE(judge(expecting("accept-or-limit"), parse).passed);
    CHECK(judge(expecting("accept-or-limit"), left({1, 2})).passed);
}

TEST_CASE("results as JSON", "[io]") {
    auto r = left({3, 4});
    r.emulator->seconds = 0.5;
    r.emulator->passes = 2;
    r.emulator->transcript = {text::vocabulary<>::encode(text::token_class::cta), text::vocabulary<>::encode(text::token_class::end)};
    const auto c = expecting();
    const auto j = io::result_json(c, r, judge(c, r));
    CHECK(j["passed"] == true);
    CHECK(j["differences"] == 0);
    CHECK(j["memory"]["a"] == io::json::array({3, 4}));
    CHECK(j["emulator"]["tokens"] == 2);
    CHECK(j["emulator"]["tokens_per_lane_instruction"] == 0.1);
    CHECK(j["emulator"]["tokens_per_second"] == 4.0);
    CHECK(j["emulator"]["message"].is_null());
    CHECK_FALSE(j.contains("model"));
    CHECK(io::tokens_json(r.emulator->transcript).dump() == R"(["cta","end"])");
    const error e("ptx.parse", "no");
    CHECK(io::refused_json(c, e, judge(c, e))["stage"] == "parse");
}
