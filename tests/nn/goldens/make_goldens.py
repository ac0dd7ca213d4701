#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the golden files beside this script: small models with random weights and what Qwen3.5's formulas give for them.

Needs numpy (Debian: python3-numpy). Run it as `python3 make_goldens.py`; the same seeds give the same files.
Written from the formulas of the reference implementation, token by token, without regard to the C++ code.
Sums are taken in float64 and rounded to float32 once; `r` rounds where the reference stores a tensor in the model's dtype.
"""
import json
import pathlib

import numpy as np

F = np.float32


def to_bf16(x):
    """Nearest bfloat16, ties to even, as float32."""
    bits = np.asarray(x, F).view(np.uint32).astype(np.uint64)
    return (((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) << 16).astype(np.uint32).view(F)


def to_fp32(x):
    return np.asarray(x, F)


def matmul(w, x):
    return (np.asarray(w, np.float64) @ np.asarray(x, np.float64)).astype(F)


def mean_square(x):
    return F(np.mean(np.asarray(x, np.float64) ** 2))


def sigmoid(x):
    return (F(1) / (F(1) + np.exp(-np.asarray(x, F)))).astype(F)


def silu(x):
    return (np.asarray(x, F) / (F(1) + np.exp(-np.asarray(x, F)))).astype(F)


def softplus(x):
    return np.where(x > 20, x, np.log1p(np.exp(np.minimum(x, F(20))))).astype(F)


def rms_norm(x, w, eps, r):
    return r(x * (F(1) / np.sqrt(mean_square(x) + F(eps))) * (F(1) + w))


def unit(x):
    return (x / np.sqrt(F(np.sum(np.asarray(x, np.float64) ** 2)) + F(1e-6))).astype(F)


class LinearMixer:
    """Gated DeltaNet, one token at a time."""

    def __init__(self, t, s, r):
        self.t, self.s, self.r = t, s, r
        channels = 2 * s["heads"] * s["key_dim"] + s["value_heads"] * s["value_dim"]
        self.past = [np.zeros(channels, F) for _ in range(s["conv"] - 1)]
        self.memory = [np.zeros((s["key_dim"], s["value_dim"]), F) for _ in range(s["value_heads"])]

    def __call__(self, h):
        t, s, r = self.t, self.s, self.r
        window = self.past + [r(matmul(t["linear_attn.in_proj_qkv.weight"], h))]
        self.past = window[1:]
        taps = t["linear_attn.conv1d.weight"]
        y = sum(np.float64(taps[:, j]) * np.float64(window[j]) for j in range(s["conv"])).astype(F)
        qkv = r(silu(r(y)))
        z = r(matmul(t["linear_attn.in_proj_z.weight"], h))
        beta = r(sigmoid(r(matmul(t["linear_attn.in_proj_b.weight"], h))))
        a = r(matmul(t["linear_attn.in_proj_a.weight"], h))
        g = -np.exp(t["linear_attn.A_log"]) * softplus(a + t["linear_attn.dt_bias"])
        keys = s["heads"] * s["key_dim"]
        q, k, v = qkv[:keys].reshape(s["heads"], -1), qkv[keys:2 * keys].reshape(s["heads"], -1), qkv[2 * keys:]
        v, z = v.reshape(s["value_heads"], -1), z.reshape(s["value_heads"], -1)
        out = []
        for i in range(s["value_heads"]):
            key_head = i // (s["value_heads"] // s["heads"])
            qi = unit(q[key_head]) * F(s["key_dim"] ** -0.5)
            ki = unit(k[key_head])
            m = self.memory[i] * np.exp(g[i])
            delta = beta[i] * (v[i] - matmul(m.T, ki))
            m = m + np.outer(ki, delta)
            self.memory[i] = m
            o = r(matmul(m.T, qi))
            n = r(o * (F(1) / np.sqrt(mean_square(o) + F(s["eps"]))))
            out.append(r(r(n * t["linear_attn.norm.weight"]) * silu(z[i])))
        return r(matmul(t["linear_attn.out_proj.weight"], np.concatenate(out)))


class FullMixer:
    """Gated full attention, one token at a time."""

    def __init__(self, t, s, r):
        self.t, self.s, self.r, self.keys, self.values = t, s, r, [], []

    def turn(self, x, position):
        s, r = self.s, self.r
        d = s["rotary_dims"]
        angle = F(position) * (F(1) / F(s["rope_theta"]) ** (np.arange(0, d, 2, dtype=F) / F(d)))
        cos, sin = r(np.cos(np.concatenate([angle, angle]))), r(np.sin(np.concatenate([angle, angle])))
        rot, rest = x[:d], x[d:]
        swapped = np.concatenate([-rot[d // 2:], rot[:d // 2]])
        return np.concatenate([r(r(rot * cos) + r(swapped * sin)), rest])

    def __call__(self, h):
        t, s, r = self.t, self.s, self.r
        d, position = s["head_dim"], len(self.keys)
        q = r(matmul(t["self_attn.q_proj.weight"], h)).reshape(s["query_heads"], 2, d)
        k = r(matmul(t["self_attn.k_proj.weight"], h)).reshape(s["kv_heads"], d)
        v = r(matmul(t["self_attn.v_proj.weight"], h)).reshape(s["kv_heads"], d)
        self.keys.append([self.turn(rms_norm(x, t["self_attn.k_norm.weight"], s["eps"], r), position) for x in k])
        self.values.append(v)
        out = []
        for i in range(s["query_heads"]):
            kv = i // (s["query_heads"] // s["kv_heads"])
            qi = self.turn(rms_norm(q[i, 0], t["self_attn.q_norm.weight"], s["eps"], r), position)
            scores = r(r(matmul(np.array([x[kv] for x in self.keys]), qi)) * F(d ** -0.5))
            e = np.exp(scores - scores.max())
            p = r(e / F(e.sum(dtype=np.float64)))
            read = r(matmul(np.array([x[kv] for x in self.values]).T, p))
            out.append(r(read * r(sigmoid(q[i, 1]))))
        return r(matmul(t["self_attn.o_proj.weight"], np.concatenate(out)))


def run(model, r):
    """All tokens through all layers: residuals after either sublayer, [layer][token][hidden], and the logits."""
    s = model["shape"]
    mixers = [{"linear": LinearMixer, "full": FullMixer}[x["kind"]](x["tensors"], s, r) for x in model["layers"]]
    after_mixer = [[] for _ in mixers]
    after_mlp = [[] for _ in mixers]
    logits = []
    for x in model["embeddings"]:
        x = r(x)
        for i, layer in enumerate(model["layers"]):
            t = layer["tensors"]
            x = r(x + mixers[i](rms_norm(x, t["input_layernorm.weight"], s["eps"], r)))
            after_mixer[i].append(x)
            h = rms_norm(x, t["post_attention_layernorm.weight"], s["eps"], r)
            units = r(r(silu(r(matmul(t["mlp.gate_proj.weight"], h)))) * r(matmul(t["mlp.up_proj.weight"], h)))
            x = r(x + r(matmul(t["mlp.down_proj.weight"], units)))
            after_mlp[i].append(x)
        logits.append(r(matmul(model["head"], rms_norm(x, model["norm"], s["eps"], r))))
    memory = [m for x in mixers if isinstance(x, LinearMixer) for m in x.memory]
    return {"after_mixer": after_mixer, "after_mlp": after_mlp, "logits": logits, "memory": memory}


def random_layer(rng, kind, s):
    def w(rows, cols):
        return to_bf16(rng.normal(0, 1.5 / np.sqrt(cols), (rows, cols)))

    def small(n):
        return to_bf16(rng.normal(0, 0.2, n))

    h, mlp = s["hidden"], s["mlp"]
    t = {"input_layernorm.weight": small(h), "post_attention_layernorm.weight": small(h)}
    if kind == "linear":
        keys, values = s["heads"] * s["key_dim"], s["value_heads"] * s["value_dim"]
        t |= {"linear_attn.in_proj_qkv.weight": w(2 * keys + values, h), "linear_attn.in_proj_z.weight": w(values, h),
              "linear_attn.in_proj_b.weight": w(s["value_heads"], h), "linear_attn.in_proj_a.weight": w(s["value_heads"], h),
              "linear_attn.conv1d.weight": to_bf16(rng.normal(0, 0.7, (2 * keys + values, s["conv"]))),
              "linear_attn.dt_bias": to_bf16(rng.normal(-2, 1, s["value_heads"])),
              "linear_attn.A_log": to_bf16(rng.normal(0, 1, s["value_heads"])),
              "linear_attn.norm.weight": to_bf16(1 + rng.normal(0, 0.2, s["value_dim"])),
              "linear_attn.out_proj.weight": w(h, values)}
    else:
        q, kv = s["query_heads"] * s["head_dim"], s["kv_heads"] * s["head_dim"]
        t |= {"self_attn.q_proj.weight": w(2 * q, h), "self_attn.k_proj.weight": w(kv, h),
              "self_attn.v_proj.weight": w(kv, h), "self_attn.q_norm.weight": small(s["head_dim"]),
              "self_attn.k_norm.weight": small(s["head_dim"]), "self_attn.o_proj.weight": w(h, q)}
    t |= {"mlp.gate_proj.weight": w(mlp, h), "mlp.up_proj.weight": w(mlp, h), "mlp.down_proj.weight": w(h, mlp)}
    return {"kind": kind, "tensors": t}


def random_model(seed, kinds, token_count, **sizes):
    rng = np.random.default_rng(seed)
    s = {"hidden": 12, "mlp": 20, "heads": 2, "value_heads": 2, "key_dim": 6, "value_dim": 6, "conv": 4,
         "query_heads": 4, "kv_heads": 2, "head_dim": 10, "rotary_dims": 4, "rope_theta": 10000000, "eps": 1e-6} | sizes
    return {"shape": s, "layers": [random_layer(rng, kind, s) for kind in kinds],
            "embeddings": to_bf16(rng.normal(0, 1, (token_count, s["hidden"]))),
            "norm": to_bf16(rng.normal(0, 0.2, s["hidden"])), "head": to_bf16(rng.normal(0, 0.5, (9, s["hidden"])))}


def plain(x):
    """Lists of the shortest decimals that read back as the same float32."""
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, (list, np.ndarray)):
        return [plain(v) for v in x]
    return float(str(x)) if isinstance(x, np.float32) else x


MODELS = {
    "linear": random_model(1, ["linear"], 7),
    "linear_grouped": random_model(2, ["linear", "linear"], 6, heads=2, value_heads=4, key_dim=4, value_dim=8, conv=3),
    "full": random_model(3, ["full"], 7),
    "stack": random_model(4, ["linear", "linear", "linear", "full"], 6, hidden=16, rotary_dims=8, query_heads=3, kv_heads=1),
}

if __name__ == "__main__":
    for name, model in MODELS.items():
        expected = {"fp32": run(model, to_fp32), "bf16": run(model, to_bf16)}
        text = json.dumps(plain(model | {"expected": expected}), separators=(",", ":"))
        path = pathlib.Path(__file__).with_name(name + ".json")
        path.write_text(text.replace("],[", "],\n[").replace("},", "},\n") + "\n")
