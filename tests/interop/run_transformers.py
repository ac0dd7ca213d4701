# SPDX-License-Identifier: MIT
"""Runs launches on an exported checkpoint with Hugging Face transformers and compares every token.

    run_transformers.py CHECKPOINT LAUNCHES.json [--dtype float32|bfloat16] [--first N] [--mode decode|prefill|both]

LAUNCHES.json is what `qwengpu prompt` prints: per launch its prompt and the transcript that the emulator says must follow.
decode: greedy generate() with the cache, all launches as one batch. prefill: one forward pass over prompt and transcript,
the argmax of each place against the next token. Prompts go in as text through the checkpoint's tokenizer.
"""
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

import launches as common


def arguments():
    parser = common.parser("checkpoint", threads=0)
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--spelling", default="{}", help="how a token stands in a prompt, as '<|gpu:{}|>' in a graft")
    parser.add_argument("--separator", default=" ")
    return parser.parse_args()


def load(options):
    """The model, its weights copied off the mapped files: a machine short of memory would read those again at every token."""
    model = AutoModelForCausalLM.from_pretrained(options.checkpoint, dtype=getattr(torch, options.dtype))
    for weight in model.parameters():
        weight.data = weight.data.clone()
    return model


def encode(tokenizer, options, words):
    text = options.separator.join(options.spelling.format(word) for word in words)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    common.need(len(ids) == len(words), f"the tokenizer made {len(ids)} tokens of {len(words)} words")
    decoded = tokenizer.decode(ids).replace("<|gpu:", " ").replace("|>", " ").split()
    common.need(decoded == words, "the tokenizer does not give the words back")
    return ids


def decode(model, tokenizer, launches, prompts, transcripts):
    longest = max(map(len, prompts))
    end = tokenizer.eos_token_id
    ids = torch.tensor([[end] * (longest - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (longest - len(p)) + [1] * len(p) for p in prompts])
    out = model.generate(ids, attention_mask=mask, do_sample=False, max_new_tokens=max(map(len, transcripts)), eos_token_id=transcripts[0][-1], pad_token_id=end)
    return [common.compare(*three) for three in zip(launches, transcripts, out[:, longest:].tolist())]


def prefill(model, launches, prompts, transcripts):
    counts = []
    for launch, prompt, transcript in zip(launches, prompts, transcripts):
        logits = model(torch.tensor([prompt + transcript[:-1]]), logits_to_keep=len(transcript)).logits[0]
        counts.append(common.compare(launch, transcript, logits.argmax(-1).tolist()))
    return counts


@torch.inference_mode()
def main():
    options = arguments()
    if options.threads:
        torch.set_num_threads(options.threads)
    launches = common.read(options.launches, options.first)
    tokenizer = AutoTokenizer.from_pretrained(options.checkpoint)
    model = load(options)
    prompts = [encode(tokenizer, options, launch["prompt"]) for launch in launches]
    transcripts = [encode(tokenizer, options, launch["transcript"]) for launch in launches]
    modes = {"prefill": lambda: prefill(model, launches, prompts, transcripts), "decode": lambda: decode(model, tokenizer, launches, prompts, transcripts)}
    common.run_modes(options.mode, modes, "transformers", options.dtype)


main()
