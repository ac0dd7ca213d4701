// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit: <cooperative_groups.h>. Groups are a mask of lanes of one warp, the thread block, or the grid (which
// cannot be synchronised). A warp has four lanes here, so a tile has 1, 2 or 4 threads.
#pragma once

#include <string_view>

namespace qwengpu::cuda::detail {

/// thread_group, thread_block, grid_group.
inline constexpr std::string_view device_header_groups_block = R"cuda(
#pragma once
#pragma clang system_header
extern "C" __device__ void qwengpu_grid_sync();
#define QG_METHOD __device__ QG_INLINE
#define QG_STATIC static __device__ QG_INLINE

namespace cooperative_groups {

QG_FN unsigned qg_block_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
QG_FN unsigned qg_block_size() { return blockDim.x * blockDim.y * blockDim.z; }
// The lane that is number n of the mask, or `none`.
QG_FN int qg_lane_of(unsigned mask, unsigned n, int none) {
    int lane = none;
    unsigned seen = 0;
    for (int i = 0; i < 4; ++i) {
        const bool in = mask >> i & 1;
        lane = in && seen == n ? i : lane;
        seen += in;
    }
    return lane;
}
// Exchange of any type, a word at a time.
template <class T, class F> QG_FN T qg_by_words(const T& v, F move) {
    unsigned words[(sizeof(T) + 3) / 4] = {};
    __builtin_memcpy(words, &v, sizeof(T));
    for (unsigned& w : words) w = move(w);
    T r;
    __builtin_memcpy(&r, words, sizeof(T));
    return r;
}
template <class T> struct qg_word { static constexpr bool fits = sizeof(T) == 4; };

class thread_group {
public:
    QG_METHOD unsigned long long size() const { return mask_ ? __popc(mask_) : qg_block_size(); }
    QG_METHOD unsigned long long num_threads() const { return size(); }
    QG_METHOD unsigned long long thread_rank() const { return mask_ ? __popc(mask_ & __lanemask_lt()) : qg_block_rank(); }
    QG_METHOD void sync() const { if (mask_) __syncwarp(mask_); else __syncthreads(); }
    QG_METHOD bool is_valid() const { return true; }
    QG_METHOD explicit thread_group(unsigned mask) : mask_(mask) {}
    QG_METHOD unsigned qg_mask() const { return mask_; }
protected:
    unsigned mask_;  // lanes of the warp; 0: the whole block
};

class thread_block : public thread_group {
public:
    QG_METHOD thread_block() : thread_group(0) {}
    QG_STATIC void sync() { __syncthreads(); }
    QG_STATIC unsigned size() { return qg_block_size(); }
    QG_STATIC unsigned num_threads() { return qg_block_size(); }
    QG_STATIC unsigned thread_rank() { return qg_block_rank(); }
    QG_STATIC dim3 group_index() { return blockIdx; }
    QG_STATIC dim3 thread_index() { return threadIdx; }
    QG_STATIC dim3 group_dim() { return blockDim; }
    QG_STATIC dim3 dim_threads() { return blockDim; }
    struct arrival_token {};
    QG_STATIC arrival_token barrier_arrive() { return {}; }
    QG_STATIC void barrier_wait() { __syncthreads(); }
    QG_STATIC void barrier_wait(arrival_token&&) { __syncthreads(); }
};
QG_FN thread_block this_thread_block() { return {}; }

class grid_group {
public:
    QG_STATIC bool is_valid() { return false; }
    QG_STATIC void sync() { qwengpu_grid_sync(); }
    QG_STATIC unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
    QG_STATIC unsigned long long block_rank() { return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
    QG_STATIC unsigned long long num_threads() { return num_blocks() * qg_block_size(); }
    QG_STATIC unsigned long long size() { return num_threads(); }
    QG_STATIC unsigned long long thread_rank() { return block_rank() * qg_block_size() + qg_block_rank(); }
    QG_STATIC dim3 group_dim() { return gridDim; }
    QG_STATIC dim3 dim_blocks() { return gridDim; }
    QG_STATIC dim3 block_index() { return blockIdx; }
    QG_STATIC dim3 thread_index() { return threadIdx; }
};
QG_FN grid_group this_grid() { return {}; }
)cuda";

/// coalesced_group, thread_block_tile, partitions.
inline constexpr std::string_view device_header_groups_tile = R"cuda(
class coalesced_group : public thread_group {
public:
    QG_METHOD explicit coalesced_group(unsigned mask) : thread_group(mask) {}
    QG_METHOD void sync() const { __syncwarp(mask_); }
    QG_METHOD unsigned size() const { return __popc(mask_); }
    QG_METHOD unsigned num_threads() const { return size(); }
    QG_METHOD unsigned thread_rank() const { return __popc(mask_ & __lanemask_lt()); }
    QG_METHOD unsigned meta_group_rank() const { return 0; }
    QG_METHOD unsigned meta_group_size() const { return 1; }
    template <class T> QG_METHOD T shfl(T v, unsigned rank) const { return from(v, qg_lane_of(mask_, rank, __laneid())); }
    template <class T> QG_METHOD T shfl_up(T v, unsigned d) const { return from(v, qg_lane_of(mask_, thread_rank() - d, __laneid())); }
    template <class T> QG_METHOD T shfl_down(T v, unsigned d) const { return from(v, qg_lane_of(mask_, thread_rank() + d, __laneid())); }
    QG_METHOD int any(int p) const { return __ballot_sync(mask_, p) != 0; }
    QG_METHOD int all(int p) const { return __ballot_sync(mask_, p) == mask_; }
    QG_METHOD unsigned ballot(int p) const { return packed(__ballot_sync(mask_, p)); }
    template <class T> QG_METHOD unsigned match_any(T v) const { return packed(__match_any_sync(mask_, v)); }
    template <class T> QG_METHOD unsigned match_all(T v, int& all) const { return packed(__match_all_sync(mask_, v, &all)); }
private:
    template <class T> QG_METHOD T from(T v, int lane) const {
        const unsigned m = mask_;
        return qg_by_words(v, [m, lane](unsigned w) QG_METHOD { return __shfl_sync(m, w, lane); });
    }
    QG_METHOD unsigned packed(unsigned lanes) const {
        unsigned r = 0, n = 0;
        for (int i = 0; i < 4; ++i) {
            r |= (lanes >> i & 1) << n;
            n += mask_ >> i & 1;
        }
        return r;
    }
};
QG_FN coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned N, class Parent = void> class thread_block_tile : public thread_group {
    static_assert(N == 1 || N == 2 || N == 4, "a warp of this machine has 4 lanes, so a tile can have 1, 2 or 4 threads");
public:
    QG_METHOD thread_block_tile(unsigned rank, unsigned count) : thread_group(((1u << N) - 1) << (__laneid() & ~(N - 1))), rank_(rank), count_(count) {}
    QG_METHOD operator thread_block_tile<N, void>() const { return {rank_, count_}; }
    QG_METHOD void sync() const { __syncwarp(mask_); }
    static __device__ constexpr unsigned size() { return N; }
    static __device__ constexpr unsigned num_threads() { return N; }
    QG_STATIC unsigned thread_rank() { return __laneid() & (N - 1); }
    QG_METHOD unsigned meta_group_rank() const { return rank_; }
    QG_METHOD unsigned meta_group_size() const { return count_; }
    template <class T> QG_METHOD T shfl(T v, int rank) const {
        const unsigned m = mask_;
        return qg_by_words(v, [m, rank](unsigned w) QG_METHOD { return __shfl_sync(m, w, rank, N); });
    }
    template <class T> QG_METHOD T shfl_up(T v, unsigned d) const {
        const unsigned m = mask_;
        return qg_by_words(v, [m, d](unsigned w) QG_METHOD { return __shfl_up_sync(m, w, d, N); });
    }
    template <class T> QG_METHOD T shfl_down(T v, unsigned d) const {
        const unsigned m = mask_;
        return qg_by_words(v, [m, d](unsigned w) QG_METHOD { return __shfl_down_sync(m, w, d, N); });
    }
    template <class T> QG_METHOD T shfl_xor(T v, unsigned d) const {
        const unsigned m = mask_;
        return qg_by_words(v, [m, d](unsigned w) QG_METHOD { return __shfl_xor_sync(m, w, d, N); });
    }
    QG_METHOD int any(int p) const { return __any_sync(mask_, p); }
    QG_METHOD int all(int p) const { return __all_sync(mask_, p); }
    QG_METHOD unsigned ballot(int p) const { return packed(__ballot_sync(mask_, p)); }
    template <class T> QG_METHOD unsigned match_any(T v) const { return packed(__match_any_sync(mask_, v)); }
    template <class T> QG_METHOD unsigned match_all(T v, int& all) const { return packed(__match_all_sync(mask_, v, &all)); }
private:
    unsigned rank_, count_;
    QG_METHOD unsigned packed(unsigned lanes) const { return lanes >> (__laneid() & ~(N - 1)); }
};

template <unsigned N> QG_FN thread_block_tile<N, thread_block> tiled_partition(const thread_block&) {
    return {qg_block_rank() / N, (qg_block_size() + N - 1) / N};
}
template <unsigned N, unsigned M, class P> QG_FN thread_block_tile<N, thread_block_tile<M, P>> tiled_partition(const thread_block_tile<M, P>& g) {
    static_assert(N <= M, "a part of a tile cannot be larger than the tile");
    return {g.thread_rank() / N, M / N};
}
// A part of a group, its size known at run time: 1, 2 or 4 threads.
QG_FN thread_group tiled_partition(const thread_group& g, unsigned n) {
    if (n != 1 && n != 2 && n != 4) __trap();
    const unsigned mask = ((1u << n) - 1) << (__laneid() & ~(n - 1));
    return thread_group(g.qg_mask() ? mask & g.qg_mask() : mask);
}
QG_FN coalesced_group tiled_partition(const coalesced_group& g, unsigned n) {
    const unsigned first = g.thread_rank() & ~(n - 1);
    unsigned mask = 0;
    for (unsigned i = 0; i < 4; ++i) mask |= i < n ? 1u << qg_lane_of(g.qg_mask(), first + i, __laneid()) : 0;
    return coalesced_group(mask);
}
template <class G, class T> QG_FN coalesced_group labeled_partition(const G& g, T label) { return coalesced_group(__match_any_sync(g.qg_mask(), label)); }
template <class G> QG_FN coalesced_group binary_partition(const G& g, bool p) {
    const unsigned yes = __ballot_sync(g.qg_mask(), p);
    return coalesced_group(p ? yes : g.qg_mask() & ~yes);
}
template <class G> QG_FN void sync(const G& g) { g.sync(); }
template <class G, class F, class... A> QG_FN void invoke_one(const G& g, F&& f, A&&... a) { if (g.thread_rank() == 0) f(static_cast<A&&>(a)...); }

}  // namespace cooperative_groups
)cuda";

