// SPDX-License-Identifier: MIT
// A libFuzzer target of a reader: whatever the bytes are, it reads them or throws our error, and anything else is a finding.
#pragma once

#include <qwengpu/error.hpp>

#include "support/checkpoint_files.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

/// `read` takes a string_view and gives a number.
#define QWENGPU_FUZZ(read)                                                                              \
    extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {                 \
        try {                                                                                           \
            static volatile std::uint64_t sum = 0;                                                      \
            sum = sum + (read)(std::string_view(reinterpret_cast<const char*>(data), size));            \
        } catch (const qwengpu::error&) {                                                               \
            return 0;                                                                                   \
        }                                                                                               \
        return 0;                                                                                       \
    }
