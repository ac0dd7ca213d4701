// SPDX-License-Identifier: MIT
// qwengpu.json beside a checkpoint's config.json: which tokens of the vocabulary are the machine's, and which layers. Other
// engines do not look at it; our own need it to tell an export from a graft.
#pragma once

#include <qwengpu/checkpoint/atomic_file.hpp>
#include <qwengpu/checkpoint/config.hpp>

#include <cstdint>
#include <string>

namespace qwengpu::checkpoint {

struct machine_note {
    std::int64_t first_token = 0;  ///< id of the machine's token 0
    std::int64_t tokens = 0;       ///< how many there are
    std::int64_t layers = 0;       ///< layers of the machine, those between that pass through included; they stand first
};

/// The note's text, as it is written.
inline std::string machine_note_text(const machine_note& n) {
    return ordered_json{{"version", 1}, {"first_token", n.first_token}, {"tokens", n.tokens}, {"layers", n.layers}}.dump(2) + "\n";
}

inline void write_machine_note(const std::string& folder, const machine_note& n) { write_text(folder + "/qwengpu.json", machine_note_text(n)); }

/// `path` is what messages call the document. @throws error "checkpoint.note" if it is not one of ours.
inline machine_note parse_machine_note(const json& j, const std::string& path) {
    const auto number = [&](const char* key) {
        if (!j.is_object() || !j.contains(key) || !j[key].is_number_unsigned() || j[key].get<std::uint64_t>() > 1'000'000'000)
            throw error("checkpoint.note", std::string("the number ") + key + " is missing or out of range", place{path, 0, 0});
        return j[key].get<std::int64_t>();
    };
    if (number("version") != 1) throw error("checkpoint.note", "this was written by another version; write the checkpoint again", place{path, 0, 0});
    return {number("first_token"), number("tokens"), number("layers")};
}

/// @throws error "checkpoint.file" if there is none, "checkpoint.note" if it is not one of ours.
inline machine_note read_machine_note(const std::string& folder) {
    const auto path = folder + "/qwengpu.json";
    const mapped_file file(path);
    return parse_machine_note(parse_strictly("checkpoint.note", path, {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()}), path);
}

/// "bfloat16", "float16" or "float32", as config.json says; float32 if it does not.
inline std::string stored_dtype(const model_config& c) {
    const auto& text = c.vision_language ? c.document["text_config"] : c.document;
    for (const auto* place : {&text, &c.document})
        for (const char* key : {"dtype", "torch_dtype"})
            if (place->contains(key) && (*place)[key].is_string()) return (*place)[key].get<std::string>();
    return "float32";
}

}  // namespace qwengpu::checkpoint