/// <cooperative_groups/reduce.h>, <cooperative_groups/scan.h>, <cooperative_groups/memcpy_async.h> in one; the copy is not asynchronous.
inline constexpr std::string_view device_header_groups_more = R"cuda(
#pragma once
#pragma clang system_header
#include <cooperative_groups.h>

namespace cooperative_groups {

#define QG_OPERATION(name, expression) \
    template <class T = void> struct name { template <class U> QG_METHOD U operator()(U a, U b) const { return expression; } };
QG_OPERATION(plus, a + b) QG_OPERATION(less, b < a ? b : a) QG_OPERATION(greater, a < b ? b : a)
QG_OPERATION(bit_and, a & b) QG_OPERATION(bit_or, a | b) QG_OPERATION(bit_xor, a ^ b)

template <unsigned N, class P, class T, class F> QG_FN T reduce(const thread_block_tile<N, P>& g, T v, F&& f) {
    for (unsigned d = N / 2; d > 0; d /= 2) v = f(v, g.shfl_xor(v, d));
    return v;
}
template <class T, class F> QG_FN T reduce(const coalesced_group& g, T v, F&& f) {
    T r = g.shfl(v, 0);
    for (unsigned i = 1; i < g.size(); ++i) r = f(r, g.shfl(v, i));
    return r;
}
template <class G, class T, class F> QG_FN T inclusive_scan(const G& g, T v, F&& f) {
    for (unsigned d = 1; d < g.size(); d *= 2) {
        const T below = g.shfl_up(v, d);
        v = g.thread_rank() >= d ? f(below, v) : v;
    }
    return v;
}
template <class G, class T> QG_FN T inclusive_scan(const G& g, T v) { return inclusive_scan(g, v, plus<T>()); }
template <class G, class T, class F> QG_FN T exclusive_scan(const G& g, T v, F&& f) {
    const T below = g.shfl_up(inclusive_scan(g, v, f), 1);
    return g.thread_rank() == 0 ? T{} : below;
}
template <class G, class T> QG_FN T exclusive_scan(const G& g, T v) { return exclusive_scan(g, v, plus<T>()); }

template <class G, class T, class U> QG_FN void memcpy_async(const G& g, T* to, const U* from, size_t bytes) {
    for (size_t i = g.thread_rank(); i < bytes / sizeof(T); i += g.size()) to[i] = ((const T*)from)[i];
}
template <class G, class T> QG_FN void memcpy_async(const G& g, T* to, size_t room, const T* from, size_t count) {
    for (size_t i = g.thread_rank(); i < (room < count ? room : count); i += g.size()) to[i] = from[i];
}
template <class G> QG_FN void wait(const G& g) { g.sync(); }
template <unsigned N, class G> QG_FN void wait_prior(const G& g) { g.sync(); }

}  // namespace cooperative_groups
)cuda";

}  // namespace qwengpu::cuda::detail
