// SPDX-License-Identifier: MIT
// What a base must be before anything is grafted before it: all tensors of a Qwen3.5 text model, in the shapes its config
// says, stored in F32 or BF16, and without a machine in it already.
#pragma once

#include <qwengpu/checkpoint/config.hpp>
#include <qwengpu/checkpoint/layer_tensors.hpp>
#include <qwengpu/checkpoint/tensor_source.hpp>

#include <filesystem>
#include <initializer_list>
#include <string>

namespace qwengpu::checkpoint {

namespace detail {

inline error not_finite(const std::string& what, const std::string& path) {
    return {"checkpoint.graft", what + " holds what is no finite number; is the file damaged?", place{path, 0, 0}};
}

/// The tensors of a base as layer_reader asks for them: they are checked, and not read.
class base_tensors {
public:
    explicit base_tensors(const tensor_source& from) : from_(from) {}

    void check(const std::string& name, std::initializer_list<int> extents) const {
        const auto t = from_.at(name);
        check_tensor(t, {extents.begin(), extents.end()});
        if (t.type == element_type::f16) throw error("checkpoint.graft", "tensor \"" + name + "\" is F16, whose numbers do not reach far enough; convert the checkpoint to BF16 first", place{t.file.path(), 0, 0});
    }

private:
    const tensor_source& from_;
};

inline nn::vector read_vector(const base_tensors& of, const std::string& name, int size) {
    of.check(name, {size});
    return {};
}
inline Eigen::MatrixXf read_taps(const base_tensors& of, const std::string& name, int rows, int taps) {
    of.check(name, {rows, 1, taps});
    return {};
}
template <class Matrix>
Matrix read_matrix(const base_tensors& of, const std::string& name, int rows, int cols) {
    of.check(name, {rows, cols});
    return {};
}

}  // namespace detail

/// @throws error "checkpoint.tensor" naming the tensor that is missing, or of another shape or type; "checkpoint.graft".
inline void check_base(const tensor_source& from, const model_config& c) {
    if (std::filesystem::exists(std::filesystem::path(from.folder()) / "qwengpu.json"))
        throw error("checkpoint.graft", "there is a machine in it already (qwengpu.json); graft before the checkpoint it was made from", place{from.folder(), 0, 0});
    const detail::base_tensors tensors(from);
    tensors.check(c.prefix() + "embed_tokens.weight", {c.vocabulary, c.shape.hidden});
    if (!c.tied) tensors.check("lm_head.weight", {c.vocabulary, c.shape.hidden});
    const layer_reader<nn::sparse_matrix, detail::base_tensors> reader(tensors, c.prefix(), c.shape);
    for (int i = 0; i < c.layers(); ++i) (void)reader.layer(i, c.full_attention[static_cast<std::size_t>(i)]);
    tensors.check(c.prefix() + "norm.weight", {c.shape.hidden});
}

}  // namespace qwengpu::checkpoint
