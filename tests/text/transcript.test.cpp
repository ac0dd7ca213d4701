// SPDX-License-Identifier: MIT
// Prompt and transcript: a launch written down by hand against what the library writes and reads, and random launches
// through emulator, tokens and reader back to the same events.
#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/text/prompt.hpp>
#include <qwengpu/text/prompt_reader.hpp>
#include <qwengpu/text/transcribe.hpp>
#include <qwengpu/text/transcript_reader.hpp>

#include "support/catch.hpp"
#include "support/event_log.hpp"
#include "support/random_program.hpp"

#include <array>
#include <sstream>
#include <string>
#include <vector>

using namespace qwengpu;
using machine::source;

namespace {

constexpr machine::sizes tiny{.lanes = 2, .warps = 2, .registers = 4, .words = 16, .constants = 16, .blocks = 16};

/// Three threads: each stores 5000 + its lane to its word of the buffer, and keeps the constant 7 in R2.
machine::launch_image<tiny> hand_made() {
    machine::machine_block b;
    b.special = machine::special_register::thread;
    b.s1 = {machine::alu_op::add, source::constant, source::special, source::zero, 2, 13};
    b.s3 = {machine::alu_op::add, source::imm, source::special, source::zero, 0, 5000};
    b.s4 = {machine::alu_op::add, source::imm, source::zero, source::zero, 0, 7};
    b.mem.store_address = source::t1;
    b.mem.store_data = source::t3;
    b.has_store = true;
    b.dest = {0, 0, 0, 2};
    b.next = 15;
    machine::program p{"hand", {b}, {}, {{"p", 8, true, 13, 1}}, {}, {}, {}};
    auto image = machine::make_launch<tiny>(p, {1, 1, 1}, {3, 1, 1});
    const auto place = machine::add_buffer(image, std::array<std::uint32_t, 3>{1, 70000, 0xffffffff});
    machine::set_parameter(image, 0, std::array<std::uint32_t, 1>{place.pointer()});
    return image;
}

std::vector<text::token> tokens_of(const std::string& spelled) {
    std::istringstream in(spelled);
    std::vector<text::token> tokens;
    for (std::string word; in >> word;) tokens.push_back(text::parse_token<tiny>(word).value());
    return tokens;
}

const std::string hand_prompt =
    "start:w0:l start:w1:l fair:l1 "
    "const:0 short:0 const:1 short:0 const:2 short:0 const:3 short:0 const:4 short:0 const:5 short:0 "
    "const:6 short:1 const:7 short:1 const:8 short:1 const:9 short:3 const:10 short:1 const:11 short:1 "
    "const:12 lo:0802 hi:0000 const:13 lo:0004 hi:0800 "
    "prog:g0:b0 lo:0000 lo:2000 lo:380f "   // D4 = R2; next 15, special 6, valid
    "prog:g1:b0 lo:1800 lo:0210 lo:0000 "   // store and W4 present; the store needs the special register
    "prog:g2:b0 lo:1d81 lo:3408 lo:0000 "   // add constant, special << 2; row 13 at bit 26
    "prog:g3:b0 lo:0000 lo:0150 lo:0000 "   // store address t1, data t3
    "prog:g4:b0 lo:1d41 lo:2000 lo:004e "   // add imm, special; 5000 at bit 26
    "prog:g5:b0 lo:0141 lo:1c00 lo:0000 "   // add imm, 0; 7 at bit 26
    "addr:v1:1 short:1 addr:v1:2 lo:1170 hi:0001 addr:v1:3 short:-1 launch";

const std::string hand_transcript =
    "cta short:0 short:0 short:0 start:w0:l01 start:w1:l0 "
    "hdr:w0:b0 addr:v1:1 lo:1388 hi:0000 addr:v1:2 lo:1389 hi:0000 all short:7 "
    "hdr:w1:b0 addr:v1:3 lo:138a hi:0000 short:7 end";

}  // namespace

TEST_CASE("a prompt, token by token as the contract says", "[text]") {
    std::string spelled;
    for (const auto t : text::prompt_of(hand_made())) spelled += text::spell<tiny>(t) + " ";
    spelled.pop_back();
    CHECK(spelled == hand_prompt);
}

TEST_CASE("a transcript written by hand is what the emulator writes", "[text]") {
    text::transcriber<tiny> writer;
    machine::emulate(hand_made(), writer);
    CHECK(writer.tokens() == tokens_of(hand_transcript));
}

TEST_CASE("a transcript written by hand is read as its events", "[text]") {
    const auto image = hand_made();
    test::event_log log;
    text::transcript_reader<tiny> reader(image.program, log);
    for (const auto t : tokens_of(hand_transcript)) reader.read(t);
    CHECK(reader.ended());
    CHECK(log.lines == std::vector<std::string>{
                           "launch", "cta 0 0 0", "start 0 3", "start 1 1", "hdr 0 0 3", "store 0 1:1 = 5000", "store 1 1:2 = 5001",
                           "all", "w4 0 R2 = 7", "hdr 1 0 1", "store 0 1:3 = 5002", "w4 0 R2 = 7", "end"});
}

