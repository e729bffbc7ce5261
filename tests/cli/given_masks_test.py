"""Which keys the queries of given numbers see: by place, by masks as models write them, by scores
and biases of -inf. Weights are those of the softmax that NumPy takes over what is left."""

import csv
import json
import struct
import unittest

import numpy as np

from attnscale_cli import CommandLineTest
from tensor_makers import from_bfloat16, to_bfloat16

BATCHES, HEADS, QUERIES, KEYS, D = 2, 4, 6, 7, 8
PLACES = np.arange(QUERIES)[:, None] + KEYS - QUERIES
DISTANCE = PLACES - np.arange(KEYS)
CAUSAL = DISTANCE >= 0


def softmax(logits, sees):
    """Weights of what is seen, NaN elsewhere."""
    logits = np.where(sees, logits, -np.inf)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.where(sees, weights / weights.sum(axis=-1, keepdims=True), np.nan)


class GivenMasksTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(3)
        self.q = random.normal(size=(BATCHES, HEADS, QUERIES, D))
        self.k = random.normal(size=(BATCHES, 2, KEYS, D))
        shared = np.repeat(self.k, 2, axis=1)
        self.scores = self.q @ np.swapaxes(shared, -1, -2)
        self.holes = random.random((BATCHES, 1, QUERIES, KEYS)) < 0.7
        self.holes[..., 0] = True  # each query sees a key
        self.bias = random.normal(size=(1, HEADS, QUERIES, KEYS))
        for name in ("q", "k", "scores"):
            np.save(self.folder / f"{name}.npy", getattr(self, name))

    def save(self, **arrays):
        for name, array in arrays.items():
            np.save(self.folder / f"{name}.npy", array)

    def config(self, given, **more):
        return {"name": "masks", "experiments": [
            {"name": "layer", "given": {"weights": True, **given},
             "scalings": [{"name": "half", "logit": "0.5 q.k"}], **more}]}

    def run_given(self, given, out="run", **more):
        """The folder of the run, and what it said."""
        path = self.write_config(self.config(given, **more), f"{out}.json")
        answer = self.succeed("run", path, "--out", out)
        return self.folder / out, answer

    def weights_of(self, given, out="run"):
        """Weights by head, query and key; NaN where there is no line."""
        folder, _ = self.run_given(given, out)
        found = np.full((BATCHES * HEADS, QUERIES, KEYS), np.nan)
        with open(folder / "weights.csv", newline="", encoding="ascii") as file:
            for line in csv.DictReader(file):
                place = tuple(int(line[name]) for name in ("head", "query", "key"))
                self.assertTrue(np.isnan(found[place]), "a line twice")
                found[place] = float(line["weight"])
        return found.reshape(BATCHES, HEADS, QUERIES, KEYS)

    def assert_weights(self, given, sees, bias=0, out="run"):
        found = self.weights_of(given, out)
        sees = np.broadcast_to(sees, found.shape)
        np.testing.assert_array_equal(np.isnan(found), ~sees)  # hidden keys have no line
        np.testing.assert_allclose(found, softmax(0.5 * self.scores + bias, sees), atol=1e-12)

    def vectors(self, **more):
        return {"queries": "q.npy", "keys": "k.npy", **more}

    def test_a_window_hides_what_is_as_far_away(self):
        for i, (causal, window) in enumerate([(True, 3), (False, 2), (True, 1), (True, 100)]):
            sees = (abs(DISTANCE) < window) & (CAUSAL if causal else True)
            self.assert_weights(self.vectors(causal=causal, window=window), sees, out=f"w{i}")

    def test_masks_as_models_write_them_hide_the_same(self):
        low = np.where(self.holes, 0, np.finfo(np.float32).min)
        self.save(bool=self.holes, one=self.holes.astype("<f4"),
                  infinite=np.where(self.holes, 0, -np.inf), low=low,
                  bert=np.where(self.holes, 0, -10000.0))
        raw = self.holes.tobytes()
        header = json.dumps({"mask": {"dtype": "BOOL", "shape": list(self.holes.shape),
                                      "data_offsets": [0, len(raw)]}}).encode()
        (self.folder / "m.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + raw)
        for i, name in enumerate(["bool.npy", "one.npy", "infinite.npy", "low.npy", "bert.npy",
                                  "m.safetensors:mask"]):
            for causal in (False, True):
                with self.subTest(name=name, causal=causal):
                    given = self.vectors(mask=name, causal=causal)
                    self.assert_weights(given, self.holes & (CAUSAL if causal else True),
                                        out=f"m{i}{causal}")

    def test_one_row_of_a_mask_is_for_all_queries(self):
        padding = np.ones((BATCHES, 1, 1, KEYS), bool)
        padding[1, ..., :3] = False
        self.save(padding=padding)
        self.assert_weights(self.vectors(mask="padding.npy"), padding)
        self.assert_weights(self.vectors(mask=[[1, 0, 1, 1, 0, 0, 1]]),
                            np.array([1, 0, 1, 1, 0, 0, 1]) == 1, out="typed")

    def test_biases_are_added_after_the_scaling(self):
        self.save(bias=self.bias)
        self.assert_weights(self.vectors(bias="bias.npy", causal=True), CAUSAL, self.bias)
        alibi = -np.array([1, 0.5, 0.25, 0.125])[:, None, None] * DISTANCE
        self.save(alibi=alibi)
        self.assert_weights(self.vectors(bias="alibi.npy"), True, alibi, out="alibi")
        hidden = np.where(self.holes, self.bias, -np.inf)
        self.save(hidden=hidden)
        finite = np.where(np.isfinite(hidden), hidden, 0)
        self.assert_weights(self.vectors(bias="hidden.npy"), self.holes, finite, out="hidden")
        self.save(hidden=np.where(self.holes, self.bias, -1e9))
        self.assert_weights(self.vectors(bias="hidden.npy", masked_below=-1e4), self.holes, finite,
                            out="low")

    def test_scores_may_hide_keys_with_and_without_causal(self):
        sees = self.holes & CAUSAL
        self.save(hidden=np.where(sees, self.scores, -np.inf),
                  low=np.where(sees, self.scores, -1e9))
        for i, causal in enumerate([False, True]):
            self.assert_weights({"scores": "hidden.npy", "causal": causal}, sees, out=f"h{i}")
            self.assert_weights({"scores": "low.npy", "causal": causal, "masked_below": -1e4},
                                sees, out=f"l{i}")
        (self.folder / "s.csv").write_text("1,-inf,2\n0.5,1,-inf\n")
        folder, answer = self.run_given({"scores": "s.csv"}, "csv")
        self.assertEqual(len((folder / "weights.csv").read_text().splitlines()), 1 + 4)
        self.assertIn("layer: of 6 keys of all queries hidden: 2 by a score of -inf", answer.stdout)
        shown = self.succeed("show", folder).stdout
        self.assertIn("2 by a score of -inf", shown)

    def test_places_of_hidden_keys_count_in_a_formula_with_i_and_j(self):
        self.save(holes=self.holes)
        config = self.config(self.vectors(mask="holes.npy", causal=True))
        config["experiments"][0]["scalings"] = [{"name": "alibi", "logit": "0.5 q.k - 0.3 (i - j)"}]
        self.run_config(config, "formula")
        with open(self.folder / "formula" / "weights.csv", newline="", encoding="ascii") as file:
            for line in csv.DictReader(file):
                i, j = int(line["query"]), int(line["key"])
                logit = 0.5 * float(line["score"]) - 0.3 * DISTANCE[i, j]
                self.assertAlmostEqual(float(line["logit"]), logit, delta=1e-12)

    def test_metrics_and_baseline_are_of_what_is_seen(self):
        sees = np.broadcast_to(self.holes & CAUSAL, self.scores.shape)
        self.save(holes=self.holes)
        folder, answer = self.run_given(self.vectors(mask="holes.npy", causal=True, baseline=True),
                                        metrics=["logit_sd", "top_weight", "effective_keys"])
        weights = softmax(0.5 * self.scores, sees)
        with open(folder / "summary.csv", newline="", encoding="ascii") as file:
            found = {line["metric"]: float(line["estimate"]) for line in csv.DictReader(file)}
        spread = (0.5 * self.scores[sees]).std(ddof=1)
        self.assertAlmostEqual(found["logit_sd"], spread, delta=1e-12)
        self.assertAlmostEqual(found["top_weight"], np.nanmax(weights, axis=-1).mean(), delta=1e-12)
        self.assertIn("8 query heads share 4 heads of keys, 2 in a row each", answer.stdout)
        by_mask = (~self.holes & CAUSAL).sum() * HEADS
        by_place = (~CAUSAL).sum() * HEADS * BATCHES
        told = " ".join(answer.stdout.split())
        self.assertIn(f"of 336 keys of all queries hidden: {by_mask} by the mask, {by_place} by "
                      "where they stand", told)
        # Random queries with as many visible keys: an equal weight for each would have so many.
        with open(folder / "baselines.csv", newline="", encoding="ascii") as file:
            random = {line["metric"]: float(line["baseline"]) for line in csv.DictReader(file)}
        self.assertLess(random["effective_keys"], sees.sum(axis=-1).mean())
        self.assertGreater(random["effective_keys"], 1)

    def test_rows_first_and_bits_are_read_as_they_are_said_to_be(self):
        q, k = (from_bfloat16(to_bfloat16(array)) for array in (self.q, self.k))
        self.q, self.k = q, k
        self.scores = q @ np.swapaxes(np.repeat(k, 2, axis=1), -1, -2)
        self.save(q=to_bfloat16(np.swapaxes(q, 1, 2)), k=to_bfloat16(np.swapaxes(k, 1, 2)),
                  bias=self.bias.astype("<f8"))
        given = self.vectors(layout="rows_first", dtype="bfloat16", bias="bias.npy")
        self.assert_weights(given, True, self.bias)
        written = json.loads((self.folder / "run" / "config.json").read_text())
        self.assertEqual(written["experiments"][0]["given"]["layout"], "rows_first")
        self.succeed("run", self.folder / "run" / "config.json", "--out", "again")
        self.assert_same_files(self.folder / "run", self.folder / "again")

    def test_another_tensor_of_a_file_is_another_run(self):
        np.savez(self.folder / "layer.npz", a=self.q, b=2 * self.q, k=self.k)
        first, _ = self.run_given({"queries": "layer.npz:a", "keys": "layer.npz:k"})
        self.assertTrue(first.exists())
        other = self.write_config(self.config({"queries": "layer.npz:b", "keys": "layer.npz:k"}))
        self.refuse("run", other, "--out", "run", says=["tensor", "--force"])

    def warnings_of(self, given, **more):
        path = self.write_config(self.config(given, **more))
        return [line for line in self.succeed("plan", path).stderr.splitlines()
                if line.startswith("warning: ")]

    def test_warns_of_what_is_probably_not_meant(self):
        sees = np.broadcast_to(self.holes, self.scores.shape)
        for low in (-1e9, np.finfo(np.float32).min, -10000.0):
            self.save(low=np.where(sees, self.scores, low + np.minimum(self.scores, 0)))
            warning, = self.warnings_of({"scores": "low.npy"})
            self.assertIn(f"{(~sees).sum()} of these numbers are -10000 or less", warning)
            self.assertIn('"masked_below": -10000', warning)
            self.assertEqual(self.warnings_of({"scores": "low.npy", "masked_below": -5000}), [])
        self.save(large=1e5 * self.scores)  # no gap, so no masks
        self.assertEqual(self.warnings_of({"scores": "large.npy"}), [])
        padded = [np.pad(array, [(0, 0)] * 3 + [(0, 8)]) for array in (self.q, self.k)]
        self.save(qp=padded[0], kp=padded[1])
        warning, = self.warnings_of({"queries": "qp.npy", "keys": "kp.npy"})
        self.assertIn("columns 8 to 15 (counted from 0) are 0 in all queries and keys", warning)
        self.assertIn("d is 8, not 16", warning)
        padded[1][0, 0, 0, 9] = 1
        self.save(kp=padded[1])
        warning, = self.warnings_of({"queries": "qp.npy", "keys": "kp.npy"})
        self.assertIn("columns 8, 10, 11, 12 and 3 more", warning)
        self.save(all=np.zeros((QUERIES, KEYS)), bias=self.bias)
        warning, = self.warnings_of(self.vectors(mask="all.npy"))
        self.assertIn("the mask hides nothing: all of it is 0", warning)
        warning, = self.warnings_of(self.vectors(bias="bias.npy", baseline=True),
                                    metrics=["logit_sd"])
        self.assertIn("without the bias", warning)

    def test_refuses_what_cannot_be_meant(self):
        half = self.holes * 0.5
        self.save(half=half, mixed=np.where(self.holes, 1, -np.inf), few=self.holes[..., :5],
                  rows=self.holes[..., :4, :], none=np.zeros((QUERIES, KEYS), bool),
                  three=np.ones((3, QUERIES, KEYS), bool), whole=self.holes.astype("<i8"),
                  one_batch=self.k[:1], three_heads=np.ones((BATCHES, 3, KEYS, D)),
                  two=self.q[:, :2], bytes=self.holes.astype("u1"), words=self.holes.astype("<u2"))
        vectors = self.vectors
        for given, key, says in [
                (vectors(mask="half.npy"), "mask", ["found 0.5", "1 where a query sees a key"]),
                (vectors(mask="mixed.npy"), "mask", ["expected 1 where"]),
                (vectors(mask="few.npy"), "mask", ["a row of 5", "expected 7"]),
                (vectors(mask="rows.npy"), "mask", ["found 4 rows", "one per query, 6"]),
                (vectors(mask="none.npy"), "mask", ["row 0", "all its keys are hidden"]),
                (vectors(mask="three.npy"), "mask", ["found 3 heads", "expected 4"]),
                (vectors(mask="whole.npy"), "mask", ["<i8", "array.astype(bool)"]),
                (vectors(mask="bytes.npy"), "mask", ["|u1", "array.astype(bool)"]),
                (vectors(mask="bytes.npy", dtype="float8_e4m3fn"), "mask", ["array.astype(bool)"]),
                (vectors(mask="words.npy"), "mask", ["<u2", "array.astype(bool)"]),
                (vectors(bias="bytes.npy"), "bias", ['say it with "dtype": "float8_e4m3fn"']),
                (vectors(bias="none.npy"), "bias", ["|b1"]),
                (vectors(window=0), "window", ["found 0", "from 1"]),
                (vectors(masked_below=-1e4), "masked_below", ["there is none"]),
                (vectors(dtype="bfloat16"), "dtype", ["none of these"]),
                (vectors(dtype="bfloat"), "dtype", ['did you mean "bfloat16"?']),
                (vectors(layout="rows"), "layout", ['did you mean "rows_first"?']),
                ({"scores": "scores.npy", "layout": "rows_first"}, "layout", ["there is none"]),
                ({"queries": "q.npy", "keys": "one_batch.npy"}, "keys",
                 ["found 1 batch in", "expected 2"]),
                ({"queries": "q.npy", "keys": "three_heads.npy"}, "keys",
                 ["found 3 heads", "rows_first"]),
                ({"scores": [[1, 2], [3]], "mask": [[1, 1]]}, "mask", ["differ in length"]),
                ({"queries": "k.npy", "keys": "two.npy", "window": 2}, "window",
                 ["found 6 keys for 7 queries"])]:
            with self.subTest(given=given):
                config = self.write_config(self.config(given))
                message = self.refuse("run", config, "--out", "no", says=[f"given/{key}", *says])
                self.assertEqual(message.count("\n"), 1, message)
                self.assertFalse((self.folder / "no").exists())


if __name__ == "__main__":
    unittest.main()
