"""Queries, keys and values from files: the weights and outputs of attention as others compute it,
and runs that depend on what the files hold, not on where they are."""

import csv
import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import time
import unittest

import numpy as np

from attnscale_cli import BINARY, ROOT, SLOWDOWN, CommandLineTest, read_csv

HEADS, QUERIES, KEYS, D, COMPONENTS = 3, 7, 7, 16, 5

# Dot products of 16 numbers of size 1 and softmax weights in double precision: a few times 1e-15.
ABSOLUTE_ERROR = 1e-12


def nanogpt(q, k, v, causal):
    """Weights and outputs of nanoGPT's CausalSelfAttention (model.py), without dropout:
    att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1))), masked_fill(-inf), softmax,
    att @ v; the mask is moved to the last query where keys outnumber queries."""
    att = (q @ np.swapaxes(k, -2, -1)) * (1.0 / math.sqrt(k.shape[-1]))
    if causal:
        queries, keys = att.shape[-2:]
        sees = np.tril(np.ones((queries, keys)), keys - queries) == 1
        att = np.where(sees, att, -np.inf)
    att = np.exp(att - att.max(axis=-1, keepdims=True))
    att /= att.sum(axis=-1, keepdims=True)
    return att, att @ v


def pytorch(torch, q, k, v, causal):
    """Outputs and weights of PyTorch's own attention, in double precision."""
    functional = torch.nn.functional
    if hasattr(functional, "_scaled_dot_product_attention"):  # before 2.0, as in Debian 12
        return functional._scaled_dot_product_attention(q, k, v, None, 0.0, True, causal)
    # Since 2.0 it gives outputs alone: those of unit vectors as values are the weights.
    attention = functional.scaled_dot_product_attention
    unit = torch.eye(k.shape[-2], dtype=k.dtype).expand(*k.shape[:-1], k.shape[-2])
    return (attention(q, k, v, is_causal=causal), attention(q, k, unit, is_causal=causal))


def layer(seed, queries=QUERIES, keys=KEYS, heads=HEADS):
    """Random q, k, v of shape (heads, rows, numbers), in double precision."""
    random = np.random.default_rng(seed)
    shapes = [(queries, D), (keys, D), (keys, COMPONENTS)]
    return [random.normal(scale=1.5, size=(heads, *shape)) for shape in shapes]


def given(members, **more):
    """A config of one experiment whose numbers are given."""
    return {"name": "given", "experiments": [
        {"name": "layer", "given": members, "scalings": ["div_sqrt_d"], **more}]}


FILES = {"queries": "q.npy", "keys": "k.npy", "values": "v.npy"}


