// SPDX-License-Identifier: MIT
// Simplification changes no value: random expressions over unknown words, worked out before and after. And it does simplify
// what compilers write most.
#include <qwengpu/ptx/ir_simplify.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include <qwengpu/ptx/ir_clean.hpp>

#include "support/catch.hpp"

#include "ir_values.hpp"

namespace {

using namespace qwengpu;
using ptx::ir::alu_op;
using ptx::ir::literal;
using ptx::ir::operand;
namespace m = machine::mod;

constexpr std::array<alu_op, 12> ops{alu_op::add, alu_op::lop, alu_op::shl, alu_op::shr, alu_op::sar,  alu_op::cmp,
                                     alu_op::sel, alu_op::min, alu_op::max, alu_op::mul, alu_op::popc, alu_op::clz};

class random_expression {
public:
    explicit random_expression(std::uint64_t seed) : random_(seed) {
        for (int k = 0; k < 2; ++k) pool_.push_back(made_.unknown());
        for (std::uint64_t k = 0, n = 2 + below(8); k < n; ++k) pool_.push_back(instruction());
        made_.use(pool_.back());
    }
    test::ir_maker made_;
    [[nodiscard]] operand result() const { return made_.f.at(made_.f.blocks[0].body.back()).b; }
    [[nodiscard]] std::vector<ptx::ir::value_id> unknowns() const { return {pool_[0].bits, pool_[1].bits}; }
    std::uint32_t word() {
        static constexpr std::array<std::uint32_t, 10> corners{0, 1, 2, 3, 8, 31, 32, 255, 0x80000000U, 0xffffffffU};
        return below(3) != 0 ? corners[below(corners.size())] : static_cast<std::uint32_t>(random_());
    }

private:
    std::uint64_t below(std::uint64_t n) { return random_() % n; }
    operand any() { return below(3) == 0 ? literal(word()) : pool_[below(pool_.size())]; }

    operand instruction() {
        const alu_op op = ops[below(ops.size())];
        const auto& row = *machine::find_instruction(op);
        unsigned mod = static_cast<unsigned>(random_()) & row.mod_bits;
        if (op == alu_op::add && (mod & m::add_subtract)) mod = m::add_subtract;
        if (op == alu_op::cmp && (mod & m::cmp_combine) == 0) mod &= 0xfU;
        const bool with_c = (row.operands & machine::operand_c) && (op != alu_op::cmp || (mod & m::cmp_combine));
        return made_.make(op, any(), (row.operands & machine::operand_b) ? any() : operand{}, with_c ? any() : operand{}, mod);
    }

    std::mt19937_64 random_;
    std::vector<operand> pool_;
};

std::size_t length(const ptx::ir::function& f) { return f.blocks[0].body.size(); }

}  // namespace

TEST_CASE("simplifying changes no value of random expressions") {
    std::size_t before = 0, after = 0;
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        random_expression e(seed);
        auto f = e.made_.f;
        ptx::ir::optimise(f);
        before += length(e.made_.f);
        after += length(f);
        for (int trial = 0; trial < 6; ++trial) {
            std::map<ptx::ir::value_id, std::uint32_t> loads;
            for (auto v : e.unknowns()) loads[v] = e.word();
            const std::uint32_t expected = test::value_of(e.made_.f, e.result(), loads);
            const std::uint32_t found = test::value_of(f, f.at(f.blocks[0].body.back()).b, loads);
            INFO("seed " << seed);
            if (expected != found) REQUIRE(found == expected);
        }
    }
    CHECK(after < before * 3 / 4);
}

TEST_CASE("what compilers write becomes what the machine has") {
    test::ir_maker made;
    const operand x = made.unknown(), y = made.unknown();
    const auto only = [&](operand o) {
        auto f = made.f;
        ptx::ir::instruction store;
        store.kind = ptx::ir::made_by::store;
        store.a = ptx::ir::parameter_word(0, 0);
        store.b = o;
        f.blocks[0].body.push_back(f.add(store));
        ptx::ir::optimise(f);
        const operand result = f.at(f.blocks[0].body.back()).b;
        return result.is_value() ? f.at(result.bits) : ptx::ir::instruction{};
    };
    SECTION("an index times 4 plus a base is one addition") {
        const auto i = only(made.make(alu_op::add, made.make(alu_op::mul, x, literal(4), ptx::ir::zero), y));
        CHECK(i.is_alu(alu_op::add));
        CHECK(i.mod == 2);
        CHECK(i.a == y);
        CHECK(i.b == x);
    }
    SECTION("a select by (x & 1) == 0 looks at x") {
        const operand bit = made.make(alu_op::lop, x, literal(1), ptx::ir::zero, ptx::ir::table::and_ab);
        const auto i = only(made.make(alu_op::sel, y, literal(7), made.make(alu_op::cmp, bit, ptx::ir::zero, {}, m::cmp_eq)));
        CHECK(i.is_alu(alu_op::sel));
        CHECK(i.c == x);
        CHECK(i.a == literal(7));
        CHECK(i.b == y);
    }
    SECTION("and of two comparisons is one after the other") {
        const operand p = made.make(alu_op::cmp, x, literal(3), {}, m::cmp_lt), q = made.make(alu_op::cmp, y, literal(4), {}, m::cmp_gt);
        const auto i = only(made.make(alu_op::lop, p, q, ptx::ir::zero, ptx::ir::table::and_ab));
        CHECK(i.is_alu(alu_op::cmp));
        CHECK((i.mod & m::cmp_combine) == m::cmp_and);
    }
    SECTION("two logic operations on three values are one") {
        const auto i = only(made.make(alu_op::lop, made.make(alu_op::lop, x, y, ptx::ir::zero, ptx::ir::table::xor_ab), literal(255), ptx::ir::zero, ptx::ir::table::and_ab));
        CHECK(i.is_alu(alu_op::lop));
        CHECK(i.c == literal(255));
    }
    SECTION("shifts beyond the word") {
        CHECK(only(made.make(alu_op::sar, made.make(alu_op::sar, x, literal(31)), literal(0xfffffff9U))).b == literal(31));
        CHECK(only(made.make(alu_op::shr, x, literal(40))).op == alu_op::none);
    }
}
