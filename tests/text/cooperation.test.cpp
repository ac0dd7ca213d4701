// SPDX-License-Identifier: MIT
// Prompts and transcripts of what lanes do together: barriers and their phases, shared memory, meeting blocks, records that go
// lane by lane, and the later prompts of a session.
#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/text/predict.hpp>
#include <qwengpu/text/prompt.hpp>
#include <qwengpu/text/prompt_reader.hpp>
#include <qwengpu/text/spelling.hpp>
#include <qwengpu/text/transcribe.hpp>
#include <qwengpu/text/transcript_reader.hpp>

#include "support/assembled_launch.hpp"
#include "support/catch.hpp"
#include "support/event_log.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace qwengpu;

namespace {

constexpr machine::sizes tiny{.lanes = 2, .warps = 2, .registers = 4, .words = 16, .constants = 16, .blocks = 16};

template <machine::sizes M>
std::string spelled(const std::vector<text::token>& tokens) {
    std::string all;
    for (const auto t : tokens) all += (all.empty() ? "" : " ") + text::spell<M>(t);
    return all;
}

template <machine::sizes M>
std::string transcript_of(const machine::launch_image<M>& image) {
    text::transcriber<M> writer;
    machine::emulate(image, writer);
    return spelled<M>(writer.tokens());
}

/// An error's message for a transcript that begins like every launch of two lanes.
std::string complaint(const machine::program& program, const std::string& rest) {
    test::event_log log;
    text::transcript_reader<tiny> reader(program, log);
    std::string spelled = "cta short:0 short:0 short:0 start:w0:l01 " + rest + " ";
    try {
        for (std::size_t at; (at = spelled.find(' ')) != std::string::npos; spelled.erase(0, at + 1))
            reader.read(text::parse_token<tiny>(spelled.substr(0, at)).value());
    } catch (const error& e) {
        return e.message();
    }
    return "nothing";
}

const std::string two_barriers = "block 0: barrier 1\n next 1\nblock 1: barrier 1\n next 2\nblock 2:\n";
const std::string atomic = "block 0: lane_major\n t1 = add c[13], 0\n t2 = load [t1] -> R1\n t3 = add t2, #1\n store [t1] = t3 if %laneid\n";

}  // namespace

TEST_CASE("a program with barriers begins with all of them in phase 0", "[text]") {
    const auto begin = [](const std::string& text) { return spelled<tiny>(text::prompt_of(test::assembled_launch<tiny>(text, {1, 1, 1}))); };
    CHECK(begin(two_barriers).starts_with("start:w0:l start:w1:l fair:l1 release:p0:b0 release:p0:b1 release:p0:b2 release:p0:b3 release:p0:b4 "
                                          "release:p0:b5 release:p0:b6 release:p0:b7 const:0 short:0 "));
    CHECK(begin("block 0:\n").starts_with("start:w0:l start:w1:l fair:l1 const:0 "));
}

TEST_CASE("barriers that let lanes go, in a transcript", "[text]") {
    CHECK(transcript_of(test::assembled_launch<tiny>(two_barriers, {2, 1, 1})) ==
          "cta short:0 short:0 short:0 start:w0:l01 hdr:w0:b0 release:p1:b1 hdr:w0:b1 release:p0:b1 hdr:w0:b2 end");
    CHECK(transcript_of(test::assembled_launch<tiny>("block 0: barrier 1, count 1\n next 1\nblock 1:\n", {2, 1, 1})) ==
          "cta short:0 short:0 short:0 start:w0:l01 hdr:w0:b0 trap:4 end");
}

TEST_CASE("a lane-major record goes lane by lane", "[text]") {
    const auto image = test::assembled_launch<tiny>(atomic, {2, 1, 1}, {{5}});
    CHECK(transcript_of(image) == "cta short:0 short:0 short:0 start:w0:l01 hdr:w0:b0 short:5 skip short:5 addr:v1:1 short:6 end");
    CHECK(complaint(image.program, "hdr:w0:b0 short:5 skip short:5 addr:v1:1 short:6 end") == "nothing");
    CHECK(complaint(image.program, "hdr:w0:b0 short:5 skip trap:1 end") == "nothing");
    CHECK(complaint(image.program, "hdr:w0:b0 short:5 trap:1") == "token 8 is trap:1, where the store of lane 0 is wanted");
    CHECK(complaint(image.program, "hdr:w0:b0 all") == "token 7 is all, where register R1 of lane 0 is wanted");
    CHECK(complaint(image.program, "hdr:w0:b0 short:5 short:5") == "token 8 is short:5, where the store of lane 0 is wanted");
    CHECK(text::predict(image.program.blocks[0], 2).least == 1 + 2 * (1 + 1));
    CHECK(text::predict(image.program.blocks[0], 2).most == 1 + 2 * (2 + 3));
}

TEST_CASE("a program with meeting blocks and shared memory, as a prompt and back", "[text]") {
    auto image = test::assembled_launch<tiny>("block 0: next 14\nblock 14: t2 = ballot R1 -> R2\n next exit\n", {2, 1, 1});
    machine::declare_shared(image, 2);
    const auto prompt = text::prompt_of(image);
    CHECK(spelled<tiny>(prompt).find("prog:g0:b0 lo:0000 lo:0000 lo:200e prog:g0:b14 lo:0001 lo:0020 lo:200f") != std::string::npos);
    CHECK(spelled<tiny>(prompt).ends_with("addr:v29:1 short:0 addr:v29:2 short:0 launch"));
    const auto again = text::read_prompt<tiny>(prompt);
    CHECK(again.program.blocks == image.program.blocks);
    CHECK(again.shared == image.shared);
    CHECK(again.buffers.empty());
}

TEST_CASE("words of windows that are nobody's are refused in a prompt", "[text]") {
    for (const std::string spelled : {"addr:v28:1", "addr:v30:1", "addr:v0:1"}) {
        const std::vector<text::token> tokens{*text::parse_token<tiny>(spelled), *text::parse_token<tiny>("short:1")};
        CHECK_THROWS_AS(text::read_prompt<tiny>(tokens), error);
    }
}

TEST_CASE("a later prompt writes all six groups of its blocks, and the memory that is new", "[text]") {
    const auto image = test::assembled_launch<tiny>("block 0:\nblock 14: next exit\n", {1, 1, 1});
    const auto first = text::prompt_of(image), later = text::prompt_of(image, text::prompt_place::later);
    const auto groups = [](const std::vector<text::token>& tokens) {
        return std::count_if(tokens.begin(), tokens.end(), [](text::token t) { return text::vocabulary<tiny>::class_of(t) == text::token_class::prog; });
    };
    CHECK(groups(first) == 2);
    CHECK(groups(later) == 12);
    CHECK(text::read_prompt<tiny>(later).program.blocks == image.program.blocks);
}
