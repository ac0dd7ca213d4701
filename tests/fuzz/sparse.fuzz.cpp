// SPDX-License-Identifier: MIT
// libFuzzer: any bytes as a compact file. After a first byte `b` they are its body, and get a head with the right checksum.
#include "fuzz/target.hpp"

namespace {

std::uint64_t read_any(std::string_view bytes) {
    if (!bytes.empty() && bytes.front() == 'b') return qwengpu::test::read_sparse_body(bytes.substr(1));
    return qwengpu::test::read_sparse(bytes);
}

}  // namespace

QWENGPU_FUZZ(read_any)
