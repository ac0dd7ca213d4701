// SPDX-License-Identifier: MIT
// The compiled layers behind the host loop: whole random launches against the emulator, token by token and pass by pass, and
// that a model which shows its signals writes the same tokens as one that does not.
#include <qwengpu/launch/run.hpp>

#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/random_program.hpp"

using namespace qwengpu;

TEST_CASE("random launches in the model agree with the emulator, token by token and pass by pass", "[launch]") {
    for (std::uint64_t seed = 100; seed < 112; ++seed) {
        const auto image = test::random_launch(seed, {.max_thread_blocks = 2, .max_threads = 12});
        launch_options options;
        options.max_records = 60;
        const auto r = run({}, image, test::sparse_machine(), run_on::both, options);
        INFO("seed " << seed << (r.difference ? "\n" + to_string(*r.difference) : ""));
        CHECK_FALSE(r.difference);
        CHECK(r.model->transcript == r.emulator->transcript);
        CHECK(r.compared_passes > 0);
        const auto alone = run({}, image, test::sparse_machine(), run_on::model, options);
        CHECK(alone.model->transcript == r.emulator->transcript);
    }
}

TEST_CASE("the model names the layers that complete its signals", "[launch]") {
    const auto layers = test::sparse_machine().signal_layers();
    for (const int layer : layers) CHECK((layer >= 0 && layer < 45));
    const auto at = [&](diff::signal s) { return layers[static_cast<std::size_t>(s)]; };
    CHECK(at(diff::signal::r0) < at(diff::signal::t1));
    CHECK(at(diff::signal::t1) < at(diff::signal::t2));
    CHECK(at(diff::signal::t2) < at(diff::signal::t3));
    CHECK(at(diff::signal::t3) < at(diff::signal::t4));
}
