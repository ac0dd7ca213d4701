// SPDX-License-Identifier: MIT
// Fault injection on the real layers: one token, one entry of a state, or one weight is not what it should be. Whether a fault
// matters, and in which record it shows first, is told by recordings of the model with and without it, put side by side.
#include <qwengpu/launch/run.hpp>

#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/faulty_model.hpp"
#include "support/model_against_emulator.hpp"
#include "support/recording.hpp"

#include <iostream>
#include <map>
#include <random>
#include <utility>

using namespace qwengpu;

namespace {

using faulty = test::faulty_model<>;
using random_engine = std::mt19937_64;

using model_state = machine_model<>::state;

/// A launch, what the model without a fault says of it, and its states on the way: saved[i] is the one before pass i * stride.
struct launch_under_test {
    static constexpr std::size_t stride = 10;
    machine::launch_image<> image;
    std::vector<text::token> prompt;
    test::recording good;
    std::vector<model_state> saved{};

    void save_states() {
        auto s = test::sparse_machine().fresh();
        for (std::size_t i = 0; i + 1 < prompt.size(); ++i) test::sparse_machine().read(s, prompt[i]);
        for (std::size_t pass = 0; pass < good.tokens.size(); ++pass) {
            if (pass % stride == 0) saved.push_back(s);
            test::sparse_machine().read(s, read_by(pass));
        }
    }
    [[nodiscard]] text::token read_by(std::size_t pass) const { return pass == 0 ? prompt.back() : good.tokens[pass - 1]; }
};

/// Short random launches that end.
const std::vector<launch_under_test>& launches() {
    static const auto made = [] {
        std::vector<launch_under_test> all;
        for (std::uint64_t seed = 1; all.size() < 4; ++seed) {
            auto image = test::random_launch(seed, {.max_blocks = 6, .max_thread_blocks = 2, .max_threads = 8, .faulty_percent = 0});
            auto good = test::record(test::sparse_machine(), image, 300);
            if (good.tokens.size() < 60 || good.tokens.size() == 300) continue;
            all.push_back({image, text::prompt_of(image), std::move(good)});
            all.back().save_states();
        }
        return all;
    }();
    return made;
}

std::size_t pick(random_engine& random, std::size_t count) { return static_cast<std::size_t>(random() % count); }

const launch_under_test& any_launch(random_engine& random) { return launches()[pick(random, launches().size())]; }

/// Compares a faulty model with the emulator and checks what is found against the recordings. False if the fault does not matter.
template <class Model>
bool is_found(const Model& model, const launch_under_test& l, const std::string& what) {
    const auto d = test::compare(l.good, test::record(model, l.image, l.good.tokens.size()));
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
        const auto record = test::record_before(l.good, at);
        const auto& place = r.difference->place;
        CHECK(place.records == record.records);
        CHECK(place.tokens == at);
        CHECK((place.records == 0 || (place.warp == record.warp && place.block == record.block)));
    }
    return true;
}

/// Faults of one kind that matter, by what they are.
using counts = std::map<std::string, int>;

/// Makes faults until `wanted` of them mattered. `make(random, kind)` makes one, checks it, and says whether it mattered.
template <class Make>
void inject(const char* what, int wanted, std::uint64_t seed, Make&& make) {
    random_engine random(test::seed_or(seed));
    counts found;
    int tries = 0;
    for (int mattered = 0; mattered < wanted; ++tries) {
        REQUIRE(tries < 200 * wanted);
        std::string kind;
        if (!make(random, kind)) continue;
        ++mattered;
        ++found[kind];
    }
    std::cout << what << ": " << wanted << " faults that matter of " << tries << ", all found:";
    for (const auto& [kind, n] : found) std::cout << "  " << kind << " " << n;
    std::cout << "\n";
}

bool written_token(random_engine& random, std::string& kind) {
    const auto& l = any_launch(random);
    faulty model{test::sparse_machine()};
    model.pass = pick(random, l.good.tokens.size());
    const auto wrong = static_cast<text::token>(random() % text::vocabulary<>::size);
    model.spoil_token = [wrong](text::token) { return wrong; };
    kind = text::vocabulary<>::row(text::vocabulary<>::class_of(l.good.tokens[model.pass])).name;
    return is_found(model, l, "token of pass " + std::to_string(model.pass));
}

