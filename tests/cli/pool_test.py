"""attnscale pool: runs that differ in their seed alone, joined into the tables of one."""

import json
import math
import os
import subprocess
import unittest

from attnscale_cli import (BINARY, FEW_OVERFLOW, ROOT, CommandLineTest, promised_bytes,
                           read_csv)

KEY = ("experiment", "entries_series", "d", "keys", "series", "metric")
CONFIG = {
    "name": "small",
    "experiments": [
        {"name": "drawn", "d": [4, 64], "keys": 8, "queries": 500, "histogram": ["top_weight"],
         "samples": 3, "metrics": ["logit_sd", "top_weight", "saturated", "entropy"]},
        {"name": "given", "metrics": ["top_weight"], "given": {"scores": [[1, 2, 3]], "d": 4}}],
}


def one(name, **experiment):
    """A config of one experiment."""
    return {"name": name, "experiments": [{"queries": 20, **experiment}]}


def lines_of(path):
    header, lines = read_csv(path)
    return [dict(zip(header, line, strict=True)) for line in lines]


def name_of(line):
    return tuple(line[column] for column in KEY if column in line)


class PoolTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.runs = [self.run_config(CONFIG, f"seed{seed}", "--seed", str(seed))
                     for seed in (3, 1, 2)]

    def pool(self, *options):
        return self.succeed("pool", "pooled", *self.runs, *options)

    def by_line(self, name):
        """(pooled line, the same line of each run) of a file."""
        runs = [{name_of(line): line for line in lines_of(run / name)} for run in self.runs]
        return [(line, [run[name_of(line)] for run in runs])
                for line in lines_of(self.folder / "pooled" / name)]

    def test_an_error_beyond_all_numbers_is_none(self):
        huge = {"queries": [[3, 4], [0, 1e200]], "keys": [[1, 0], [0, 1]], "baseline": "matched"}
        config = {"name": "huge", "experiments": [{"metrics": ["logit_sd"], "given": huge}]}
        self.runs = [self.run_config(config, f"huge{seed}", "--seed", str(seed))
                     for seed in (0, 1)]
        self.pool()
        for line in lines_of(self.folder / "pooled" / "baselines.csv"):
            self.assertNotEqual(line["matched"], "")
            self.assertEqual(line["matched_std_error"], "")

    def test_queries_that_overflowed_are_left_out_of_the_pool_too(self):
        config = {"name": "few", "experiments": [FEW_OVERFLOW | {"name": "few"}]}
        config["experiments"][0].pop("sampler")
        self.runs = [self.run_config(config, f"few{seed}", "--seed", str(seed))
                     for seed in (0, 1)]
        self.pool("--quiet")
        seen = set()
        for line, runs in self.by_line("summary.csv"):
            for column in ("queries", "left_out"):
                self.assertEqual(int(line[column]), sum(int(run[column]) for run in runs))
            some = any(run["status"] == "some_nonfinite" for run in runs)
            self.assertEqual(line["status"] == "some_nonfinite", some, line)
            if some:
                self.assertEqual(line["z"], "")
                self.assertNotEqual(line["estimate"], "")
            seen.add(some)
        self.assertEqual(seen, {False, True})
        for line, runs in self.by_line("contrasts.csv"):
            self.assertEqual(int(line["left_out"]), sum(int(run["left_out"]) for run in runs))
        self.succeed("verify", "pooled")

    def test_estimates_are_means_by_queries_and_errors_those_of_the_runs(self):
        self.pool("--quiet")
        for name in ("summary.csv", "contrasts.csv"):
            pairs = self.by_line(name)
            self.assertGreater(len(pairs), 10)
            for line, runs in pairs:
                if line["experiment"] == "given":
                    self.assertEqual(line, {**runs[1]})  # of the lowest seed
                    continue
                queries = [int(run["queries"]) for run in runs]
                self.assertEqual(int(line["queries"]), sum(queries))
                mean = sum(n * float(run["estimate"])
                           for n, run in zip(queries, runs, strict=True)) / sum(queries)
                self.assertAlmostEqual(float(line["estimate"]), mean, delta=1e-12 * abs(mean))
                squares = sum((n * float(run["std_error"] or 0))**2
                              for n, run in zip(queries, runs, strict=True))
                if squares == 0:
                    self.assertEqual(line["std_error"], "")
                    continue
                error = math.sqrt(squares) / sum(queries)
                self.assertAlmostEqual(float(line["std_error"]), error, delta=1e-12 * error)
                if name == "summary.csv" and line["metric"] in ("top_weight", "entropy"):
                    # Student's quantile t with n = 1499 degrees of freedom, from the normal one z:
                    # z + (z^3 + z) / 4n + (5 z^5 + 16 z^3 + 3 z) / 96 n^2
                    self.assertAlmostEqual(float(line["ci_high"]), mean + 1.9615479 * error,
                                           delta=1e-6 * error)
                if line.get("reference"):
                    z = (mean - float(line["reference"])) / error
                    self.assertAlmostEqual(float(line["z"]), z, places=6)

    def test_the_sd_is_that_of_all_queries_and_quantiles_are_left_out(self):
        self.pool("--quiet")
        for line, runs in self.by_line("summary.csv"):
            if line["experiment"] == "given":
                continue
            self.assertEqual([line[name] for name in ("q05", "median", "q95")], [""] * 3)
            if not runs[0]["sd"]:
                self.assertEqual((line["sd"], line["min"], line["max"]), ("", "", ""))
                continue
            # from the mean of squares: sum x^2 = (n - 1) sd^2 + n mean^2
            numbers = [(int(run["queries"]), float(run["estimate"]), float(run["sd"]))
                       for run in runs]
            total = sum(n for n, _, _ in numbers)
            squares = sum((n - 1) * sd**2 + n * mean**2 for n, mean, sd in numbers)
            variance = (squares - total * float(line["estimate"])**2) / (total - 1)
            self.assertAlmostEqual(float(line["sd"]), math.sqrt(variance), places=9)
            self.assertEqual(float(line["min"]), min(float(run["min"]) for run in runs))
            self.assertEqual(float(line["max"]), max(float(run["max"]) for run in runs))

    def test_histograms_add_up(self):
        self.pool("--quiet")
        counts = [{}, {}]
        for place, folders in enumerate(([self.folder / "pooled"], self.runs)):
            for folder in folders:
                for line in lines_of(folder / "histogram.csv"):
                    key = (*name_of(line), line["bin_low"], line["bin_high"])
                    counts[place][key] = counts[place].get(key, 0) + int(line["count"])
        self.assertEqual(counts[0], counts[1])
        for line in lines_of(self.folder / "pooled" / "histogram.csv"):
            if line["density"]:
                width = float(line["bin_high"]) - float(line["bin_low"])
                self.assertAlmostEqual(float(line["density"]), int(line["count"]) / 1500 / width)
        self.assertEqual(lines_of(self.folder / "pooled" / "samples.csv"), [])

    def test_coverage_counts_the_intervals_that_hold_the_exact_value(self):
        self.pool("--quiet")
        wanted = {}
        for run in self.runs:
            for line in lines_of(run / "summary.csv"):
                if line["reference"] and line["experiment"] == "drawn":
                    count = wanted.setdefault(name_of(line), [0, 0])
                    count[0] += line["ci_low"] != ""
                    count[1] += line["ci_low"] != "" and (
                        float(line["ci_low"]) <= float(line["reference"])
                        <= float(line["ci_high"]))
        found = {name_of(line): [int(line["intervals"]), int(line["holding"])]
                 for line in lines_of(self.folder / "pooled" / "coverage.csv")}
        self.assertEqual(found, wanted)
        for line in lines_of(self.folder / "pooled" / "coverage.csv"):
            self.assertEqual(line["runs"], "3")
            if line["share"]:
                self.assertAlmostEqual(float(line["share"]),
                                       int(line["holding"]) / int(line["intervals"]))

    def test_the_order_of_the_folders_changes_no_byte(self):
        self.pool("--quiet")
        self.succeed("pool", "again", *reversed(self.runs), "--quiet")
        self.assert_same_files(self.folder / "pooled", self.folder / "again")
        package = json.loads((self.folder / "pooled" / "datapackage.json").read_text())
        self.assertIn("coverage.csv", [each["path"] for each in package["resources"]])
        self.assertIn("coverage.csv", promised_bytes(self.folder / "pooled"))

    def test_screens_show_it_and_verify_accepts_it(self):
        answer = self.pool()
        self.assertIn("1,500 queries", answer.stdout)
        self.assertRegex(answer.stdout, r"(?m)^  drawn +top_weight +6 +18 +1[678] +[01]\.\d{3}$")
        shown = self.succeed("show", "pooled").stdout
        self.assertTrue(answer.stdout.startswith(shown))
        self.assertTrue(self.succeed("verify", "pooled").stdout.endswith("no mismatch\n"))
        listed = self.succeed("list", "runs", ".", "--format", "csv").stdout
        self.assertIn("finished, pool of 3 runs", listed)
        self.assertIn("nothing to do", self.pool().stderr)
        path = self.folder / "pooled" / "summary.csv"
        path.write_text(path.read_text().replace(",1500,", ",1501,"))
        self.refuse_mismatch("verify", "pooled")

    def refuse_mismatch(self, *arguments):
        answer = self.attnscale(*arguments)
        self.assertEqual(answer.returncode, 5, answer.stderr)
        self.assertIn("queries", answer.stdout)

    def test_runs_that_stop_at_a_precision_are_weighted_by_their_queries(self):
        config = one("stops", d=16, keys=4, queries=40_000, metrics=["top_weight"],
                     stop={"metric": "top_weight", "relative_error": 0.02})
        self.runs = [self.run_config(config, f"stop{seed}", "--seed", str(seed))
                     for seed in range(1, 5)]
        self.pool("--quiet")
        counts = set()
        for line, runs in self.by_line("summary.csv"):
            counts.update(run["queries"] for run in runs)
            total = sum(int(run["queries"]) for run in runs)
            mean = sum(int(run["queries"]) * float(run["estimate"]) for run in runs) / total
            self.assertAlmostEqual(float(line["estimate"]), mean, places=12)
        self.assertGreaterEqual(len(counts), 1)
        self.succeed("verify", "pooled")


