#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh PYTHON FOLDER: makes the Python environment FOLDER with what requirements.txt pins, unless PYTHON has it already.
# llama.cpp is compiled, for about 20 minutes on two processors.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
if "$1" -c 'import llama_cpp, torch, transformers' 2>/dev/null; then
    exit 0
fi
python3 -m venv "$2"
CMAKE_ARGS="${CMAKE_ARGS:--DLLAVA_BUILD=OFF}" "$2/bin/pip" install -r "$here/requirements.txt"
