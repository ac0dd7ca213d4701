// SPDX-License-Identifier: MIT
// The tied embedding: row of a token -> [hidden], and the head's argmax over those same rows. Rows are product codes (a
// class, and two rails per payload bit), so the best row of a class is found bit by bit; the result is that of the full
// head, which the tests and other engines compute.
#pragma once

#include <qwengpu/circuit/assemble.hpp>
#include <qwengpu/nn/matrix.hpp>
#include <qwengpu/nn/shape.hpp>
#include <qwengpu/stage/inputs.hpp>
#include <qwengpu/text/vocabulary.hpp>

#include <array>
#include <cstdint>

namespace qwengpu::stage {

template <machine::sizes M = machine::mission>
class token_code {
public:
    using vocabulary = text::vocabulary<M>;

    explicit token_code(const nn::shape& shape) : shape_(shape), at_(shape) {
        for (int c = 0; c < text::token_class_count; ++c) {
            auto& cls = classes_[static_cast<std::size_t>(c)];
            const auto id = static_cast<token_class>(c);
            cls.base = vocabulary::expand(vocabulary::first_id(id));
            for (int p = 0; p < vocabulary::row(id).bits(); ++p)
                cls.moves[static_cast<std::size_t>(p)] = vocabulary::expand(vocabulary::first_id(id) + (text::token{1} << p)).bits ^ cls.base.bits;
        }
    }

    /// Row of a token, [hidden].
    [[nodiscard]] nn::vector row(text::token t) const {
        nn::vector x = nn::vector::Zero(shape_.hidden);
        write(t, x);
        return x;
    }
    /// The same into `x`, which must be zero.
    void write(text::token t, nn::vector& x) const {
        at_.constants.write(x);
        x[at_.first_class + static_cast<int>(vocabulary::class_of(t))] = 1.0F;
        const auto bits = vocabulary::expand(t);
        for (int i = 0; i < 32; ++i) {
            if (((bits.known >> i) & 1U) != 0) x[channel(i, ((bits.bits >> i) & 1U) != 0)] = 1.0F;
        }
    }

    /// Weight of the final norm, centred on zero: 256 for the code's channels, 0 for all others.
    [[nodiscard]] nn::vector final_norm() const {
        nn::vector w = nn::vector::Constant(shape_.hidden, -1.0F);
        w.segment(at_.first_class, at_.end - at_.first_class).setConstant(circuit::constant_channels::norm_weight);
        return w;
    }

    /// The token whose row has the largest product with `normed`, the first of equals.
    [[nodiscard]] text::token argmax(const nn::const_vector_ref& normed) const {
        text::token best = 0;
        float most = -1e30F;
        for (int c = 0; c < text::token_class_count; ++c) {
            const auto [score, id] = best_of_class(c, normed);
            if (score > most) most = score, best = id;
        }
        return best;
    }

    [[nodiscard]] const code_channels& channels() const { return at_; }

private:
    struct class_code {
        text::row_bits base;
        std::array<std::uint32_t, 16> moves{};  ///< row bits that follow each payload bit
    };
    struct candidate {
        float score;
        text::token id;
    };

    [[nodiscard]] int channel(int bit, bool one) const {
        const int first = bit < 16 ? (one ? at_.low : at_.low_zero) : (one ? at_.high : at_.high_zero);
        return first + bit % 16;
    }

    [[nodiscard]] candidate best_of_class(int c, const nn::const_vector_ref& x) const {
        const auto& cls = classes_[static_cast<std::size_t>(c)];
        const auto id = static_cast<token_class>(c);
        candidate best{x[at_.first_class + c], vocabulary::first_id(id)};
        for (int p = 0; p < vocabulary::row(id).bits(); ++p) {
            float zero = 0, one = 0;
            for (int i = 0; i < 32; ++i) {
                if (((cls.moves[static_cast<std::size_t>(p)] >> i) & 1U) == 0) continue;
                zero += x[channel(i, false)];
                one += x[channel(i, true)];
            }
            if (one > zero) best.id += text::token{1} << p;
            best.score += one > zero ? one : zero;
        }
        return best;
    }

    nn::shape shape_;
    code_channels at_;
    std::array<class_code, text::token_class_count> classes_;
};

}  // namespace qwengpu::stage
