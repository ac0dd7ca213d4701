# SPDX-License-Identifier: MIT
"""What the interop programs share: the launches of a JSON file that `qwengpu prompt` printed, and the counting of tokens."""
import json
import resource
import sys


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


def need(condition, message):
    if not condition:
        sys.exit(message)
