// SPDX-License-Identifier: MIT
// The compiled layers behind the host loop: whole random launches against the emulator, token by token and pass by pass,
// and what the comparison says when one weight, one entry of a state, or one token is not what it should be.
#include <qwengpu/launch/machine_model.hpp>
#include <qwengpu/launch/run.hpp>

#include "support/catch.hpp"
#include "support/random_program.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace qwengpu;
using machine::mission;

namespace {

const stage::compiled_layers<>& layers() {
    static const stage::compiled_layers<> built;
    return built;
}

const machine_model<>& good_model() {
    static const machine_model<> model = on_sparse_engine(layers());
    return model;
}

using model_state = machine_model<>::state;

/// A model in which something goes wrong before one of its passes after the prompt, or with what it then says.
struct faulty_model {
    const machine_model<>& model;
    std::size_t pass;
    std::function<void(model_state&)> spoil_state = [](model_state&) {};
    std::function<text::token(text::token)> spoil_token = [](text::token t) { return t; };

    struct state {
        model_state inner;
        std::size_t passes = 0;
    };
    [[nodiscard]] state fresh() const { return {model.fresh()}; }
    void read(state& s, text::token t) const { model.read(s.inner, t); }
    [[nodiscard]] text::token next(state& s, text::token t, diff::pass_signals& seen) const {
        const bool now = s.passes++ == pass;
        if (now) spoil_state(s.inner);
        const auto said = model.next(s.inner, t, seen);
        return now ? spoil_token(said) : said;
    }
    [[nodiscard]] text::token next(state& s, text::token t) const {
        diff::pass_signals unseen;
        return next(s, t, unseen);
    }
    [[nodiscard]] diff::signal_layers signal_layers() const { return model.signal_layers(); }
};

/// What a model says and shows, pass by pass, without any comparison.
struct recording {
    std::vector<text::token> tokens;
    std::vector<diff::pass_signals> signals;
};

template <class Model>
recording record(const Model& model, const machine::launch_image<mission>& image, std::size_t most_passes) {
    recording r;
    auto state = model.fresh();
    const auto prompt = text::prompt_of(image);
    for (std::size_t i = 0; i + 1 < prompt.size(); ++i) model.read(state, prompt[i]);
    for (auto last = prompt.back(); r.tokens.size() < most_passes;) {
        r.signals.emplace_back();
        last = model.next(state, last, r.signals.back());
        r.tokens.push_back(last);
        if (text::vocabulary<>::class_of(last) == text::token_class::end) break;
    }
    return r;
}

/// The first pass at which two recordings differ, in tokens, and in tokens or signals.
struct first_difference {
    std::optional<std::size_t> in_tokens, in_anything;
};

first_difference compare(const recording& good, const recording& bad) {
    first_difference d;
    for (std::size_t i = 0; i < good.tokens.size(); ++i) {
        const bool token = i >= bad.tokens.size() || bad.tokens[i] != good.tokens[i];
        const bool signal = token || bad.signals[i].lane != good.signals[i].lane || bad.signals[i].values != good.signals[i].values;
        if (signal && !d.in_anything) d.in_anything = i;
        if (token) return d.in_tokens = i, d;
    }
    return d;
}

std::uint64_t records_before(const recording& r, std::size_t pass) {
    std::uint64_t n = 0;
    for (std::size_t i = 0; i < pass; ++i) n += text::vocabulary<>::class_of(r.tokens[i]) == text::token_class::hdr ? 1U : 0U;
    return n;
}

struct launch_under_test {
    machine::launch_image<mission> image;
    recording good;
};

/// Short random launches that end, with what the model without a fault says of them.
const std::vector<launch_under_test>& launches() {
    static const auto made = [] {
        std::vector<launch_under_test> all;
        for (std::uint64_t seed = 1; all.size() < 4; ++seed) {
            auto image = test::random_launch<mission>(seed, {.max_blocks = 6, .max_thread_blocks = 2, .max_threads = 8, .faulty_percent = 0});
            auto good = record(good_model(), image, 400);
            if (good.tokens.size() > 60 && good.tokens.size() < 400) all.push_back({std::move(image), std::move(good)});
        }
        return all;
    }();
    return made;
}

/// Compares a faulty model with the emulator and checks the report against the recordings. True if the fault matters.
template <class Model>
bool is_found(const Model& model, const launch_under_test& l, const std::string& what) {
    const auto d = compare(l.good, record(model, l.image, l.good.tokens.size()));
    if (!d.in_tokens) return false;
    INFO(what);
    for (const bool stages : {false, true}) {
        launch_options options;
        options.compare_stages = stages;
        const auto r = run({}, l.image, model, run_on::both, options);
        REQUIRE(r.difference);
        const auto at = static_cast<std::size_t>(r.compared_tokens);
        CHECK(at <= *d.in_tokens);
        CHECK(at >= (stages ? *d.in_anything : *d.in_tokens));
        CHECK(r.difference->place.records == records_before(l.good, at));
        CHECK(r.difference->place.tokens == at);
    }
    return true;
}

std::size_t pick(std::mt19937_64& random, std::size_t count) { return static_cast<std::size_t>(random() % count); }

/// Changes an entry of a head's memory that is not zero.
bool spoil_memory(const machine_model<>& model, model_state& s, std::mt19937_64& random) {
    const auto& shape = layers().shape();
    for (int tries = 0; tries < 200; ++tries) {
        const int layer = static_cast<int>(pick(random, layers().layers().size())), head = static_cast<int>(pick(random, static_cast<std::size_t>(shape.value_heads)));
        if (model.engine().live_heads(layer) == 0) continue;
        const auto memory = model.engine().memory(s.layers, layer, head);
        std::vector<std::pair<int, int>> held;
        for (int k = 0; k < shape.key_dim; ++k)
            for (int v = 0; v < shape.value_dim; ++v)
                if (memory(k, v) != 0) held.emplace_back(k, v);
        if (held.empty()) continue;
        const auto [k, v] = held[pick(random, held.size())];
        return model.engine().set_memory(s.layers, layer, head, k, v, memory(k, v) > 0.5F ? 0.0F : 1.0F);
    }
    return false;
}

/// Faults that matter among the first ones of a seed, until there are `wanted`.
void token_faults(int wanted) {
    std::mt19937_64 random(1);
    for (int found = 0; found < wanted;) {
        const auto& l = launches()[pick(random, launches().size())];
        faulty_model model{good_model(), pick(random, l.good.tokens.size())};
        const auto wrong = static_cast<text::token>(random() % text::vocabulary<>::size);
        model.spoil_token = [wrong](text::token) { return wrong; };
        if (is_found(model, l, "token of pass " + std::to_string(model.pass))) ++found;
    }
}

void state_faults(int wanted) {
    std::mt19937_64 random(2);
    for (int found = 0, tries = 0; found < wanted; ++tries) {
        REQUIRE(tries < 100 * wanted);
        const auto& l = launches()[pick(random, launches().size())];
        faulty_model model{good_model(), pick(random, l.good.tokens.size())};
        const auto seed = random();
        model.spoil_state = [seed](model_state& s) {
            std::mt19937_64 own(seed);
            spoil_memory(good_model(), s, own);
        };
        if (is_found(model, l, "state before pass " + std::to_string(model.pass) + ", seed " + std::to_string(seed))) ++found;
    }
}

/// Layers in which one weight of one matrix is another one.
std::vector<nn::linear_layer_weights<nn::sparse_matrix>> spoilt_layers(std::mt19937_64& random, std::string& what) {
    auto spoilt = layers().layers();
    for (;;) {
        const auto layer = pick(random, spoilt.size());
        auto& w = spoilt[layer];
        const std::vector<nn::sparse_matrix*> matrices{&w.mixer.in_proj_qkv, &w.mixer.in_proj_b, &w.mixer.out_proj, &w.mlp.gate, &w.mlp.up, &w.mlp.down};
        const auto which = pick(random, matrices.size());
        auto triplets = matrices[which]->triplets();
        if (triplets.empty()) continue;
        auto& t = triplets[pick(random, triplets.size())];
        what = "weight " + std::to_string(t.row) + ", " + std::to_string(t.col) + " of matrix " + std::to_string(which) + " in layer " + std::to_string(layer);
        t.value = -t.value;
        *matrices[which] = nn::sparse_matrix::from_triplets(matrices[which]->rows(), matrices[which]->cols(), triplets);
        return spoilt;
    }
}

void weight_faults(int wanted) {
    std::mt19937_64 random(3);
    for (int found = 0, tries = 0; found < wanted; ++tries) {
        REQUIRE(tries < 50 * wanted);
        std::string what;
        const machine_model<> model(layers(), nn::sparse_model<nn::fp32>(spoilt_layers(random, what), layers().shape()));
        for (const auto& l : launches())
            if (is_found(model, l, what)) {
                ++found;
                break;
            }
    }
}

}  // namespace

TEST_CASE("random launches in the model agree with the emulator, token by token and pass by pass", "[launch]") {
    for (std::uint64_t seed = 100; seed < 112; ++seed) {
        const auto image = test::random_launch<mission>(seed, {.max_thread_blocks = 2, .max_threads = 12});
        launch_options options;
        options.max_records = 60;
        const auto r = run({}, image, good_model(), run_on::both, options);
        INFO("seed " << seed << (r.difference ? "\n" + to_string(*r.difference) : ""));
        CHECK_FALSE(r.difference);
        CHECK(r.model->transcript == r.emulator->transcript);
        CHECK(r.compared_passes > 0);
    }
}

TEST_CASE("one token that is wrong is found in its record", "[launch]") { token_faults(8); }
TEST_CASE("one entry of a state that is wrong is found in the record that first shows it", "[launch]") { state_faults(8); }
TEST_CASE("one weight that is wrong is found in the record that first shows it", "[launch]") { weight_faults(5); }

TEST_CASE("a hundred faults and more that matter are found", "[launch][.heavy]") {
    token_faults(50);
    state_faults(50);
    weight_faults(50);
}
