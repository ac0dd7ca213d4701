# SPDX-License-Identifier: MIT
"""Saves a small random Qwen3.5 with Hugging Face transformers, and the logits it gives for some tokens.

    make_random_model.py FOLDER [--dtype float32|bfloat16]

FOLDER gets the checkpoint and expected.json (tokens, logits). The test tagged [interop] of tests/checkpoint/foreign_model runs
the same checkpoint on our engine: QWENGPU_FOREIGN_MODEL=FOLDER test_checkpoint '[interop]'.
"""
import argparse
import json
import os

import torch
from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig


def config():
    return Qwen3_5TextConfig(
        vocab_size=97, hidden_size=64, intermediate_size=96, num_hidden_layers=5, layer_types=["linear_attention", "full_attention", "linear_attention", "linear_attention", "full_attention"],
        num_attention_heads=4, num_key_value_heads=2, head_dim=16, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=12,
        linear_conv_kernel_dim=4, rms_norm_eps=1e-6, tie_word_embeddings=True, max_position_embeddings=512,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.25, "mrope_section": [1, 1, 0], "mrope_interleaved": True})


@torch.inference_mode()
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--dtype", default="float32", choices=["float32", "bfloat16"])
    options = parser.parse_args()
    torch.manual_seed(5)
    model = Qwen3_5ForCausalLM(config())
    for name, weight in model.named_parameters():
        noise = torch.randn_like(weight)
        weight.copy_(1 + 0.2 * noise if name.endswith("linear_attn.norm.weight") else weight + (0.1 if weight.dim() == 1 else 0.08) * noise)
    model = model.to(getattr(torch, options.dtype)).eval()
    tokens = torch.randint(0, 97, (1, 150))
    logits = model(tokens).logits[0].float()
    os.makedirs(options.folder, exist_ok=True)
    model.save_pretrained(options.folder)
    with open(os.path.join(options.folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump({"tokens": tokens[0].tolist(), "logits": logits.tolist()}, file)
    print(f"{options.folder}: {tokens.shape[1]} tokens, logits up to {logits.abs().max():.3f}")


main()