class GivenFilesTest(CommandLineTest):
    def save(self, *arrays):
        for name, array in zip("qkv", arrays):
            np.save(self.folder / f"{name}.npy", array)

    def table(self, path, shape, index, value):
        """Column `value` of a result file as an array, NaN where there is no line."""
        found = np.full(shape, np.nan)
        with open(path, newline="", encoding="ascii") as file:
            for line in csv.DictReader(file):
                found[tuple(int(line[column]) for column in index)] = float(line[value])
        return found

    def assert_attention(self, run, weights, outputs):
        found = self.table(run / "weights.csv", weights.shape, ("head", "query", "key"), "weight")
        # A key that a query does not see has no line.
        np.testing.assert_array_equal(np.isnan(found), weights == 0)
        np.testing.assert_allclose(np.nan_to_num(found), weights, rtol=0, atol=ABSOLUTE_ERROR)
        found = self.table(run / "outputs.csv", outputs.shape, ("head", "query", "component"),
                           "output")
        np.testing.assert_allclose(found, outputs, rtol=0, atol=ABSOLUTE_ERROR)

    def check_attention(self, q, k, v, causal, name):
        self.save(q, k, v)
        run = self.run_config(given({**FILES, "causal": causal, "weights": True}), name)
        exact = [array.astype(np.float64) for array in (q, k, v)]
        self.assert_attention(run, *nanogpt(*exact, causal))

    def test_weights_and_outputs_are_those_of_nanogpt(self):
        names = {"<": "little", ">": "big"}  # of byte orders
        for dtype in ("<f2", "<f4", "<f8", ">f2", ">f4", ">f8"):
            for causal in (False, True):
                arrays = [array.astype(dtype) for array in layer(seed=1)]
                self.check_attention(*arrays, causal, f"{names[dtype[0]]}-{dtype[1:]}-{causal}")

    def test_the_last_query_sees_all_where_keys_outnumber_queries(self):
        self.check_attention(*layer(seed=2, queries=4, keys=9), True, "more-keys")
        self.check_attention(*layer(seed=3, queries=19, keys=21), True, "many-queries")

    def test_weights_and_outputs_are_those_of_pytorch(self):
        try:
            import torch
        except ImportError:
            print("python3-torch is not installed: not compared with PyTorch")
            return
        q, k, v = layer(seed=4)
        self.save(q, k, v)
        for causal in (False, True):
            outputs, weights = pytorch(torch, *map(torch.from_numpy, (q, k, v)), causal)
            run = self.run_config(given({**FILES, "causal": causal, "weights": True}),
                                  f"torch-{causal}")
            self.assert_attention(run, weights.numpy(), outputs.numpy())

    def test_shapes_without_heads_and_csv_hold_the_same_numbers(self):
        q, k, v = layer(seed=5, heads=1)
        self.save(q, k, v)
        one = self.run_config(given({**FILES, "weights": True}), "with-head")
        self.save(q[0], k[0], v[0])
        flat = self.run_config(given({**FILES, "weights": True}), "flat")
        for name, array, header in (("q", q, "a,b"), ("k", k, ""), ("v", v, "")):
            lines = [",".join(f"c{i}" for i in range(array.shape[2]))] if header else []
            lines += [", ".join(repr(float(x)) for x in row) for row in array[0]]
            (self.folder / f"{name}.csv").write_text("\r\n".join(lines) + "\r\n")
        as_csv = self.run_config(
            given({key: name.replace("npy", "csv") for key, name in FILES.items()} |
                  {"weights": True}), "csv")
        inline = self.run_config(given({"queries": q[0].tolist(), "keys": k[0].tolist(),
                                        "values": v[0].tolist()}), "inline")
        for name in ("weights.csv", "outputs.csv", "summary.csv"):
            for other in (flat, as_csv, inline):
                self.assertEqual((one / name).read_bytes(), (other / name).read_bytes(), name)

    def test_versions_1_2_and_3_of_the_format_hold_the_same_numbers(self):
        q, k, v = layer(seed=6)
        written = []
        for version in ((1, 0), (2, 0), (3, 0)):
            for name, array in zip("qkv", (q, k, v)):
                with open(self.folder / f"{name}.npy", "wb") as file:
                    np.lib.format.write_array(file, array, version=version)
            run = self.run_config(given({**FILES, "weights": True}), f"version-{version[0]}")
            written.append((run / "weights.csv").read_bytes())
        self.assertEqual(written, written[:1] * 3)

    def test_scores_of_a_file_give_the_weights_of_their_queries_and_keys(self):
        q, k, v = layer(seed=7)
        self.save(q, k, v)
        np.save(self.folder / "s.npy", q @ np.swapaxes(k, -2, -1))
        options = {"causal": True, "weights": True}
        run = self.run_config(given({"scores": "s.npy", "d": D, **options}), "scores")
        weights, _ = nanogpt(q, k, v, True)
        found = self.table(run / "weights.csv", weights.shape, ("head", "query", "key"), "weight")
        np.testing.assert_allclose(np.nan_to_num(found), weights, rtol=0, atol=ABSOLUTE_ERROR)

    def test_a_constant_added_to_all_logits_changes_no_weight(self):
        # Multiples of 1/8 below 32: adding 64 is exact, so the weights are the same bytes. A sink's
        # logit is one of them; a sigmoid's bias takes back what its logits got.
        scores = np.random.default_rng(8).integers(-256, 256, size=(20, 30)) / 8
        weights = []
        for name, constant in (("as-is", 0), ("plus", 64), ("minus", -64)):
            np.save(self.folder / "s.npy", scores + constant)
            config = given({"scores": "s.npy", "d": 1, "weights": True})
            config["experiments"][0]["scalings"] = [
                "none", {"name": "beside_sink", "logit": "q.k",
                         "normaliser": {"sink": 28 + constant}},
                {"name": "biased", "logit": "q.k", "normaliser": {"sigmoid": 3 - constant}}]
            header, lines = read_csv(self.run_config(config, name) / "weights.csv")
            weights.append([line[header.index("weight"):] for line in lines])
        self.assertEqual(len(weights[0]), 3 * scores.size)
        self.assertEqual(weights, weights[:1] * 3)

    def test_metrics_are_of_the_queries_of_all_heads(self):
        q, k, v = layer(seed=9)
        self.save(q, k, v)
        metrics = ["logit_sd", "logit_kurtosis", "top_weight", "entropy"]
        run = self.run_config(given({**FILES, "causal": True}, metrics=metrics), "metrics")
        weights, _ = nanogpt(q, k, v, True)
        logits = (q @ np.swapaxes(k, -2, -1) / math.sqrt(D))[:, np.tri(QUERIES) == 1].ravel()
        spread = logits - logits.mean()
        entropy = -np.sum(weights * np.log(np.where(weights > 0, weights, 1)), axis=-1)
        expected = [logits.std(ddof=1), (spread ** 4).mean() / (spread ** 2).mean() ** 2,
                    weights.max(axis=-1).mean(), entropy.mean()]
        header, lines = read_csv(run / "summary.csv")
        found = [float(line[header.index("estimate")]) for line in lines]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        self.assertEqual({line[header.index("queries")] for line in lines}, {str(HEADS * QUERIES)})
        self.assertFalse((run / "weights.csv").exists())

    def test_scalings_see_the_norms_and_the_number_of_visible_keys(self):
        q, k, _ = layer(seed=19)
        self.save(q, k)
        config = given({"queries": "q.npy", "keys": "k.npy", "causal": True, "weights": True})
        config["experiments"][0]["scalings"] = [
            {"name": "rms", "logit": "rms(q).rms(k) / sqrt(d)"},
            {"name": "cosine", "logit": "10 cos(q, k)"},
            {"name": "visible", "logit": "ln(keys) q.k / sqrt(d)"}]
        scores = q @ np.swapaxes(k, -2, -1)
        length = [np.linalg.norm(array, axis=-1) for array in (q, k)]
        cosines = scores / length[0][:, :, None] / length[1][:, None, :]
        sees = np.arange(1, QUERIES + 1)[:, None]
        expected = {"rms": cosines * math.sqrt(D), "cosine": 10 * cosines,
                    "visible": scores / math.sqrt(D) * np.log(sees)}
        run = self.run_config(config, "norms")
        with open(run / "weights.csv", newline="", encoding="ascii") as file:
            for line in csv.DictReader(file):
                place = tuple(int(line[column]) for column in ("head", "query", "key"))
                self.assertAlmostEqual(float(line["logit"]), expected[line["scaling"]][place],
                                       delta=ABSOLUTE_ERROR)

    def test_config_json_of_a_run_gives_the_same_bytes_from_anywhere(self):
        self.save(*layer(seed=10))
        config = given({**FILES, "weights": True, "baseline": True}, metrics="all")
        first = self.run_config(config, "first")
        elsewhere = self.folder / "deep" / "down"
        elsewhere.mkdir(parents=True)
        self.succeed("run", first / "config.json", "--out", "again", "--quiet", cwd=elsewhere)
        self.assert_same_files(first, elsewhere / "again")
        self.succeed("verify", first)
        self.succeed("show", first)
        self.assertIn("nothing to do", self.succeed("run", first / "config.json", "--out",
                                                    "first").stderr)

    def test_a_run_is_the_same_wherever_its_files_are(self):
        self.save(*layer(seed=11))
        config = self.write_config(given(FILES, metrics=["top_weight"]))
        self.succeed("run", config, "--out", "run", "--quiet")
        moved = self.folder / "moved"
        moved.mkdir()
        for name in (config, *FILES.values()):
            shutil.move(self.folder / name, moved / name)
        again = self.succeed("run", moved / config, "--out", "run")
        self.assertIn("nothing to do", again.stderr)

    def test_files_that_changed_are_another_run(self):
        self.save(*layer(seed=12))
        config = self.write_config(given(FILES, metrics=["top_weight"]))
        self.succeed("run", config, "--out", "run", "--quiet")
        self.save(*layer(seed=13))
        self.refuse("run", config, "--out", "run",
                    says=["another run", "/experiments/0/given/", "sha256"])
        self.refuse("run", "run/config.json", "--out", "second",
                    says=["q.npy has the SHA-256", "not the file that this config was written for"])
        self.assertFalse((self.folder / "second").exists())
        answer = self.attnscale("verify", "run")
        self.assertEqual(answer.returncode, 5)
        self.assertIn("SHA-256", answer.stdout)

    def test_a_hash_is_the_same_in_capitals(self):
        self.save(*layer(seed=12))
        right = hashlib.sha256((self.folder / "q.npy").read_bytes()).hexdigest()
        for text, says in ((right.upper(), None), (right[:-1], "64 hexadecimal digits"),
                           ("g" + right[1:], "64 hexadecimal digits"), ("", "64 hexadecimal")):
            config = given({**FILES, "queries": {"file": "q.npy", "sha256": text}})
            if says is None:
                written = json.loads((self.run_config(config, "run") / "config.json").read_text())
                queries = written["experiments"][0]["given"]["queries"]
                self.assertEqual(queries["sha256"], right)
            else:
                self.refuse("plan", self.write_config(config), says=["/queries/sha256: ", says])

    def test_an_unfinished_run_goes_on_only_with_the_files_it_began_with(self):
        self.save(*layer(seed=17))
        config = given(FILES, metrics=["top_weight"])
        # Long enough to be interrupted.
        config["experiments"].insert(0, {"name": "drawn", "d": 64, "keys": 64, "queries": 10**9})
        name = self.write_config(config)
        cut_off = ["run", name, "--out", "run", "--time-limit", 0.5 * SLOWDOWN, "--quiet"]
        shutil.copy(self.folder / "q.npy", self.folder / "as-it-was.npy")
        answer = self.attnscale(*cut_off)
        self.assertEqual(answer.returncode, 4, answer.stderr)
        np.save(self.folder / "q.npy", layer(seed=18)[0])
        self.refuse("run", name, "--out", "run", says=["another run", "sha256"])
        shutil.copy(self.folder / "as-it-was.npy", self.folder / "q.npy")
        answer = self.attnscale(*cut_off)
        self.assertEqual(answer.returncode, 4, answer.stderr)
        self.assertIn("going on after", answer.stderr)

    def long_run(self):
        """Arguments of a run of two files that takes seconds and writes no checkpoint."""
        rows = np.ones((20000, 64), dtype="<f4")
        self.save(rows, rows, rows)
        members = {"queries": "q.npy", "keys": "k.npy"}
        return ["run", self.write_config(given(members, metrics=["top_weight"])), "--out", "run",
                "--quiet"]

    def test_a_run_of_files_alone_is_interrupted_as_any_other(self):
        answer = self.attnscale(*self.long_run(), "--time-limit", "0.5")
        self.assertEqual(answer.returncode, 4, answer.stderr)
        self.assertIn("the same command begins again", answer.stderr)
        manifest = json.loads((self.folder / "run" / "manifest.json").read_text())
        self.assertEqual(manifest["status"], "interrupted")

    def test_a_file_that_is_cut_off_while_it_is_measured_is_told(self):
        command = [BINARY, *self.long_run()]
        with subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True) as run:
            while not (self.folder / "run" / "events.jsonl").exists():
                self.assertIsNone(run.poll())
                time.sleep(0.01)
            os.truncate(self.folder / "k.npy", 1000)
            message = run.communicate(timeout=60)[1]
        self.assertEqual(run.returncode, 1, message)
        self.assertIn("was cut off", message)
        self.assertFalse((self.folder / "run" / "summary.csv").exists())

    def test_paths_are_relative_to_the_config_and_of_the_command_line_to_where_it_is_typed(self):
        inside = self.folder / "inside"
        inside.mkdir()
        for name, array in zip("qkv", layer(seed=14)):
            np.save(inside / f"{name}.npy", array)
        config = given(FILES, metrics=["top_weight"])
        (inside / "config.json").write_text(json.dumps(config))
        self.succeed("run", "inside/config.json", "--out", "a", "--quiet")
        self.succeed("run", "inside/config.json", "--out", "b", "--quiet",
                     "--set", "/experiments/0/given/queries=inside/q.npy")
        self.assert_same_files(self.folder / "a", self.folder / "b")

    def test_the_baseline_is_that_of_normal_entries(self):
        # Entries twice as wide on both sides: logits 4 times as wide as random ones.
        q, k, v = layer(seed=15, queries=60, keys=60)
        self.save(2 * q / q.std(), 2 * k / k.std(), v)
        config = given({**FILES, "causal": True, "baseline": True},
                       metrics=["logit_mean", "logit_sd", "logit_kurtosis", "top_weight"])
        run = self.run_config(config, "baseline")
        with open(run / "baselines.csv", newline="", encoding="ascii") as file:
            lines = {line["metric"]: line for line in csv.DictReader(file)}
        # Of d normal products, divided by sqrt(d): mean 0, spread 1, kurtosis 3 + 6 / d. The seed
        # is fixed; 5 standard errors of a right program are exceeded once in 2 million seeds.
        for metric, exact in (("logit_mean", 0), ("logit_sd", 1), ("logit_kurtosis", 3 + 6 / D)):
            line = lines[metric]
            error = float(line["baseline_std_error"])
            self.assertLess(abs(float(line["baseline"]) - exact), 5 * error, metric)
            self.assertLess(error, 0.05, metric)
        # The spread of 3 heads of 1830 visible pairs: within a few per cent of 4.
        self.assertAlmostEqual(float(lines["logit_sd"]["ratio"]), 4, delta=0.4)
        self.assertEqual(lines["logit_mean"]["ratio"], "")
        header, rows = read_csv(run / "summary.csv")
        summary = {row[header.index("metric")]: row[header.index("estimate")] for row in rows}
        self.assertEqual({metric: line["estimate"] for metric, line in lines.items()}, summary)

    def test_the_script_makes_the_example_that_is_committed(self):
        script = ROOT / "scripts" / "make_example_matrices.py"
        subprocess.run([sys.executable, script, self.folder / "made"], check=True,
                       capture_output=True)
        example = ROOT / "configs" / "example_matrices"
        names = sorted(path.name for path in example.iterdir())
        self.assertEqual(names, ["keys.npy", "port_weights.npy", "queries.npy", "values.npy"])
        for name in names:
            made, committed = np.load(self.folder / "made" / name), np.load(example / name)
            self.assertEqual((made.shape, made.dtype), (committed.shape, committed.dtype))
            # Other linear algebra libraries round otherwise.
            np.testing.assert_allclose(made, committed, rtol=1e-3, atol=1e-4)
        run = self.run_config(ROOT / "configs" / "real_matrices.json", "example")
        q, k, v = (np.load(example / f"{name}.npy").astype(np.float64)
                   for name in ("queries", "keys", "values"))
        self.assert_attention(run, *nanogpt(q, k, v, True))
        told = self.succeed("audit", "--causal", *(
            word for name, file in (("queries", "queries"), ("keys", "keys"),
                                    ("weights", "port_weights"))
            for word in (f"--{name}", example / f"{file}.npy"))).stdout
        self.assertTrue(told.startswith("Scaled twice (q.k / sqrt(d) / sqrt(d))"), told)

    def test_values_that_nothing_is_written_of_are_told(self):
        self.save(*layer(seed=16))
        answer = self.succeed("run", self.write_config(given(FILES)), "--out", "a")
        self.assertIn("nothing is written about these numbers", answer.stderr)
        config = self.write_config(given(FILES, metrics=["top_weight"]))
        answer = self.succeed("run", config, "--out", "b")
        self.assertIn("outputs are only written with \"weights\": true", answer.stderr)

    def test_weights_beyond_the_cap_are_refused_with_their_size(self):
        rows = np.zeros((3000, 1), dtype="<f2")
        self.save(rows, rows, rows)
        config = self.write_config(given({**FILES, "weights": True}))
        self.refuse("run", config, "--out", "big",
                    says=["/experiments/0/given/weights", "weights.csv would have 9000000 lines",
                          "about 1440000000 bytes; at most"])
        self.assertFalse((self.folder / "big").exists())


if __name__ == "__main__":
    unittest.main()
