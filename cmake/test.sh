#!/bin/sh
# SPDX-License-Identifier: MIT
# sh cmake/test.sh [ctest arguments]: installs what is missing, builds everything and runs the tests. The last lines are
# the test runner's own summary.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/packages.sh"

install_packages libeigen3-dev libfmt-dev nlohmann-json3-dev libcli11-dev catch2 librapidcheck-dev pkg-config
cd "$root"
cmake --preset release -DQWENGPU_BUILD_TESTS=ON -DQWENGPU_BUILD_EXAMPLES=ON -DQWENGPU_UNITY=ON
cmake --build --preset release --parallel "$(job_count)"
exec ctest --preset release --parallel "$(job_count)" "$@"
