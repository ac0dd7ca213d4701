// SPDX-License-Identifier: MIT
// The parts of the sparse engine: masks of blocks, lists of entries, the residual, earlier inputs, memories by row.
#include <limits>
#include <map>
#include <random>

#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse/entry_lists.hpp"
#include "qwengpu/nn/sparse/output.hpp"
#include "qwengpu/nn/sparse/past_inputs.hpp"
#include "qwengpu/nn/sparse/residual.hpp"
#include "qwengpu/nn/sparse/row_memory.hpp"
#include "support/catch.hpp"

namespace {

using namespace qwengpu::nn;

/// Entries of a matrix with whole numbers, some columns crowded, some empty.
std::vector<triplet> random_entries(int rows, int cols, std::mt19937& random) {
    std::vector<triplet> entries;
    std::uniform_int_distribution<int> value(1, 9), percent(0, 99);
    for (int col = 0; col < cols; ++col) {
        const int share = col % 4 == 0 ? 60 : col % 4 == 1 ? 5 : col % 4 == 2 ? 0 : 1;
        for (int row = 0; row < rows; ++row)
            if (percent(random) < share) entries.push_back({row, col, static_cast<float>(value(random))});
    }
    std::shuffle(entries.begin(), entries.end(), random);
    return entries;
}

}  // namespace

TEST_CASE("masks say which of 64 floats are not zero", "[nn]") {
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    const float tiny = std::numeric_limits<float>::denorm_min();
    const std::vector<float> kinds = {0.0F, -0.0F, 1.0F, -1.0F, tiny, -tiny, nan, infinity, -infinity, -88.99F, -89.0F, -89.01F, 128.0F, -128.0F};
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        float x[64];
        std::uint64_t nonzero = 0;
        for (int i = 0; i < 64; ++i) {
            x[i] = kinds[random() % kinds.size()];
            nonzero |= std::uint64_t{x[i] != 0.0F} << i;
        }
        REQUIRE(sparse::nonzero(x) == nonzero);
        REQUIRE(sparse::portable::nonzero(x) == nonzero);
    }
}

TEST_CASE("sums of squares are those of doubles, and the same bits without vector instructions", "[nn]") {
    std::mt19937 random(2);
    std::normal_distribution<float> normal(0, 1000);
    for (int round = 0; round < 100; ++round) {
        float x[64];
        long double expected = 0;
        for (float& value : x) {
            value = normal(random);
            expected += static_cast<long double>(value) * static_cast<long double>(value);
        }
        REQUIRE(std::abs(static_cast<double>(static_cast<long double>(sparse::sum_of_squares(x)) - expected)) < 1e-6);
        REQUIRE(sparse::sum_of_squares(x) == sparse::portable::sum_of_squares(x));
    }
}

TEST_CASE("bits are visited in order", "[nn]") {
    std::vector<int> seen;
    sparse::for_each_bit(std::uint64_t{1} << 63 | 0x11U, [&](int bit) { seen.push_back(bit); });
    CHECK(seen == std::vector<int>{0, 4, 63});
}

TEST_CASE("lists of entries, by row and by column, give the product of the matrix", "[nn]") {
    std::mt19937 random(3);
    const int rows = GENERATE(1, 3, 64, 150), cols = 37;
    const auto entries = random_entries(rows, cols, random);
    const auto by_column = sparse::entry_lists::by_column(cols, entries), by_row = sparse::entry_lists::by_row(rows, entries);
    std::vector<float> x(static_cast<std::size_t>(cols)), expected(static_cast<std::size_t>(rows));
    for (float& value : x) value = static_cast<float>(random() % 5);
    std::vector<bool> touched(expected.size());
    for (const triplet& t : entries) {
        expected[static_cast<std::size_t>(t.row)] += t.value * x[static_cast<std::size_t>(t.col)];
        touched[static_cast<std::size_t>(t.row)] = true;
    }

    sparse::output out(rows);
    for (int col = 0; col < cols; ++col) out.add(by_column[col], x[static_cast<std::size_t>(col)]);
    CHECK(by_column.count() == cols);
    for (int row = 0; row < rows; ++row) {
        const auto i = static_cast<std::size_t>(row);
        CHECK(out.values[i] == expected[i]);
        CHECK(sparse::dot(by_row[row], x.data()) == expected[i]);
        CHECK((out.touched[i / 64] >> (i % 64) & 1U) == (touched[i] ? 1U : 0U));
    }
}

