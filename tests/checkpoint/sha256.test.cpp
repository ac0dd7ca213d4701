// SPDX-License-Identifier: MIT
// SHA-256 against the examples of FIPS 180-4 and NIST's long messages.
#include <qwengpu/checkpoint/sha256.hpp>

#include "support/catch.hpp"

#include <string>

namespace {

std::string hash(const std::string& text, std::size_t piece) {
    qwengpu::checkpoint::sha256 h;
    for (std::size_t at = 0; at < text.size(); at += piece) h.update(std::as_bytes(std::span(text)).subspan(at, std::min(piece, text.size() - at)));
    return h.finish();
}

}  // namespace

TEST_CASE("SHA-256 of the standard's examples") {
    for (const std::size_t piece : {1U, 7U, 64U, 1000U}) {
        CHECK(hash("", piece) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        CHECK(hash("abc", piece) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", piece) == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
        CHECK(hash(std::string(1'000'000, 'a'), piece) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    }
}
