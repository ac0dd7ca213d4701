# SPDX-License-Identifier: MIT
"""Exports the compiled layers, lets another engine run them, and compares every token with ours.

    check.py transformers|llama --qwengpu PROGRAM [--dtype fp32|bf16|fp16] [--work FOLDER] [--mode decode|prefill|both] [--first N]
    check.py foreign --logits PROGRAM [--work FOLDER]

The first form runs the launches of launches.txt (cases of tests/kernels, as PTX that nvcc once made); what must come out is the
transcript that our own engine writes from the same files (transformers), or that of the emulator, which it is compared with all
along. The second is the other way round: a random model made and saved by transformers, run by us. Exports are deleted afterwards.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parent / "kernels"
DTYPES = {"fp32": "float32", "bf16": "bfloat16"}


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["transformers", "llama", "foreign"])
    parser.add_argument("--qwengpu")
    parser.add_argument("--logits")
    parser.add_argument("--dtype", default="fp32", choices=["fp32", "bf16", "fp16"])
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("interop"))
    parser.add_argument("--mode", default="both", choices=["decode", "prefill", "both"])
    parser.add_argument("--first", type=int, default=1000, help="number of launches, the shortest first")
    return parser.parse_args()


def run(command, output=None):
    """Runs a command and prints its seconds and memory. Ends this program if it fails."""
    command = [str(word) for word in command]
    begin = time.time()
    process = subprocess.Popen(command, stdout=output)
    _, status, usage = os.wait4(process.pid, 0)
    print(f"{pathlib.Path(command[1] if command[0] == sys.executable else command[0]).name} {command[-1] if output else ' '.join(command[1:3])}: {time.time() - begin:.0f} s, {usage.ru_maxrss / 1e6:.2f} GB", flush=True)
    if status:
        sys.exit(1)


def chosen_cases(work):
    """A launch file with the cases of launches.txt."""
    names = set((HERE / "launches.txt").read_text(encoding="utf-8").split())
    cases = [case for file in sorted((KERNELS / "cases").glob("*.json")) for case in json.loads(file.read_text(encoding="utf-8")) if case["name"] in names]
    if len(cases) != len(names):
        sys.exit("tests/kernels lacks launches of launches.txt")
    path = work / "cases.json"
    path.write_text(json.dumps(cases), encoding="utf-8")
    return path


def delete(path):
    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def run_elsewhere(options):
    sources = ["--sources", KERNELS / "ptx/nvcc"]
    cases, launches = chosen_cases(options.work), options.work / "launches.json"
    with open(launches, "w", encoding="utf-8") as file:
        run([options.qwengpu, "prompt", cases, *sources], file)
    model = options.work / (f"model-{options.dtype}" + (".gguf" if options.what == "llama" else ""))
    rest = ["--mode", options.mode, "--first", options.first]
    try:
        run([options.qwengpu, "export", model, "--dtype", options.dtype, *(["--gguf"] if options.what == "llama" else [])])
        if options.what == "llama":
            run([sys.executable, HERE / "run_llama.py", model, launches, *rest])
        else:
            run([options.qwengpu, "check", cases, *sources, "--checkpoint", model])
            run([sys.executable, HERE / "run_transformers.py", model, launches, "--dtype", DTYPES[options.dtype], *rest])
    finally:
        delete(model)


def run_here(options):
    for name, flags in {"fp32": ["--dtype", "float32"], "bf16": ["--dtype", "bfloat16"], "untied": ["--untied"]}.items():
        folder = options.work / f"random-{name}"
        run([sys.executable, HERE / "make_random_model.py", folder, *flags])
        run([options.logits, folder])
        delete(folder)


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    run_here(options) if options.what == "foreign" else run_elsewhere(options)


main()