TEST_CASE("the residual keeps its values, its zeros and the mean of its squares", "[nn]") {
    constexpr int hidden = 200;
    std::mt19937 random(5);
    std::normal_distribution<float> normal(0, 3);
    const bool whole = GENERATE(true, false);
    const auto draw = [&] { return whole ? static_cast<float>(static_cast<int>(random() % 7) - 3) : normal(random); };
    vector expected = vector::Zero(hidden);
    // As in compiled layers: the mean is a whole number and a bit, and many sums lie half way between two floats.
    expected(1) = expected(2) = 8192.0F * std::sqrt(static_cast<float>(hidden) / 2048.0F);
    sparse::residual r(hidden);
    sparse::output out(hidden);
    r.load<fp32>(expected);
    for (int round = 0; round < 2000; ++round) {
        for (int i = 0; i < 5; ++i) {
            const int channel = 3 + static_cast<int>(random() % (hidden - 3));
            const float value = random() % 3 == 0 ? -expected(channel) : draw();
            const sparse::entry column[] = {{static_cast<std::uint32_t>(channel), value}};
            if (out.values[static_cast<std::size_t>(channel)] != 0) continue;
            out.add(column, 1.0F);
            expected(channel) += value;
        }
        r.add<fp32>(out);
        REQUIRE(r.view() == expected);
        REQUIRE(std::all_of(out.touched.begin(), out.touched.end(), [](std::uint64_t word) { return word == 0; }));
        REQUIRE(std::all_of(out.values.begin(), out.values.end(), [](float value) { return value == 0; }));
        for (int i = 0; i < hidden; ++i)
            REQUIRE((r.nonzero_in(static_cast<std::size_t>(i) / 64) >> (i % 64) & 1U) == (expected(i) != 0 ? 1U : 0U));
        double sum = 0;  // in the order of a sum in full
        for (int block = 0; block < sparse::blocks_for(hidden); ++block) sum += sparse::portable::sum_of_squares(r.values() + block * 64);
        REQUIRE(inverse_rms(r.sum_of_squares(), hidden, 1e-6F) == inverse_rms(sum, hidden, 1e-6F));
    }
}

TEST_CASE("earlier inputs are those of the last few tokens, zeros before the first", "[nn]") {
    constexpr int hidden = 70;
    std::mt19937 random(6);
    sparse::past_inputs past(3);
    sparse::recent_scratch scratch;
    scratch.fit(3, hidden);
    const sparse::inputs now(hidden);
    std::vector<std::vector<float>> tokens(3, std::vector<float>(hidden));
    for (int round = 0; round < 50; ++round) {
        {
            const sparse::recent_inputs recent(now, past, scratch);
            for (std::size_t age = 1 + random() % 3; age <= 3; ++age)
                CHECK(std::equal(tokens[tokens.size() - age].begin(), tokens[tokens.size() - age].end(), recent.values(age)));
        }
        std::vector<sparse::active_input> active;
        tokens.emplace_back(hidden);
        for (int channel = static_cast<int>(random() % 20); channel < hidden; channel += 1 + static_cast<int>(random() % 20)) {
            tokens.back()[static_cast<std::size_t>(channel)] = static_cast<float>(1 + random() % 9);
            active.push_back({channel, tokens.back()[static_cast<std::size_t>(channel)]});
        }
        past.push(active);
    }
    past.clear();
    CHECK(past.at(1).empty());
    CHECK(past.at(3).empty());
}

TEST_CASE("a row memory does what a map of rows does", "[nn]") {
    constexpr int heads = 3, keys = 5, width = 16;
    sparse::row_memory memory(heads, keys, width);
    std::map<std::pair<int, int>, float> expected;  // rows that are not zero, all of whose elements are the same
    std::mt19937 random(4);
    for (int round = 0; round < 3000; ++round) {
        const int head = static_cast<int>(random() % heads), key = static_cast<int>(random() % keys);
        switch (random() % 8) {
            case 0: memory.erase(head); std::erase_if(expected, [&](const auto& e) { return e.first.first == head; }); break;
            case 1: memory.scale(head, 0.0F); std::erase_if(expected, [&](const auto& e) { return e.first.first == head; }); break;
            case 2:
                memory.scale(head, 0.5F);
                for (auto& [place, value] : expected) value *= place.first == head ? 0.5F : 1.0F;
                break;
            default: {
                float* row = memory.make(head, key);
                for (int i = 0; i < width; ++i) row[i] += 64.0F;
                expected[{head, key}] += 64.0F;
            }
        }
        REQUIRE(memory.stored_rows() == expected.size());
        for (int h = 0; h < heads; ++h)
            for (int k = 0; k < keys; ++k) {
                const float* row = memory.find(h, k);
                REQUIRE((row != nullptr) == expected.contains({h, k}));
                if (row != nullptr) REQUIRE(std::vector<float>(row, row + width) == std::vector<float>(width, expected[{h, k}]));
            }
    }
    memory.clear();
    CHECK(memory.stored_rows() == 0);
}
