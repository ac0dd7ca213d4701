# SPDX-License-Identifier: MIT
"""Saves a small random Qwen3.5 with Hugging Face transformers, and the logits it gives for some tokens.

    make_random_model.py FOLDER [--dtype float32|bfloat16] [--untied]

FOLDER gets the checkpoint and expected.json, for foreign_logits to compare with: tokens; `chunked`, the logits of one pass over
them; `cached`, those of one token at a time; `unrounded`, those of the same weights in fp32, which tell how much rounding does.
"""
import argparse
import json
import os

import torch
from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

TOKENS = 150  # more than two chunks of the delta rule


def config(tied):
    return Qwen3_5TextConfig(
        vocab_size=97, hidden_size=64, intermediate_size=96, num_hidden_layers=5, layer_types=["linear_attention", "full_attention", "linear_attention", "linear_attention", "full_attention"],
        num_attention_heads=4, num_key_value_heads=2, head_dim=16, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=12,
        linear_conv_kernel_dim=4, rms_norm_eps=1e-6, tie_word_embeddings=tied, max_position_embeddings=512,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25, "mrope_section": [1, 1, 0], "mrope_interleaved": True})


def save(options):
    model = Qwen3_5ForCausalLM(config(not options.untied))
    for name, weight in model.named_parameters():
        noise = torch.randn_like(weight)
        weight.copy_(1 + 0.2 * noise if name.endswith("linear_attn.norm.weight") else weight + (0.1 if weight.dim() == 1 else 0.08) * noise)
    model.to(getattr(torch, options.dtype)).save_pretrained(options.folder)


def load(folder, dtype):
    """With the attention that is written out: fused kernels round elsewhere."""
    return Qwen3_5ForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager")


def chunked(folder, dtype, tokens):
    return load(folder, dtype)(tokens).logits[0].float()


def cached(folder, dtype, tokens):
    model, rows, cache = load(folder, dtype), [], None
    for token in tokens[0]:
        out = model(token.reshape(1, 1), past_key_values=cache, use_cache=True)
        cache = out.past_key_values
        rows.append(out.logits[0, 0].float())
    return torch.stack(rows)


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--untied", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(5)
    os.makedirs(options.folder, exist_ok=True)
    save(options)
    tokens, dtype = torch.randint(0, 97, (1, TOKENS)), getattr(torch, options.dtype)
    logits = {"chunked": chunked(options.folder, dtype, tokens), "cached": cached(options.folder, dtype, tokens), "unrounded": chunked(options.folder, torch.float32, tokens)}
    with open(os.path.join(options.folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump({"tokens": tokens[0].tolist(), **{name: rows.tolist() for name, rows in logits.items()}}, file)


main()
