// SPDX-License-Identifier: MIT
// qwengpu export: the compiled layers alone as a checkpoint that other engines open, or in our own compact form.
#include "commands.hpp"
#include "front.hpp"
#include "writing.hpp"

#include <qwengpu/checkpoint/export_gguf.hpp>
#include <qwengpu/checkpoint/export_model.hpp>
#include <qwengpu/checkpoint/sparse_export.hpp>

#include <fmt/format.h>

namespace cli {

int export_layers(const export_options& options) {
    namespace checkpoint = qwengpu::checkpoint;
    const auto type = element_type_of(options.dtype);
    if (type == checkpoint::element_type::f16 && !options.gguf) throw qwengpu::error("checkpoint.export", "fp16 is written into GGUF files only; add --gguf, or take bf16");
    const auto front = front_of(std::make_shared<const qwengpu::stage::compiled_layers<>>());
    progress line;
    const checkpoint::export_options how{.type = type, .period = options.period, .progress = shown_on(line)};
    if (options.gguf) checkpoint::export_gguf(options.folder, front, how);
    else if (options.sparse) checkpoint::export_sparse(options.folder, front, how);
    else checkpoint::export_model(options.folder, front, how);
    line.clear();
    fmt::print("{}: {} compiled layers, {} tokens, {}\n", options.folder, front.layers.size(), front.tokens, options.dtype);
    return ok;
}

}  // namespace cli
