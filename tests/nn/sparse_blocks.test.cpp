// SPDX-License-Identifier: MIT
// The parts of the sparse engine: masks of blocks, packed matrices, memories by row.
#include <limits>
#include <map>
#include <random>

#include "qwengpu/nn/sparse/block64.hpp"
#include "qwengpu/nn/sparse/packed_columns.hpp"
#include "qwengpu/nn/sparse/packed_rows.hpp"
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

TEST_CASE("masks say which of 64 floats are not zero, and which have a silu", "[nn]") {
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    const float tiny = std::numeric_limits<float>::denorm_min();
    const std::vector<float> kinds = {0.0F, -0.0F, 1.0F, -1.0F, tiny, -tiny, nan, infinity, -infinity, -88.99F, -89.0F, -89.01F, 128.0F, -128.0F};
    std::mt19937 random(1);
    for (int round = 0; round < 200; ++round) {
        float x[64];
        std::uint64_t nonzero = 0, alive = 0;
        for (int i = 0; i < 64; ++i) {
            x[i] = kinds[random() % kinds.size()];
            const bool zero = x[i] == 0.0F, dead = x[i] <= -89.0F;
            nonzero |= std::uint64_t{!zero} << i;
            alive |= std::uint64_t{!zero && !dead} << i;
        }
        REQUIRE(sparse::nonzero(x) == nonzero);
        REQUIRE(sparse::alive(x) == alive);
        REQUIRE(sparse::portable::nonzero(x) == nonzero);
        REQUIRE(sparse::portable::alive(x) == alive);
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
        REQUIRE(std::abs(static_cast<double>(sparse::sum_of_squares(x) - expected)) < 1e-6);
        REQUIRE(sparse::sum_of_squares(x) == sparse::portable::sum_of_squares(x));
    }
}

TEST_CASE("bits are visited in order", "[nn]") {
    std::vector<int> seen;
    sparse::for_each_bit(std::uint64_t{1} << 63 | 0x11U, [&](int bit) { seen.push_back(bit); });
    CHECK(seen == std::vector<int>{0, 4, 63});
}

TEST_CASE("packed columns and rows give the product of the matrix", "[nn]") {
    std::mt19937 random(3);
    const int rows = GENERATE(1, 3, 64, 150), cols = 37;
    const auto entries = random_entries(rows, cols, random);
    const int capacity = sparse::padded(rows);
    const sparse::packed_columns columns(rows, cols, entries);
    const sparse::packed_rows packed_rows(rows, entries);
    std::vector<float> x(static_cast<std::size_t>(cols)), y(static_cast<std::size_t>(capacity)), expected = y;
    for (float& value : x) value = static_cast<float>(random() % 5);
    for (const triplet& t : entries) expected[static_cast<std::size_t>(t.row)] += t.value * x[static_cast<std::size_t>(t.col)];

    std::uint64_t reach = 0;
    for (int col = 0; col < cols; ++col) {
        columns.add(col, x[static_cast<std::size_t>(col)], y.data());
        reach |= columns.reach(col);
    }
    CHECK(y == expected);
    for (int row = 0; row < rows; ++row) {
        CHECK(packed_rows.dot(row, x.data()) == expected[static_cast<std::size_t>(row)]);
        if (expected[static_cast<std::size_t>(row)] != 0) CHECK((reach >> (row / 64) & 1U) == 1);
    }
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
