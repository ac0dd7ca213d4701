// SPDX-License-Identifier: MIT
// The programs of the corpus, and of one kernel for every PTX instruction and type, as one number each way they are compiled: every
// compiler of C++ must build the same PTX compiler. Whoever changes what it makes writes down the numbers that the failing checks show.
#include <qwengpu/machine/encoding.hpp>
#include <qwengpu/ptx/compile.hpp>
#include <qwengpu/ptx/link.hpp>
#include <qwengpu/ptx/read.hpp>

#include <cstdint>
#include <string>

#include "support/catch.hpp"
#include "support/ptx_text.hpp"

#include "conformance_page.hpp"

namespace {

using namespace qwengpu;

/// FNV-1a over the words of programs: their blocks as the machine reads them, and what they want in the constants.
class digest {
public:
    void add(const machine::program& p) {
        word(static_cast<std::uint64_t>(p.shared_words) << 32 | static_cast<std::uint64_t>(p.local_words));
        for (const auto& b : p.blocks)
            for (const auto group : machine::encode(b)) word(group);
        for (const auto& k : p.parameters) word(static_cast<std::uint64_t>(k.first_row) << 32 | static_cast<std::uint64_t>(k.rows));
        for (const auto& l : p.literals) word(static_cast<std::uint64_t>(l.row) << 32 | l.value);
        for (const auto& v : p.variables) word(static_cast<std::uint64_t>(v.row));
    }

    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    void word(std::uint64_t w) {
        for (int k = 0; k < 64; k += 8) value_ = (value_ ^ (w >> k & 0xffU)) * 0x100000001b3U;
    }

    std::uint64_t value_ = 0xcbf29ce484222325U;
};

void add_kernels(digest& d, const std::string& text) {
    const auto m = ptx::read(text, "test.ptx");
    for (const ptx::function* kernel : ptx::kernels(m)) {
        try {
            d.add(ptx::compile_kernel(m, kernel->name).program);
        } catch (const ptx::diagnostic_error&) {
            continue;  // what is refused is no matter of this test
        }
    }
}

std::uint64_t digest_of(const char* folder) {
    digest d;
    for (const auto& file : test::kernel_files(folder, ".ptx")) add_kernels(d, test::slurp(file));
    return d.value();
}

}  // namespace

TEST_CASE("the programs of the corpus are the same, whoever compiled the compiler") {
    CHECK(digest_of("ptx/nvcc") == 0x4d0d101fb38c52acU);
    CHECK(digest_of("ptx/nvcc_O0") == 0x7b399d3437d5865aU);
    CHECK(digest_of("ptx/clang") == 0xbf85efb521af3fecU);
}

TEST_CASE("so are those of one kernel for every instruction and type") {
    digest d;
    for (const auto& i : test::all_instances()) add_kernels(d, test::detail::instance_kernel(i));
    CHECK(d.value() == 0x95b835f03f2fea33U);
}
