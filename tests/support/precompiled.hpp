// SPDX-License-Identifier: MIT
// What most tests include, compiled once for all of them. Every test still includes what it uses.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "support/catch.hpp"
