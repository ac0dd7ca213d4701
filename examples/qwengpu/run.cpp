// SPDX-License-Identifier: MIT
// qwengpu run: launches of a launch file, what they leave, what they cost, and whether model and emulator agree.
#include "commands.hpp"
#include "progress.hpp"
#include "session.hpp"

#include <qwengpu/io/launch_file.hpp>
#include <qwengpu/io/result_json.hpp>
#include <qwengpu/launch/describe.hpp>
#include <qwengpu/launch/verdict.hpp>
#include <qwengpu/text/transcript_reader.hpp>
#include <qwengpu/view/terminal.hpp>

#include <fmt/format.h>
#include <fstream>
#include <map>
#include <vector>

namespace cli {

namespace {

using qwengpu::machine::mission;

/// Lines of source files, read when they are first asked for.
class source_lines {
public:
    explicit source_lines(std::string folder) : folder_(std::move(folder)) {}

    std::string operator()(const std::string& file, int line) {
        auto [found, is_new] = files_.try_emplace(file);
        if (is_new) read(file, found->second);
        const auto at = static_cast<std::size_t>(line);
        return line > 0 && at <= found->second.size() ? found->second[at - 1] : "";
    }

private:
    void read(const std::string& file, std::vector<std::string>& lines) const {
        std::ifstream in(file);
        if (!in) in.open(folder_ + "/" + file.substr(file.find_last_of('/') + 1));
        for (std::string line; std::getline(in, line);) {
            const auto begin = line.find_first_not_of(" \t");
            lines.push_back(begin == std::string::npos ? "" : line.substr(begin));
        }
    }

    std::string folder_;
    std::map<std::string, std::vector<std::string>> files_;
};

void print_transcript(const qwengpu::launch_case& c, const qwengpu::launch_result& r, const std::string& source) {
    std::vector<qwengpu::view::named_buffer> buffers;
    const auto of_launch = qwengpu::buffers_of(c.request.args);
    for (std::size_t i = 0; i < of_launch.size(); ++i) buffers.push_back({of_launch[i]->name, r.places[i], qwengpu::row(of_launch[i]->type).bytes});
    source_lines lines(source.substr(0, source.find_last_of('/')));
    qwengpu::view::terminal<> view(r.program, buffers, [](const std::string& line) { fmt::print("  {}\n", line); },
                                   [&](const std::string& file, int line) { return lines(file, line); });
    qwengpu::text::transcript_reader<> reader(r.program, view);
    try {
        for (const auto t : r.best().transcript) reader.read(t);
    } catch (const qwengpu::error& e) {
        fmt::print("  {}\n", e.message());
    }
}

void print_memory(const std::vector<qwengpu::buffer>& memory) {
    for (const auto& b : memory) {
        fmt::print("  {} {}[{}] =", b.name, qwengpu::row(b.type).name, b.size());
        for (std::size_t i = 0; i < b.size(); ++i) fmt::print(" {}", qwengpu::value_text(b.type, b.bits(i)));
        fmt::print("\n");
    }
}

void print_side(const char* name, const qwengpu::launch_case& c, const qwengpu::launch_result& r, const qwengpu::side_result& side) {
    fmt::print("  {:<9} {}; {} tokens, {} records, {} PTX lane-instructions, {:.2f} tokens per PTX lane-instruction, {:.0f} tokens/s\n", name,
               qwengpu::describe_ending(r, side, c.request, mission.lanes), side.transcript.size(), side.records, side.lane_instructions,
               side.tokens_per_lane_instruction(), side.tokens_per_second());
}

void print_result(const qwengpu::launch_case& c, const qwengpu::launch_result& r, const qwengpu::verdict& v, const std::string& source, bool transcript) {
    const auto& g = c.request.grid;
    const auto& b = c.request.block;
    fmt::print("{}: kernel {}, {} x {} x {} thread blocks of {} x {} x {} threads\n", c.name, r.program.name, g[0], g[1], g[2], b[0], b[1], b[2]);
    fmt::print("  prompt of {} tokens\n", r.prompt_tokens);
    if (transcript) print_transcript(c, r, source);
    print_memory(r.best().memory);
    if (r.model) print_side("model", c, r, *r.model);
    if (r.emulator) print_side("emulator", c, r, *r.emulator);
    if (r.model && r.emulator)
        fmt::print("  compared  {} tokens, and the signals of {} passes: {}\n", r.compared_tokens, r.compared_passes, r.difference ? "they part" : "0 differences");
    if (r.emulator)
        for (const auto& f : r.emulator->findings) fmt::print("  found     {}\n", qwengpu::describe_finding(r, c.request, f));
    fmt::print("{}: {}\n", v.passed ? "passed" : "FAILED", v.reason);
}

/// Runs one case; adds to `results` or prints. False if it did not pass.
bool run_case(session& s, const qwengpu::launch_case& c, const run_options& options, qwengpu::io::json& results) {
    progress line;
    qwengpu::launch_options launch;
    launch.max_records = options.max_records;
    launch.checks = options.checks;
    launch.progress = [&](const qwengpu::launch_progress& p) { line.show(fmt::format("{}: {} tokens, {} records", c.name, p.tokens, p.records)); };
    try {
        const auto source = find_source(c.source, options.file, options.sources);
        const auto kernel = s.kernel(source, c.kernel);
        const auto r = options.in_session ? s.launch_next(*kernel, c.request, options.on, launch) : s.launch(*kernel, c.request, options.on, launch);
        line.clear();
        const auto v = qwengpu::judge<mission>(c, r);
        if (!options.json) print_result(c, r, v, source, options.transcript);
        if (options.json) results.push_back(qwengpu::io::result_json(c, r, v));
        if (options.json && options.transcript) results.back()["transcript"] = qwengpu::io::tokens_json(r.best().transcript);
        return v.passed;
    } catch (const qwengpu::error& e) {
        line.clear();
        const auto v = qwengpu::judge(c, e);
        if (c.expect_error.empty()) throw;
        if (!options.json) fmt::print("{}\n{}: {}\n", c.name, v.passed ? "passed" : "FAILED", v.reason);
        if (options.json) results.push_back(qwengpu::io::refused_json(c, e, v));
        return v.passed;
    }
}

}  // namespace

int run(const run_options& options) {
    const auto cases = qwengpu::io::read_launch_file(options.file);
    session s(options.checkpoint);
    auto results = qwengpu::io::json::array();
    bool all_passed = true, any = false;
    for (const auto& c : cases) {
        if (!options.name.empty() && c.name != options.name) continue;
        any = true;
        all_passed = run_case(s, c, options, results) && all_passed;
    }
    if (!any) throw qwengpu::error("io.case", options.name.empty() ? "the file holds no launch" : "no launch of the file is named " + options.name, qwengpu::place{options.file, 0, 0});
    if (options.json) fmt::print("{}\n", (results.size() == 1 ? results[0] : results).dump(2));
    return all_passed ? ok : failed;
}

}  // namespace cli
