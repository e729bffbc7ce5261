#!/usr/bin/python3
"""Make the queries, keys and values of a small toy layer, for configs/real_matrices.json, and the
weights of a faulty port of it, for attnscale audit.

Two heads over a text of 24 tokens, d = 16. Each token has a topic and a place. Head 0 looks for
earlier tokens of its own topic, head 1 for the token before. Like those of real layers, the queries
and keys are no random numbers: they share directions. The port divides scores by sqrt(d) twice.
"""

import argparse
from pathlib import Path

import numpy as np

TOKENS, D, TOPICS, SEED = 24, 16, 4, 2017
TOPIC_GAIN, PLACE_GAIN, NOISE = 5.0, 6.0, 0.6


def topic_head(random):
    """Queries and keys that agree where topics do."""
    directions = np.linalg.qr(random.normal(size=(D, D)))[0][:TOPICS]
    topics = directions[random.integers(TOPICS, size=TOKENS)]
    return [TOPIC_GAIN * topics + NOISE * random.normal(size=(TOKENS, D)) for _ in range(2)]


def place_head(random):
    """Queries and keys that agree where a key stands right before its query."""
    frequencies = 2.0 ** -np.arange(D // 2)

    def waves(places):
        angles = np.outer(places, frequencies)
        return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(D / 2)

    places = np.arange(TOKENS)
    return [PLACE_GAIN * waves(shifted) + NOISE * random.normal(size=(TOKENS, D))
            for shifted in (places - 1, places)]


def port_weights(queries, keys):
    """Causal softmax of q.k / sqrt(d) / sqrt(d)."""
    logits = queries.astype(float) @ np.swapaxes(keys.astype(float), 1, 2) / D
    weights = np.tril(np.exp(logits))
    return weights / weights.sum(axis=-1, keepdims=True)


def make_layer():
    """name -> array of shape (heads, tokens, d)."""
    random = np.random.default_rng(SEED)
    heads = [topic_head(random), place_head(random)]
    values = random.normal(size=(len(heads), TOKENS, D))
    queries, keys = (np.stack(arrays).astype("<f4") for arrays in zip(*heads))
    return {"queries": queries, "keys": keys, "values": values.astype("<f2"),
            "port_weights": port_weights(queries, keys).astype("<f4")}


def main():
    default = Path(__file__).resolve().parent.parent / "configs" / "example_matrices"
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=default,
                        help="where the four .npy files go, by default configs/example_matrices")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in make_layer().items():
        np.save(folder / f"{name}.npy", array)
        print(f"{folder / name}.npy: shape {array.shape}, {array.dtype}")


if __name__ == "__main__":
    main()
