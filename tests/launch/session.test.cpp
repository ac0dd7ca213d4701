// SPDX-License-Identifier: MIT
// Sessions: several launches that share memory, on the emulator and on the compiled layers in one sequence of tokens. What
// must be in memory is worked out by hand.
#include <qwengpu/launch.hpp>
#include <qwengpu/launch/machine_model.hpp>

#include "support/catch.hpp"
#include "support/compiled_machine.hpp"

#include <string>
#include <vector>

using namespace qwengpu;

namespace {

/// fill: p[i] = 10 i; shift: p[i] += step, total += p[i] (an atomic), calls += 1 by thread 0, q[0] = total; fault: traps.
const std::string module_text = R"(.version 7.8
.target sm_75
.address_size 64
.global .align 4 .u32 total = 1000;
.global .align 4 .u32 calls;
.visible .entry fill(.param .u64 fill_p)
{
    .reg .b32 %r<4>;
    .reg .b64 %d<4>;
    ld.param.u64 %d1, [fill_p];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    mul.lo.s32 %r2, %r1, 10;
    st.global.u32 [%d3], %r2;
    ret;
}
.visible .entry shift(.param .u64 shift_p, .param .u64 shift_q, .param .u32 shift_step)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .b64 %d<5>;
    ld.param.u64 %d1, [shift_p];
    ld.param.u64 %d4, [shift_q];
    ld.param.u32 %r3, [shift_step];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    ld.global.u32 %r2, [%d3];
    add.s32 %r2, %r2, %r3;
    st.global.u32 [%d3], %r2;
    red.global.add.u32 [total], %r2;
    bar.sync 0;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra done;
    ld.global.u32 %r4, [total];
    st.global.u32 [%d4], %r4;
    ld.global.u32 %r5, [calls];
    add.s32 %r5, %r5, 1;
    st.global.u32 [calls], %r5;
    st.global.u32 [%d4+4], %r5;
done:
    ret;
}
.visible .entry fault()
{
    trap;
}
)";

machine::program program_of(const std::string& name) { return kernel_from_ptx(module_text, "session.ptx", name).program; }

launch_request request_of(std::vector<argument> args) { return {{1, 1, 1}, {6, 1, 1}, std::move(args), 0}; }

std::vector<std::uint32_t> words(const launch_result& r, std::size_t k) { return values_of<std::uint32_t>(r.best().memory.at(k)); }

template <class F>
std::string id_of(F&& f) {
    try {
        f();
    } catch (const error& e) {
        return e.id();
    }
    return "";
}

/// Four launches, one of which traps; the buffers and variables of all must be as the host adds them up.
template <class Session>
void run_through(Session& s) {
    const auto sound = [](const launch_result& r) {
        CHECK(r.best().ended == launch_ending::finished);
        CHECK_FALSE(r.difference);
    };
    auto r = s.launch(program_of("fill"), request_of({zeros<std::uint32_t>("p", 6)}));
    sound(r);
    CHECK(words(r, 0) == std::vector<std::uint32_t>{0, 10, 20, 30, 40, 50});
    r = s.launch(program_of("shift"), request_of({kept<std::uint32_t>("p", 6), zeros<std::uint32_t>("q", 2), scalar(1u)}));
    sound(r);
    CHECK(words(r, 0) == std::vector<std::uint32_t>{1, 11, 21, 31, 41, 51});
    CHECK(words(r, 1) == std::vector<std::uint32_t>{1156, 1});
    r = s.launch(program_of("fault"), request_of({}));
    CHECK(r.best().ended == launch_ending::trapped);
    CHECK_FALSE(r.difference);
    r = s.launch(program_of("shift"), request_of({in("p", std::vector<std::uint32_t>{1, 1, 1, 1, 1, 1}), kept<std::uint32_t>("q", 2), scalar(2u)}));
    sound(r);
    CHECK(words(r, 0) == std::vector<std::uint32_t>{3, 3, 3, 3, 3, 3});
    CHECK(words(r, 1) == std::vector<std::uint32_t>{1174, 2});
}

}  // namespace

TEST_CASE("a session on the emulator keeps buffers and variables", "[launch]") {
    emulated_session<> s;
    run_through(s);
}

TEST_CASE("a session on the compiled layers is one sequence, token for token as the emulator's", "[launch]") {
    const auto& model = test::sparse_machine();
    model_session s(model, run_on::both);
    run_through(s);
    model_session alone(model, run_on::model);
    run_through(alone);
}

TEST_CASE("a launch by itself begins with the module's own values", "[launch]") {
    for (int k = 0; k < 2; ++k) {
        const auto r = launch(program_of("shift"), request_of({zeros<std::uint32_t>("p", 6), zeros<std::uint32_t>("q", 2), scalar(5u)}));
        CHECK(words(r, 1) == std::vector<std::uint32_t>{1030, 1});
    }
}

TEST_CASE("what a session refuses", "[launch]") {
    emulated_session<> s;
    CHECK(id_of([&] { s.launch(program_of("fill"), request_of({kept<std::uint32_t>("p", 6)})); }) == "launch.session");
    s.launch(program_of("fill"), request_of({zeros<std::uint32_t>("p", 6)}));
    CHECK(id_of([&] { s.launch(program_of("fill"), request_of({zeros<std::uint32_t>("p", 7)})); }) == "launch.session");
    CHECK(id_of([&] { s.launch(program_of("fill"), request_of({zeros<std::uint32_t>("big", 121)})); }) == "launch.memory");
    launch_options few;
    few.max_records = 1;
    CHECK(s.launch(program_of("shift"), request_of({kept<std::uint32_t>("p", 6), zeros<std::uint32_t>("q", 2), scalar(1u)}), few).best().ended == launch_ending::step_limit);
    CHECK(id_of([&] { s.launch(program_of("fill"), request_of({kept<std::uint32_t>("p", 6)})); }) == "launch.session");
}
