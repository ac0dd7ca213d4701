// SPDX-License-Identifier: MIT
// One machine block through the four stages, inside the 45 layers. Two lanes run a block that makes an address, loads a
// word, multiplies, and adds. Each pass of the model computes the block for the lane whose token comes next; the values
// between the stages are read from the residual stream, where the layers have put them as bits.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <qwengpu/launch/machine_model.hpp>
#include <qwengpu/machine/assembly.hpp>
#include <qwengpu/machine/launch_image.hpp>
#include <qwengpu/text/prompt.hpp>
#include <qwengpu/text/spelling.hpp>

namespace diff = qwengpu::diff;
namespace machine = qwengpu::machine;
namespace text = qwengpu::text;

// c[13] is the first row of constants that a kernel may use: here the pointer to the data.
constexpr const char* program = R"(
block main:
    t1 = add.shl2 c[13], %thread    ; address: pointer + 4 * thread
    t2 = load [t1]
    t3 = mul t2, t2, t2             ; t2 * t2 + t2
    t4 = add t3, #1 -> R1
)";

machine::launch_image<> launch_of(const std::vector<std::uint32_t>& data) {
    auto image = machine::make_launch(machine::assemble(program), {1, 1, 1}, {2, 1, 1});
    machine::set_constant(image, machine::first_free_constant, machine::add_buffer<machine::mission>(image, data).pointer());
    return image;
}

// Outside of records the datapath computes something too, but nobody asks for it.
bool is_value(text::token token) {
    const auto c = text::vocabulary<>::class_of(token);
    return c == text::token_class::short_word || c == text::token_class::lo || c == text::token_class::hi;
}

void show(const diff::pass_signals& seen) {
    using enum diff::signal;
    if (!seen.lane) return;
    std::printf("  lane %d:", *seen.lane);
    for (const auto s : {t1, t2, t3, t4})
        std::printf(" %s = 0x%x", diff::signal_names[static_cast<std::size_t>(s)].data(), static_cast<unsigned>(*seen[s]));
    std::printf("\n");
}

int main() {
    const qwengpu::stage::compiled_layers<> layers;
    const auto model = qwengpu::on_sparse_engine(layers);
    auto state = model.fresh();
    const auto prompt = text::prompt_of(launch_of({3, 1000}));
    for (std::size_t i = 0; i + 1 < prompt.size(); ++i) model.read(state, prompt[i]);
    for (auto token = prompt.back(); token != text::vocabulary<>::encode(text::token_class::end);) {
        diff::pass_signals seen;
        token = model.next(state, token, seen);
        if (is_value(token)) show(seen);
        std::printf("%s\n", text::spell(token).c_str());
    }
}
