# SPDX-License-Identifier: MIT
"""What the interop programs share: their words, the launches of a JSON file that `qwengpu prompt` printed, and the counting of tokens."""
import argparse
import json
import resource
import sys
import time


def parser(model, threads):
    """Of the words that all programs take: `model` is what the first is called, `threads` how many there are by default."""
    words = argparse.ArgumentParser()
    words.add_argument(model)
    words.add_argument("launches")
    words.add_argument("--mode", default="both", choices=["decode", "prefill", "both"])
    words.add_argument("--first", type=int, default=10, help="number of launches, the shortest first")
    words.add_argument("--threads", type=int, default=threads)
    return words


def read(file, first):
    """The launches, the shortest first, at most `first` of them."""
    with open(file, encoding="utf-8") as text:
        launches = json.load(text)
    launches.sort(key=lambda launch: len(launch["prompt"]) + len(launch["transcript"]))
    return launches[:first]


def compare(launch, expected, got):
    """Counts of tokens compared and of those that differ; a token that is missing differs."""
    got = got[: len(expected)] + [-1] * (len(expected) - len(got))
    wrong = [i for i, (a, b) in enumerate(zip(expected, got)) if a != b]
    if wrong:
        print(f"  {launch['name']}: first difference at token {wrong[0]}: {got[wrong[0]]}, expected {expected[wrong[0]]}")
    return len(expected), len(wrong)


def report(what, counts, seconds):
    """Prints a line and gives the number of tokens that differ. Nothing compared is as bad as a difference."""
    tokens, wrong = (sum(column) for column in zip(*counts))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{what}: {len(counts)} launches, {tokens} tokens compared, {wrong} differ, {seconds:.0f} s, {memory:.1f} GB", flush=True)
    return wrong if tokens else 1


def run_modes(chosen, modes, engine, model):
    """Runs those of `modes` (functions that give counts, by name) that were chosen, and ends this program: with 1 if a token differs."""
    wrong = 0
    for mode, run in modes.items():
        if chosen in (mode, "both"):
            begin = time.time()
            wrong += report(f"{engine} {mode} {model}", run(), time.time() - begin)
    sys.exit(1 if wrong else 0)


def need(condition, message):
    if not condition:
        sys.exit(message)
