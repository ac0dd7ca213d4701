// SPDX-License-Identifier: MIT
// libFuzzer: any bytes as one of the JSON files of a checkpoint; the first byte says which.
#include "fuzz/target.hpp"

namespace {

std::uint64_t read_any(std::string_view bytes) {
    if (bytes.empty()) return 0;
    const auto text = bytes.substr(1);
    switch (bytes.front()) {
        case 'c': return qwengpu::test::read_config_text(text);
        case 'i': return qwengpu::test::read_index_text(text);
        case 'n': return qwengpu::test::read_note_text(text);
        default: return qwengpu::test::read_tokenizer_text(text);
    }
}

}  // namespace

QWENGPU_FUZZ(read_any)
