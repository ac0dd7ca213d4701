// SPDX-License-Identifier: MIT
// Memory of the tests' PTX interpreter: bytes in regions far apart, so that running off a variable's end is always seen. Generic
// addresses of shared and local memory lie in windows of 4 GiB; everything else is an address of its own.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/interpreter/value.hpp"

namespace qwengpu::test::interpreter {

/// What a program must not do; the launch ends.
struct fault : std::runtime_error {
    using std::runtime_error::runtime_error;
};

using bytes = std::vector<std::uint8_t>;

inline constexpr u64 shared_window = u64{1} << 32, local_window = u64{2} << 32, param_window = u64{3} << 32, function_window = u64{4} << 32, first_global = u64{16} << 32;

inline u64 load_bytes(const bytes& b, u64 at, int width) {
    if (at + static_cast<u64>(width) > b.size()) throw fault("bytes outside");
    u64 value = 0;
    for (int k = 0; k < width; ++k) value |= u64{b[static_cast<std::size_t>(at) + static_cast<std::size_t>(k)]} << (8 * k);
    return value;
}
inline void store_bytes(bytes& b, u64 at, int width, u64 value) {
    if (at + static_cast<u64>(width) > b.size()) throw fault("bytes outside");
    for (int k = 0; k < width; ++k) b[static_cast<std::size_t>(at) + static_cast<std::size_t>(k)] = static_cast<std::uint8_t>(value >> (8 * k));
}

/// The region that holds so many bytes at an address. Throws a fault if none does.
template <class Regions>
auto region_at(Regions& regions, u64 address, int width) {
    if (address % static_cast<u64>(width) != 0) throw fault("misaligned address " + std::to_string(address));
    auto r = regions.upper_bound(address);
    if (r == regions.begin() || address + static_cast<u64>(width) > (--r)->first + r->second.size()) throw fault("address outside: " + std::to_string(address));
    return r;
}

/// Bytes by address.
class memory {
public:
    u64 add(u64 address, bytes content) {
        regions_[address] = std::move(content);
        return address;
    }
    /// A region behind all others, with a gap.
    u64 append(bytes content) {
        next_ += 0x100000;
        return add(next_, std::move(content));
    }
    [[nodiscard]] const bytes& region(u64 address) const { return regions_.at(address); }

    [[nodiscard]] u64 load(u64 address, int width) const {
        const auto r = region_at(regions_, address, width);
        return load_bytes(r->second, address - r->first, width);
    }
    void store(u64 address, int width, u64 value) {
        const auto r = region_at(regions_, address, width);
        store_bytes(r->second, address - r->first, width, value);
    }

private:
    std::map<u64, bytes> regions_;
    u64 next_ = first_global;
};

}  // namespace qwengpu::test::interpreter
