#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: pkg_config.sh COMPILER PREFIX SOURCE WORK_DIR
# Compiles SOURCE with nothing but what pkg-config says about the tree installed in PREFIX, and runs it.
set -eu
command -v pkg-config > /dev/null || { echo "pkg-config is not installed"; exit 77; }
mkdir -p "$4"
PKG_CONFIG_PATH="$2/share/pkgconfig"
export PKG_CONFIG_PATH
flags=$(pkg-config --cflags --libs qwengpu qwengpu-io)
# pkg-config quotes for the shell, so the shell has to read it.
eval "\"\$1\" -std=c++20 \"\$3\" -o \"\$4/consumer\" $flags"
"$4/consumer"
