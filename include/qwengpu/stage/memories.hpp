// SPDX-License-Identifier: MIT
// The words of all memories as heads of one mixer: a row per word of global and of shared memory, a head or more per lane
// for local memory, in which every warp has its part. A token that completes a word writes; the address of a load reads.
#pragma once

#include <qwengpu/stage/signals.hpp>
#include <qwengpu/stage/windows.hpp>

#include <string>

namespace qwengpu::stage {

/// Words of a thread's local memory that one head of its lane holds.
template <machine::sizes M>
constexpr int local_words_of_head(const nn::shape& shape) {
    return shape.key_dim / M.warps;
}
/// Heads for the local memory of one lane.
template <machine::sizes M>
constexpr int local_heads(const nn::shape& shape) {
    const int words = local_words_of_head<M>(shape);
    return (M.local_words + words - 1) / words;
}

namespace detail {

// A memory that all threads share, read into `out` where `door` is 1 and written where `writes` is.
template <machine::sizes M>
void place_common(network& net, const nn::shape& shape, int layer, const std::string& name, const linear& writes, const word& address, const linear& door,
                  const signals& s, const word& out) {
    memory head(name, shape.key_dim, shape.value_dim);
    const word written(s.context.address.begin(), s.context.address.begin() + machine::bits_for(M.words));
    index_rows(head, M.words, writes, written, door, word_bits<M>(address));
    hold_word(head, s.token, out);
    head.place(net, layer);
}

// Words [first, first + words of a head) of a lane's local memory.
template <machine::sizes M>
void place_local(network& net, const nn::shape& shape, int layer, int lane, int first, const word& address, const linear& door, const signals& s, const word& out) {
    const auto l = static_cast<std::size_t>(lane);
    const int per_warp = local_words_of_head<M>(shape);
    memory head("local.lane" + std::to_string(lane) + "[" + std::to_string(first) + "...]", shape.key_dim, shape.value_dim);
    const word written(s.context.address.begin(), s.context.address.begin() + machine::bits_for(M.words));
    for (int warp = 0; warp < M.warps; ++warp) {
        const linear ours = equals(s.context.warp, static_cast<unsigned>(warp));
        for (int i = first; i < M.local_words && i < first + per_warp; ++i) {
            const int row = warp * per_warp + i - first;
            const auto index = static_cast<unsigned>(i);
            head.write(row, all({s.write.local_word[l], ours, equals(written, index)}));
            head.read(row, all({door, s.position.next_lane[l], ours, equals(word_bits<M>(address), index)}));
        }
    }
    hold_word(head, s.token, out);
    head.place(net, layer);
}

}  // namespace detail

/// The word at an address, where `asked` is 1: out of the memory that the address names (mixer and MLP of `layer`).
template <machine::sizes M>
word read_memories(network& net, const nn::shape& shape, int layer, const word& address, const linear& asked, const signals& s) {
    const word global = net.make_word("load.global", 32), out = net.make_word("load.word", 32);
    const linear shared = all({asked, in_window(address, shared_window)}), local = all({asked, in_window(address, local_window)});
    detail::place_common<M>(net, shape, layer, "memory", s.write.global_word, address, asked, s, global);
    detail::place_common<M>(net, shape, layer, "shared", s.write.shared_word, address, shared, s, out);
    for (int lane = 0; lane < M.lanes; ++lane) {
        for (int first = 0; first < M.local_words; first += local_words_of_head<M>(shape))
            detail::place_local<M>(net, shape, layer, lane, first, address, local, s, out);
    }
    const word window = window_of(address);
    for (std::size_t i = 0; i < 32; ++i) net.step(layer, unless_own_memory(global[i], window), 1, {{out[i], 1.0F}});
    return out;
}

}  // namespace qwengpu::stage
