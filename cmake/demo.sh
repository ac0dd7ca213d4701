#!/bin/sh
# SPDX-License-Identifier: MIT
# sh cmake/demo.sh [LAUNCH.json]: installs what is missing, builds the command line, and runs a CUDA kernel inside the model: its
# transcript, the memory it left, and the comparison with the emulator, step by step.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
launch=$(realpath -- "${1:-$root/examples/launches/vecadd.json}")
. "$root/cmake/packages.sh"

install_packages libeigen3-dev libfmt-dev nlohmann-json3-dev libcli11-dev
cd "$root"
cmake --preset release -DQWENGPU_BUILD_TESTS=OFF -DQWENGPU_BUILD_EXAMPLES=OFF -DQWENGPU_UNITY=ON
cmake --build --preset release --parallel "$(job_count)" --target qwengpu_cli
exec build/release/bin/qwengpu run "$launch" --on both --transcript
