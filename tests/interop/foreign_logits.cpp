// SPDX-License-Identifier: MIT
// A model that other software made and saved (make_random_model.py) gives the same logits on our engines, up to rounding.
// What rounding may do is measured, not guessed: in bf16 we must be ten times nearer to the other engine's bf16 than that is
// to its own fp32, and as near as its chunked and its cached form are to each other.
#include <qwengpu/checkpoint/disk_model.hpp>
#include <qwengpu/checkpoint/machine_note.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

namespace {

using namespace qwengpu;
using namespace qwengpu::checkpoint;

using rows = std::vector<std::vector<float>>;

template <class R>
rows our_logits(const std::string& folder, const std::vector<std::uint32_t>& tokens) {
    const disk_model<R> model(folder);
    auto state = model.fresh();
    rows all;
    for (const auto token : tokens) {
        model.read(state, token);
        const auto logits = model.head().template logits<R>(model.normed(state));
        all.emplace_back(logits.data(), logits.data() + logits.size());
    }
    return all;
}

/// Root of the mean square of a - b; of a, where b is empty. @throws std::out_of_range where the shapes differ.
double distance(const rows& a, const rows& b = {}) {
    double sum = 0, count = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < a[i].size(); ++j, ++count) sum += std::pow(a[i][j] - (b.empty() ? 0.0F : b.at(i).at(j)), 2.0);
    return std::sqrt(sum / count);
}

std::size_t different_winners(const rows& a, const rows& b) {
    const auto winner = [](const std::vector<float>& row) { return std::max_element(row.begin(), row.end()) - row.begin(); };
    std::size_t count = 0;
    for (std::size_t i = 0; i < a.size(); ++i) count += winner(a[i]) != winner(b.at(i));
    return count;
}

bool agrees(const std::string& folder) {
    std::ifstream file(folder + "/expected.json");
    const auto expected = json::parse(file);
    const auto tokens = expected.at("tokens").get<std::vector<std::uint32_t>>();
    const auto chunked = expected.at("chunked").get<rows>(), cached = expected.at("cached").get<rows>(), unrounded = expected.at("unrounded").get<rows>();
    const bool in_bf16 = stored_dtype(read_config(folder)) == "bfloat16";
    const auto ours = in_bf16 ? our_logits<nn::bf16>(folder, tokens) : our_logits<nn::fp32>(folder, tokens);
    const double size = distance(chunked), to_cached = distance(ours, cached), to_chunked = distance(ours, chunked), between = distance(chunked, cached), rounding = distance(cached, unrounded);
    std::printf("foreign model %s: %zu tokens, logits of rms %.3g; ours differ from theirs by %.2g (cached), %.2g (chunked), with %zu other winners; theirs from each other by %.2g, from fp32 by %.2g\n",
                in_bf16 ? "bf16" : "fp32", tokens.size(), size, to_cached, to_chunked, different_winners(ours, cached), between, rounding);
    if (tokens.size() < 100 || size < 0.1) return false;
    return in_bf16 ? to_cached < rounding / 10 && to_cached < between : to_cached < 1e-5 * size && to_chunked < 1e-5 * size;
}

}  // namespace

int main(int count, char** words) try {
    if (count != 2) return std::fprintf(stderr, "usage: foreign_logits FOLDER\n"), 2;
    return agrees(words[1]) ? 0 : 1;
} catch (const std::exception& e) {
    return std::fprintf(stderr, "%s\n", e.what()), 2;
}
