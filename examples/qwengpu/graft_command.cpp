// SPDX-License-Identifier: MIT
// qwengpu graft: the compiled layers before those of a Qwen3.5-2B. qwengpu synthesize: a base of random weights to try it on.
#include "commands.hpp"
#include "front.hpp"
#include "writing.hpp"

#include <qwengpu/checkpoint/graft_model.hpp>
#include <qwengpu/checkpoint/synthetic_base.hpp>

#include <fmt/format.h>

namespace cli {

namespace {

namespace checkpoint = qwengpu::checkpoint;

void print(const char* arithmetic, const checkpoint::token_report& r) {
    fmt::print("  in {}: {} tokens pass through to the bit, {} are pushed (their rows change by {:.2g} of their length, at most {:.2g}), {} are undecided\n", arithmetic,
               r.exact + r.empty, r.pushed, r.mean_deviation, r.largest_deviation, r.undecided.size());
}

}  // namespace

int graft(const graft_options& options) {
    const auto shape = checkpoint::read_config(options.base).shape;
    const auto front = front_of(narrow_layers<>(shape, shape.hidden / 2));
    progress line;
    checkpoint::graft_options how{.period = options.period, .drop_others = options.drop_others, .measure = options.measure, .progress = shown_on(line), .say = [&line](const std::string& what) { line.show(what); }};
    const auto r = checkpoint::graft_model(options.base, options.out, front, how);
    line.clear();
    fmt::print("{}: {} layers before {}, {} tokens after {}\n", options.out, r.front_layers, r.base_layers, front.tokens, r.base_vocabulary);
    fmt::print("machine mode: the next token's logit is {:.4g} or more, the base's tokens have {:.4g} at most, the margin is {:.4g}, in bf16 {:.2f} steps\n", r.mode.least_logit, r.mode.base_logit, r.mode.margin(), r.mode.bf16_steps);
    fmt::print("ordinary text:\n");
    print("fp32", r.fp32);
    print("bf16", r.bf16);
    fmt::print("  measured: of {} tokens run through the layers as written, {} pass through to the bit; the others change by {:.2g} of their length at most\n", r.measured.tokens, r.measured.exact, r.measured.largest_deviation);
    if (!r.carried.empty()) fmt::print("{} tensors that are not the text model's were carried along\n", r.carried.size());
    if (!r.dropped.empty()) fmt::print("{} tensors that are not the text model's were left out\n", r.dropped.size());
    fmt::print("hashes of the base's tensors and all figures: {}/graft_report.json\n", options.out);
    return ok;
}

int synthesize(const synthesize_options& options) {
    progress line;
    checkpoint::write_synthetic_base(options.folder, {.layers = options.layers, .vocabulary = options.vocabulary, .anisotropy = options.anisotropy, .vision_language = options.published,
                                                      .type = element_type_of(options.dtype), .progress = shown_on(line)});
    line.clear();
    fmt::print("{}: {} layers of random weights, {} tokens\n", options.folder, options.layers, options.vocabulary);
    return ok;
}

}  // namespace cli