/// Another token of the same class is read at a place of the prompt.
bool prompt_token(random_engine& random, std::string& kind) {
    using V = text::vocabulary<>;
    const auto& l = any_launch(random);
    faulty model{test::sparse_machine()};
    model.read_pass = pick(random, l.prompt.size() - 1);
    const auto right = l.prompt[model.read_pass];
    const auto c = V::class_of(right);
    const auto wrong = V::first_id(c) + static_cast<text::token>(pick(random, V::count(c)));
    model.spoil_token = [wrong](text::token) { return wrong; };
    kind = V::row(c).name;
    return wrong != right && is_found(model, l, "token " + std::to_string(model.read_pass) + " of the prompt");
}

/// A place in the memory of a head.
struct memory_entry {
    int layer, head, key, value;
};

/// Entries of a head that are not zero, for which keep(entry) holds.
template <class Keep>
std::vector<memory_entry> entries_of(const nn::dense_matrix& memory, int layer, int head, Keep&& keep) {
    std::vector<memory_entry> found;
    for (int k = 0; k < memory.rows(); ++k)
        for (int v = 0; v < memory.cols(); ++v)
            if (memory(k, v) != 0 && keep(k, v)) found.push_back({layer, head, k, v});
    return found;
}

/// Layer and number of a head of the compiled machine.
std::pair<int, int> any_head(random_engine& random) {
    static const auto all = [] {
        std::vector<std::pair<int, int>> heads;
        const auto& plans = test::compiled_machine().net().layers();
        for (std::size_t layer = 0; layer < plans.size(); ++layer)
            for (std::size_t head = 0; head < plans[layer].heads.size(); ++head) heads.emplace_back(layer, head);
        return heads;
    }();
    return all[pick(random, all.size())];
}

/// The name of a head without its numbers: what kind of thing it holds.
std::string kind_of(const circuit::head& head) {
    std::string kind;
    for (const char c : head.name)
        if (c < '0' || c > '9') kind += c;
    return kind;
}

/// Whether value channel v is the rail of a bit that goes somewhere when it is read; the bit's other rail is v + 1.
bool is_rail(const circuit::head& head, int v) {
    const auto at = static_cast<std::size_t>(v);
    return at + 1 < head.values.size() && !head.values[at].outputs.empty() && head.values[at + 1].outputs.empty();
}

/// Changes the state of a launch; false if the head that was drawn holds nothing.
bool spoil_entry(model_state& s, random_engine& random, bool both_rails, std::string& kind) {
    const auto [layer, head] = any_head(random);
    const auto& plan = test::compiled_machine().net().layers()[static_cast<std::size_t>(layer)].heads[static_cast<std::size_t>(head)];
    const auto& engine = test::sparse_machine().engine();
    const nn::dense_matrix memory = engine.memory(s.layers, layer, head);
    const auto one_rail = [&](int v) { return is_rail(plan, v) ? v : v > 0 && is_rail(plan, v - 1) ? v - 1 : -1; };
    const auto held = entries_of(memory, layer, head, [&](int, int v) { return !both_rails || one_rail(v) >= 0; });
    if (held.empty()) return false;
    const auto e = held[pick(random, held.size())];
    kind = kind_of(plan);
    if (!both_rails) return engine.set_memory(s.layers, layer, head, e.key, e.value, memory(e.key, e.value) > 0.5F ? 0.0F : 1.0F);
    const int v = one_rail(e.value);
    return engine.set_memory(s.layers, layer, head, e.key, v, memory(e.key, v + 1)) &&
           engine.set_memory(s.layers, layer, head, e.key, v + 1, memory(e.key, v));
}

/// Whether the tokens change within some passes, going on from a saved state that is spoilt: a quick look before whole launches.
bool changes_tokens(const launch_under_test& l, model_state s, std::size_t pass) {
    for (const auto end = std::min(pass + 60, l.good.tokens.size()); pass < end; ++pass)
        if (test::sparse_machine().next(s, l.read_by(pass)) != l.good.tokens[pass]) return true;
    return false;
}

