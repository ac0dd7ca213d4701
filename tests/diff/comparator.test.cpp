// SPDX-License-Identifier: MIT
// The comparison: transcripts that agree, tokens and signals that are changed on purpose, and what the report says. The
// signals come from a stand-in for a model: it evaluates the block of every pass anew from the state as it is then.
#include <qwengpu/diff/comparator.hpp>
#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/text/transcribe.hpp>

#include "support/catch.hpp"
#include "support/random_program.hpp"
#include "support/state_keeper.hpp"

#include <random>
#include <string>
#include <vector>

using namespace qwengpu;

namespace {

constexpr diff::signal_layers layers{6, 6, 6, 6, 6, 10, 13, 36, 40};

/// A launch, what the emulator says of it, and the comparison of a transcript with that.
template <machine::sizes M>
struct launch {
    machine::launch_image<M> image;
    text::transcriber<M> expected;
    diff::stage_trace trace;

    explicit launch(machine::launch_image<M> i) : image(std::move(i)) {
        machine::observer_list both({expected, trace});
        machine::emulate(image, both, 3000);
    }

    /// Compares tokens whose signals `change(pass, signals)` may spoil. Returns the comparison.
    template <class Change>
    diff::comparator<M> compare(const std::vector<text::token>& tokens, Change&& change) const {
        diff::comparator<M> c(image.program, expected.tokens(), &trace, layers);
        test::state_keeper<M> keeper(image);
        text::transcript_reader<M> reader(image.program, keeper);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            auto seen = test::pass_at(image.program, keeper, reader.place());
            change(i, seen);
            c.signals(seen);
            if (!c.token(tokens[i])) return c;
            if (!c.found()) reader.read(tokens[i]);
        }
        c.finish();
        return c;
    }
    diff::comparator<M> compare(const std::vector<text::token>& tokens) const {
        return compare(tokens, [](std::size_t, diff::pass_signals&) {});
    }
};

constexpr machine::sizes tiny{.lanes = 4, .warps = 2, .registers = 8, .words = 32, .constants = 32, .blocks = 32};

/// One warp of two lanes: R2 = 70000 + lane, R3 = 5, then exit.
launch<tiny> small_launch() {
    using machine::source;
    machine::machine_block b;
    b.special = machine::special_register::laneid;
    b.s1 = {machine::alu_op::add, source::constant, source::special, source::zero, 0, 13};
    b.s4 = {machine::alu_op::add, source::imm, source::zero, source::zero, 0, 5};
    b.dest = {2, 0, 0, 3};
    b.next = 31;
    machine::block_notes notes;
    notes.stages[0] = {17, 4, 0};
    notes.stages[3] = {18, 5, 0};
    machine::program p{.name = "small", .blocks = {b}, .notes = {notes}, .literals = {{13, 70000}}, .cuda_files = {"small.cu"}, .ptx_file = "small.ptx"};
    return launch<tiny>(machine::make_launch<tiny>(p, {1, 1, 1}, {2, 1, 1}));
}

}  // namespace

TEST_CASE("random launches agree with themselves, token by token and pass by pass", "[diff]") {
    std::uint64_t passes = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        const launch<tiny> l(test::random_launch<tiny>(seed));
        const auto c = l.compare(l.expected.tokens());
        INFO("seed " << seed << "\n" << (c.found() ? to_string(*c.found()) : std::string()));
        CHECK_FALSE(c.found());
        CHECK(c.tokens() == l.expected.tokens().size());
        passes += c.passes();
    }
    CHECK(passes > 5000);
}

TEST_CASE("a changed token is found where it is", "[diff]") {
    std::mt19937_64 random(5);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const launch<tiny> l(test::random_launch<tiny>(seed));
        auto tokens = l.expected.tokens();
        const auto at = random() % tokens.size();
        tokens[at] = static_cast<text::token>((tokens[at] + 1 + random() % (text::vocabulary<tiny>::size - 1)) % text::vocabulary<tiny>::size);
        const auto c = l.compare(tokens);
        INFO("seed " << seed << " token " << at);
        REQUIRE(c.found());
        CHECK(c.tokens() == at);
        CHECK(c.found()->signals.empty());
        CHECK(c.found()->model.tokens.size() >= 1);
    }
}

