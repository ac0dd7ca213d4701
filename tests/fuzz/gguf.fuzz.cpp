// SPDX-License-Identifier: MIT
// libFuzzer: any bytes as a GGUF file.
#include "fuzz/target.hpp"

QWENGPU_FUZZ(qwengpu::test::read_gguf_file)