bool state_entry(random_engine& random, std::string& kind, bool both_rails) {
    const auto& l = any_launch(random);
    const auto at = pick(random, l.saved.size());
    faulty model{test::sparse_machine()};
    model.pass = at * launch_under_test::stride;
    const auto seed = random();
    const auto spoil = [&, seed](model_state& s) {
        random_engine own(seed);
        return spoil_entry(s, own, both_rails, kind);
    };
    auto s = l.saved[at];
    if (!spoil(s) || !changes_tokens(l, std::move(s), model.pass)) return false;
    model.spoil_state = spoil;
    return is_found(model, l, "state before pass " + std::to_string(model.pass) + ", seed " + std::to_string(seed));
}

using layer_weights = nn::linear_layer_weights<nn::sparse_matrix>;

/// Negates one entry that is not zero; false if there is none.
bool negate_any(random_engine& random, nn::sparse_matrix& m) {
    auto triplets = m.triplets();
    if (triplets.empty()) return false;
    auto& t = triplets[pick(random, triplets.size())];
    t.value = -t.value;
    m = nn::sparse_matrix::from_triplets(m.rows(), m.cols(), std::move(triplets));
    return true;
}

template <class Dense>
bool negate_any_of(random_engine& random, Dense& m) {
    float& entry = m.data()[pick(random, static_cast<std::size_t>(m.size()))];
    entry = -entry;
    return entry != 0;
}

/// Changes one weight of a layer, in any of its tensors.
bool spoil_weight(random_engine& random, layer_weights& w, std::string& kind) {
    auto& m = w.mixer;
    const std::vector<std::pair<const char*, nn::sparse_matrix*>> matrices{{"qkv", &m.in_proj_qkv}, {"z", &m.in_proj_z}, {"b", &m.in_proj_b}, {"a", &m.in_proj_a},
                                                                          {"out", &m.out_proj}, {"gate", &w.mlp.gate}, {"up", &w.mlp.up}, {"down", &w.mlp.down}};
    const auto which = pick(random, matrices.size() + 4);
    if (which < matrices.size()) return kind = matrices[which].first, negate_any(random, *matrices[which].second);
    if (which == matrices.size()) return kind = "conv", negate_any_of(random, m.conv);
    if (which == matrices.size() + 1) return kind = "norm", negate_any_of(random, m.norm);
    if (which == matrices.size() + 2) return kind = "input_norm", negate_any_of(random, w.input_norm);
    return kind = "post_norm", negate_any_of(random, w.post_norm);
}

bool weight(random_engine& random, std::string& kind) {
    auto spoilt = test::compiled_machine().layers();
    const auto layer = pick(random, spoilt.size());
    if (!spoil_weight(random, spoilt[layer], kind)) return false;
    const auto what = kind + " of layer " + std::to_string(layer);
    const machine_model<> model(test::compiled_machine(), nn::sparse_model<nn::fp32>(spoilt, test::compiled_machine().shape()));
    for (const auto& l : launches())
        if (is_found(model, l, what)) return true;
    return false;
}

void inject_all(int wanted, std::uint64_t seed) {
    inject("tokens written", wanted, seed, written_token);
    inject("tokens of the prompt", wanted, seed + 1, prompt_token);
    inject("entries of states", wanted, seed + 2, [](random_engine& r, std::string& kind) { return state_entry(r, kind, false); });
    inject("bits of states, both rails", wanted, seed + 3, [](random_engine& r, std::string& kind) { return state_entry(r, kind, true); });
}

}  // namespace

TEST_CASE("a token or an entry of a state that is wrong is found in the record that first shows it", "[launch]") { inject_all(10, 1); }

TEST_CASE("one weight that is wrong is found in the record that first shows it", "[launch]") { inject("weights", 3, 5, weight); }

TEST_CASE("hundreds of faults that matter are found", "[launch][.heavy]") {
    inject_all(200, 100);
    inject("weights", 100, 105, weight);
}
