// SPDX-License-Identifier: MIT
// What a launch is asked to do: shape and arguments, and the buffers among them.
#pragma once

#include <qwengpu/launch/argument.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace qwengpu {

/// Shape and arguments of a launch. Shapes are checked when it is prepared, not before.
struct launch_request {
    std::array<std::int64_t, 3> grid{1, 1, 1};   ///< thread blocks in x, y, z
    std::array<std::int64_t, 3> block{1, 1, 1};  ///< threads of a block in x, y, z
    std::vector<argument> args;
    std::int64_t dynamic_shared_bytes = 0;
};

namespace detail {

/// The pointers among the arguments, those inside structs too, in order.
template <class Arguments, class Visit>
void for_each_pointer(Arguments& args, const Visit& visit) {
    for (auto& a : args) {
        if (a.what == argument::kind::pointer) visit(a);
        for_each_pointer(a.members, visit);
    }
}

}  // namespace detail

/// For each buffer among the arguments whether it stays as it is.
inline std::vector<bool> kept_of(const std::vector<argument>& args) {
    std::vector<bool> found;
    detail::for_each_pointer(args, [&](const argument& a) { found.push_back(a.keep); });
    return found;
}

/// The buffers among the arguments, those inside structs too, in order.
inline std::vector<buffer*> buffers_of(std::vector<argument>& args) {
    std::vector<buffer*> found;
    detail::for_each_pointer(args, [&](argument& a) { found.push_back(&a.array); });
    return found;
}
inline std::vector<const buffer*> buffers_of(const std::vector<argument>& args) {
    std::vector<const buffer*> found;
    detail::for_each_pointer(args, [&](const argument& a) { found.push_back(&a.array); });
    return found;
}

}  // namespace qwengpu
