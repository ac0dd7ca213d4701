// SPDX-License-Identifier: MIT
// Puts front layers before the layers of a Qwen3.5 checkpoint: one model that speaks ordinary text as before and runs
// launches. The base's tensors are copied byte by byte; how the rest is chosen is in docs/qwen.md.
#pragma once

#include <qwengpu/checkpoint/graft_base.hpp>
#include <qwengpu/checkpoint/graft_bounds.hpp>
#include <qwengpu/checkpoint/graft_code.hpp>
#include <qwengpu/checkpoint/graft_layers.hpp>
#include <qwengpu/checkpoint/graft_measure.hpp>
#include <qwengpu/checkpoint/graft_tokenizer.hpp>
#include <qwengpu/checkpoint/graft_tokens.hpp>
#include <qwengpu/checkpoint/sha256.hpp>

#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace qwengpu::checkpoint {

struct graft_options {
    int period = 0;                            ///< 4: full-attention layers that pass through between the front's, for engines that only know the interval
    bool drop_others = false;                  ///< leave out what is not the text model: mtp.*, model.visual.*; the graft then is a text-only one
    int measure = 0;                           ///< so many words are run through the front layers as written
    std::uint64_t shard_bytes = 5'000'000'000;
    write_progress progress{};
    std::function<void(const std::string&)> say = [](const std::string&) {};
};

/// What a graft found and did.
struct graft_report {
    int base_layers = 0, front_layers = 0, base_vocabulary = 0;
    machine_mode mode;
    double bound = 0;          ///< of what the base's layers add
    double certain_side = 0;   ///< products with the direction from which a token passes for certain
    token_report fp32, bf16;
    measured_tokens measured;  ///< in the arithmetic that the base is stored in
    std::map<std::string, std::string> hashes;  ///< SHA-256 of every tensor of the base, by its name in the base
    std::vector<std::string> carried, dropped;  ///< tensors that are not the text model's
};

namespace detail {

class grafter {
public:
    grafter(const std::string& base, const front_model& front, graft_options options)
        : front_(front), options_(std::move(options)), config_(read_config(base)), source_(base), embedding_(source_.at(config_.prefix() + "embed_tokens.weight")),
          layout_(front_layout(static_cast<int>(front.layers.size()), options_.period)), prefix_(options_.drop_others ? "model." : config_.prefix()) {
        check();
    }

    /// The report lacks what is measured afterwards.
    graft_report write(const std::string& folder) {
        prepare();
        make_folder(folder);
        write_text(folder + "/config.json", new_config().dump(2) + "\n");
        write_tokenizer(folder);
        write_machine_note(folder, {config_.vocabulary, front_.tokens, static_cast<std::int64_t>(layout_.size())});
        write_sharded(folder, plan(), options_.shard_bytes, options_.progress);
        return report_;
    }

private:
    [[nodiscard]] error refusal(const std::string& what) const { return {"checkpoint.graft", what, place{source_.folder(), 0, 0}}; }

    void check() const {
        auto s = config_.shape;
        if (std::tie(s.hidden, s.mlp, s.heads, s.value_heads, s.key_dim, s.value_dim, s.conv) !=
            std::tie(front_.shape.hidden, front_.shape.mlp, front_.shape.heads, front_.shape.value_heads, front_.shape.key_dim, front_.shape.value_dim, front_.shape.conv))
            throw refusal("its layers have other shapes than the front's; Qwen3.5-2B's are wanted");
        check_base(source_, config_);
        check_first_layer();
    }

    /// In the first layer some tokens may be shut on one side and some on the other: a key or query that saw two of them would be neither.
    void check_first_layer() const {
        const auto& taps = front_.layers.front().mixer.conv;
        if (!taps.topLeftCorner(2 * front_.shape.key_channels(), taps.cols() - 1).isZero(0.0F))
            throw error("checkpoint.graft", "the first layer's keys look back to earlier tokens; no base can be shut out of it");
    }

    void prepare() {
        const auto& s = config_.shape;
        gains_ = read_finite(source_, config_.prefix() + "norm.weight", s.hidden).array() + 1.0F;
        options_.say("looking for channels and a direction that tell ordinary tokens from the machine's");
        auto shut = std::make_shared<shutter>();
        shut->map = map_channels(front_.channels, code_channels(front_), gains_, largest_entries(head(), config_.vocabulary));
        shut->direction = find_separator(read_normed<nn::fp32>(embedding_, config_.vocabulary, shut->map.free, s.eps()).values);
        shut->least = certain_side(s.hidden);
        shut->reach = std::sqrt(static_cast<double>(s.hidden)) * largest_gain();
        push_ = {free_head(front_.layers.front(), front_.shape), needed_reach<nn::fp32>(embedding_, config_.vocabulary, *shut, s.eps())};
        shut_ = shut;
        options_.say("bounding what the base's layers can add");
        report_.bound = bound_base(source_, config_).total();
        report_.mode = tune_machine_mode(front_, shut->map, report_.bound, gains_, head(), config_.vocabulary);
        options_.say("looking at every ordinary token");
        report_.fp32 = report_tokens<nn::fp32>(embedding_, config_.vocabulary, *shut, push_.reach, s.eps());
        report_.bf16 = report_tokens<nn::bf16>(embedding_, config_.vocabulary, *shut, push_.reach, s.eps());
        report_.certain_side = shut->least;
        report_.base_layers = config_.layers();
        report_.front_layers = static_cast<int>(layout_.size());
        report_.base_vocabulary = config_.vocabulary;
    }

