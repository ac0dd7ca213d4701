// SPDX-License-Identifier: MIT
// Loads of every kind from global, shared and local memory through the real layers: random addresses of random lanes and warps,
// between random writes, against plain arrays. The value, and whether the address is misaligned or out of bounds.
#include <qwengpu/stage/load.hpp>

#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/lane_bench.hpp"
#include "support/layer_probe.hpp"
#include "support/plain_memory.hpp"

#include <string>

using namespace qwengpu;
using namespace qwengpu::test;
using machine::memory_op;
using machine::source;

namespace {

/// What a load makes of its word, byte by byte.
std::uint32_t part_of(memory_op op, std::uint32_t word, std::uint32_t address) {
    const unsigned char bytes[4] = {static_cast<unsigned char>(word), static_cast<unsigned char>(word >> 8), static_cast<unsigned char>(word >> 16),
                                    static_cast<unsigned char>(word >> 24)};
    const unsigned byte = bytes[address % 4], half = bytes[address % 4 & 2U] + 256U * bytes[(address % 4 & 2U) + 1];
    switch (op) {
        case memory_op::load_u8: return byte;
        case memory_op::load_s8: return byte < 128 ? byte : byte - 256;
        case memory_op::load_u16: return half;
        case memory_op::load_s16: return half < 32768 ? half : half - 65536;
        default: return word;
    }
}

bool misaligned(memory_op op, std::uint32_t address) {
    if (op == memory_op::load) return address % 4 != 0;
    return (op == memory_op::load_u16 || op == memory_op::load_s16 || op == memory_op::load_half_word) && address % 2 != 0;
}

constexpr memory_op loads[] = {memory_op::load,     memory_op::load_u8,  memory_op::load_s8,       memory_op::load_u16,
                               memory_op::load_s16, memory_op::load_byte_word, memory_op::load_half_word};

/// Blocks 0..6 load, 7..13 load where local memory is open, by the address in r1; r2 = t2. Block 14 stores r3 at r1, local memory open.
template <class R>
class memory_run {
public:
    explicit memory_run(unsigned seed) : choose_(seed) {
        for (int k = 0; k < 14; ++k) {
            machine::machine_block b;
            b.ports[0] = 1;
            b.mem.op = loads[k % 7];
            b.mem.load_address = source::r0;
            b.mem.is_private = k >= 7;
            b.dest[1] = 2;
            bench_.put(k, b);
        }
        machine::machine_block store;
        store.ports = {1, 3, 0, 0};
        store.has_store = true;
        store.mem.store_address = source::r0;
        store.mem.store_data = source::r1;
        store.mem.is_private = true;
        bench_.put(14, store);
        choose_.declare_some(bench_, plain_);
    }

    void write_somewhere() {
        std::uint32_t address = 0;
        do address = choose_.any_address(plain_); while (plain_.outside(address & ~3U, true));
        address &= ~3U;
        const std::uint32_t warp = choose_.below(8), mask = 1 + choose_.below(15);
        bench_.begin(14, warp, mask);
        for (std::uint32_t lane = 0; lane < 4; ++lane) {
            if ((mask >> lane & 1U) == 0) continue;
            const std::uint32_t value = choose_.any_word();
            bench_.declare(address >> 2 & 127, address >> 27, value);
            plain_.at(warp, lane, address) = value;
        }
    }

    void load_somewhere() {
        const std::uint32_t warp = choose_.below(8), k = choose_.below(14);
        lane_words addresses{};
        for (auto& a : addresses) a = choose_.any_address(plain_);
        bench_.set(warp, 1, addresses);
        bench_.begin(static_cast<int>(k), warp);
        for (std::uint32_t lane = 0; lane < 4; ++lane) {
            check(loads[k % 7], k >= 7, warp, lane, addresses[lane]);
            layers_.read_word(choose_.any_word());
        }
    }

    int checks = 0, traps = 0, local_reads = 0, shared_reads = 0, global_reads = 0;
    std::string first_wrong{};

private:
    void check(memory_op op, bool is_private, std::uint32_t warp, std::uint32_t lane, std::uint32_t address) {
        const bool bad = misaligned(op, address), outside = !bad && plain_.outside(address, is_private);
        const auto where = "load " + std::to_string(static_cast<int>(op)) + " of " + std::to_string(address) + " in warp " + std::to_string(warp) + ", lane " + std::to_string(lane);
        expect(where + ", misaligned", layers_.get(data_.load_misaligned), bad);
        expect(where + ", outside", layers_.get(data_.load_outside), outside);
        traps += bad || outside ? 1 : 0;
        if (bad || outside) return;
        expect(where, layers_.get(data_.t2), part_of(op, plain_.at(warp, lane, address), address));
        ++(address >> 27 == 28 ? local_reads : address >> 27 == 29 ? shared_reads : global_reads);
    }
    void expect(const std::string& what, std::uint64_t is, std::uint64_t should) {
        ++checks;
        if (is != should && first_wrong.empty()) first_wrong = what + ": " + std::to_string(is) + ", not " + std::to_string(should);
    }

    memory_choices choose_;
    plain_memory plain_{};
    const stage::data_signals& data_ = compiled_machine().named().data;
    layer_probe<R> layers_{compiled_machine(), {data_.t2, {data_.load_misaligned, data_.load_outside}}};
    lane_bench<layer_probe<R>> bench_{layers_};
};

}  // namespace

TEMPLATE_TEST_CASE("loads of all kinds from all memories", "[stage]", nn::fp32, nn::bf16) {
    memory_run<TestType> run(7);
    for (int i = 0; i < 700; ++i) {
        run.write_somewhere();
        run.load_somewhere();
    }
    INFO(run.first_wrong);
    CHECK(run.first_wrong.empty());
    CHECK(run.checks > 6000);
    CHECK(run.traps > 500);
    CHECK(run.local_reads > 100);
    CHECK(run.shared_reads > 100);
    CHECK(run.global_reads > 100);
}
