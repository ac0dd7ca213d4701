// SPDX-License-Identifier: MIT
// The command line as its users meet it: exit statuses, what goes to stdout and to stderr, and JSON that can be read.
#include "support/catch.hpp"
#include "support/shell.hpp"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

using qwengpu::test::command_result;
using nlohmann::json;

namespace {

const std::string data = std::string(QWENGPU_TEST_DATA) + "/kernels";
const std::string sources = " --sources '" + data + "/ptx/nvcc'";

command_result qwengpu_cli(const std::string& arguments) { return qwengpu::test::run_command("'" QWENGPU_CLI "' " + arguments); }

std::string case_file(const std::string& name) { return "'" + data + "/cases/" + name + ".json'"; }

std::string last_line(const std::string& text) {
    const auto end = text.find_last_not_of('\n');
    return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
}

/// A file that is there while the test runs.
struct temporary_file {
    std::filesystem::path path = std::filesystem::temp_directory_path() / ("qwengpu_cli_test_" + std::to_string(getpid()) + ".json");
    explicit temporary_file(const std::string& text) { std::ofstream(path) << text; }
    ~temporary_file() { std::filesystem::remove(path); }
    [[nodiscard]] std::string quoted() const { return "'" + path.string() + "'"; }
};

const std::string wrong_sum = R"([{"name": "wrong", "source": "vecadd.cu", "kernel": "vecadd", "grid": [1,1,1], "block": [4,1,1],
    "args": [{"buffer": "a", "type": "i32", "data": [1, 2]}, {"buffer": "b", "type": "i32", "data": [3, 4]},
             {"buffer": "c", "type": "i32", "zeros": 2}, {"scalar": "i32", "value": 2}],
    "expect": {"a": [1, 2], "b": [3, 4], "c": [4, 7]}}])";

}  // namespace

TEST_CASE("run shows memory, counts and agreement", "[cli]") {
    const auto r = qwengpu_cli("run --case vecadd.one_warp" + sources + " " + case_file("vecadd"));
    INFO(r.err);
    CHECK(r.status == 0);
    CHECK(r.err.empty());
    CHECK(r.out.find("c i32[4] = 11 22 33 44") != std::string::npos);
    CHECK(r.out.find("0 differences") != std::string::npos);
    CHECK(last_line(r.out) == "passed: memory as expected");
}

TEST_CASE("run as JSON, with the transcript", "[cli]") {
    const auto r = qwengpu_cli("run --json --transcript --case vecadd.one_warp" + sources + " " + case_file("vecadd"));
    CHECK(r.status == 0);
    const auto j = json::parse(r.out);
    CHECK(j["passed"] == true);
    CHECK(j["differences"] == 0);
    CHECK(j["memory"]["c"] == json::array({11, 22, 33, 44}));
    CHECK(j["model"]["tokens"] == j["emulator"]["tokens"]);
    CHECK(j["transcript"].size() == j["model"]["tokens"]);
    CHECK(j["transcript"].front() == "cta");
    CHECK(j["transcript"].back() == "end");
}

TEST_CASE("races are told with both lines and fail the launch, if they are looked for", "[cli]") {
    const auto folder = std::filesystem::temp_directory_path();
    const std::string name = "qwengpu_race_" + std::to_string(getpid());
    const std::filesystem::path kernel = folder / (name + ".ptx");
    std::ofstream(kernel) << ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry race(.param .u64 p)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<3>;\n"
                             "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nst.global.u32 [%rd2], %r1;\nret;\n}\n";
    const temporary_file cases(R"([{"name": "race", "source": ")" + name + R"(.ptx", "kernel": "race", "grid": [1,1,1], "block": [2,1,1],
        "args": [{"buffer": "a", "type": "i32", "data": [5]}], "expect": {"a": [1]}}])");
    const auto run = "run --sources '" + folder.string() + "' --on emulator " + cases.quoted();
    CHECK(qwengpu_cli(run).status == 0);
    const auto found = qwengpu_cli(run + " --check races,uninitialised");
    CHECK(found.status == 1);
    CHECK(found.out.find("data race: byte 0 of word 0 of a: thread 0") != std::string::npos);
    CHECK(found.out.find("PTX line 11; thread 1") != std::string::npos);
    CHECK(qwengpu_cli(run + " --check uninitialised").status == 0);
    CHECK(qwengpu_cli("run --on model --check races " + cases.quoted()).status == 2);
    CHECK(qwengpu_cli(run + " --check nothing").status == 2);
    std::filesystem::remove(kernel);
}

