// SPDX-License-Identifier: MIT
// A launch inside a conversation: a small machine before a small base of random weights. Words, then a launch, then words. The
// machine's tokens are the emulator's; words leave the front layers as they came; what comes after the launch sees its results. Takes
// 3 GB of disk and about a minute.
#include <qwengpu/checkpoint/disk_model.hpp>
#include <qwengpu/checkpoint/graft_model.hpp>
#include <qwengpu/checkpoint/synthetic_base.hpp>
#include <qwengpu/machine/emulator.hpp>
#include <qwengpu/text/prompt.hpp>
#include <qwengpu/text/transcribe.hpp>

#include "../../examples/qwengpu/front.hpp"
#include "support/assembled_launch.hpp"
#include "support/catch.hpp"
#include "support/scratch_folder.hpp"
#include "support/small_machine.hpp"

#include <memory>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;
using small = text::vocabulary<test::small_machine>;

constexpr int vocabulary = 300;

/// As the small shape, with as many heads as the mission's.
constexpr nn::shape shape{.hidden = 1024, .mlp = 6144, .key_dim = 32};

/// Two lanes; each adds 1000 to its word of the buffer.
machine::launch_image<test::small_machine> launch_of(std::uint32_t first, std::uint32_t second) {
    return test::assembled_launch<test::small_machine>("block 0: t1 = add.shl2 c[13], %laneid -> R1\n t2 = load [t1] -> R2\n t3 = add t2, #1000 -> R3\nblock 1: t1 = add R1, 0\n t3 = add R3, 0\n store [t1] = t3\n", {2, 1, 1}, {{first, second}});
}

std::vector<text::token> emulated(const machine::launch_image<test::small_machine>& image) {
    text::transcriber<test::small_machine> writer;
    machine::emulate(image, writer, 100);
    return writer.tokens();
}

/// The base alone, the graft of the machine before it, and what the report says; made once.
struct grafted {
    test::scratch_folder base_folder, folder;
    graft_report report;
    std::unique_ptr<disk_model<nn::bf16>> base, model;

    grafted() {
        write_synthetic_base(base_folder.path(), {.shape = shape, .layers = 4, .vocabulary = vocabulary, .anisotropy = 1.0F});
        report = graft_model(base_folder.path(), folder.path(), cli::front_of(cli::narrow_layers<test::small_machine>(shape, shape.hidden / 2)), {.measure = 40});
        base = std::make_unique<disk_model<nn::bf16>>(base_folder.path());
        model = std::make_unique<disk_model<nn::bf16>>(folder.path());
    }
};
const grafted& the_graft() {
    static const grafted g;
    return g;
}

using state = disk_model<nn::bf16>::state;

void read_words(state& s, const std::vector<std::uint32_t>& words) {
    for (const auto w : words) the_graft().model->read(s, w);
}
void read_machine(state& s, const std::vector<text::token>& tokens) {
    for (const auto t : tokens) the_graft().model->read(s, vocabulary + t);
}

/// What the model writes from the last token of a prompt on, up to `end`.
std::vector<text::token> generated(state& s, const std::vector<text::token>& prompt) {
    read_machine(s, {prompt.begin(), prompt.end() - 1});
    std::vector<text::token> all;
    for (auto last = prompt.back(); all.size() < 500 && (all.empty() || last != small::encode(text::token_class::end));) {
        const auto next = the_graft().model->next(s, vocabulary + last);
        if (next < vocabulary) break;  // a word: the machine's token has lost
        all.push_back(last = static_cast<text::token>(next - vocabulary));
    }
    return all;
}

const std::vector<std::uint32_t> before{5, 17, 250, 3, 299}, after{42, 7, 111};

}  // namespace

TEST_CASE("words before a launch are read as by the base alone, to the bit", "[.heavy][conversation]") {
    const auto& g = the_graft();
    CHECK(g.report.bf16.exact == vocabulary);
    CHECK(g.report.measured.exact == 40);
    auto alone = g.base->fresh();
    auto grafted = g.model->fresh();
    for (const auto word : before) {
        g.base->read(alone, word);
        g.model->read(grafted, word);
        CHECK(alone.residual == grafted.residual);
    }
}

TEST_CASE("a launch between words is the emulator's, token by token", "[.heavy][conversation]") {
    const auto image = launch_of(7, 20);
    const auto expected = emulated(image);
    auto s = the_graft().model->fresh();
    read_words(s, before);
    CHECK(generated(s, text::prompt_of(image)) == expected);
    read_words(s, after);
    const auto second = launch_of(31, 600);
    CHECK(generated(s, text::prompt_of(second)) == emulated(second));
}

// The base reads the machine's tokens where they are predicted: a pass leaves the next token's code, not that of the one it has read.
TEST_CASE("words after a launch see its results", "[.heavy][conversation]") {
    const auto residual_after = [&](std::uint32_t second) {
        const auto image = launch_of(7, second);
        auto s = the_graft().model->fresh();
        read_machine(s, text::prompt_of(image));
        read_machine(s, emulated(image));
        read_words(s, after);
        return s.residual;
    };
    const nn::vector seen = residual_after(20), other = residual_after(21);
    CHECK((seen.array() != other.array()).count() > 0);
    CHECK((seen - other).norm() < seen.norm());
}
