// SPDX-License-Identifier: MIT
// The front door: arguments as bytes, places of buffers, shapes, and whole launches on the emulator and on a stand-in for
// the layers, whose results are worked out here on the host.
#include <qwengpu/launch.hpp>
#include <qwengpu/machine/assembly.hpp>

#include "support/catch.hpp"
#include "support/oracle_model.hpp"

#include <string>
#include <vector>

using namespace qwengpu;

namespace {

/// c[i] = a[i] + k for i < n, one thread an element: a, c, n, k are parameters in rows 13-16; 17 is for ntid * ctaid.
machine::program add_kernel() {
    auto p = machine::assemble(R"(
block entry:
    t1 = add c[9], 0
    t3 = mul t1, c[0], %tid.x -> R1
    t4 = cmp.ge.s t3, c[15]
    branch exit if t4
block add:
    t1 = add.shl2 c[13], R1
    t2 = load [t1]
    t4 = add t2, c[16] -> R2
block put:
    t1 = add.shl2 c[14], R1
    store [t1] = R2
    next exit
)");
    p.name = "add_k";
    p.parameters = {{"a", 8, true, 13, 1}, {"c", 8, true, 14, 1}, {"n", 4, false, 15, 1}, {"k", 4, false, 16, 1}};
    return p;
}

launch_request add_request() {
    return {{2, 1, 1}, {4, 1, 1}, {in("a", std::vector{1, 2, 3, 4, 5, -70000, 7, 8}), zeros<int>("c", 8), scalar(6), scalar(1000)}, 0};
}

const std::vector<int> added{1001, 1002, 1003, 1004, 1005, -69000, 0, 0};

template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const error& e) {
        return e.id() + ": " + e.message();
    }
    return "no error";
}

}  // namespace

TEST_CASE("a launch on the emulator", "[launch]") {
    const auto r = launch(add_kernel(), add_request());
    REQUIRE(r.emulator);
    CHECK_FALSE(r.model);
    CHECK(r.emulator->ended == launch_ending::finished);
    CHECK(values_of<int>(r.best().memory[0]) == std::vector{1, 2, 3, 4, 5, -70000, 7, 8});
    CHECK(values_of<int>(r.best().memory[1]) == added);
    CHECK(r.emulator->records == 6);
}

TEST_CASE("the emulator looks for races if it is asked to", "[launch]") {
    auto p = machine::assemble("block 0: t1 = add c[13], 0\n t4 = add %tid.x, #5\n store [t1] = t4\n");
    p.parameters = {{"a", 8, true, 13, 1}};
    const launch_request request{{1, 1, 1}, {2, 1, 1}, {in("a", std::vector{1})}, 0};
    launch_options options;
    CHECK(launch(p, request, options).emulator->findings.empty());
    options.checks.races = true;
    const auto r = launch(p, request, options);
    REQUIRE(r.emulator->findings.size() == 1);
    CHECK(r.emulator->findings[0].kind == machine::finding_kind::race);
    CHECK(launch(p, request, test::oracle_model<>{}, run_on::both, options).emulator->findings.size() == 1);
    CHECK(launch(add_kernel(), add_request(), options).emulator->findings.empty());
}

TEST_CASE("a launch on a model alone is judged by its tokens", "[launch]") {
    const auto r = launch(add_kernel(), add_request(), test::oracle_model<>{}, run_on::model);
    REQUIRE(r.model);
    CHECK_FALSE(r.emulator);
    CHECK(r.model->ended == launch_ending::finished);
    CHECK(values_of<int>(r.model->memory[1]) == added);
    CHECK(r.model->records == 6);
}

TEST_CASE("both sides, and every pass compared", "[launch]") {
    const auto r = launch(add_kernel(), add_request(), test::oracle_model<>{});
    REQUIRE((r.model && r.emulator));
    CHECK_FALSE(r.difference);
    CHECK(r.compared_tokens == r.emulator->transcript.size());
    CHECK(r.compared_passes > 20);
    CHECK(r.model->transcript == r.emulator->transcript);
    CHECK(r.model->lane_instructions == r.emulator->lane_instructions);
    launch_options without;
    without.compare_stages = false;
    CHECK(launch(add_kernel(), add_request(), test::oracle_model<>{}, run_on::both, without).compared_passes == 0);
}

TEST_CASE("a model that errs is stopped where it does", "[launch]") {
    test::oracle_model<> wrong;
    wrong.spoil_token = [](std::size_t pass, text::token& t) {
        if (pass == 20) t = text::vocabulary<>::encode(text::token_class::cta);
    };
    const auto r = launch(add_kernel(), add_request(), wrong);
    REQUIRE(r.difference);
    CHECK(r.compared_tokens == 20);
    CHECK(r.model->transcript.size() == 21);
    const auto alone = launch(add_kernel(), add_request(), wrong, run_on::model);
    CHECK(alone.model->ended == launch_ending::broken);
    CHECK(alone.model->message.find("token 21 is cta") != std::string::npos);

    test::oracle_model<> shady;
    shady.spoil_signals = [](std::size_t, diff::pass_signals& s) {
        if (s[diff::signal::t2] == 3u) s[diff::signal::t2] = 2;
    };
    const auto seen = launch(add_kernel(), add_request(), shady);
    REQUIRE(seen.difference);
    REQUIRE(seen.difference->signals.size() == 1);
    CHECK(seen.difference->signals[0].layer == 13);
    CHECK(seen.difference->place.lane == 2);
}

TEST_CASE("the limit of records stops both sides at the same token", "[launch]") {
    launch_options options;
    options.max_records = 4;
    const auto r = launch(add_kernel(), add_request(), test::oracle_model<>{}, run_on::both, options);
    CHECK(r.emulator->ended == launch_ending::step_limit);
    CHECK(r.model->ended == launch_ending::step_limit);
    CHECK(r.emulator->records == 4);
    CHECK(r.model->transcript == r.emulator->transcript);
    CHECK_FALSE(r.difference);
}

