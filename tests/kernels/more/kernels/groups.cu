#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tiles(const int *x, int *out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<4>(block);
    const int v = x[block.thread_rank()];
    const int sum = cg::reduce(tile, v, cg::plus<int>());
    const int most = cg::reduce(tile, v, cg::greater<int>());
    const int before = cg::exclusive_scan(tile, v, cg::plus<int>());
    const int upto = cg::inclusive_scan(tile, v);
    int *o = out + 6 * block.thread_rank();
    o[0] = sum; o[1] = most; o[2] = before; o[3] = upto;
    o[4] = tile.meta_group_rank() * 100 + tile.meta_group_size() * 10 + tile.thread_rank();
    o[5] = tile.ballot(v > 0) + 16 * tile.any(v > 40) + 32 * tile.all(v > -100);
}

extern "C" __global__ void small(const int *x, int *out) {
    auto block = cg::this_thread_block();
    auto pair = cg::tiled_partition<2>(block);
    auto one = cg::tiled_partition<1>(block);
    const int v = x[block.thread_rank()];
    int s = pair.shfl_xor(v, 1) * 100 + pair.shfl(v, 0);
    s += cg::reduce(pair, v, cg::less<int>()) * 10000;
    one.sync();
    out[block.thread_rank()] = s + one.size() + pair.meta_group_size() * 1000000 + one.thread_rank();
}

extern "C" __global__ void dynamic(const int *x, int *out, int size) {
    cg::thread_block block = cg::this_thread_block();
    cg::thread_group tile = cg::tiled_partition(block, size);
    __shared__ int temp[32];
    int v = x[block.thread_rank()];
    const int base = block.thread_rank() - tile.thread_rank();
    for (int i = tile.size() / 2; i > 0; i /= 2) {
        temp[base + tile.thread_rank()] = v;
        tile.sync();
        if (tile.thread_rank() < i) v += temp[base + tile.thread_rank() + i];
        tile.sync();
    }
    if (tile.thread_rank() == 0) out[block.thread_rank()] = v;
}

extern "C" __global__ void together(const int *x, int *out, int *count) {
    const int v = x[threadIdx.x];
    out[threadIdx.x] = -1;
    if (v % 2 == 1) {
        auto g = cg::coalesced_threads();
        int at = 0;
        if (g.thread_rank() == 0) at = atomicAdd(count, g.size());
        at = g.shfl(at, 0);
        const int next = g.shfl_down(v, 1), last = g.shfl_up(v, 1), second = g.shfl(v, g.size() - 1);
        out[threadIdx.x] = at + g.thread_rank() + 10 * next + 1000 * last + 100000 * second;
    }
}

extern "C" __global__ void labels(const int *x, int *out) {
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    const int v = x[threadIdx.x];
    auto same = cg::labeled_partition(tile, v % 3);
    const int sum = cg::reduce(same, v, cg::plus<int>());
    auto odd = cg::binary_partition(tile, v & 1);
    out[threadIdx.x] = sum * 1000 + same.size() * 100 + same.thread_rank() * 10 + odd.size();
}

extern "C" __global__ void everybody(int *out) {
    auto grid = cg::this_grid();
    auto block = cg::this_thread_block();
    const auto r = grid.thread_rank();
    out[r] = (int)(grid.size() * 1000 + grid.block_rank() * 100 + block.num_threads()) + (grid.is_valid() ? 5 : 0);
    block.sync();
}

extern "C" __global__ void once(int *out, int n) {
    auto tile = cg::tiled_partition<4>(cg::this_thread_block());
    cg::invoke_one(tile, [&] { atomicAdd(out, n); });
    int got = 0;
    if (tile.thread_rank() == 0) got = atomicAdd(out + 1, 1);
    got = tile.shfl(got, 0);
    out[2 + threadIdx.x] = got;
    const int m = tile.match_any(threadIdx.x & 1);
    out[10 + threadIdx.x] = m;
}
