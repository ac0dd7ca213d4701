#!/bin/sh
# SPDX-License-Identifier: MIT
# sh cmake/fuzz.sh [SECONDS [TARGET...]]: builds the fuzzing targets with clang and the sanitizers, and runs each for so many
# seconds (600). Targets: safetensors gguf json sparse. A file that is read wrongly is left in build/fuzz/tests/fuzz.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/packages.sh"

seconds=${1:-600}
[ $# -eq 0 ] || shift
labels=''
for target in make_seeds "$@"; do labels="$labels|$target"; done
[ $# -gt 0 ] || labels='|.*'
install_packages clang libclang-rt-14-dev libeigen3-dev libfmt-dev nlohmann-json3-dev
cd "$root"
cmake --preset fuzz -D QWENGPU_FUZZ_SECONDS="$seconds"
cmake --build --preset fuzz --parallel "$(job_count)"
exec ctest --preset fuzz --verbose -R "^fuzz/(${labels#|})$"
