// SPDX-License-Identifier: MIT
// What the whole model writes for stores, guarded ones, read-modify-writes slot by slot and atomics lane by lane, on global, shared and
// local memory: every token against plain arrays, traps included.
#include "support/catch.hpp"
#include "support/compiled_machine.hpp"
#include "support/lane_bench.hpp"
#include "support/plain_memory.hpp"
#include "support/token_bench.hpp"

#include <string>

using namespace qwengpu;
using namespace qwengpu::test;
using machine::access_size;
using machine::memory_op;
using machine::source;
using text::token_class;

namespace {

/// Blocks: 3 p + size stores r3 at r1 where bit 0 of r4 is 0 (p: local memory is open); 8 loads at r1 and stores it at r2; 9 adds r3 to the
/// word at r1 lane by lane and leaves the old one in r5; 10 does so without r5; 11 puts the low byte of r3 at r1.
template <class R>
class store_run {
public:
    explicit store_run(unsigned seed) : choose_(seed) {
        for (int k = 0; k < 6; ++k) put_store(k, static_cast<access_size>(k % 3), k >= 3);
        put_copy();
        put_atomic(9, 5);
        put_atomic(10, 0);
        put_byte();
        choose_.declare_some(bench_, plain_);
    }

    void once() {
        warp_ = choose_.below(8);
        for (auto& a : r1_) a = choose_.any_address(plain_);
        if (choose_.below(3) == 0) r1_ = {r1_[0], r1_[0], r1_[0], r1_[0] ^ choose_.below(2)};
        for (auto& a : r2_) a = choose_.any_address(plain_);
        for (auto& v : r3_) v = choose_.any_word();
        for (auto& v : r4_) v = choose_.below(4) == 0 ? choose_.any_word() : 0;
        bench_.set(warp_, 1, r1_);
        bench_.set(warp_, 2, r2_);
        bench_.set(warp_, 3, r3_);
        bench_.set(warp_, 4, r4_);
        const int blocks[] = {0, 1, 2, 3, 4, 5, 8, 9, 10, 11};
        block_ = blocks[choose_.below(10)];
        mask_ = 1 + choose_.below(15);
        bench_.begin(block_, warp_, mask_);
        if (block_ < 6) return plain_stores();
        if (block_ == 8) return copies();
        return block_ == 11 ? bytes() : atomics();
    }

    int traps = 0, words = 0;
    [[nodiscard]] const std::string& first_wrong() const { return reader_.first_wrong; }
    [[nodiscard]] int tokens() const { return reader_.compared; }

private:
    void put_store(int id, access_size size, bool is_private) {
        machine::machine_block b;
        b.ports = {1, 3, 4, 0};
        b.has_store = b.mem.store_guarded = true;
        b.mem.cond = source::r2;
        b.mem.store_address = source::r0;
        b.mem.store_data = source::r1;
        b.mem.store_size = size;
        b.mem.is_private = is_private;
        bench_.put(id, b);
    }
    void put_copy() {
        machine::machine_block b;
        b.ports = {1, 2, 0, 0};
        b.mem.op = memory_op::load;
        b.mem.load_address = source::r0;
        b.has_store = b.mem.is_private = true;
        b.mem.store_address = source::r1;
        b.mem.store_data = source::t2;
        bench_.put(8, b);
    }
    void put_atomic(int id, std::uint8_t old) {
        machine::machine_block b;
        b.ports = {1, 3, 0, 0};
        b.mem.op = memory_op::load;
        b.mem.load_address = b.mem.store_address = source::r0;
        b.s3 = {machine::alu_op::add, source::t2, source::r1};
        b.mem.store_data = source::t3;
        b.has_store = b.lane_major = true;
        b.dest[1] = old;
        bench_.put(id, b);
    }
    void put_byte() {
        machine::machine_block b;
        b.ports = {1, 3, 0, 0};
        b.mem.op = memory_op::load_byte_word;
        b.mem.load_address = b.mem.store_address = source::r0;
        b.s3 = {machine::alu_op::insert, source::t2, source::r1, source::r0};
        b.mem.store_data = source::t3;
        b.mem.store_size = access_size::byte;
        b.has_store = b.mem.is_private = true;
        bench_.put(11, b);
    }

