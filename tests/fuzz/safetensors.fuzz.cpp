// SPDX-License-Identifier: MIT
// libFuzzer: any bytes as a safetensors file.
#include "fuzz/target.hpp"

QWENGPU_FUZZ(qwengpu::test::read_tensors)
