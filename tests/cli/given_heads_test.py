"""heads.csv and queries.csv: what NumPy says of each head and each query of given numbers."""

import csv
import json
import unittest

import numpy as np

from attnscale_cli import CommandLineTest

HEADS, QUERIES, KEYS, D = 12, 21, 23, 16
LOUD, SHARP = 7, 3  # one head's scores are 12 times as wide as others, another's 4 times
VISIBLE = np.arange(QUERIES)[:, None] + KEYS - QUERIES >= np.arange(KEYS)
SCALINGS = {"none": 1, "div_sqrt_d": D**-0.5, "div_d": 1 / D}
COLUMNS = ["logit_sd", "max_logit", "top_weight", "entropy", "effective_keys", "saturated"]
THRESHOLD = 0.9
# The place of a line, and what the file says of it besides its numbers.
KEY = ["run", "seed", "experiment", "d", "keys", "scaling", "scaling_value", "series", "head"]


def softmax(logits):
    """Weights, 0 where a logit is -inf."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def numbers_of_queries(logits):
    """The six columns of each query, last axis; logits of hidden keys are -inf."""
    weights = softmax(logits)
    seen = np.isfinite(logits)
    count = seen.sum(axis=-1)
    mean = np.where(seen, logits, 0).sum(axis=-1) / count
    squares = np.where(seen, (np.where(seen, logits, 0) - mean[..., None])**2, 0).sum(axis=-1)
    logs = np.log(np.where(weights > 0, weights, 1))
    return np.stack([np.sqrt(squares / np.maximum(count - 1, 1)),
                     abs(np.where(seen, logits, 0)).max(axis=-1), weights.max(axis=-1),
                     -(weights * logs).sum(axis=-1), 1 / (weights**2).sum(axis=-1),
                     weights.max(axis=-1) > THRESHOLD], axis=-1)


def numbers_of_heads(logits):
    """The same of each head: of all its logits, the largest, and means over queries."""
    numbers = numbers_of_queries(logits)
    heads = numbers.mean(axis=1)
    heads[:, 0] = [head[np.isfinite(head)].std(ddof=1) for head in logits]
    heads[:, 1] = numbers[..., 1].max(axis=1)
    return heads


class GivenHeadsTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        random = np.random.default_rng(5)
        self.q = random.normal(size=(HEADS, QUERIES, D))
        self.k = random.normal(size=(HEADS, KEYS, D))
        self.q[LOUD] *= 12
        self.q[SHARP] *= 4
        np.save(self.folder / "q.npy", self.q)
        np.save(self.folder / "k.npy", self.k)
        self.scores = np.where(VISIBLE, self.q @ np.swapaxes(self.k, 1, 2), -np.inf)

    def config(self, **more):
        return {"name": "parts", "experiments": [
            {"name": "layer", "given": {"queries": "q.npy", "keys": "k.npy", "causal": True},
             "by": ["head", "query"], "saturated_above": THRESHOLD, "metrics": ["entropy"],
             **more}]}

    def lines_of(self, path):
        with open(path, newline="", encoding="ascii") as file:
            return list(csv.DictReader(file))

    def assert_numbers(self, lines, expected):
        found = np.array([[float(line[column]) for column in COLUMNS] for line in lines])
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)

    def test_a_list_of_runs_counts_given_queries(self):
        self.run_config(self.config(given={"scores": [[3], [1, 2]]}, scalings="none"), "run")
        [line] = json.loads(self.succeed("list", "runs", ".", "--format", "json").stdout)
        self.assertEqual(line["queries"], 2)

    def test_heads_are_those_of_numpy(self):
        for causal in (True, False):
            given = {"queries": "q.npy", "keys": "k.npy", "causal": causal}
            run = self.run_config(self.config(given=given), f"run{causal}")
            lines = self.lines_of(run / "heads.csv")
            self.assertEqual(list(lines[0]), KEY + ["queries", "left_out", *COLUMNS, "status"])
            self.assertEqual([(line["head"], line["scaling"]) for line in lines],
                             [(str(head), name) for head in range(HEADS) for name in SCALINGS])
            scores = self.scores if causal else self.q @ np.swapaxes(self.k, 1, 2)
            for name, factor in SCALINGS.items():
                logits = np.where(np.isfinite(scores), scores * factor, -np.inf)
                self.assert_numbers([line for line in lines if line["scaling"] == name],
                                    numbers_of_heads(logits))
            for line in lines:
                self.assertEqual([line["queries"], line["left_out"], line["status"], line["d"],
                                  line["keys"]], [str(QUERIES), "0", "ok", str(D), str(KEYS)])

    def test_queries_are_those_of_numpy(self):
        run = self.run_config(self.config(), "run")
        lines = self.lines_of(run / "queries.csv")
        self.assertEqual(list(lines[0]), KEY + ["query", *COLUMNS, "status"])
        for name, factor in SCALINGS.items():
            of_scaling = [line for line in lines if line["scaling"] == name]
            places = [(int(line["head"]), int(line["query"])) for line in of_scaling]
            self.assertEqual(places, list(np.ndindex(HEADS, QUERIES)))
            self.assertEqual([int(line["keys"]) for line in of_scaling],
                             HEADS * list(VISIBLE.sum(axis=1)))
            self.assert_numbers(of_scaling,
                                numbers_of_queries(self.scores * factor).reshape(-1, len(COLUMNS)))

    def test_a_query_of_one_key_has_no_spread(self):
        run = self.run_config(self.config(given={"scores": [[3], [1, 2]]}, scalings="none"), "run")
        one, two = self.lines_of(run / "queries.csv")
        self.assertEqual([one["logit_sd"], one["status"], one["top_weight"]],
                         ["", "degenerate", "1"])
        self.assertAlmostEqual(float(two["logit_sd"]), 0.5**0.5, delta=1e-15)

    def test_what_overflowed_is_left_out_and_said(self):
        scores = np.array([[1.0, 2.0], [1e5, 2.0], [0.5, 1.0]])
        half = {"name": "half", "logit": "q.k", "precision": "float16"}
        given = {"scores": scores.tolist()}
        run = self.run_config(self.config(given=given, scalings=[half]), "run")
        head, = self.lines_of(run / "heads.csv")
        self.assertEqual([head["queries"], head["left_out"], head["status"]],
                         ["2", "1", "some_nonfinite"])
        top = softmax(scores[[0, 2]]).max(axis=1)
        self.assertAlmostEqual(float(head["top_weight"]), top.mean(), delta=2e-3)  # float16
        statuses = [line["status"] for line in self.lines_of(run / "queries.csv")]
        self.assertEqual(statuses, ["ok", "nonfinite", "ok"])

    def test_the_heads_that_stand_out_come_first(self):
        config = self.config()
        del config["experiments"][0]["metrics"]  # the parts need none
        answer = self.succeed("run", self.write_config(config), "--out", "run")
        self.assertNotIn("warning", answer.stderr)
        tables = answer.stdout.split("layer, ")[1:]
        self.assertEqual([table.split(":")[0] for table in tables], list(SCALINGS))
        for table in tables:
            first = table.splitlines()[2].split()
            second = table.splitlines()[3].split()
            self.assertEqual([first[0], second[0]], [str(LOUD), str(SHARP)], table)
            self.assertIn("4 more heads in heads.csv", table)
        # How far: from the median head, over the median distance.
        logits = self.scores / D**0.5
        heads = numbers_of_heads(logits)
        apart = abs(heads - np.median(heads, axis=0))
        usual = np.median(apart, axis=0)
        usual = np.where(usual > 0, usual, apart.mean(axis=0))
        times = (apart / usual)[LOUD]
        row = next(line for line in tables[1].splitlines() if line.split()[:1] == [str(LOUD)])
        self.assertRegex(row, rf"{COLUMNS[times.argmax()]} {times.max():.0f}x$")
        shown = self.succeed("show", "run").stdout
        self.assertIn(tables[1], shown)

    def test_is_known_to_what_reads_runs(self):
        run = self.run_config(self.config(), "run")
        package = json.loads((run / "datapackage.json").read_text("utf-8"))
        files = {resource["path"]: resource for resource in package["resources"]}
        self.assertLess({"heads.csv", "queries.csv"}, set(files))
        for name in ("heads.csv", "queries.csv"):
            for field in files[name]["schema"]["fields"]:
                self.assertTrue(field["title"] and field["description"], field["name"])
            self.assertIn(f'CREATE TABLE {name[:-4]}', (run / "schema.sql").read_text("utf-8"))
        self.succeed("verify", run)
        text = (run / "heads.csv").read_text("ascii")
        (run / "heads.csv").write_text(text.replace(",ok\n", ",nonfinite\n"))
        answer = self.attnscale("verify", run)
        self.assertEqual(answer.returncode, 5)
        self.assertIn("heads.csv is not as it was written", answer.stdout)

    def test_bytes_are_the_same_for_threads_and_shards_and_again(self):
        config = self.config()
        config["experiments"].append({"name": "drawn", "d": 16, "queries": 3000})
        one = self.run_config(config, "one", "--threads", "1")
        self.assert_same_files(one, self.run_config(config, "two", "--threads", "3"))
        shards = [self.run_config(config, f"shard{i}", "--shard", f"{i}/2") for i in (1, 2)]
        self.succeed("merge", "merged", *shards)
        self.assert_same_files(one, self.folder / "merged")
        self.assert_same_files(one, self.run_config(one / "config.json", "again"))

    def test_refuses_what_cannot_be_meant(self):
        drawn = {"name": "a", "experiments": [{"d": 4, "by": "head"}]}
        for config, says in [
                (drawn, ["/experiments/0/by", 'is for numbers that are "given"', "remove it"]),
                (self.config(by=["heads"]), ["/by/0", 'did you mean "head"?']),
                (self.config(by=["head", "head"]), ["/by/1", "a second time"]),
                (self.config(by=[]), ["/by", '"head" and "query"'])]:
            message = self.refuse("run", self.write_config(config), "--out", "no", says=says)
            self.assertEqual(message.count("\n"), 1, message)
            self.assertFalse((self.folder / "no").exists())


if __name__ == "__main__":
    unittest.main()
