"""The product of many given queries and keys: NumPy's numbers, whoever computes which of them, and
how long that is said to take."""

import csv
import json
import unittest

import numpy as np

from attnscale_cli import CommandLineTest

HEADS, QUERIES, KEYS, D = 4, 530, 610, 19  # no multiples of what the kernel takes at once
PLACES = np.arange(QUERIES)[:, None] + KEYS - QUERIES - np.arange(KEYS)


class GivenProductTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(21)
        self.q = random.normal(size=(HEADS, QUERIES, D)).astype("<f4")
        self.k = random.normal(size=(2, KEYS, D)).astype("<f4")
        self.mask = random.random((QUERIES, KEYS)) < 0.3
        self.mask[:, 5] = True
        for name in ("q", "k", "mask"):
            np.save(self.folder / f"{name}.npy", getattr(self, name))
        shared = np.repeat(self.k, 2, axis=0).astype(float)
        self.scores = self.q.astype(float) @ np.swapaxes(shared, 1, 2)
        norms = [np.sqrt((array**2).mean(axis=-1)) for array in (self.q.astype(float), shared)]
        self.normed = self.scores / norms[0][..., None] / norms[1][:, None]

    def config(self, **given):
        return {"name": "product", "experiments": [
            {"name": "layer", "given": {"queries": "q.npy", "keys": "k.npy", **given},
             "scalings": ["none", {"name": "normed", "logit": "rms(q).rms(k)"}],
             "by": ["head", "query"], "metrics": ["logit_sd", "top_weight", "entropy"]}]}

    def test_is_that_of_numpy_wherever_queries_look(self):
        for i, (given, sees) in enumerate([
                ({}, np.ones((QUERIES, KEYS), bool)), ({"causal": True}, PLACES >= 0),
                ({"causal": True, "window": 70}, (PLACES >= 0) & (PLACES < 70)),
                ({"window": 40}, abs(PLACES) < 40), ({"mask": "mask.npy"}, self.mask)]):
            run = self.run_config(self.config(**given), f"run{i}")
            with open(run / "queries.csv", newline="", encoding="ascii") as file:
                lines = list(csv.DictReader(file))
            for name, logits in (("none", self.scores), ("normed", self.normed)):
                found = np.array([[float(line[column] or "nan") for column in (
                    "max_logit", "logit_sd", "keys")] for line in lines
                    if line["scaling"] == name]).reshape(HEADS, QUERIES, 3)
                count = np.broadcast_to(sees.sum(axis=1), (HEADS, QUERIES))
                seen = np.where(sees, logits, 0)
                mean = seen.sum(axis=-1) / count
                squares = (np.where(sees, logits - mean[..., None], 0)**2).sum(axis=-1)
                with np.errstate(divide="ignore", invalid="ignore"):
                    spread = np.where(count > 1, np.sqrt(squares / (count - 1)), np.nan)
                expected = np.stack([abs(seen).max(axis=-1), spread, count], axis=-1)
                np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)

    def test_bytes_are_the_same_for_any_number_of_threads(self):
        for given in ({}, {"causal": True, "baseline": "matched"}):
            one = self.run_config(self.config(**given), f"one{len(given)}", "--threads", "1")
            for threads in (2, 5):
                other = self.run_config(self.config(**given), f"{threads}of{len(given)}",
                                        "--threads", threads)
                self.assert_same_files(one, other)

    def test_a_query_is_the_same_among_fewer(self):
        whole = self.run_config(self.config(), "whole")
        np.save(self.folder / "q.npy", self.q[:, 100:107])
        few = self.run_config(self.config(), "few")
        texts = []
        for run, first in ((whole, 100), (few, 0)):
            with open(run / "queries.csv", newline="", encoding="ascii") as file:
                texts.append([[line[name] for name in line if name != "query"]
                              for line in csv.DictReader(file)
                              if first <= int(line["query"]) < first + 7])
        self.assertEqual(*texts)

    def seconds_of(self, config):
        answer = self.succeed("plan", self.write_config(config), "--format", "json")
        return json.loads(answer.stdout)[0]["cpu_seconds"]

    def test_the_plan_says_how_long_it_takes(self):
        once = self.seconds_of(self.config())
        self.assertGreater(once, 0.01)
        self.assertAlmostEqual(self.seconds_of(self.config(causal=True)) / once, 0.57, delta=0.05)
        # Four copies and more, of the same work.
        self.assertGreater(self.seconds_of(self.config(baseline="matched")), 4.9 * once)
        np.save(self.folder / "q.npy", np.tile(self.q, (1, 3, 1)))
        self.assertAlmostEqual(self.seconds_of(self.config()) / once, 3, delta=0.01)
        screen = self.succeed("plan", "config.json").stdout
        self.assertRegex(screen, r"A run would take about [\d.]+ processor seconds\. Nothing")

    def test_a_run_that_was_stopped_says_that_it_begins_again(self):
        np.save(self.folder / "q.npy", np.tile(self.q, (1, 80, 1)))
        path = self.write_config(self.config())
        stopped = self.attnscale("run", path, "--out", "run", "--time-limit", "0.5")
        self.assertEqual(stopped.returncode, 4, stopped.stderr)
        self.assertIn("after 0 queries; the same command begins again", stopped.stderr)

    def test_shows_how_far_it_is(self):
        np.save(self.folder / "q.npy", np.tile(self.q, (1, 40, 1)))  # a second's work or two
        path = self.write_config(self.config())
        told = self.succeed("run", path, "--out", "run", "--progress", "bar").stderr
        self.assertRegex(told, r"\[#+\.*\] +\d+ %  .*queries/s")


if __name__ == "__main__":
    unittest.main()
