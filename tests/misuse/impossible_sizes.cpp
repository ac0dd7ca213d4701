// SPDX-License-Identifier: MIT
// Must not compile: a machine with more lanes than a mask has bits. The test looks for the reason in what the compiler says.
#include <qwengpu/stage/compiled_layers.hpp>

inline constexpr qwengpu::machine::sizes eight_lanes{.lanes = 8};

int main() { return static_cast<int>(qwengpu::stage::compiled_layers<eight_lanes>().layers().size()); }