    [[nodiscard]] tensor_view head() const { return config_.tied ? embedding_ : source_.at("lm_head.weight"); }

    [[nodiscard]] double largest_gain() const {
        float most = 1;
        for (const auto& w : front_.layers) most = std::max({most, (w.input_norm.array() + 1.0F).abs().maxCoeff(), (w.post_norm.array() + 1.0F).abs().maxCoeff()});
        return static_cast<double>(most);
    }

    [[nodiscard]] std::vector<planned_tensor> plan() {
        const auto type = embedding_.type;
        std::vector<planned_tensor> all{with_rows(prefix_ + "embed_tokens.weight", embedding_, [this](int t, std::span<float> out) { embedding_row(t, out); })};
        const graft_planner planner(front_, shut_, push_, loudness(front_, shut_->map, report_.mode, gains_), type);
        for (std::size_t i = 0; i < layout_.size(); ++i) {
            const auto at = layer_prefix(prefix_, static_cast<int>(i));
            for (auto& t : layout_[i] >= 0 ? planner.layer(layout_[i], at) : plan_front_layer(front_, layout_[i], at, type)) all.push_back(std::move(t));
        }
        for (const auto& name : source_.names()) plan_base(name, all);
        all.push_back(with_rows("lm_head.weight", head(), [this](int t, std::span<float> out) { head_row(t, out); }));
        return all;
    }

    void plan_base(const std::string& name, std::vector<planned_tensor>& all) {
        const auto layers = config_.prefix() + "layers.";
        const bool of_text = name.starts_with(layers) || name == config_.prefix() + "norm.weight";
        if (name == "lm_head.weight" || name == config_.prefix() + "embed_tokens.weight") return;
        if (!of_text) {
            (options_.drop_others ? report_.dropped : report_.carried).push_back(name);
            if (options_.drop_others) return;
        }
        all.push_back(copied(name.starts_with(layers) ? renumbered(name, layers) : of_text ? prefix_ + "norm.weight" : name, source_.at(name)));
    }

    [[nodiscard]] std::string renumbered(const std::string& name, const std::string& layers) const {
        const auto dot = name.find('.', layers.size());
        const auto number = name.substr(layers.size(), dot - layers.size());
        if (number.empty() || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos) throw refusal("tensor \"" + name + "\" has no layer's number");
        return prefix_ + "layers." + std::to_string(std::stoi(number) + static_cast<int>(layout_.size())) + name.substr(dot);
    }

    [[nodiscard]] planned_tensor copied(std::string name, tensor_view t) {
        return {std::move(name), t.type, t.shape, [this, t](const byte_sink& sink) {
                    copy(t, sink);
                }};
    }

    void copy(const tensor_view& t, const byte_sink& sink) {
        sha256 hash;
        hash.update(t.bytes);
        sink(t.bytes);
        t.file.forget(t.bytes);
        report_.hashes[t.name] = hash.finish();
    }

    /// The base's rows, then the machine's.
    [[nodiscard]] planned_tensor with_rows(std::string name, tensor_view t, std::function<void(int, std::span<float>)> fill) {
        const auto rows = plan_rows("", t.type, front_.tokens, front_.shape.hidden, std::move(fill));
        return {std::move(name), t.type, {t.shape[0] + static_cast<std::uint64_t>(front_.tokens), t.shape[1]}, [this, t, rows](const byte_sink& sink) {
                    copy(t, sink);
                    rows.write(sink);
                }};
    }

    void embedding_row(int token, std::span<float> out) const {
        std::vector<float> row(out.size());
        front_.write_row(token, row);
        for (std::size_t c = 0; c < shut_->map.place.size(); ++c) out[static_cast<std::size_t>(shut_->map.place[c])] = row[c];
    }

    void head_row(int token, std::span<float> out) const {
        std::vector<float> row(out.size());
        front_.write_row(token, row);
        for (const int c : code_channels(front_)) out[static_cast<std::size_t>(shut_->map.place[static_cast<std::size_t>(c)])] = static_cast<float>(report_.mode.head_scale) * row[static_cast<std::size_t>(c)];
    }

