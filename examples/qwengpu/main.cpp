// SPDX-License-Identifier: MIT
// qwengpu: compile kernels, launch them inside the model and on the emulator, compare, and tell what the layers are made of.
#include "commands.hpp"

#include <qwengpu/error.hpp>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <string>

namespace {

const std::map<std::string, qwengpu::run_on> sides{
    {"both", qwengpu::run_on::both}, {"model", qwengpu::run_on::model}, {"emulator", qwengpu::run_on::emulator}};

void add_on(CLI::App& app, qwengpu::run_on& on) {
    app.add_option_function<std::string>("--on", [&on](const std::string& name) { on = sides.at(name); }, "Who runs it; both: compared step by step")
        ->check(CLI::IsMember({"both", "model", "emulator"}))
        ->default_str("both");
}

/// The checks of the emulator; they need it to run.
void add_checks(CLI::App& app, qwengpu::machine::access_checks& checks, const qwengpu::run_on& on) {
    const auto take = [&checks](const std::vector<std::string>& names) {
        for (const auto& name : names) (name == "races" ? checks.races : checks.uninitialised) = true;
    };
    app.add_option_function<std::vector<std::string>>("--check", take, "Let the emulator look for races, uninitialised (reads of memory nobody wrote), or both: races,uninitialised")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"races", "uninitialised"}));
    app.final_callback([&checks, &on] {
        if (checks.any() && on == qwengpu::run_on::model) throw CLI::ValidationError("--check", "the emulator does the checks; use --on both or --on emulator");
    });
}

void add_limit(CLI::App& app, std::uint64_t& limit) {
    app.add_option("--max-records", limit, "Stop a launch after so many records")->capture_default_str()->check(CLI::PositiveNumber);
}

void add_checkpoint(CLI::App& app, std::string& folder) {
    app.add_option("--checkpoint", folder, "Run the model from this folder (an export or a graft) or file (export --sparse), instead of building it")->check(CLI::ExistingPath);
}

CLI::App* add_compile(CLI::App& app, cli::compile_options& o) {
    auto* sub = app.add_subcommand("compile", "Compile a kernel (.cu or .ptx) and show its machine blocks");
    sub->add_option("file", o.file, "The source file")->required();
    sub->add_option("--kernel", o.kernel, "Name of the kernel, if the file has several");
    sub->add_flag("--json", o.json, "Print JSON");
    return sub;
}

CLI::App* add_run(CLI::App& app, cli::run_options& o) {
    auto* sub = app.add_subcommand("run", "Run the launches of a launch file and show what they leave");
    sub->add_option("launch", o.file, "A JSON file with one or more launches")->required();
    sub->add_option("--case", o.name, "Run only the launch of this name");
    sub->add_option("--sources", o.sources, "Folder of the sources (../kernels beside the launch file, or that file's own)");
    add_on(*sub, o.on);
    add_checks(*sub, o.checks, o.on);
    sub->add_flag("--session", o.in_session, "Run all launches of the file as one session: memory stays from one to the next");
    sub->add_flag("--transcript", o.transcript, "Show every record of the launch");
    sub->add_flag("--json", o.json, "Print JSON");
    add_limit(*sub, o.max_records);
    add_checkpoint(*sub, o.checkpoint);
    return sub;
}

CLI::App* add_check(CLI::App& app, cli::check_options& o) {
    auto* sub = app.add_subcommand("check", "Run every case of the case files under the paths against what it expects");
    sub->add_option("paths", o.paths, "Case files, or folders that hold them")->required();
    sub->add_option("--sources", o.sources, "Folder where NAME.cu or NAME.ptx lies (../kernels beside the case file, or that file's own)");
    add_on(*sub, o.on);
    add_checks(*sub, o.checks, o.on);
    sub->add_option("--kernel", o.kernels, "Only kernels that match this pattern (* and ?); may be given again")->allow_extra_args(false);
    sub->add_flag("--json", o.json, "Print JSON");
    add_limit(*sub, o.max_records);
    sub->add_option("--jobs", o.jobs, "Launches at the same time (as many as there are processors)")->check(CLI::PositiveNumber);
    add_checkpoint(*sub, o.checkpoint);
    return sub;
}

CLI::App* add_stats(CLI::App& app, cli::stats_options& o) {
    auto* sub = app.add_subcommand("stats", "Tell the layers' shapes, parameters, non-zeros, state and time to build");
    sub->add_flag("--json", o.json, "Print JSON");
    return sub;
}

