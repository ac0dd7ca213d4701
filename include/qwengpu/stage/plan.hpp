// SPDX-License-Identifier: MIT
// Which layer does what: the first layer of every part of the pipeline (docs/layers.md has the table and the reasons).
#pragma once

#include <string_view>

namespace qwengpu::stage::plan {

inline constexpr int layers = 45;

// Front: 0-6.
inline constexpr int context = 0;        ///< what record is this: latches
inline constexpr int fetch_header = 1;   ///< mask of the warp, H group
inline constexpr int count = 2;          ///< words since the header, U group
inline constexpr int position = 3;       ///< ordinals (3), slots and lanes (4)
inline constexpr int fetch_early = 5;    ///< S1 and M groups; what this token completes
inline constexpr int registers = 6;      ///< register file: write, then read

// Stage 1: 7-10. Beside it, lane-uniformity and the choice of the next record.
inline constexpr int address = 7;
inline constexpr int scheduler = 8;      ///< 8-16
inline constexpr int intent = 17;        ///< 17-18

// Stage 2: 11-13.
inline constexpr int load = 11;

// Stage 3: 14-36, of which the integer units use 14-21.
inline constexpr int compute = 14;
inline constexpr int fetch_compute = 9;

// Stage 4: 37-40.
inline constexpr int commit = 37;
inline constexpr int fetch_commit = 35;

// Back: 41-44.
inline constexpr int back = 41;

/// The part of the pipeline that a layer belongs to.
constexpr std::string_view part_of(int layer) {
    if (layer < address) return "front";
    if (layer < load) return "stage 1";
    if (layer < compute) return "stage 2";
    if (layer < commit) return "stage 3";
    if (layer < back) return "stage 4";
    return "back";
}

}  // namespace qwengpu::stage::plan