class RefusalTest(CommandLineTest):
    """One sentence, exit code 2, and nothing is created."""

    def setUp(self):
        super().setUp()
        config = one("small", d=4)
        self.run_config(config, "a", "--seed", "1")
        self.run_config(config, "b", "--seed", "2")
        self.run_config(config, "twin", "--seed", "1")
        self.run_config(one("small", d=8), "wide", "--seed", "3")

    def refuse_pool(self, *folders, says):
        message = self.refuse("pool", *folders, says=says)
        self.assertEqual(len(message.splitlines()), 1, message)
        self.assertFalse((self.folder / "out").exists())

    def test_equal_seeds_are_named(self):
        self.refuse_pool("out", "a", "b", "twin", says=["a and twin have the same seed, 1"])

    def test_what_differs_beside_the_seed_is_named(self):
        self.refuse_pool("out", "a", "wide", says=["a and wide differ in more than their seed: ",
                                                   "/d is [4] in the first and [8] in the second"])

    def test_what_is_no_run_is_named(self):
        self.refuse_pool("out", "a", "absent", says=["absent: no such folder"])
        (self.folder / "empty").mkdir()
        self.refuse_pool("out", "a", "empty", says=["empty: holds no finished run"])
        self.refuse_pool("out", "a", says=["two runs or more"])
        self.refuse_pool("a", "a", "b", says=["a is one of the runs"])
        self.succeed("run", "a.config.json", "--shard", "1/2", "--out", "part")
        self.refuse_pool("out", "a", "part", says=["holds shard 1 of 2"])

    def test_a_pool_is_no_run(self):
        self.succeed("pool", "both", "a", "b", "--quiet")
        self.refuse_pool("out", "both", "twin", says=["both: holds pool of 2 runs: seeds 1 2"])
        self.run_config(one("small", d=4), "c", "--seed", "3")
        self.refuse("pool", "both", "a", "c", says=["seeds 1 2, this is pool of 2 runs: seeds 1 3",
                                                    "Name another folder, or replace it with"])
        self.succeed("pool", "both", "a", "c", "--force", "--quiet")

    def test_an_edited_file_is_refused(self):
        path = self.folder / "b" / "summary.csv"
        path.write_text(path.read_text().replace(",20,", ",21,"))
        self.refuse_pool("out", "a", "b", says=["summary.csv is not as it was written"])

    def test_merge_sends_runs_of_other_seeds_to_pool(self):
        message = self.refuse("merge", "out", "a", "b")
        self.assertEqual(message, "attnscale merge: these are runs of other seeds: attnscale pool "
                                  "joins them\n")
        self.assertFalse((self.folder / "out").exists())


