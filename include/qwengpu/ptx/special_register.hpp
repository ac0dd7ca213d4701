// SPDX-License-Identifier: MIT
// The special registers of PTX: names, types, and whether they are vectors with .x .y .z parts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include <qwengpu/ptx/types.hpp>

namespace qwengpu::ptx {

/// A special register with its part. `other` stands for those that no machine of ours has (%clock, %smid, ...).
enum class sreg : std::uint8_t {
    tid_x, tid_y, tid_z, ntid_x, ntid_y, ntid_z, ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z,
    laneid, warpid, nwarpid, warp_size, lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt,
    dynamic_smem_size, total_smem_size, clock, clock_hi, clock64, globaltimer, globaltimer_lo, globaltimer_hi,
    smid, nsmid, gridid, reserved_smem_begin, reserved_smem_end, reserved_smem_cap, reserved_smem_0, reserved_smem_1, envreg,
    clusterid_x, clusterid_y, clusterid_z, nclusterid_x, nclusterid_y, nclusterid_z, cluster_ctaid_x, cluster_ctaid_y, cluster_ctaid_z,
    cluster_nctaid_x, cluster_nctaid_y, cluster_nctaid_z, cluster_ctarank, cluster_nctarank, is_explicit_cluster, tid_w, ntid_w, ctaid_w, nctaid_w, other
};

struct sreg_row {
    std::string_view name;
    sreg id;
    scalar_type type;
};

namespace detail {

inline constexpr std::array<sreg_row, 58> sreg_rows{{
    {"%tid.x", sreg::tid_x, scalar_type::u32}, {"%tid.y", sreg::tid_y, scalar_type::u32}, {"%tid.z", sreg::tid_z, scalar_type::u32},
    {"%ntid.x", sreg::ntid_x, scalar_type::u32}, {"%ntid.y", sreg::ntid_y, scalar_type::u32}, {"%ntid.z", sreg::ntid_z, scalar_type::u32},
    {"%ctaid.x", sreg::ctaid_x, scalar_type::u32}, {"%ctaid.y", sreg::ctaid_y, scalar_type::u32}, {"%ctaid.z", sreg::ctaid_z, scalar_type::u32},
    {"%nctaid.x", sreg::nctaid_x, scalar_type::u32}, {"%nctaid.y", sreg::nctaid_y, scalar_type::u32}, {"%nctaid.z", sreg::nctaid_z, scalar_type::u32},
    {"%laneid", sreg::laneid, scalar_type::u32}, {"%warpid", sreg::warpid, scalar_type::u32}, {"%nwarpid", sreg::nwarpid, scalar_type::u32},
    {"WARP_SZ", sreg::warp_size, scalar_type::u32},
    {"%lanemask_eq", sreg::lanemask_eq, scalar_type::u32}, {"%lanemask_le", sreg::lanemask_le, scalar_type::u32},
    {"%lanemask_lt", sreg::lanemask_lt, scalar_type::u32}, {"%lanemask_ge", sreg::lanemask_ge, scalar_type::u32},
    {"%lanemask_gt", sreg::lanemask_gt, scalar_type::u32},
    {"%dynamic_smem_size", sreg::dynamic_smem_size, scalar_type::u32}, {"%total_smem_size", sreg::total_smem_size, scalar_type::u32},
    {"%clock", sreg::clock, scalar_type::u32}, {"%clock_hi", sreg::clock_hi, scalar_type::u32}, {"%clock64", sreg::clock64, scalar_type::u64},
    {"%globaltimer", sreg::globaltimer, scalar_type::u64}, {"%globaltimer_lo", sreg::globaltimer_lo, scalar_type::u32},
    {"%globaltimer_hi", sreg::globaltimer_hi, scalar_type::u32},
    {"%smid", sreg::smid, scalar_type::u32}, {"%nsmid", sreg::nsmid, scalar_type::u32}, {"%gridid", sreg::gridid, scalar_type::u64},
    {"%reserved_smem_offset_begin", sreg::reserved_smem_begin, scalar_type::u32}, {"%reserved_smem_offset_end", sreg::reserved_smem_end, scalar_type::u32},
    {"%reserved_smem_offset_cap", sreg::reserved_smem_cap, scalar_type::u32}, {"%reserved_smem_offset_0", sreg::reserved_smem_0, scalar_type::u32},
    {"%reserved_smem_offset_1", sreg::reserved_smem_1, scalar_type::u32}, {"%envreg", sreg::envreg, scalar_type::u32},
    {"%clusterid.x", sreg::clusterid_x, scalar_type::u32}, {"%clusterid.y", sreg::clusterid_y, scalar_type::u32}, {"%clusterid.z", sreg::clusterid_z, scalar_type::u32},
    {"%nclusterid.x", sreg::nclusterid_x, scalar_type::u32}, {"%nclusterid.y", sreg::nclusterid_y, scalar_type::u32}, {"%nclusterid.z", sreg::nclusterid_z, scalar_type::u32},
    {"%cluster_ctaid.x", sreg::cluster_ctaid_x, scalar_type::u32}, {"%cluster_ctaid.y", sreg::cluster_ctaid_y, scalar_type::u32}, {"%cluster_ctaid.z", sreg::cluster_ctaid_z, scalar_type::u32},
    {"%cluster_nctaid.x", sreg::cluster_nctaid_x, scalar_type::u32}, {"%cluster_nctaid.y", sreg::cluster_nctaid_y, scalar_type::u32}, {"%cluster_nctaid.z", sreg::cluster_nctaid_z, scalar_type::u32},
    {"%cluster_ctarank", sreg::cluster_ctarank, scalar_type::u32}, {"%cluster_nctarank", sreg::cluster_nctarank, scalar_type::u32},
    {"%is_explicit_cluster", sreg::is_explicit_cluster, scalar_type::pred},
    {"%tid.w", sreg::tid_w, scalar_type::u32}, {"%ntid.w", sreg::ntid_w, scalar_type::u32},
    {"%ctaid.w", sreg::ctaid_w, scalar_type::u32}, {"%nctaid.w", sreg::nctaid_w, scalar_type::u32},
    {"%<other>", sreg::other, scalar_type::none},
}};

/// Special registers that are vectors of four: name, the first of three parts that follow each other, and the fourth, which is 0.
struct vector_sreg {
    std::string_view name;
    sreg first, fourth;
};

inline constexpr std::array<vector_sreg, 8> vector_sregs{{{"%tid", sreg::tid_x, sreg::tid_w},
                                                          {"%ntid", sreg::ntid_x, sreg::ntid_w},
                                                          {"%ctaid", sreg::ctaid_x, sreg::ctaid_w},
                                                          {"%nctaid", sreg::nctaid_x, sreg::nctaid_w},
                                                          {"%clusterid", sreg::clusterid_x, sreg::ctaid_w},
                                                          {"%nclusterid", sreg::nclusterid_x, sreg::nctaid_w},
                                                          {"%cluster_ctaid", sreg::cluster_ctaid_x, sreg::tid_w},
                                                          {"%cluster_nctaid", sreg::cluster_nctaid_x, sreg::ntid_w}}};

/// Special registers without a row of their own; they parse, and the compiler refuses them by name.
inline constexpr std::array<std::string_view, 15> other_sregs{
    "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid", "%pm", "%aggr_smem_size", "%current_graph_exec",
    "%lanemask", "%tid", "%ntid", "%ctaid", "%nctaid", "%reserved_smem", "%pm_64", "%smem"};

/// Whether `name` is `base` followed by digits, `_` and letters of a part (%envreg31, %pm0_64, %tid.w).
constexpr bool belongs_to(std::string_view name, std::string_view base) {
    if (!name.starts_with(base)) return false;
    const std::string_view rest = name.substr(base.size());
    return rest.empty() || rest[0] == '.' || (rest[0] >= '0' && rest[0] <= '9') || rest[0] == '_';
}

}  // namespace detail

/// The special register with this name (with its `%` and part, as in "%tid.x"), or nothing.
constexpr std::optional<sreg_row> sreg_named(std::string_view name) {
    for (const sreg_row& row : detail::sreg_rows)
        if (row.name == name) return row;
    if (detail::belongs_to(name, "%envreg") && name.size() > 7) return detail::sreg_rows[static_cast<std::size_t>(sreg::envreg)];
    for (std::string_view base : detail::other_sregs)
        if (detail::belongs_to(name, base)) return sreg_row{name, sreg::other, scalar_type::none};
    return std::nullopt;
}

/// The rows of .x .y .z .w of a special register that is a vector (%tid), or nothing.
constexpr std::optional<std::array<sreg_row, 4>> parts_of_sreg(std::string_view name) {
    for (const detail::vector_sreg& v : detail::vector_sregs) {
        const auto x = static_cast<std::size_t>(v.first), w = static_cast<std::size_t>(v.fourth);
        if (v.name == name) return std::array<sreg_row, 4>{detail::sreg_rows[x], detail::sreg_rows[x + 1], detail::sreg_rows[x + 2], detail::sreg_rows[w]};
    }
    return std::nullopt;
}

constexpr std::string_view name_of(sreg r) { return detail::sreg_rows[static_cast<std::size_t>(r)].name; }

}  // namespace qwengpu::ptx
