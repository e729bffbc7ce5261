"""The lesson's exercise as one writes it with NumPy: what scripts/bench.sh compares attnscale with.

usage: try_this_numpy.py [QUERIES]
"""

import sys

import numpy as np

QUERIES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
SIZES = (4, 16, 64, 256, 1024)
KEYS = 8
random = np.random.default_rng(0)


def softmax(logits):
    e = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def divisors(d):
    return {"none": 1, "div_sqrt_d": np.sqrt(d), "div_d": d}.items()


print("spread of the scores")
for d in SIZES:
    q = random.standard_normal((QUERIES, d))
    k = random.standard_normal((QUERIES, d))
    scores = np.einsum("nd,nd->n", q, k)
    for name, divisor in divisors(d):
        print(f"{d:5} {name:10} {(scores / divisor).std(ddof=1):.4g}")

print("mean top weight and mean slope p(1-p)")
for d in SIZES:
    q = random.standard_normal((QUERIES, d))
    k = random.standard_normal((QUERIES, KEYS, d))
    scores = np.einsum("nd,nkd->nk", q, k)
    for name, divisor in divisors(d):
        p = softmax(scores / divisor).max(axis=-1)
        print(f"{d:5} {name:10} {p.mean():.4f} {(p * (1 - p)).mean():.4g}")
