// SPDX-License-Identifier: MIT
// qwengpu export: the compiled layers alone as a checkpoint that other engines open, or in our own compact form.
#include "commands.hpp"
#include "front.hpp"
#include "progress.hpp"

#include <qwengpu/checkpoint/export_gguf.hpp>
#include <qwengpu/checkpoint/export_model.hpp>
#include <qwengpu/checkpoint/sparse_export.hpp>

#include <fmt/format.h>

namespace cli {

int export_layers(const export_options& options) {
    namespace checkpoint = qwengpu::checkpoint;
    const auto front = front_of(std::make_shared<const qwengpu::stage::compiled_layers<>>());
    progress line;
    const auto show = [&](std::uint64_t done, std::uint64_t total) { line.show(fmt::format("{} of {} MB", done / 1'000'000, total / 1'000'000)); };
    const auto type = options.dtype == "fp32" ? checkpoint::element_type::f32 : options.dtype == "fp16" ? checkpoint::element_type::f16 : checkpoint::element_type::bf16;
    if (type == checkpoint::element_type::f16 && !options.gguf) throw qwengpu::error("checkpoint.export", "fp16 is written into GGUF files only; add --gguf, or take bf16");
    const checkpoint::export_options how{.type = type, .period = options.period, .progress = show};
    if (options.gguf) checkpoint::export_gguf(options.folder, front, how);
    else if (options.sparse) checkpoint::export_sparse(options.folder, front, how);
    else checkpoint::export_model(options.folder, front, how);
    line.clear();
    fmt::print("{}: {} compiled layers, {} tokens, {}\n", options.folder, front.layers.size(), front.tokens, options.dtype);
    return ok;
}

}  // namespace cli
