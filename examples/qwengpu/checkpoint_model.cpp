// SPDX-License-Identifier: MIT
#include "checkpoint_model.hpp"

#include "progress.hpp"

#include <qwengpu/checkpoint/disk_model.hpp>
#include <qwengpu/checkpoint/machine_note.hpp>

#include <fmt/format.h>

namespace cli {

namespace {

using qwengpu::text::token;
using qwengpu::text::vocabulary;
namespace checkpoint = qwengpu::checkpoint;

}  // namespace

struct checkpoint_model::engine {
    engine() = default;
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;
    virtual ~engine() = default;

    [[nodiscard]] virtual std::shared_ptr<void> fresh() const = 0;
    virtual void read(void* state, token t) const = 0;
    [[nodiscard]] virtual token next(void* state, token t) const = 0;
};

namespace {

template <class R>
class engine_with final : public checkpoint_model::engine {
public:
    using model = checkpoint::disk_model<R>;

    engine_with(const std::string& folder, token first, progress& line)
        : model_(folder, [&line](int done, int total) { line.show(fmt::format("reading layers: {} of {}", done, total)); }), first_(first) {
        const auto wanted = static_cast<int>(first + vocabulary<>::size);
        if (wanted > model_.config().vocabulary)
            throw qwengpu::error("checkpoint.token", fmt::format("the vocabulary has {} tokens, but the machine's end at {}; was it written by another version?", model_.config().vocabulary, wanted), qwengpu::place{folder, 0, 0});
    }

    [[nodiscard]] std::shared_ptr<void> fresh() const override { return std::make_shared<typename model::state>(model_.fresh()); }
    void read(void* state, token t) const override { model_.read(*static_cast<typename model::state*>(state), first_ + t); }
    [[nodiscard]] token next(void* state, token t) const override {
        const auto said = model_.next(*static_cast<typename model::state*>(state), first_ + t);
        if (said < first_ || said - first_ >= vocabulary<>::size)
            throw qwengpu::error("checkpoint.token", fmt::format("the model answered with token {}, which is none of the machine's", said));
        return said - first_;
    }

private:
    model model_;
    token first_;
};

}  // namespace

checkpoint_model::checkpoint_model(const std::string& folder) {
    const auto note = checkpoint::read_machine_note(folder);
    const auto first = static_cast<token>(note.first_token);
    progress line;
    if (checkpoint::stored_dtype(checkpoint::read_config(folder)) == "bfloat16") engine_ = std::make_shared<engine_with<qwengpu::nn::bf16>>(folder, first, line);
    else engine_ = std::make_shared<engine_with<qwengpu::nn::fp32>>(folder, first, line);
}

checkpoint_model::state checkpoint_model::fresh() const { return {engine_->fresh()}; }
void checkpoint_model::read(state& s, token t) const { engine_->read(s.inner.get(), t); }
token checkpoint_model::next(state& s, token t) const { return engine_->next(s.inner.get(), t); }

}  // namespace cli
