// SPDX-License-Identifier: MIT
// A random PTX program as a tree of pieces of text, so that what fails can be made smaller: a piece is dropped, or what it
// encloses takes its place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace qwengpu::test::random_ptx {

/// Text around two lists of pieces: head, inner, middle, other, tail. A plain instruction has only a head.
struct piece {
    std::string head;
    std::vector<piece> inner{};
    std::string middle{};
    std::vector<piece> other{};
    std::string tail{};
};

inline void print(const std::vector<piece>& pieces, std::string& text) {
    for (const piece& p : pieces) {
        text += p.head;
        print(p.inner, text);
        text += p.middle;
        print(p.other, text);
        text += p.tail;
    }
}

/// A launch: the body of the kernel, and its shape.
struct program {
    std::vector<piece> body;
    std::uint32_t threads = 4, blocks = 1;
    std::array<std::uint32_t, 3> shape{4, 1, 1};  ///< of a thread block; the product is `threads`
    std::uint64_t input_seed = 0;

    [[nodiscard]] std::string text() const;
};

namespace detail {

inline std::size_t count(const std::vector<piece>& pieces) {
    std::size_t n = 0;
    for (const piece& p : pieces) n += 1 + count(p.inner) + count(p.other);
    return n;
}

/// Changes the n-th piece (in the order they are printed); false if there are not so many.
template <class Change>
bool change_piece(std::vector<piece>& pieces, std::size_t& n, Change&& change) {
    for (std::size_t k = 0; k < pieces.size(); ++k) {
        if (n-- == 0) {
            change(pieces, k);
            return true;
        }
        if (change_piece(pieces[k].inner, n, change) || change_piece(pieces[k].other, n, change)) return true;
    }
    return false;
}

inline void drop(std::vector<piece>& pieces, std::size_t k) { pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(k)); }

inline void unwrap(std::vector<piece>& pieces, std::size_t k) {
    std::vector<piece> inside = pieces[k].inner;
    inside.insert(inside.end(), pieces[k].other.begin(), pieces[k].other.end());
    drop(pieces, k);
    pieces.insert(pieces.begin() + static_cast<std::ptrdiff_t>(k), inside.begin(), inside.end());
}

}  // namespace detail

/// The smallest program that still fails, found by leaving out pieces one after another.
template <class Fails>
program smallest(program p, Fails&& fails) {
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (std::size_t k = detail::count(p.body); k-- > 0;) {
            for (const auto& change : {&detail::drop, &detail::unwrap}) {
                program less = p;
                std::size_t n = k;
                if (!detail::change_piece(less.body, n, *change) || less.text() == p.text() || !fails(less)) continue;
                p = less;
                smaller = true;
                break;
            }
        }
        for (std::uint32_t threads : {1U, p.threads / 2}) {
            program less = p;
            less.threads = threads;
            less.shape = {threads, 1, 1};
            if (threads == 0 || threads >= p.threads || !fails(less)) continue;
            p = less;
            smaller = true;
            break;
        }
    }
    return p;
}

}  // namespace qwengpu::test::random_ptx
