"""The lesson's exercise as one writes it with PyTorch: what scripts/bench.sh compares attnscale
with. Numbers are float32, PyTorch's default.

usage: try_this_torch.py [QUERIES]
"""

import math
import sys

import torch

QUERIES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
SIZES = (4, 16, 64, 256, 1024)
KEYS = 8
torch.manual_seed(0)


def divisors(d):
    return {"none": 1, "div_sqrt_d": math.sqrt(d), "div_d": d}.items()


print("spread of the scores")
for d in SIZES:
    q = torch.randn(QUERIES, d)
    k = torch.randn(QUERIES, d)
    scores = (q * k).sum(dim=-1)
    for name, divisor in divisors(d):
        print(f"{d:5} {name:10} {(scores / divisor).std().item():.4g}")

print("mean top weight and mean slope p(1-p)")
for d in SIZES:
    q = torch.randn(QUERIES, d)
    k = torch.randn(QUERIES, KEYS, d)
    scores = torch.einsum("nd,nkd->nk", q, k)
    for name, divisor in divisors(d):
        p = torch.softmax(scores / divisor, dim=-1).amax(dim=-1)
        print(f"{d:5} {name:10} {p.mean().item():.4f} {(p * (1 - p)).mean().item():.4g}")