    template <class Lane>
    void for_lanes(const Lane& lane_does) {
        for (std::uint32_t lane = 0; lane < 4; ++lane)
            if ((mask_ >> lane & 1U) != 0 && !lane_does(lane)) return;
    }
    /// The first kind of trap of an access, 0 if there is none.
    std::uint32_t fault(std::uint32_t address, std::uint32_t size, bool is_private) const {
        if (address % size != 0) return 2;
        return plain_.outside(address, is_private) ? 1 : 0;
    }
    bool sound(std::uint32_t kind) {
        if (kind == 0) return true;
        ++traps;
        reader_.expect(token_class::trap, kind);
        return false;
    }
    void store(std::uint32_t lane, std::uint32_t address, std::uint32_t value) {
        reader_.expect(token_class::addr, address >> 2 & 127, address >> 27);
        reader_.expect_word(value);
        plain_.at(warp_, lane, address) = value;
        ++words;
    }

    void plain_stores() {
        const std::uint32_t sizes[] = {4, 2, 1}, size = sizes[block_ % 3];
        // All slots are one store. A lane is checked when its turn comes, and a lane whose guard says no stores nothing and cannot trap.
        const bool alike = same(r1_) && same(r3_) && same(r4_) && block_ < 3 && (mask_ & (mask_ - 1)) != 0;
        if (alike && sound(guarded(first()) ? fault(r1_[first()], size, false) : 0)) reader_.expect(token_class::all);
        else if (alike) return;
        for_lanes([&](std::uint32_t lane) {
            if (!guarded(lane)) {
                reader_.expect(token_class::skip);
            } else {
                if (!sound(fault(r1_[lane], size, block_ >= 3))) return false;
                store(lane, r1_[lane], r3_[lane]);
            }
            return !alike;
        });
    }
    void copies() {
        for_lanes([&](std::uint32_t lane) {
            const std::uint32_t load = fault(r1_[lane], 4, true);
            if (!sound(load != 0 ? load : fault(r2_[lane], 4, true))) return false;
            store(lane, r2_[lane], plain_.at(warp_, lane, r1_[lane]));
            return true;
        });
    }
    void atomics() {
        for_lanes([&](std::uint32_t lane) {
            if (!sound(fault(r1_[lane], 4, false))) return false;
            const std::uint32_t old = plain_.at(warp_, lane, r1_[lane]);
            if (block_ == 9) reader_.expect_word(old);
            store(lane, r1_[lane], old + r3_[lane]);
            return true;
        });
    }
    void bytes() {
        for_lanes([&](std::uint32_t lane) {
            if (!sound(fault(r1_[lane], 1, true))) return false;
            const std::uint32_t old = plain_.at(warp_, lane, r1_[lane]), shift = 8 * (r1_[lane] % 4);
            store(lane, r1_[lane], (old & ~(255U << shift)) | (r3_[lane] & 255U) << shift);
            return true;
        });
    }

    std::uint32_t first() const {
        std::uint32_t lane = 0;
        while ((mask_ >> lane & 1U) == 0) ++lane;
        return lane;
    }
    bool guarded(std::uint32_t lane) const { return r4_[lane] % 2 == 0; }
    bool same(const lane_words& values) const {
        for (std::uint32_t lane = 0; lane < 4; ++lane)
            if ((mask_ >> lane & 1U) != 0 && values[lane] != values[first()]) return false;
        return true;
    }

    memory_choices choose_;
    plain_memory plain_{};
    lane_words r1_{}, r2_{}, r3_{}, r4_{};
    std::uint32_t warp_ = 0, mask_ = 0;
    int block_ = 0;
    token_bench<R> reader_{};
    lane_bench<token_bench<R>> bench_{reader_};
};

}  // namespace

TEMPLATE_TEST_CASE("what stores and atomics write", "[stage]", nn::fp32, nn::bf16) {
    store_run<TestType> run(3);
    for (int i = 0; i < 500; ++i) run.once();
    INFO(run.first_wrong());
    CHECK(run.first_wrong().empty());
    CHECK(run.traps > 50);
    CHECK(run.words > 200);
    CHECK(run.tokens() > 700);
}
