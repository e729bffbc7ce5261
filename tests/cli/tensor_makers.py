"""Layers as models dump them, for the tests of the command line: queries, keys and weights under
any factor, and the files they are written to."""

import json
import struct

import numpy as np


def to_bfloat16(array):
    """The nearest bfloat16 of each number, as uint16 bits."""
    bits = np.ascontiguousarray(array, dtype="<f4").view("<u4").astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("<u2")


def from_bfloat16(bits):
    return (bits.astype("<u4") << 16).view("<f4").astype(np.float64)


def rotate(x, part):
    """RoPE on the last `part` numbers of each row."""
    rows, half = x.shape[-2], part // 2
    angle = np.arange(rows)[:, None] / 10000 ** (np.arange(half) / half)
    turned = x.copy()
    a, b = x[..., -part:-half], x[..., -half:]
    turned[..., -part:-half] = a * np.cos(angle) - b * np.sin(angle)
    turned[..., -half:] = a * np.sin(angle) + b * np.cos(angle)
    return turned


def make_layer(seed, heads, key_heads, rows, d, unit):
    """Queries and keys that bfloat16 holds: unit entries, or a layer's look."""
    random = np.random.default_rng(seed)
    q = random.normal(size=(heads, rows, d))
    k = random.normal(size=(key_heads, rows, d))
    if not unit:
        q *= random.uniform(0.7, 1.6, size=(heads, 1, 1))
        k *= random.uniform(0.7, 1.6, size=(key_heads, 1, 1))
        loud = random.choice(d, 3, replace=False)
        q[..., loud] *= 3
        k[..., loud] *= 3
        q += random.normal(scale=0.1, size=d)
        k += random.normal(scale=0.1, size=d)
        part = min(d, 64)
        q, k = rotate(q, part), rotate(k, part)
    return from_bfloat16(to_bfloat16(q)), from_bfloat16(to_bfloat16(k))


def attend(logits, causal=True, sink=None):
    """The softmax of logits, with a sink's logit if there is one."""
    if causal:
        queries, keys = logits.shape[-2:]
        logits = np.where(np.tri(queries, keys, keys - queries) == 1, logits, -np.inf)
    top = logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits - top)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / (total if sink is None else total + np.exp(sink - top))


def scores_of(q, k, tiled=False):
    share = len(q) // len(k)
    keys = np.tile(k, (share, 1, 1)) if tiled else np.repeat(k, share, axis=0)
    return q @ np.swapaxes(keys, -2, -1)


def write_safetensors(path, **tensors):
    """Arrays as bfloat16, with a leading 1 as PyTorch dumps them."""
    header, data = {}, b""
    for name, array in tensors.items():
        raw = to_bfloat16(array).tobytes()
        header[name] = {"dtype": "BF16", "shape": [1, *array.shape],
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
