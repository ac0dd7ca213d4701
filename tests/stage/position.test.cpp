// SPDX-License-Identifier: MIT
// Where a record is: for all masks, all sets of present slots and all positions, the slot and lane completed, the ones that come
// next, and the end, through the real layers; also after `all`, at each slot it can stand before, and lane by lane.
#include <qwengpu/stage/position.hpp>

#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/layer_probe.hpp"

#include <string>
#include <vector>

using namespace qwengpu;
using namespace qwengpu::test;
using text::token_class;

namespace {

/// The bits that are set, lowest first, as one-hot numbers.
std::vector<std::uint64_t> set_bits(unsigned bits) {
    std::vector<std::uint64_t> found;
    for (unsigned i = 0; i < 8; ++i)
        if ((bits >> i & 1U) != 0) found.push_back(std::uint64_t{1} << i);
    return found;
}

constexpr std::uint32_t first_lane_major = 64;

/// The six slots of block b are the six bits of b: BR ST W4 W3 W2 W1 from the lowest on. From block 64 on the same lane by lane.
template <class R>
struct position_probe {
    const stage::position_signals& p = compiled_machine().named().position;
    layer_probe<R> layers{compiled_machine(), {p.next_slot, p.next_lane, p.current_slot, p.current_lane, {p.done, p.next_first}}};
    int checks = 0;
    std::string first_wrong{};

    position_probe() {
        for (std::uint32_t present = 0; present < 128; ++present) {
            layers.read_group(present, machine::group::header, std::uint64_t{1} << 45 | std::uint64_t{present / first_lane_major} << 46);
            layers.read_group(present, machine::group::uniformity, std::uint64_t{present % 64} << 10);
        }
    }

    void expect(const char* what, std::uint64_t is, std::uint64_t should) {
        ++checks;
        if (is != should && first_wrong.empty()) first_wrong = std::string(what) + " is " + std::to_string(is) + ", not " + std::to_string(should) + ", after " + place;
    }
    void begin(unsigned mask, unsigned present) {
        layers.read(token_class::mask, mask, mask % 8);
        layers.read(token_class::hdr, present, mask % 8);
        place = "mask " + std::to_string(mask) + ", slots " + std::to_string(present);
    }
    void expect_next(const std::vector<std::uint64_t>& slots, const std::vector<std::uint64_t>& lanes, std::size_t n) {
        const bool done = n == slots.size() * lanes.size();
        expect("done", layers.get(p.done), done);
        if (done) return;
        expect("next slot", layers.get(p.next_slot), slots[n / lanes.size()]);
        expect("next lane", layers.get(p.next_lane), lanes[n % lanes.size()]);
        expect("first slot", layers.get(p.next_first), n < lanes.size());
    }
    void expect_current(const std::vector<std::uint64_t>& slots, const std::vector<std::uint64_t>& lanes, std::size_t n) {
        expect("current slot", layers.get(p.current_slot), slots[n / lanes.size()]);
        expect("current lane", layers.get(p.current_lane), lanes[n % lanes.size()]);
    }

    std::string place{};
};

}  // namespace

TEMPLATE_TEST_CASE("all masks, all sets of slots, all positions", "[stage]", nn::fp32, nn::bf16) {
    position_probe<TestType> probe;
    for (unsigned mask = 1; mask < 16; ++mask) {
        for (unsigned present = 0; present < 64; ++present) {
            const auto slots = set_bits(present), lanes = set_bits(mask);
            probe.begin(mask, present);
            probe.expect_next(slots, lanes, 0);
            for (std::size_t n = 0; n < slots.size() * lanes.size(); ++n) {
                probe.place += " .";
                probe.layers.read(n % 2 == 0 ? token_class::short_word : token_class::br);
                probe.expect_current(slots, lanes, n);
                probe.expect_next(slots, lanes, n + 1);
            }
        }
    }
    INFO(probe.first_wrong);
    CHECK(probe.first_wrong.empty());
    // Six checks a position and one at the end, for 63 sets of slots with 192 slots in all, 15 masks with 32 lanes in all.
    CHECK(probe.checks == 192 * 32 * 6 + 15 * 64);
}

TEMPLATE_TEST_CASE("after `all` every slot has one position, of the first lane", "[stage]", nn::fp32, nn::bf16) {
    position_probe<TestType> probe;
    for (const unsigned mask : {3U, 5U, 6U, 7U, 12U, 14U, 15U}) {
        for (unsigned present = 1; present < 64; ++present) {
            const auto slots = set_bits(present), lanes = set_bits(mask);
            for (std::size_t before = 0; before < slots.size(); ++before) {
                probe.begin(mask, present);
                probe.place += ", all before slot number " + std::to_string(before);
                for (std::size_t n = 0; n < before * lanes.size(); ++n) probe.layers.read(token_class::skip);
                probe.layers.read(token_class::all);
                for (std::size_t n = before; n < slots.size(); ++n) {
                    probe.expect_next(slots, lanes, n * lanes.size());
                    probe.layers.read(token_class::short_word, 1);
                    probe.expect("current slot", probe.layers.get(probe.p.current_slot), slots[n]);
                }
                probe.expect_next(slots, lanes, slots.size() * lanes.size());
            }
        }
    }
    INFO(probe.first_wrong);
    CHECK(probe.first_wrong.empty());
    CHECK(probe.checks > 10000);
}

TEMPLATE_TEST_CASE("lane by lane: the register, if there is one, and then the store", "[stage]", nn::fp32, nn::bf16) {
    constexpr std::uint64_t store = 2;
    position_probe<TestType> probe;
    for (unsigned mask = 1; mask < 16; ++mask) {
        for (const std::uint64_t reg : {0U, 4U, 8U, 16U, 32U}) {
            struct place { std::uint64_t slot, lane; };
            std::vector<place> places;
            for (const auto lane : set_bits(mask)) {
                if (reg != 0) places.push_back({reg, lane});
                places.push_back({store, lane});
            }
            probe.begin(mask, first_lane_major + static_cast<unsigned>(store | reg));
            for (std::size_t n = 0; n <= places.size(); ++n) {
                const bool done = n == places.size();
                probe.expect("done", probe.layers.get(probe.p.done), done);
                if (n > 0) {
                    probe.expect("current slot", probe.layers.get(probe.p.current_slot), places[n - 1].slot);
                    probe.expect("current lane", probe.layers.get(probe.p.current_lane), places[n - 1].lane);
                }
                if (done) continue;
                probe.expect("next slot", probe.layers.get(probe.p.next_slot), places[n].slot);
                probe.expect("next lane", probe.layers.get(probe.p.next_lane), places[n].lane);
                probe.expect("first slot", probe.layers.get(probe.p.next_first), n == 0 || places[n - 1].lane != places[n].lane);
                probe.place += " .";
                probe.layers.read(n % 3 == 0 ? token_class::skip : token_class::short_word);
            }
        }
    }
    INFO(probe.first_wrong);
    CHECK(probe.first_wrong.empty());
    // 32 lanes in all, one position once and two four times, with six checks each, and an end for each of 15 masks.
    CHECK(probe.checks == 32 * 9 * 6 + 15 * 5);
}
