// SPDX-License-Identifier: MIT
#include "checkpoint_model.hpp"

#include "progress.hpp"

#include <qwengpu/checkpoint/disk_model.hpp>
#include <qwengpu/checkpoint/machine_note.hpp>
#include <qwengpu/checkpoint/sparse_file_model.hpp>

#include <filesystem>
#include <fmt/format.h>
#include <utility>

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

/// Model: a checkpoint::disk_model or a sparse_file_model.
template <class Model>
class engine_with final : public checkpoint_model::engine {
public:
    engine_with(Model model, const std::string& path, token first) : model_(std::move(model)), first_(first) {
        const auto wanted = static_cast<int>(first + vocabulary<>::size);
        if (wanted > model_.config().vocabulary)
            throw qwengpu::error("checkpoint.token", fmt::format("the vocabulary has {} tokens, but the machine's end at {}; was it written by another version?", model_.config().vocabulary, wanted), qwengpu::place{path, 0, 0});
    }

    [[nodiscard]] std::shared_ptr<void> fresh() const override { return std::make_shared<typename Model::state>(model_.fresh()); }
    void read(void* state, token t) const override { model_.read(*static_cast<typename Model::state*>(state), first_ + t); }
    [[nodiscard]] token next(void* state, token t) const override {
        const auto said = model_.next(*static_cast<typename Model::state*>(state), first_ + t);
        if (said < first_ || said - first_ >= vocabulary<>::size)
            throw qwengpu::error("checkpoint.token", fmt::format("the model answered with token {}, which is none of the machine's", said));
        return said - first_;
    }

private:
    Model model_;
    token first_;
};

bool in_bf16(const checkpoint::model_config& config) { return checkpoint::stored_dtype(config) == "bfloat16"; }

template <class Model>
std::shared_ptr<const checkpoint_model::engine> engine_of(Model model, const std::string& path, std::int64_t first) {
    return std::make_shared<engine_with<Model>>(std::move(model), path, static_cast<token>(first));
}

template <class R>
std::shared_ptr<const checkpoint_model::engine> engine_of_folder(const std::string& folder) {
    progress line;
    return engine_of(checkpoint::disk_model<R>(folder, [&line](int done, int total) { line.show(fmt::format("reading layers: {} of {}", done, total)); }), folder, checkpoint::read_machine_note(folder).first_token);
}

std::shared_ptr<const checkpoint_model::engine> engine_of_file(const std::string& path) {
    const checkpoint::sparse_source source(path);
    const auto first = source.note().first_token;
    if (in_bf16(source.config())) return engine_of(checkpoint::sparse_file_model<qwengpu::nn::bf16>(source), path, first);
    return engine_of(checkpoint::sparse_file_model<qwengpu::nn::fp32>(source), path, first);
}

}  // namespace

checkpoint_model::checkpoint_model(const std::string& path) {
    if (!std::filesystem::is_directory(path)) engine_ = engine_of_file(path);
    else if (in_bf16(checkpoint::read_config(path))) engine_ = engine_of_folder<qwengpu::nn::bf16>(path);
    else engine_ = engine_of_folder<qwengpu::nn::fp32>(path);
}

checkpoint_model::state checkpoint_model::fresh() const { return {engine_->fresh()}; }
void checkpoint_model::read(state& s, token t) const { engine_->read(s.inner.get(), t); }
token checkpoint_model::next(state& s, token t) const { return engine_->next(s.inner.get(), t); }

}  // namespace cli
