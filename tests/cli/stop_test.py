"""A precision target: where a cell stops, what it says, and that nobody's help changes that."""

import csv
import json
import unittest

from attnscale_cli import RULES, CommandLineTest


def config_with(stop, **experiment):
    settings = {"name": "softmax", "d": 1024, "keys": 8, "queries": 100_000_000,
                "scalings": ["none"], "metrics": ["top_weight"], "stop": stop}
    return {"name": "stop", "sampler": "direct", "experiments": [{**settings, **experiment}]}


# Cells that converge sooner or later, others that do not, and cells without a target.
MIXED = config_with({"metric": "top_weight", "relative_error": 1.5e-3, "scaling": "none"},
                    d=[4, 64, 4096], keys=[4, 8], queries=150_000, scalings=["none", "div_d"],
                    metrics=["logit_sd", "top_weight"], histogram=["top_weight"])
MIXED["experiments"].append({"name": "plain", "d": [4, 64], "queries": 20_000,
                             "metrics": ["logit_sd"]})
MIXED["experiments"].append(RULES)


class Stop(CommandLineTest):
    def run_code(self, config, out, *options):
        name = self.write_config(config, f"{out}.config.json")
        return self.attnscale("run", name, "--out", out, "--quiet", *options).returncode

    def lines(self, out, name="summary.csv"):
        with open(self.folder / out / name, newline="", encoding="ascii") as file:
            return list(csv.DictReader(file))

    def test_a_cell_stops_once_it_is_precise_and_is_right(self):
        config = config_with({"metric": "top_weight", "relative_error": 1e-4})
        self.assertEqual(self.run_code(config, "precise"), 0)
        line, = self.lines("precise")
        self.assertEqual(line["status"], "converged")
        half_width = (float(line["ci_high"]) - float(line["ci_low"])) / 2
        self.assertLessEqual(half_width, 1e-4 * float(line["estimate"]))
        # A power of two of blocks of 1024; at half the queries the interval was 1.4 times as wide.
        blocks, rest = divmod(int(line["queries"]), 1024)
        self.assertEqual((rest, blocks & (blocks - 1)), (0, 0))
        self.assertGreater(1.5 * half_width, 1e-4 * float(line["estimate"]))
        self.assertLess(abs(float(line["z"])), 4)

    def test_the_cap_does_not_matter_to_a_cell_that_converged(self):
        stop = {"metric": "top_weight", "relative_error": 0.01}
        self.assertEqual(self.run_code(config_with(stop, queries=60_000), "low"), 0)
        self.assertEqual(self.run_code(config_with(stop, queries=70_001), "high"), 0)
        self.assertEqual(self.lines("low"), self.lines("high"))

    def test_threads_shards_and_resuming_write_the_same_bytes(self):
        self.assertEqual(self.run_code(MIXED, "one", "--threads", 1), 3)
        statuses = {line["status"] for line in self.lines("one")}
        self.assertEqual(statuses, {"ok", "converged", "max_queries", "degenerate"})
        whole = self.folder / "one"
        for threads in (2, 3):
            self.run_code(MIXED, f"threads{threads}", "--threads", threads)
            self.assert_same_files(whole, self.folder / f"threads{threads}")
        for shards in (1, 3):
            folders = [f"shard{i}of{shards}" for i in range(1, shards + 1)]
            for i, folder in enumerate(folders, 1):
                self.assertEqual(self.run_code(MIXED, folder, "--shard", f"{i}/{shards}"), 0)
            merged = self.attnscale("merge", f"merged{shards}", *reversed(folders), "--quiet")
            self.assertEqual(merged.returncode, 3, merged.stderr)
            self.assert_same_files(whole, self.folder / f"merged{shards}")
        interruptions, seconds = 0, 0.02
        while self.run_code(MIXED, "resumed", "--time-limit", seconds) == 4:
            interruptions, seconds = interruptions + 1, 2 * seconds
        self.assertGreater(interruptions, 0)
        self.assert_same_files(whole, self.folder / "resumed")

    def test_counts_hold_no_query_beyond_the_stop(self):
        self.run_code(MIXED, "counts")

        def place(line):
            return line["entries"], line["d"], line["keys"], line["scaling"]
        queries = {place(line): int(line["queries"])
                   for line in self.lines("counts") if line["metric"] == "top_weight"}
        counted = dict.fromkeys(queries, 0)
        for line in self.lines("counts", "histogram.csv"):
            counted[place(line)] += int(line["count"])
        self.assertEqual(counted, queries)

    def test_a_target_that_is_not_reached_is_told_and_ends_with_3(self):
        config = config_with({"metric": "top_weight", "relative_error": 1e-4}, queries=5000)
        name = self.write_config(config)
        first = self.attnscale("run", name, "--out", "missed", "--quiet")
        self.assertEqual(first.returncode, 3)
        self.assertIn("top_weight of softmax at d=1024 keys=8 under none", first.stderr)
        line, = self.lines("missed")
        self.assertEqual((line["status"], line["queries"]), ("max_queries", "5000"))
        manifest = json.loads((self.folder / "missed" / "manifest.json").read_text())
        self.assertEqual((manifest["status"], manifest["exit_code"]), ("finished", 3))
        again = self.attnscale("run", name, "--out", "missed", "--quiet")
        self.assertEqual(again.returncode, 3)
        self.assertIn("nothing to do", again.stderr)

    def test_what_does_not_vary_never_converges(self):
        config = config_with({"metric": "top_weight", "absolute_error": 0.5}, keys=1, queries=5000)
        self.assertEqual(self.run_code(config, "constant"), 3)
        line, = self.lines("constant")
        self.assertEqual((line["status"], line["queries"]), ("degenerate", "5000"))

    def test_mistakes_are_told_with_what_to_write_instead(self):
        for stop, part in [
                ({"metric": "top_weight"}, "exactly one of them"),
                ({"metric": "slope", "relative_error": 0.1}, "not one of the metrics"),
                ({"metric": "top_weight", "relative_error": 0.1, "scaling": "nome"},
                 'did you mean "none"'),
                ({"metric": "top_weight", "relative_error": 0.1, "min_queries": 1e9},
                 "at most the number of queries"),
                ({"metric": "top_weight", "relative_err": 0.1}, '"relative_error"')]:
            with self.subTest(stop=stop):
                self.refuse("run", self.write_config(config_with(stop)), says=["/stop", part])


if __name__ == "__main__":
    unittest.main()
