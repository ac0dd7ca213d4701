// SPDX-License-Identifier: MIT
// The host loop with models of a few lines: what it feeds them, when it stops; and what records are predicted to cost.
#include <qwengpu/machine/assembly.hpp>
#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/text/generate.hpp>
#include <qwengpu/text/predict.hpp>
#include <qwengpu/text/spelling.hpp>
#include <qwengpu/text/transcribe.hpp>

#include "support/catch.hpp"

#include <vector>

using namespace qwengpu;
using text::token;

namespace {

token spelled(const char* s) { return text::parse_token(s).value(); }

/// Says its script, whatever it is told, and keeps what it was told.
struct script_model {
    struct state {
        std::vector<token> read, asked;
    };
    std::vector<token> script;

    [[nodiscard]] state fresh() const { return {}; }
    void read(state& s, token t) const { s.read.push_back(t); }
    [[nodiscard]] token next(state& s, token t) const {
        s.asked.push_back(t);
        return script[s.asked.size() - 1];
    }
};

struct told {
    text::generation made;
    std::vector<token> out;
    script_model::state state;
};

told generate(const script_model& model, const text::generation_limits& limits, std::size_t host_stops_at = 1000) {
    told t;
    const std::vector<token> prompt{spelled("fair:l3"), spelled("const:0"), spelled("short:0"), spelled("launch")};
    t.made = text::generate(model, t.state, prompt, limits, [&](token x) {
        t.out.push_back(x);
        return t.out.size() < host_stops_at;
    });
    return t;
}

const script_model talk{{spelled("cta"), spelled("hdr:w0:b1"), spelled("short:5"), spelled("hdr:w0:b2"), spelled("end"), spelled("cta")}};

}  // namespace

TEST_CASE("the loop reads the prompt, feeds back what is said, and stops at end", "[text]") {
    const auto t = generate(talk, {});
    CHECK(t.made.reason == text::stopped_by::end);
    CHECK(t.made.tokens == 5);
    CHECK(t.made.records == 2);
    CHECK(t.out == std::vector<token>(talk.script.begin(), talk.script.begin() + 5));
    CHECK(t.state.read == std::vector{spelled("fair:l3"), spelled("const:0"), spelled("short:0")});
    CHECK(t.state.asked == std::vector{spelled("launch"), spelled("cta"), spelled("hdr:w0:b1"), spelled("short:5"), spelled("hdr:w0:b2")});
}

TEST_CASE("limits", "[text]") {
    const auto records = generate(talk, {.records = 1});
    CHECK(records.made.reason == text::stopped_by::record_limit);
    CHECK(records.out.size() == 3);
    const auto tokens = generate(talk, {.tokens = 2});
    CHECK(tokens.made.reason == text::stopped_by::token_limit);
    CHECK(tokens.out.size() == 2);
    const auto host = generate(talk, {}, 4);
    CHECK(host.made.reason == text::stopped_by::host);
    CHECK(host.out.size() == 4);
    CHECK(generate(talk, {}, 5).made.reason == text::stopped_by::end);
}

namespace {

/// Tokens of the records of a launch of one block with these lanes, as the emulator writes them.
int tokens_of(const machine::program& p, std::uint32_t threads) {
    text::transcriber<> writer;
    const auto image = machine::make_launch(p, {1, 1, 1}, {threads, 1, 1});
    machine::emulate(image, writer);
    return static_cast<int>(writer.tokens().size()) - 6;  // cta, three words, start, end
}

}  // namespace

TEST_CASE("predicted tokens are those of the cheapest and the dearest record", "[text]") {
    const auto same = machine::assemble("block a:\n t1 = add #7, 0 -> R1\n t3 = add #8, 0 -> R2\n next exit");
    CHECK(text::predict(same.blocks[0], 4).least == 4);
    CHECK(tokens_of(same, 4) == 4);
    CHECK(tokens_of(same, 1) == text::predict(same.blocks[0], 1).least);
    const auto mixed = machine::assemble("block a:\n t1 = add #7, 0 -> R1\n t3 = add %tid.x, #2 -> R2\n next exit");
    CHECK(text::predict(mixed.blocks[0], 4).least == 7);
    CHECK(tokens_of(mixed, 4) == 7);
    const auto wide = machine::assemble("block a:\n t1 = shl %tid.x, #20 -> R1\n t4 = lop.0x0f t1, 0, 0 -> R2\n next exit");
    CHECK(text::predict(wide.blocks[0], 3).most == 1 + 2 * 2 * 3);
}
