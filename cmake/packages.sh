# SPDX-License-Identifier: MIT
# Sourced by demo.sh and test.sh: installs what is missing on Debian 12 or a relative of it, and nothing that is there.

# Packages among the arguments that are not installed.
missing_packages() {
    for package in "$@"; do
        dpkg-query -W -f '${Status}\n' "$package" 2> /dev/null | grep -q '^install ok installed$' || printf ' %s' "$package"
    done
}

# Whether one of the commands is on the path.
any_command() {
    for command in "$@"; do
        command -v "$command" > /dev/null 2>&1 && return 0
    done
    return 1
}

# Where the CUDA toolkit is usually put, if it is not on the path.
find_nvcc() {
    any_command nvcc || [ -x "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc" ]
}

# Installs the packages named by the arguments, where missing, and a compiler for CUDA, where there is none.
install_packages() {
    if ! any_command dpkg-query; then
        echo "This is no Debian: make sure of a C++20 compiler, CMake 3.25, Ninja and the libraries in README.md." >&2
        return 0
    fi
    any_command c++ || set -- "$@" build-essential
    any_command cmake || set -- "$@" cmake
    any_command ninja || set -- "$@" ninja-build
    find_nvcc || any_command clang++ clang++-14 clang++-15 clang++-16 clang++-17 clang++-18 clang++-19 || set -- "$@" clang
    missing=$(missing_packages "$@")
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        any_command sudo || { echo "Please install as root: apt-get install$missing" >&2; return 1; }
        as_root='sudo'
    fi
    echo "Installing:$missing" >&2
    # The lists of names are made of words without spaces.
    # shellcheck disable=SC2086
    $as_root apt-get update -q && $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
}

# Builds run one job per core; set QWENGPU_JOBS for fewer where memory is short.
job_count() {
    echo "${QWENGPU_JOBS:-$(nproc)}"
}
