// SPDX-License-Identifier: MIT
// Front layers as one compact file (sparse_writer.hpp): the same tensors, under the same names, as export_model writes
// into a folder, but for the layer of full attention that other engines want.
#pragma once

#include <qwengpu/checkpoint/export_model.hpp>
#include <qwengpu/checkpoint/sparse_writer.hpp>

#include <string>

namespace qwengpu::checkpoint {

/// Writes the file. @throws error "checkpoint.write", "checkpoint.sparse".
inline void export_sparse(const std::string& path, const front_model& m, const export_options& options = {}) {
    const auto layout = front_layout(static_cast<int>(m.layers.size()), options.period);
    const auto config = text_config(config_of(m, layout), detail::dtype_name(options.type), m.end_token).dump();
    const auto note = machine_note_text({0, m.tokens, static_cast<std::int64_t>(layout.size())});
    write_text(path, sparse_file_bytes(config, note, plan_model(m, layout, options.type), options.progress));
}

}  // namespace qwengpu::checkpoint
