// SPDX-License-Identifier: MIT
// qwengpu compile: the machine blocks of a kernel with the lines they came from, and what it will cost.
#include "commands.hpp"

#include <qwengpu/launch/kernel.hpp>
#include <qwengpu/machine/disassembly.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/text/predict.hpp>
#include <qwengpu/text/prompt.hpp>
#include <qwengpu/view/names.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace cli {

namespace {

using nlohmann::ordered_json;
using qwengpu::machine::mission;

/// What every launch of the kernel needs: its prompt without buffers and without the parameters' values.
std::size_t prompt_tokens(const qwengpu::machine::program& p) {
    return qwengpu::text::prompt_of(qwengpu::machine::make_launch<mission>(p, {1, 1, 1}, {1, 1, 1})).size();
}

std::string range_text(const qwengpu::text::token_range& r) { return fmt::format("{}-{}", r.least, r.most); }

void print_block(const qwengpu::machine::program& p, std::size_t id) {
    namespace m = qwengpu::machine;
    const auto notes = id < p.notes.size() ? p.notes[id] : m::block_notes{};
    fmt::print("block {}   {} PTX instructions, {} tokens for 4 lanes\n", id, notes.ptx_instructions, range_text(qwengpu::text::predict(p.blocks[id], mission.lanes)));
    const auto line = [&](const std::string& text, const m::source_line& from) {
        if (text.empty()) return;
        std::string place = from.ptx_line > 0 ? fmt::format("PTX line {}", from.ptx_line) : "";
        if (from.cuda_line > 0) place += ", " + qwengpu::view::describe(p, from, {});
        fmt::print("{}\n", place.empty() ? "    " + text : fmt::format("    {:<44} ; {}", text, place));
    };
    for (int stage = 1; stage <= 4; ++stage) line(m::stage_line(p.blocks[id], stage), notes.stages[static_cast<std::size_t>(stage - 1)]);
    line(m::store_line(p.blocks[id]), notes.store);
    line(m::branch_line(p.blocks[id]), notes.branch);
    line(m::next_line(p.blocks[id]), {});
}

void print_head(const qwengpu::kernel& k) {
    const auto& p = k.program;
    fmt::print("kernel {} of {}{}\n", p.name, k.file, k.compiler == "none" ? "" : ", compiled by " + k.compiler);
    for (const auto& parameter : p.parameters)
        fmt::print("  parameter {}: {} bytes{}{}\n", parameter.name, parameter.bytes, parameter.is_pointer ? ", a pointer" : "",
                   parameter.rows == 0 ? ", not used" : fmt::format(", constant {}", parameter.first_row));
    for (const auto& literal : p.literals) fmt::print("  constant {} is {}\n", literal.row, qwengpu::view::value_text(literal.value));
}

qwengpu::text::token_range predicted(const qwengpu::machine::program& p) {
    qwengpu::text::token_range all;
    for (const auto& block : p.blocks) all += qwengpu::text::predict(block, mission.lanes);
    return all;
}

ordered_json block_json(const qwengpu::machine::program& p, std::size_t id) {
    const auto range = qwengpu::text::predict(p.blocks[id], mission.lanes);
    const auto line = qwengpu::machine::line_of(p, static_cast<int>(id));
    return {{"id", id}, {"lines", qwengpu::machine::disassemble(p.blocks[id])}, {"ptx_line", line.ptx_line}, {"cuda_line", line.cuda_line},
            {"ptx_instructions", id < p.notes.size() ? p.notes[id].ptx_instructions : 0}, {"least_tokens", range.least}, {"most_tokens", range.most}};
}

void print_json(const qwengpu::kernel& k) {
    const auto& p = k.program;
    ordered_json j{{"kernel", p.name}, {"file", k.file}, {"compiler", k.compiler}, {"registers", k.registers}, {"ptx_instructions", k.ptx_instructions},
                   {"prompt_tokens", prompt_tokens(p)}, {"least_tokens", predicted(p).least}, {"most_tokens", predicted(p).most},
                   {"parameters", ordered_json::array()}, {"blocks", ordered_json::array()}};
    for (const auto& q : p.parameters) j["parameters"].push_back({{"name", q.name}, {"bytes", q.bytes}, {"pointer", q.is_pointer}, {"constant", q.first_row}, {"words", q.rows}});
    for (std::size_t id = 0; id < p.blocks.size(); ++id) j["blocks"].push_back(block_json(p, id));
    fmt::print("{}\n", j.dump(2));
}

}  // namespace

int compile(const compile_options& options) {
    const auto k = qwengpu::load_kernel(options.file, options.kernel);
    if (options.json) {
        print_json(k);
        return ok;
    }
    print_head(k);
    for (std::size_t id = 0; id < k.program.blocks.size(); ++id) print_block(k.program, id);
    fmt::print("{} machine blocks for {} PTX instructions, {} of 15 registers\n", k.program.blocks.size(), k.ptx_instructions, k.registers);
    fmt::print("prompt: {} tokens, and 2 or 3 for each word of buffers and parameters\n", prompt_tokens(k.program));
    fmt::print("transcript: {} tokens if a warp of 4 lanes runs every block once\n", range_text(predicted(k.program)));
    return ok;
}

}  // namespace cli
