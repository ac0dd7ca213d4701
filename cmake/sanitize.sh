#!/bin/sh
# SPDX-License-Identifier: MIT
# sh cmake/sanitize.sh [ROOM...]: builds the tests of the rooms with the address and undefined-behaviour sanitizers and
# runs them. By default the rooms that read what others wrote: kernels, launches, tokens, machine programs.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
. "$root/cmake/packages.sh"

[ $# -gt 0 ] || set -- machine text ptx io
install_packages libeigen3-dev libfmt-dev nlohmann-json3-dev libcli11-dev catch2 librapidcheck-dev
cd "$root"
cmake --preset sanitize -DQWENGPU_UNITY=ON
targets='' labels=''
for room in "$@"; do
    targets="$targets test_$room" labels="$labels|$room"
done
# Names of rooms are words without spaces.
# shellcheck disable=SC2086
cmake --build --preset sanitize --parallel "$(job_count)" --target $targets
exec ctest --preset sanitize --parallel "$(job_count)" -L "^(${labels#|})$"
