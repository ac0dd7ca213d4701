// SPDX-License-Identifier: MIT
// A checkpoint as the model of launches: an export (a folder, or a compact file), or a graft, in which the machine's tokens
// stand after the base model's own. fp32 or bf16 arithmetic, as the checkpoint's dtype says.
#pragma once

#include <qwengpu/text/vocabulary.hpp>

#include <memory>
#include <string>

namespace cli {

/// A text::language_model over tokens of the machine.
class checkpoint_model {
public:
    struct state {
        std::shared_ptr<void> inner;
    };

    /// Reads the folder or file. Errors: "checkpoint.*".
    explicit checkpoint_model(const std::string& path);

    [[nodiscard]] state fresh() const;
    void read(state& s, qwengpu::text::token t) const;
    /// Error "checkpoint.token" if the model answers with a token that is none of the machine's.
    [[nodiscard]] qwengpu::text::token next(state& s, qwengpu::text::token t) const;

    struct engine;

private:
    std::shared_ptr<const engine> engine_;
};

}  // namespace cli