CLI::App* add_export(CLI::App& app, cli::export_options& o) {
    auto* sub = app.add_subcommand("export", "Write the layers as a checkpoint (safetensors, config.json, tokenizer) that other engines open");
    sub->add_option("folder", o.folder, "The folder to write into, or with --gguf or --sparse the file")->required();
    sub->add_option("--dtype", o.dtype, "bf16, fp32, or fp16 (GGUF only)")->capture_default_str()->check(CLI::IsMember({"bf16", "fp32", "fp16"}));
    auto* gguf = sub->add_flag("--gguf", o.gguf, "Write a GGUF file, with the transforms of llama.cpp");
    sub->add_flag("--sparse", o.sparse, "Write our own compact file of a few MB, for run and check --checkpoint")->excludes(gguf);
    sub->add_option("--period", o.period, "Every so many layers one of full attention that passes through (4 for engines that only know the interval)")->check(CLI::Range(2, 64));
    return sub;
}

CLI::App* add_graft(CLI::App& app, cli::graft_options& o) {
    auto* sub = app.add_subcommand("graft", "Put the layers before those of a Qwen3.5-2B checkpoint");
    sub->add_option("--base", o.base, "Folder of the base's checkpoint")->required()->check(CLI::ExistingDirectory);
    sub->add_option("--out", o.out, "The folder to write into")->required();
    sub->add_option("--period", o.period, "As in export, for the layers in front")->check(CLI::Range(2, 64));
    sub->add_flag("--drop-others", o.drop_others, "Leave out what is not the text model (mtp.*, model.visual.*); the graft is a text-only model then");
    sub->add_option("--measure", o.measure, "Run so many words through the layers as written, and report what became of them")->capture_default_str()->check(CLI::Range(0, 1'000'000));
    return sub;
}

CLI::App* add_synthesize(CLI::App& app, cli::synthesize_options& o) {
    auto* sub = app.add_subcommand("synthesize", "Write a Qwen3.5-2B of random weights, to try a graft on");
    sub->add_option("folder", o.folder, "The folder to write into")->required();
    sub->add_option("--layers", o.layers, "Its depth")->capture_default_str()->check(CLI::Range(1, 512));
    sub->add_option("--vocabulary", o.vocabulary, "Its tokens")->capture_default_str()->check(CLI::Range(2, 1'000'000));
    sub->add_option("--anisotropy", o.anisotropy, "How strong the embeddings' common mean is")->capture_default_str();
    sub->add_option("--dtype", o.dtype, "bf16 or fp32")->capture_default_str()->check(CLI::IsMember({"bf16", "fp32"}));
    sub->add_flag("--published", o.published, "Names and config of the published class with vision");
    return sub;
}

CLI::App* add_prompt(CLI::App& app, cli::prompt_options& o) {
    auto* sub = app.add_subcommand("prompt", "Print launches as JSON for other engines: the tokens of the prompt, and those the emulator says must follow");
    sub->add_option("launches", o.files, "JSON files with launches")->required();
    sub->add_option("--case", o.name, "Only the launch of this name");
    sub->add_option("--sources", o.sources, "Folder of the sources (../kernels beside the launch file, or that file's own)");
    add_limit(*sub, o.max_records);
    return sub;
}

/// Runs a subcommand; what it cannot do becomes one message and status 2.
int guarded(const std::function<int()>& command) {
    try {
        return command();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "qwengpu: %s\n", e.what());
        return cli::bad_input;
    }
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app{"qwengpu: a GPU inside a language model. Exit status: 0 all is well, 1 a launch failed or differs, 2 wrong usage or input."};
    app.require_subcommand(1);
    cli::compile_options compile;
    cli::run_options run;
    cli::check_options check;
    cli::stats_options stats;
    cli::export_options exported;
    cli::prompt_options prompt;
    cli::graft_options graft;
    cli::synthesize_options synthesize;
    const auto* compile_command = add_compile(app, compile);
    const auto* run_command = add_run(app, run);
    const auto* check_command = add_check(app, check);
    add_stats(app, stats);
    const auto* export_command = add_export(app, exported);
    const auto* prompt_command = add_prompt(app, prompt);
    const auto* graft_command = add_graft(app, graft);
    const auto* synthesize_command = add_synthesize(app, synthesize);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? cli::ok : cli::bad_input;
    }
    if (compile_command->parsed()) return guarded([&] { return cli::compile(compile); });
    if (run_command->parsed()) return guarded([&] { return cli::run(run); });
    if (check_command->parsed()) return guarded([&] { return cli::check(check); });
    if (export_command->parsed()) return guarded([&] { return cli::export_layers(exported); });
    if (prompt_command->parsed()) return guarded([&] { return cli::prompt(prompt); });
    if (graft_command->parsed()) return guarded([&] { return cli::graft(graft); });
    if (synthesize_command->parsed()) return guarded([&] { return cli::synthesize(synthesize); });
    return guarded([&] { return cli::stats(stats); });
}