TEST_CASE("an access outside of its buffer traps on both sides", "[launch]") {
    auto request = add_request();
    request.args[1] = zeros<int>("c", 5);
    const auto r = launch(add_kernel(), request, test::oracle_model<>{});
    REQUIRE(r.emulator->trap);
    REQUIRE(r.model->trap);
    CHECK(r.emulator->trap->kind == machine::trap_kind::out_of_bounds);
    CHECK(r.model->trap->kind == machine::trap_kind::out_of_bounds);
    CHECK(r.model->trap->lane == 1);
    CHECK(r.model->trap->by_store);
    CHECK_FALSE(r.difference);
}

TEST_CASE("what a launch may not be", "[launch]") {
    const auto message = [](auto change) {
        auto request = add_request();
        change(request);
        return error_of([&] { launch(add_kernel(), request); });
    };
    CHECK(message([](auto& r) { r.args.pop_back(); }) == "launch.argument: kernel add_k takes 4 arguments, 3 given");
    CHECK(message([](auto& r) { r.args[2] = scalar(std::int64_t{5}); }) ==
          "launch.argument: argument 3 of kernel add_k (n) has 4 bytes, 8 given; pass a value of the parameter's type");
    CHECK(message([](auto& r) { r.block = {33, 1, 1}; }) ==
          "launch.block: 33 threads in a block (33 x 1 x 1); at most 32 (8 warps of 4) are possible, launch more and smaller blocks");
    CHECK(message([](auto& r) { r.block = {4, 3, 3}; }).starts_with("launch.block: 36 threads"));
    CHECK(message([](auto& r) { r.block = {4294967296, 4294967296, 4294967296}; }).starts_with("launch.block: "));
    CHECK(message([](auto& r) { r.block = {1, 0, 1}; }).starts_with("launch.block: the thread block is 1 x 0 x 1"));
    CHECK(message([](auto& r) { r.grid = {0, 1, 1}; }).starts_with("launch.grid: the grid is 0 x 1 x 1"));
    CHECK(message([](auto& r) { r.grid = {1, 65536, 1}; }).starts_with("launch.grid: "));
    CHECK(message([](auto& r) { r.grid = {1, 1, -1}; }).starts_with("launch.grid: "));
    CHECK(message([](auto& r) { r.args[1] = zeros<int>("c", 200); }) ==
          "launch.memory: 208 words of buffers are asked for, 126 words of global memory are there; launch with smaller buffers");
    CHECK(message([](auto& r) { r.args[1] = zeros<int>("a", 8); }).starts_with("launch.buffer: two buffers are named \"a\""));
    CHECK(message([](auto& r) { r.dynamic_shared_bytes = -4; }).starts_with("launch.shared: -4 bytes"));
    CHECK(message([](auto& r) { r.args[1] = zeros<int>("c", 118); }) == "no error");
}

TEST_CASE("buffers are aligned and use every word there is", "[launch]") {
    const auto place = [](std::vector<argument> args) {
        const auto places = place_buffers(buffers_of(std::as_const(args)));
        std::vector<std::array<int, 3>> all;
        for (const auto& p : places) all.push_back({p.window, p.first_word, p.words});
        return all;
    };
    using all = std::vector<std::array<int, 3>>;
    CHECK(place({zeros<int>("a", 3), zeros<int>("b", 4)}) == all{{1, 1, 3}, {2, 4, 4}});
    CHECK(place({zeros<std::int8_t>("a", 5), zeros<std::int64_t>("b", 2)}) == all{{1, 6, 2}, {2, 2, 4}});
    CHECK(place({zeros<int>("a", 0), zeros<int>("b", 126)}) == all{{1, 1, 0}, {2, 1, 126}});
    auto wide = std::vector{zeros<int>("a", 3), zeros<int>("b", 8), zeros<int>("c", 1)};
    wide[1].array.align = 16;
    CHECK(place(wide) == all{{1, 1, 3}, {2, 4, 8}, {3, 12, 1}});
    CHECK(error_of([&] { place({zeros<std::int64_t>("b", 62), zeros<int>("c", 3)}); }).starts_with("launch.memory: 127 words"));
}

TEST_CASE("structs are laid out as in C", "[launch]") {
    struct mixed {
        std::int8_t a;
        std::int16_t b;
        std::int32_t c;
        std::int64_t d;
        std::int8_t e;
    };
    static_assert(sizeof(mixed) == 24);
    const mixed values{-2, -300, 70000, 1311768467463790320, 5};
    std::vector<std::uint8_t> host(sizeof(mixed)), ours;
    for (const auto& [at, value, bytes] : {std::tuple{offsetof(mixed, a), std::int64_t{values.a}, 1}, {offsetof(mixed, b), std::int64_t{values.b}, 2},
                                           {offsetof(mixed, c), std::int64_t{values.c}, 4}, {offsetof(mixed, d), values.d, 8},
                                           {offsetof(mixed, e), std::int64_t{values.e}, 1}})
        for (int i = 0; i < bytes; ++i) host[at + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value >> 8 * i);
    const auto s = structure({scalar(values.a), scalar(values.b), scalar(values.c), scalar(values.d), scalar(values.e)});
    detail::put_argument(ours, s, 8, [] { return 0u; });
    CHECK(ours == host);

    std::vector<std::uint8_t> with_pointer;
    detail::put_argument(with_pointer, structure({scalar(7), in("p", std::vector{1})}), 8, [] { return 0x08000004u; });
    CHECK(detail::words_of(with_pointer) == std::vector<std::uint32_t>{7, 0, 0x08000004, 0});
}