TEST_CASE("each side alone", "[cli]") {
    for (const std::string side : {"model", "emulator"}) {
        const auto r = qwengpu_cli("run --json --on " + side + " --case vecadd.one_warp" + sources + " " + case_file("vecadd"));
        CHECK(r.status == 0);
        const auto j = json::parse(r.out);
        REQUIRE(j.contains(side));
        CHECK_FALSE(j.contains(side == "model" ? "emulator" : "model"));
        CHECK(j["memory"]["c"] == json::array({11, 22, 33, 44}));
    }
}

TEST_CASE("a wrong result is status 1 and says what is wrong", "[cli]") {
    const temporary_file file(wrong_sum);
    const auto r = qwengpu_cli("run --on emulator" + sources + " " + file.quoted());
    CHECK(r.status == 1);
    CHECK(last_line(r.out) == "FAILED: emulator: 1 of the elements in memory not as expected; c[1] is 6, 7 is expected");
    const auto c = qwengpu_cli("check --on emulator" + sources + " " + file.quoted());
    CHECK(c.status == 1);
    CHECK(last_line(c.out) == "0 passed, 1 failed");
}

TEST_CASE("check prints a line each and the count alone at the end", "[cli]") {
    const auto r = qwengpu_cli("check --on both" + sources + " " + case_file("vecadd") + " --jobs 2");
    INFO(r.out << r.err);
    CHECK(r.status == 0);
    CHECK(std::count(r.out.begin(), r.out.end(), '\n') == 5);
    CHECK(last_line(r.out) == "4 passed, 0 failed");
    const auto j = json::parse(qwengpu_cli("check --json --on emulator" + sources + " " + case_file("vecadd")).out);
    CHECK(j["passed"] == 4);
    CHECK(j["failed"] == 0);
    CHECK(j["cases"].size() == 4);
}

TEST_CASE("check takes folders and patterns", "[cli]") {
    const auto r = qwengpu_cli("check --on emulator --kernel 'vec*d'" + sources + " --kernel 'sax*_i' '" + data + "/cases'");
    INFO(r.out << r.err);
    CHECK(r.status == 0);
    CHECK(last_line(r.out) == "6 passed, 0 failed");
}

TEST_CASE("compile shows blocks and costs", "[cli]") {
    const auto r = qwengpu_cli("compile '" + data + "/ptx/nvcc/vecadd.ptx'");
    CHECK(r.status == 0);
    CHECK(r.out.find("block 0 ") != std::string::npos);
    CHECK(r.out.find("of 15 registers") != std::string::npos);
    const auto j = json::parse(qwengpu_cli("compile --json '" + data + "/ptx/nvcc/vecadd.ptx'").out);
    CHECK(j["kernel"] == "vecadd");
    CHECK(j["ptx_instructions"] > 10);
    CHECK(j["parameters"].size() == 4);
}

TEST_CASE("stats of the layers", "[cli]") {
    const auto j = json::parse(qwengpu_cli("stats --json").out);
    CHECK(j["layers"] == 45);
    CHECK(j["shape"]["hidden"] == 2048);
    CHECK(j["shape"]["mlp"] == 6144);
    // 45 times: two norms, the four input projections, the convolution, dt_bias, A_log, the head norm, out_proj, three of the SwiGLU.
    const std::int64_t layer = 2 * 2048 + 2048 * (6144 + 2048 + 16 + 16) + 6144 * 4 + 16 + 16 + 128 + 2048 * 2048 + 3 * 2048 * 6144;
    CHECK(j["parameters"] == 45 * layer);
    CHECK(j["nonzeros"] > 100000);
    CHECK(j["per_layer"].size() == 45);
    CHECK(qwengpu_cli("stats").status == 0);
}

TEST_CASE("what is wrong with the input is one message and status 2", "[cli]") {
    const auto fails = [](const std::string& arguments, const std::string& message) {
        const auto r = qwengpu_cli(arguments);
        INFO(arguments << "\n" << r.out << r.err);
        CHECK(r.status == 2);
        CHECK(r.out.empty());
        CHECK(r.err.find(message) != std::string::npos);
    };
    fails("run no/such.json", "no/such.json: the file cannot be read");
    fails("compile no/such.ptx", "no/such.ptx");
    fails("check no/such/folder", "no/such/folder: there is no such file or folder");
    fails("run --case nobody " + case_file("vecadd"), "no launch of the file is named nobody");
    fails("check --kernel nobody " + case_file("vecadd"), "no case is there to check");
    fails("run --on --case " + case_file("vecadd"), "");
    fails("run --sources /nowhere " + case_file("vecadd"), "source vecadd.cu is not in /nowhere; say where it lies with --sources");
    fails("nonsense", "");
    const temporary_file file("[{\"name\": 5}]");
    fails("run " + file.quoted(), "at /0");
    fails("compile --kernel nope '" + data + "/ptx/nvcc/vecadd.ptx'", "no kernel 'nope'");
}
