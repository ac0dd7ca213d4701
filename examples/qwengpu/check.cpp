// SPDX-License-Identifier: MIT
// qwengpu check: every case of the case files under some paths, several at a time, a line each in the files' order, and
// the count alone on the last line.
#include "commands.hpp"
#include "progress.hpp"
#include "session.hpp"

#include <qwengpu/io/launch_file.hpp>
#include <qwengpu/io/result_json.hpp>
#include <qwengpu/launch/verdict.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include <fnmatch.h>

namespace cli {

namespace {

namespace fs = std::filesystem;
using qwengpu::io::json;
using qwengpu::machine::mission;

struct job {
    std::string file;
    qwengpu::launch_case what;
};

/// What became of a case: its line, and its JSON.
struct outcome {
    bool passed = false;
    std::string line;
    json details;
};

/// The case files of a path: itself, or all .json files below a folder, in order.
std::vector<std::string> files_of(const std::string& path) {
    if (!fs::exists(path)) throw qwengpu::error("io.file", "there is no such file or folder", qwengpu::place{path, 0, 0});
    if (!fs::is_directory(path)) return {path};
    std::vector<std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(path))
        if (entry.is_regular_file() && entry.path().extension() == ".json") files.push_back(entry.path().string());
    std::sort(files.begin(), files.end());
    return files;
}

bool wanted(const qwengpu::launch_case& c, const std::vector<std::string>& patterns) {
    return patterns.empty() ||
           std::any_of(patterns.begin(), patterns.end(), [&](const std::string& p) { return fnmatch(p.c_str(), c.kernel.c_str(), 0) == 0; });
}

std::vector<job> jobs_of(const check_options& options) {
    std::vector<job> jobs;
    for (const auto& path : options.paths)
        for (const auto& file : files_of(path))
            for (auto& c : qwengpu::io::read_launch_file(file))
                if (wanted(c, options.kernels)) jobs.push_back({file, std::move(c)});
    if (jobs.empty()) throw qwengpu::error("io.case", "no case is there to check; look at the paths and at --kernel");
    return jobs;
}

std::string cost_text(const qwengpu::launch_result& r) {
    const auto& side = r.best();
    return fmt::format("{} tokens, {} records, {:.2f} tokens per PTX lane-instruction", side.transcript.size(), side.records, side.tokens_per_lane_instruction());
}

/// Some reasons have many lines: a compiler's message, a report of a difference. A case has one.
std::string on_one_line(std::string text) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, " | ");
    return text;
}

outcome judged(const std::string& name, const qwengpu::verdict& v, const std::string& cost, json details) {
    const auto reason = on_one_line(v.reason) + (cost.empty() ? "" : "; " + cost);
    return {v.passed, fmt::format("{:<4} {}: {}", v.passed ? "ok" : "FAIL", name, reason), std::move(details)};
}

outcome check_case(session& s, const job& j, const check_options& options) {
    qwengpu::launch_options launch;
    launch.max_records = options.max_records;
    launch.checks = options.checks;
    try {
        const auto kernel = s.kernel(find_source(j.what.source, j.file, options.sources), j.what.kernel);
        const auto r = s.launch(*kernel, j.what.request, options.on, launch);
        const auto v = qwengpu::judge<mission>(j.what, r);
        return judged(j.what.name, v, cost_text(r), qwengpu::io::result_json(j.what, r, v));
    } catch (const qwengpu::error& e) {
        const auto v = qwengpu::judge(j.what, e);
        return judged(j.what.name, v, "", qwengpu::io::refused_json(j.what, e, v));
    } catch (const std::exception& e) {
        return judged(j.what.name, {false, e.what()}, "", {{"name", j.what.name}, {"passed", false}, {"reason", e.what()}});
    }
}

/// Takes outcomes as they come and prints their lines in the order of the cases.
class report {
public:
    report(std::size_t count, bool quiet) : outcomes_(count), quiet_(quiet) {}

    void add(std::size_t index, outcome o) {
        const std::scoped_lock lock(mutex_);
        outcomes_[index] = std::move(o);
        ++done_;
        for (; next_ < outcomes_.size() && outcomes_[next_]; ++next_) print(*outcomes_[next_]);
        line_.show(fmt::format("{} of {} cases", done_, outcomes_.size()));
    }

    /// Prints the summary and gives the number of failures.
    std::size_t finish() {
        line_.clear();
        auto cases = json::array();
        std::size_t passed = 0;
        for (auto& o : outcomes_) {
            passed += o->passed ? 1U : 0U;
            cases.push_back(std::move(o->details));
        }
        const auto failures = outcomes_.size() - passed;
        if (quiet_) fmt::print("{}\n", json{{"cases", std::move(cases)}, {"passed", passed}, {"failed", failures}}.dump(2));
        else fmt::print("{} passed, {} failed\n", passed, failures);
        return failures;
    }

private:
    void print(const outcome& o) {
        if (quiet_) return;
        line_.clear();
        fmt::print("{}\n", o.line);
        std::fflush(stdout);
    }

    std::mutex mutex_;
    std::vector<std::optional<outcome>> outcomes_;
    std::size_t next_ = 0, done_ = 0;
    bool quiet_;
    progress line_;
};

}  // namespace

int check(const check_options& options) {
    const auto jobs = jobs_of(options);
    session s(options.checkpoint);
    report out(jobs.size(), options.json);
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
        for (auto i = next++; i < jobs.size(); i = next++) out.add(i, check_case(s, jobs[i], options));
    };
    const auto threads = options.jobs > 0 ? static_cast<unsigned>(options.jobs) : std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::thread> crew;
    for (unsigned i = 1; i < threads && i < jobs.size(); ++i) crew.emplace_back(work);
    work();
    for (auto& t : crew) t.join();
    return out.finish() == 0 ? ok : failed;
}

}  // namespace cli
