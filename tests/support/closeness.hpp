// SPDX-License-Identifier: MIT
// How close two tensors are: the share of elements that are equal, and the largest difference relative to the largest
// element. bf16 results of the same arithmetic are equal but for few elements, where a sum lay next to a rounding border.
#pragma once

#include <algorithm>

#include <Eigen/Core>

struct closeness {
    double equal_share;
    double largest_difference;
};

template <class A, class B>
closeness compare(const A& a, const B& b) {
    const double scale = std::max(1e-30, static_cast<double>(b.cwiseAbs().maxCoeff()));
    const auto equal = static_cast<double>((a.array() == b.array()).count());
    return {equal / static_cast<double>(a.size()), static_cast<double>((a - b).cwiseAbs().maxCoeff()) / scale};
}
