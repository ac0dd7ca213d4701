// SPDX-License-Identifier: MIT
// A whole launch: CUDA is compiled to PTX and to machine blocks, the 45 layers run them token by token, the emulator runs
// them too, and every token and every value between the stages is compared.
// usage: 04_launch [KERNELS], the folder that holds gcd.cu; run it in the root of the project to do without
#include <cstdio>
#include <string>
#include <vector>

#include <qwengpu/launch.hpp>
#include <qwengpu/launch/machine_model.hpp>

int launch_gcd(const std::string& kernels) {
    const auto kernel = qwengpu::load_kernel(kernels + "/gcd.cu");

    const std::vector<unsigned> a{48, 17, 1071, 4294967295u}, b{36, 5, 462, 65535};
    const qwengpu::launch_request request{.grid = {1, 1, 1},
                                          .block = {4, 1, 1},
                                          .args = {qwengpu::in("a", a), qwengpu::in("b", b), qwengpu::zeros<unsigned>("result", 4)}};

    const qwengpu::stage::compiled_layers<> layers;  // the weights, computed here and now
    const auto result = qwengpu::launch(kernel.program, request, qwengpu::on_sparse_engine(layers));

    const auto divisors = qwengpu::values_of<unsigned>(result.model->memory[2]);
    for (std::size_t i = 0; i < a.size(); ++i) std::printf("gcd(%u, %u) = %u\n", a[i], b[i], divisors[i]);
    std::printf("all tokens agree with the emulator's: %s\n", result.model->transcript == result.emulator->transcript ? "yes" : "no");
    std::printf("differences in tokens and signals: %s\n", result.difference ? "some" : "none");
    return result.difference ? 1 : 0;
}

int main(int argc, char** argv) {
    try {
        return launch_gcd(argc > 1 ? argv[1] : "examples/kernels");
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 2;
    }
}