    [[nodiscard]] json new_config() const {
        json document = config_.document;
        if (options_.drop_others && config_.vision_language) document = text_only(document["text_config"]);
        json& text = document.contains("text_config") ? document["text_config"] : document;
        auto kinds = std::vector<bool>();
        for (const int which : layout_) kinds.push_back(which == pass_through);
        kinds.insert(kinds.end(), config_.full_attention.begin(), config_.full_attention.end());
        text["num_hidden_layers"] = kinds.size();
        text["layer_types"] = json(layer_types(kinds));
        text.erase("full_attention_interval");
        if (const int interval = interval_of(kinds); interval > 0) text["full_attention_interval"] = interval;
        text["vocab_size"] = config_.vocabulary + front_.tokens;
        text["tie_word_embeddings"] = document["tie_word_embeddings"] = false;
        if (options_.drop_others) text["mtp_num_hidden_layers"] = 0;
        return document;
    }

    [[nodiscard]] json text_only(json text) const {
        text["architectures"] = json::array({"Qwen3_5ForCausalLM"});
        text["model_type"] = "qwen3_5_text";
        text["dtype"] = stored_dtype(config_);
        return text;
    }

    void write_tokenizer(const std::string& folder) const {
        namespace fs = std::filesystem;
        const fs::path from = source_.folder();
        for (const auto* name : {"tokenizer_config.json", "generation_config.json", "chat_template.jinja", "vocab.json", "merges.txt", "preprocessor_config.json", "video_preprocessor_config.json"})
            if (fs::exists(from / name)) fs::copy_file(from / name, fs::path(folder) / name, fs::copy_options::overwrite_existing);
        const auto path = (from / "tokenizer.json").string();
        if (!fs::exists(path)) {
            options_.say("the base has no tokenizer.json; the graft has none either");
            return;
        }
        const mapped_file file(path);
        auto tokenizer = parse_strictly("checkpoint.tokenizer", path, {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()});
        write_text(folder + "/tokenizer.json", graft_tokenizer(std::move(tokenizer), path, config_.vocabulary, front_.tokens, front_.spell).dump() + "\n");
    }

    const front_model& front_;
    graft_options options_;
    model_config config_;
    tensor_source source_;
    tensor_view embedding_;
    std::vector<int> layout_;
    std::string prefix_;  ///< of the graft's tensors
    nn::vector gains_;
    std::shared_ptr<const shutter> shut_;
    pusher push_;
    graft_report report_;
};

inline ordered_json tokens_json(const token_report& r) {
    return {{"exact", r.exact}, {"zero_rows", r.empty}, {"pushed", r.pushed}, {"undecided", r.undecided}, {"largest_deviation", r.largest_deviation},
            {"largest_deviation_token", r.most_deviating}, {"mean_deviation_of_pushed", r.mean_deviation}, {"smallest_product_with_direction", r.least_side}};
}

inline ordered_json tokens_json(const measured_tokens& m) {
    return {{"tokens", m.tokens}, {"exact", m.exact}, {"largest_deviation", m.largest_deviation}, {"largest_deviation_token", m.most_deviating}};
}

}  // namespace detail

inline ordered_json to_json(const graft_report& r) {
    const auto& m = r.mode;
    return {{"base_layers", r.base_layers}, {"front_layers", r.front_layers}, {"base_vocabulary", r.base_vocabulary},
            {"machine_mode", {{"amplification", m.amplification}, {"head_scale", m.head_scale}, {"right_logit_at_least", m.least_logit}, {"base_logit_at_most", m.base_logit},
                              {"lead_over_machine_tokens", m.lead}, {"noise_at_most", m.noise}, {"margin", m.margin()}, {"lead_in_steps_of_bf16", m.bf16_steps}, {"base_layers_add_at_most", r.bound}}},
            {"ordinary_tokens", {{"fp32", detail::tokens_json(r.fp32)}, {"bf16", detail::tokens_json(r.bf16)}, {"certain_from_product", r.certain_side}, {"measured", detail::tokens_json(r.measured)}}},
            {"carried_along", r.carried}, {"dropped", r.dropped}, {"sha256_of_base_tensors", r.hashes}};
}

/// Writes the graft of `front` before the checkpoint in `base` into `folder`, with graft_report.json beside it.
/// @throws error "checkpoint.*".
inline graft_report graft_model(const std::string& base, const std::string& folder, const front_model& front, graft_options options = {}) {
    std::error_code ignored;
    if (std::filesystem::equivalent(base, folder, ignored)) throw error("checkpoint.graft", "base and graft must be two folders", place{folder, 0, 0});
    const int measure = options.measure;
    auto report = detail::grafter(base, front, std::move(options)).write(folder);
    if (measure > 0) {
        const auto words = spread_words(report.base_vocabulary, measure);
        const bool in_bf16 = stored_dtype(read_config(folder)) == "bfloat16";
        report.measured = in_bf16 ? measure_pass_through<nn::bf16>(folder, report.front_layers, words) : measure_pass_through<nn::fp32>(folder, report.front_layers, words);
    }
    write_text(folder + "/graft_report.json", to_json(report).dump(2) + "\n");
    return report;
}

}  // namespace qwengpu::checkpoint
