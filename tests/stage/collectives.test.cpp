// SPDX-License-Identifier: MIT
// Shuffles, ballots and matches through the real layers: random registers, masks, selectors and warps, against what the four values say.
#include <qwengpu/stage/collectives.hpp>

#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/lane_bench.hpp"
#include "support/layer_probe.hpp"

#include <random>
#include <string>

using namespace qwengpu;
using namespace qwengpu::test;
using machine::memory_op;
using machine::source;

namespace {

/// Block 0 shuffles r1 by r2, 1 and 2 are ballots of r1 (bits that are 1, bits that are 0), 3 matches r1. All write r3.
template <class R>
class collective_run {
public:
    explicit collective_run(unsigned seed) : choose_(seed) {
        machine::machine_block b;
        b.ports = {1, 2, 0, 0};
        b.dest[1] = 3;
        b.mem.op = memory_op::shuffle;
        b.mem.load_address = source::r1;
        bench_.put(0, b);
        b.ports = {1, 0, 0, 0};
        b.mem.load_address = source::zero;
        b.mem.op = memory_op::ballot;
        bench_.put(1, b);
        b.mem.load_sense = true;
        bench_.put(2, b);
        b.mem.load_sense = false;
        b.mem.op = memory_op::match;
        bench_.put(3, b);
    }

    void once() {
        const std::uint32_t warp = below(8);
        lane_words values{any_word(), any_word(), any_word(), any_word()}, selectors{};
        for (auto& v : values)
            if (below(3) == 0) v = values[below(4)];
        if (below(3) == 0) values[below(4)] = values[below(4)] ^ 1U << below(32);
        for (auto& s : selectors) s = below(3) == 0 ? any_word() : below(8) == 0 ? 4U << below(30) : below(5);
        bench_.set(warp, 1, values);
        bench_.set(warp, 2, selectors);
        for (int k = 0; k < 4; ++k) record(k, warp, 1 + below(15), values, selectors);
    }

    int checks = 0;
    std::string first_wrong{};

private:
    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(choose_() % n); }
    std::uint32_t any_word() { return below(3) == 0 ? below(4) : static_cast<std::uint32_t>(choose_()); }

    void record(int k, std::uint32_t warp, std::uint32_t mask, const lane_words& values, const lane_words& selectors) {
        bench_.begin(k, warp, mask);
        for (std::uint32_t lane = 0; lane < 4; ++lane) {
            if ((mask >> lane & 1U) == 0) continue;
            const std::uint32_t should = expected(k, lane, mask, values, selectors[lane]);
            const auto is = static_cast<std::uint32_t>(layers_.get(data_.t2));
            ++checks;
            if (is != should && first_wrong.empty())
                first_wrong = "block " + std::to_string(k) + ", mask " + std::to_string(mask) + ", lane " + std::to_string(lane) + ", selector " +
                              std::to_string(selectors[lane]) + ": " + std::to_string(is) + ", not " + std::to_string(should);
            layers_.read_word(any_word());
        }
    }

    static std::uint32_t expected(int k, std::uint32_t lane, std::uint32_t mask, const lane_words& values, std::uint32_t selector) {
        if (k == 0) return values[selector < 4 ? selector : lane];
        std::uint32_t bits = 0;
        for (std::uint32_t l = 0; l < 4; ++l) {
            const bool yes = k == 1 ? values[l] % 2 == 1 : k == 2 ? values[l] % 2 == 0 : values[l] == values[lane];
            if (yes) bits += 1U << l;
        }
        return bits & mask;
    }

    std::mt19937 choose_;
    const stage::data_signals& data_ = compiled_machine().named().data;
    layer_probe<R> layers_{compiled_machine(), {data_.t2}};
    lane_bench<layer_probe<R>> bench_{layers_};
};

}  // namespace

TEMPLATE_TEST_CASE("shuffles, ballots and matches", "[stage]", nn::fp32, nn::bf16) {
    collective_run<TestType> run(11);
    for (int i = 0; i < 500; ++i) run.once();
    INFO(run.first_wrong);
    CHECK(run.first_wrong.empty());
    CHECK(run.checks > 3000);
}