TEST_CASE("tokens that do not fit are named with what was wanted", "[text]") {
    const auto complaint = [](std::string spelled) {
        const auto image = hand_made();
        test::event_log log;
        text::transcript_reader<tiny> reader(image.program, log);
        try {
            for (const auto t : tokens_of(spelled)) reader.read(t);
        } catch (const error& e) {
            return e.id() + ": " + e.message();
        }
        return std::string("nothing");
    };
    const std::string begin = "cta short:0 short:0 short:0 start:w0:l01 start:w1:l0 ";
    CHECK(complaint("end") == "text.transcript: token 1 is end, where `cta` is wanted");
    CHECK(complaint("cta short:0 hi:0000") == "text.transcript: token 3 is hi:0000, where coordinate y of the thread block is wanted");
    CHECK(complaint(begin + "hdr:w0:b0 short:3") == "text.transcript: token 8 is short:3, where the store of lane 0 is wanted");
    CHECK(complaint(begin + "hdr:w0:b0 skip") == "text.transcript: token 8 is skip, where the store of lane 0 is wanted");
    CHECK(complaint(begin + "hdr:w0:b0 addr:v1:1 lo:1388 short:0") == "text.transcript: token 10 is short:0, where `hi` is wanted");
    CHECK(complaint(begin + "hdr:w0:b0 addr:v1:1 short:3 all") == "text.transcript: token 10 is all, where the store of lane 1 is wanted");
    CHECK(complaint(begin + "hdr:w1:b0 addr:v1:1 short:3 trap:1") == "text.transcript: token 10 is trap:1, where register R2 of lane 0 is wanted");
    CHECK(complaint(begin + "hdr:w1:b3 addr:v1:1") == "text.transcript: token 8 is addr:v1:1, where `trap:3` is wanted");
    CHECK(complaint(hand_transcript + " end") == "text.transcript: token 22 is end, where nothing is wanted");
    CHECK(complaint(begin + "start:w0:l01") ==
          "text.transcript: token 7 is start:w0:l01, where `start` of warp 2, or a record is wanted");
}

TEST_CASE("the reader knows where it stands", "[text]") {
    const auto image = hand_made();
    test::event_log log;
    text::transcript_reader<tiny> reader(image.program, log);
    for (const auto t : tokens_of("cta short:0 short:0 short:0 start:w0:l01 start:w1:l0 hdr:w0:b0 addr:v1:1 short:3")) reader.read(t);
    const auto place = reader.place();
    CHECK(place.tokens == 9);
    CHECK(place.records == 1);
    CHECK(place.in_record);
    CHECK(place.lane == 1);
    CHECK(place.slot == machine::slot::store);
}

TEST_CASE("a prompt is read back", "[text]") {
    const auto image = hand_made();
    const auto again = text::read_prompt<tiny>(tokens_of(hand_prompt));
    CHECK(again.program.blocks == image.program.blocks);
    CHECK(again.constants == image.constants);
    CHECK(again.memory == image.memory);
    CHECK(again.grid == image.grid);
    CHECK(again.block == image.block);
}

TEST_CASE("prompts that end early or hold something else are refused", "[text]") {
    CHECK_THROWS_AS(text::read_prompt<tiny>(tokens_of("start:w0:l const:1 short:0")), error);
    CHECK_THROWS_AS(text::read_prompt<tiny>(tokens_of("const:1 const:2 launch")), error);
    CHECK_THROWS_AS(text::read_prompt<tiny>(tokens_of("prog:g0:b0 lo:0000 short:0 launch")), error);
    CHECK_THROWS_AS(text::read_prompt<tiny>(std::vector<text::token>{4000000}), error);
}

namespace {

template <machine::sizes M>
void round_trip(std::uint64_t seed) {
    const auto image = test::random_launch<M>(seed);
    text::transcriber<M> writer;
    test::event_log emulated, read;
    machine::observer_list both({writer, emulated});
    machine::emulate(image, both, 20000);
    const auto again = text::read_prompt<M>(text::prompt_of(image));
    INFO("seed " << seed);
    CHECK(again.program.blocks == image.program.blocks);
    CHECK(again.memory == image.memory);
    CHECK(again.shared == image.shared);
    CHECK(again.constants == image.constants);
    text::transcript_reader<M> reader(again.program, read);
    for (const auto t : writer.tokens()) reader.read(t);
    CHECK(read.lines == emulated.lines);
}

}  // namespace

TEST_CASE("random launches: emulator, tokens, reader, the same events", "[text]") {
    for (std::uint64_t seed = 0; seed < 150; ++seed) round_trip<machine::mission>(seed);
    for (std::uint64_t seed = 0; seed < 150; ++seed) round_trip<tiny>(seed);
}
