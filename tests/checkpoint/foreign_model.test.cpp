// SPDX-License-Identifier: MIT
// A checkpoint made by other software gives the same logits on our engine. tests/interop/make_random_model.py makes it, and
// QWENGPU_FOREIGN_MODEL names its folder; the test is not run by default.
#include <qwengpu/checkpoint/disk_model.hpp>
#include <qwengpu/checkpoint/machine_note.hpp>

#include "support/catch.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;

/// The largest difference of logits over all tokens, and the largest logit.
template <class R>
std::pair<float, float> largest_difference(const std::string& folder) {
    std::ifstream file(folder + "/expected.json");
    const auto expected = json::parse(file);
    const disk_model<R> model(folder);
    auto state = model.fresh();
    std::pair<float, float> most{0.0F, 0.0F};
    for (std::size_t i = 0; i < expected["tokens"].size(); ++i) {
        model.read(state, expected["tokens"][i].get<std::uint32_t>());
        const auto logits = model.head().template logits<R>(model.normed(state));
        for (Eigen::Index v = 0; v < logits.size(); ++v) {
            const auto should = expected["logits"][i][static_cast<std::size_t>(v)].get<float>();
            most.first = std::max(most.first, std::abs(logits[v] - should));
            most.second = std::max(most.second, std::abs(should));
        }
    }
    return most;
}

}  // namespace

TEST_CASE("a model saved by other software gives its logits", "[.interop]") {
    const char* folder = std::getenv("QWENGPU_FOREIGN_MODEL");
    REQUIRE(folder != nullptr);
    const bool in_bf16 = stored_dtype(read_config(folder)) == "bfloat16";
    const auto [difference, largest] = in_bf16 ? largest_difference<nn::bf16>(folder) : largest_difference<nn::fp32>(folder);
    std::printf("%s: logits up to %g, differences up to %g\n", in_bf16 ? "bf16" : "fp32", static_cast<double>(largest), static_cast<double>(difference));
    CHECK(largest > 0.5F);
    CHECK(difference <= largest * (in_bf16 ? 0.05F : 1e-4F));
}
