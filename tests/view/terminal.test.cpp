// SPDX-License-Identifier: MIT
// The terminal view of a small launch, line by line as a person reads it.
#include <qwengpu/machine/assembly.hpp>
#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/view/terminal.hpp>

#include "support/catch.hpp"

#include <string>
#include <vector>

using namespace qwengpu;

namespace {

machine::program doubling() {
    auto p = machine::assemble(R"(
block entry:
    t1 = add.shl2 c[13], %thread
    t2 = load [t1]
    t3 = mul t2, #2, 0 -> R2
    t4 = cmp.gt.s t3, #8
    branch exit if t4
block put:
    t1 = add.shl2 c[13], %thread
    t3 = add #100, 0 -> R3
    store [t1] = R2 if R1
    next exit
)");
    p.notes.resize(2);
    p.notes[0].stages[0] = {31, 4, 0};
    p.notes[1].store = {40, 0, 0};
    p.cuda_files = {"src/double.cu"};
    return p;
}

std::vector<std::string> rendered(int first) {
    auto image = machine::make_launch(doubling(), {1, 1, 1}, {3, 1, 1});
    machine::add_buffer(image, std::vector<std::uint32_t>{static_cast<std::uint32_t>(first), 2, 100000});
    machine::set_constant(image, 13, image.buffers[0].pointer());
    std::vector<std::string> lines;
    view::terminal<> watch(image.program, {{"data", image.buffers[0], 4}}, [&](const std::string& line) { lines.push_back(line); },
                           [](const std::string& file, int line) { return file == "src/double.cu" && line == 4 ? "data[i] *= 2;" : ""; });
    machine::emulate(image, watch);
    return lines;
}

}  // namespace

TEST_CASE("a launch as a person reads it", "[view]") {
    CHECK(rendered(-5) == std::vector<std::string>{
                              "thread block (0, 0, 0)",
                              "  warp 0 starts, lanes 012",
                              "record 1     warp 0  lanes 012   block 0    double.cu:4  data[i] *= 2;",
                              "    t1 = add.shl2 c[13], %thread",
                              "    t2 = load [t1]",
                              "    t3 = mul t2, #2, 0 -> R2                 R2 =            -10 |              4 | 200000=0x30d40",
                              "    t4 = cmp.gt.s t3, #8",
                              "    branch exit if t4                          on |   on | exit",
                              "  warp 0 goes on with lanes 01",
                              "record 2     warp 0  lanes 01    block 1    PTX line 40",
                              "    t1 = add.shl2 c[13], %thread",
                              "    t3 = add #100, 0 -> R3                   R3 = all: 100",
                              "    store [t1] = R2 if R1                    not stored | not stored",
                              "    next exit",
                              "end of the launch"});
}

TEST_CASE("words of memory have the names of their buffers", "[view]") {
    const std::vector<view::named_buffer> buffers{{"a", {1, 1, 4}, 4}, {"b", {2, 5, 2}, 1}, {"d", {3, 8, 4}, 8}};
    CHECK(view::name_of_word(buffers, 1, 3) == "a[2]");
    CHECK(view::name_of_word(buffers, 2, 6) == "b+4");
    CHECK(view::name_of_word(buffers, 3, 9) == "d[0]+4");
    CHECK(view::name_of_word(buffers, 3, 10) == "d[1]");
    CHECK(view::name_of_word(buffers, 9, 3) == "word 3 of window 9");
}
