// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4), so that a report can name a tensor's bytes in the way every other tool does.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace qwengpu::checkpoint {

class sha256 {
public:
    void update(std::span<const std::byte> bytes) {
        length_ += bytes.size();
        for (std::size_t at = 0; at < bytes.size();) {
            const auto take = std::min(block_.size() - filled_, bytes.size() - at);
            for (std::size_t i = 0; i < take; ++i) block_[filled_ + i] = static_cast<std::uint8_t>(bytes[at + i]);
            at += take;
            filled_ += take;
            if (filled_ == block_.size()) compress();
        }
    }

    /// The 32 bytes of the hash; nothing may be added afterwards.
    [[nodiscard]] std::array<std::uint8_t, 32> finish_bytes() {
        const std::uint64_t bits = 8 * length_;
        put(0x80);
        while (filled_ != 56) put(0);
        for (int i = 7; i >= 0; --i) put(static_cast<std::uint8_t>(bits >> (8 * i)));
        std::array<std::uint8_t, 32> hash{};
        for (std::size_t i = 0; i < hash.size(); ++i) hash[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
        return hash;
    }

    /// The same in hexadecimal.
    [[nodiscard]] std::string finish() {
        std::string text;
        for (const auto byte : finish_bytes())
            for (const int shift : {4, 0}) text += "0123456789abcdef"[(byte >> shift) & 15];
        return text;
    }

private:
    void put(std::uint8_t byte) {
        block_[filled_++] = byte;
        if (filled_ == block_.size()) compress();
    }

    void compress() {
        std::array<std::uint32_t, 64> w{};
        for (std::size_t i = 0; i < 16; ++i)
            for (std::size_t b = 0; b < 4; ++b) w[i] = w[i] << 8 | block_[4 * i + b];
        for (std::size_t i = 16; i < 64; ++i) {
            const auto s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
            const auto s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        auto s = state_;
        for (std::size_t i = 0; i < 64; ++i) {
            const auto t1 = s[7] + (std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[i] + w[i];
            const auto t2 = (std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
            s = {t1 + t2, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
        }
        for (std::size_t i = 0; i < 8; ++i) state_[i] += s[i];
        filled_ = 0;
    }

    static constexpr std::array<std::uint32_t, 64> constants = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74,
        0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d,
        0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
        0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5,
        0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> block_{};
    std::size_t filled_ = 0;
    std::uint64_t length_ = 0;
};

}  // namespace qwengpu::checkpoint
