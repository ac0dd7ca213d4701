# SPDX-License-Identifier: MIT
"""Runs launches on an exported checkpoint with Hugging Face transformers and compares every token.

    run_transformers.py CHECKPOINT LAUNCHES.json [--dtype float32|bfloat16] [--first N] [--mode decode|prefill|both]

LAUNCHES.json is what `qwengpu prompt` prints: per launch its prompt and the transcript that the emulator says must follow.
decode: greedy generate() with the cache, all launches as one batch. prefill: one forward pass over prompt and transcript,
the argmax of each place against the next token. Prompts go in as text through the checkpoint's tokenizer.
"""
import argparse
import json
import resource
import sys
import time

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("checkpoint")
    parser.add_argument("launches")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--mode", default="both", choices=["decode", "prefill", "both"])
    parser.add_argument("--first", type=int, default=10, help="number of launches, the shortest first")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--spelling", default="{}", help="how a token stands in a prompt, as '<|gpu:{}|>' in a graft")
    parser.add_argument("--separator", default=" ")
    return parser.parse_args()


def chosen(options):
    with open(options.launches, encoding="utf-8") as file:
        launches = json.load(file)
    launches.sort(key=lambda launch: len(launch["prompt"]) + len(launch["transcript"]))
    return launches[: options.first]


def encode(tokenizer, options, words):
    text = options.separator.join(options.spelling.format(word) for word in words)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    if len(ids) != len(words):
        sys.exit(f"the tokenizer made {len(ids)} tokens of {len(words)} words")
    decoded = tokenizer.decode(ids).replace("<|gpu:", " ").replace("|>", " ").split()
    if decoded != words:
        sys.exit("the tokenizer does not give the words back")
    return ids


def compare(launch, expected, got):
    """Counts of tokens compared and of those that differ; a token that is missing differs."""
    got = got[: len(expected)] + [-1] * (len(expected) - len(got))
    wrong = [i for i, (a, b) in enumerate(zip(expected, got)) if a != b]
    if wrong:
        print(f"  {launch['name']}: first difference at token {wrong[0]}: {got[wrong[0]]}, expected {expected[wrong[0]]}")
    return len(expected), len(wrong)


def decode(model, tokenizer, launches, prompts, transcripts):
    longest = max(map(len, prompts))
    end = tokenizer.eos_token_id
    ids = torch.tensor([[end] * (longest - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
    out = model.generate(ids, attention_mask=mask, do_sample=False, max_new_tokens=max(map(len, transcripts)), eos_token_id=transcripts[0][-1], pad_token_id=end)
    return [compare(*three) for three in zip(launches, transcripts, out[:, longest:].tolist())]


def prefill(model, launches, prompts, transcripts):
    counts = []
    for launch, prompt, transcript in zip(launches, prompts, transcripts):
        logits = model(torch.tensor([prompt + transcript[:-1]]), logits_to_keep=len(transcript)).logits[0]
        counts.append(compare(launch, transcript, logits.argmax(-1).tolist()))
    return counts


def report(mode, options, counts, seconds):
    tokens, wrong = (sum(column) for column in zip(*counts))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"transformers {mode} {options.dtype}: {len(counts)} launches, {tokens} tokens compared, {wrong} differ, {seconds:.0f} s, {memory:.1f} GB", flush=True)
    return wrong


@torch.inference_mode()
def main():
    options = arguments()
    if options.threads:
        torch.set_num_threads(options.threads)
    launches = chosen(options)
    tokenizer = AutoTokenizer.from_pretrained(options.checkpoint)
    model = AutoModelForCausalLM.from_pretrained(options.checkpoint, dtype=getattr(torch, options.dtype))
    prompts = [encode(tokenizer, options, launch["prompt"]) for launch in launches]
    transcripts = [encode(tokenizer, options, launch["transcript"]) for launch in launches]
    wrong = 0
    for mode, run in {"prefill": lambda: prefill(model, launches, prompts, transcripts), "decode": lambda: decode(model, tokenizer, launches, prompts, transcripts)}.items():
        if options.mode in (mode, "both"):
            begin = time.time()
            counts = run()
            wrong += report(mode, options, counts, time.time() - begin)
    sys.exit(1 if wrong else 0)


main()
