// SPDX-License-Identifier: MIT
// PTX for tests: a kernel around a body, what is wrong with a text, files of the corpus.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <qwengpu/ptx/read.hpp>

namespace qwengpu::test {

inline std::string ptx_head() { return ".version 7.0\n.target sm_70\n.address_size 64\n"; }

/// A kernel k(k_p: u64, k_n: u32) with registers of all kinds; the body begins in line 7.
inline std::string kernel_with(std::string_view body) {
    return ptx_head() + ".entry k(.param .u64 k_p, .param .u32 k_n) {\n" +
           ".reg .pred %p<4>; .reg .b16 %rs<8>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %fd<4>;\n" +
           ".reg .s32 %s<4>; .reg .u32 %u<4>;\n" + std::string(body) + "\nret;\n}\n";
}

inline ptx::parsed_module read_body(std::string_view body) { return ptx::read(kernel_with(body), "test.ptx"); }

/// Everything that is wrong with a text, as "id line: message".
inline std::vector<std::string> wrong_with(std::string text) {
    try {
        (void)ptx::read(std::move(text), "test.ptx");
    } catch (const ptx::diagnostic_error& e) {
        std::vector<std::string> all;
        for (const ptx::diagnostic& d : e.all()) all.push_back(d.id + " " + std::to_string(d.where.line) + ": " + d.message);
        return all;
    }
    return {};
}

/// What is wrong with a body, joined.
inline std::string wrong_body(std::string_view body) {
    std::string joined;
    for (const std::string& s : wrong_with(kernel_with(body))) joined += (joined.empty() ? "" : "\n") + s;
    return joined;
}

inline std::string slurp(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
}

/// The files of a folder of tests/kernels with this extension, sorted.
inline std::vector<std::filesystem::path> kernel_files(const std::string& folder, const std::string& extension) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(QWENGPU_TEST_DATA) / "kernels" / folder))
        if (entry.path().extension() == extension) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace qwengpu::test
