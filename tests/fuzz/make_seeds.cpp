// SPDX-License-Identifier: MIT
// make_seeds FOLDER: writes small good files into FOLDER/TARGET/, from which fuzzing begins.
#include "support/checkpoint_files.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

namespace {

void seed(const std::filesystem::path& folder, const char* target, const char* name, const std::string& bytes) {
    std::filesystem::create_directories(folder / target);
    qwengpu::checkpoint::write_text((folder / target / name).string(), bytes);
}

void write_all(const std::filesystem::path& folder) {
    using namespace qwengpu::test;
    seed(folder, "safetensors", "good", good_tensors());
    seed(folder, "gguf", "good", good_gguf());
    seed(folder, "json", "config", "c" + good_config());
    seed(folder, "json", "published", "c{\"model_type\":\"qwen3_5\",\"tie_word_embeddings\":true,\"text_config\":" + good_config() + "}");
    seed(folder, "json", "index", "i" + good_index());
    seed(folder, "json", "note", "n" + good_note());
    seed(folder, "json", "tokenizer", "t" + good_tokenizer());
    seed(folder, "sparse", "good", good_sparse());
    seed(folder, "sparse", "body", "b" + good_sparse_body());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: make_seeds FOLDER\n"), 2;
    try {
        write_all(argv[1]);
    } catch (const std::exception& e) {
        return std::fprintf(stderr, "make_seeds: %s\n", e.what()), 1;
    }
    return 0;
}
