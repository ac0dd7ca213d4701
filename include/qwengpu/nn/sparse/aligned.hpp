// SPDX-License-Identifier: MIT
// Buffers of floats on addresses that vector units like.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace qwengpu::nn::sparse {

using aligned_floats = std::vector<float, Eigen::aligned_allocator<float>>;

}  // namespace qwengpu::nn::sparse