class ClassroomTest(CommandLineTest):
    """scripts/classroom.sh, with fewer students."""

    def classroom(self, *arguments):
        return subprocess.run([ROOT / "scripts" / "classroom.sh", *map(str, arguments)], text=True,
                              capture_output=True, cwd=self.folder, timeout=300,
                              env={**os.environ, "ATTNSCALE": BINARY})

    def test_a_class_is_measured_checked_pooled_and_drawn(self):
        config = self.write_config(one("lesson", d=[4, 64], queries=200, metrics=["top_weight"]))
        answer = self.classroom("--seeds", 4, "--out", "class", config)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("4 of 4 folders pass attnscale verify", answer.stdout)
        self.assertIn("800 queries", answer.stdout)
        self.assertRegex(answer.stdout,
                         r"(?m)^  experiment_1  top_weight +6 +24 +2\d +[01]\.\d{3}$")
        self.assertEqual((self.folder / "class/checked.txt").read_text().count("no mismatch"), 4)
        pictures = {path.name for path in (self.folder / "class/figures").iterdir()}
        self.assertLessEqual({"seeds_top_weight.png", "seeds_top_weight.svg"}, pictures)

    def test_a_hand_in_that_was_edited_is_left_out_and_named(self):
        for name, seed in (("ada", 5), ("bob", 6), ("cyd", 7)):
            self.run_config(one("lesson", d=4, metrics=["top_weight"]), name, "--seed", str(seed))
        path = self.folder / "bob" / "summary.csv"
        path.write_text(path.read_text().replace(",0.5", ",0.6", 1))
        answer = self.classroom("--out", "class", "--handed-in", "ada", "bob", "cyd")
        self.assertEqual(answer.returncode, 5, answer.stderr)
        self.assertIn("does not pass: bob\n", answer.stderr)
        self.assertIn("pool of 2 runs: seeds 5 7",
                      (self.folder / "class/pooled/manifest.json").read_text())

    def test_wrong_commands_are_refused(self):
        for arguments, says in ((["--seeds", "one"], '--seeds needs a number'),
                                (["--seeds"], "--seeds needs a value"),
                                (["--handed-in", "ada"], "two runs or more"),
                                (["--handed-in", "ada", "bob", "--out", "class"],
                                 "--out is no folder; it stands before --handed-in")):
            answer = self.classroom(*arguments)
            self.assertEqual((answer.returncode, answer.stdout), (2, ""))
            self.assertIn(says, answer.stderr)


if __name__ == "__main__":
    unittest.main()