TEST_CASE("a changed signal is found in its pass, though the tokens agree", "[diff]") {
    std::uint64_t found = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const launch<tiny> l(test::random_launch<tiny>(seed));
        const auto& tokens = l.expected.tokens();
        const auto wrong_pass = tokens.size() / 2;
        const auto c = l.compare(tokens, [&](std::size_t pass, diff::pass_signals& s) {
            if (pass == wrong_pass && s.lane) *s[diff::signal::special] ^= 0x10;
        });
        if (!c.found()) continue;
        ++found;
        CHECK(c.tokens() == wrong_pass);
        REQUIRE(c.found()->signals.size() == 1);
        CHECK(c.found()->signals[0].which == diff::signal::special);
        CHECK((c.found()->signals[0].emulator ^ c.found()->signals[0].model) == 0x10);
    }
    CHECK(found > 40);
}

TEST_CASE("signals are reported from the first layer on", "[diff]") {
    const auto l = small_launch();
    const auto c = l.compare(l.expected.tokens(), [](std::size_t, diff::pass_signals& s) {
        if (!s.lane || *s.lane != 1) return;
        *s[diff::signal::t4] = 1;
        *s[diff::signal::t1] = 2;
    });
    REQUIRE(c.found());
    REQUIRE(c.found()->signals.size() == 2);
    CHECK(c.found()->signals[0].layer == 10);
    CHECK(c.found()->signals[1].layer == 40);
}

TEST_CASE("the report names record, lane, instruction, lines and both values", "[diff]") {
    const auto l = small_launch();
    std::vector<text::token> tokens;
    for (const auto* t : {"cta", "short:0", "short:0", "short:0", "start:w0:l01", "hdr:w0:b0", "short:5", "short:5", "lo:1170", "hi:0001",
                          "lo:1171", "hi:0001", "end"})
        tokens.push_back(text::parse_token<tiny>(t).value());
    REQUIRE(tokens == l.expected.tokens());
    tokens[10] = text::parse_token<tiny>("lo:1170").value();
    const auto c = l.compare(tokens);
    REQUIRE(c.found());
    CHECK(to_string(*c.found()) ==
          "first difference after token 10 of the transcript: record 1, thread block (0, 0, 0), warp 0, lane 1, block 0\n"
          "  next         register R2 of lane 1\n"
          "  instruction  t1 = add c[13], %laneid -> R2  (PTX line 17, CUDA line 4 of small.cu)\n"
          "  emulator     lo:1171 hi:0001 = 70001 = 0x00011171\n"
          "  model        lo:1170 hi:0001 = 70000 = 0x00011170");
    tokens[10] = l.expected.tokens()[10];
    tokens[11] = text::parse_token<tiny>("hi:0003").value();
    const auto high = l.compare(tokens);
    REQUIRE(high.found());
    CHECK(high.tokens() == 11);
    CHECK(high.found()->emulator.value == 70001);
    CHECK(high.found()->model.value == 0x31171);
}

TEST_CASE("a transcript that stops too early, goes on, or works on another lane differs", "[diff]") {
    const auto l = small_launch();
    auto tokens = l.expected.tokens();
    tokens.pop_back();
    const auto early = l.compare(tokens);
    REQUIRE(early.found());
    CHECK(to_string(*early.found()).find("model        nothing more") != std::string::npos);
    CHECK(early.found()->emulator.tokens == std::vector<std::string>{"end"});
    const auto other = l.compare(l.expected.tokens(), [](std::size_t, diff::pass_signals& s) {
        if (s.lane == 1) s.lane = 0;
    });
    REQUIRE(other.found());
    CHECK(other.found()->lane_of_model == 0);
    CHECK(other.found()->place.lane == 1);
}
