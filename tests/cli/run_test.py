"""The folder of a run: which files it holds, what stands in them, and what a second run does."""

import hashlib
import json
import re
import unittest

from attnscale_cli import (KEY_COLUMNS, SUMMARY_COLUMNS, TRY_THIS, CommandLineTest, promised_bytes,
                           read_csv)

EVERYTHING = {
    "name": "everything",
    "experiments": [
        {"name": "drawn", "d": [4, 9], "keys": [1, 4], "queries": 50, "metrics": "all",
         "samples": 7, "histogram": ["slope", "logit"],
         "entries": ["normal", {"law": "normal", "name": "wide", "sd": [0.5]}]},
        {"name": "given", "metrics": "all",
         "given": {"queries": [[1, 2, 0, 1]], "keys": [[1, 1, 0, 1], [0, 1, 1, 0]],
                   "values": [[1, 0], [0, 1]]}},
    ],
}
NO_STATISTIC_PER_QUERY = ["logit_mean", "logit_sd", "logit_kurtosis"]
SMALL = ["--set", "queries=200"]


def lines_of(path):
    return path.read_text().splitlines()


class FilesTest(CommandLineTest):
    def test_holds_the_files_of_the_design_and_nothing_else(self):
        lesson = self.run_config(TRY_THIS, "lesson", *SMALL)
        always = {"summary.csv", "wide.csv", "summary.json", "crossings.csv", "config.json",
                  "manifest.json", "events.jsonl", "datapackage.json", "schema.sql"}
        names = {path.name for path in lesson.iterdir()}
        self.assertEqual(names - {"contrasts.csv"}, always)
        every = self.run_config(EVERYTHING, "every")
        names = {path.name for path in every.iterdir()}
        self.assertEqual(names - {"contrasts.csv"},
                         always | {"histogram.csv", "samples.csv", "weights.csv", "outputs.csv"})

    def test_has_the_columns_of_the_design(self):
        run = self.run_config(EVERYTHING, "run")
        self.assertEqual(read_csv(run / "summary.csv")[0], SUMMARY_COLUMNS)
        self.assertEqual(read_csv(run / "crossings.csv")[0],
                         "run seed experiment entries entries_value entries_series keys scaling "
                         "scaling_value series metric statistic level d d_std_error d_exact "
                         "status".split())
        self.assertEqual(read_csv(run / "histogram.csv")[0],
                         KEY_COLUMNS + ["metric", "bin_low", "bin_high", "count", "density"])
        self.assertEqual(read_csv(run / "weights.csv")[0],
                         "run seed experiment d keys scaling scaling_value series head query key "
                         "score logit weight slope status".split())
        self.assertEqual(read_csv(run / "outputs.csv")[0],
                         "run seed experiment d keys scaling scaling_value series head query "
                         "component output status".split())
        columns, lines = read_csv(run / "summary.csv")
        metrics = list(dict.fromkeys(line[columns.index("metric")] for line in lines))
        wide = KEY_COLUMNS + ["queries", "left_out"]
        for metric in metrics:
            wide += [metric, f"{metric}_se", f"{metric}_reference"]
            if metric not in NO_STATISTIC_PER_QUERY:
                wide.append(f"{metric}_median")
        self.assertEqual(read_csv(run / "wide.csv")[0], wide)
        samples = read_csv(run / "samples.csv")[0]
        self.assertEqual(samples[:len(KEY_COLUMNS) + 1], KEY_COLUMNS + ["query"])
        self.assertEqual(samples[len(KEY_COLUMNS) + 1:],
                         [metric for metric in metrics if metric not in NO_STATISTIC_PER_QUERY])

    def test_is_ascii_with_line_feeds_and_its_header_first(self):
        run = self.run_config(EVERYTHING, "run")
        for path in [*run.glob("*.csv"), *run.glob("*.json*")]:
            content = path.read_bytes()
            self.assertTrue(content.isascii(), path.name)
            self.assertTrue(content.endswith(b"\n"), path.name)
            self.assertNotIn(b"\r", content, path.name)
            if path.suffix == ".csv":
                self.assertRegex(content, rb"\A(run|experiment),")
                self.assertEqual(len({len(line) for line in read_csv(path)[1]} |
                                     {len(read_csv(path)[0])}), 1, path.name)

    def test_leaves_empty_what_does_not_exist(self):
        run = self.run_config(EVERYTHING, "run")
        for path in run.glob("*.csv"):
            odd = re.findall(r"(?i)(?<=,)(?:nan|-?inf|infinity|none|null|true|false)(?=,)",
                             path.read_text().replace(",none,", ",,"))
            self.assertEqual(odd, [], path.name)
        columns, lines = read_csv(run / "summary.csv")
        statuses = set()
        for line in lines:
            cells = dict(zip(columns, line))
            statuses.add(cells["status"])
            per_query = [cells[name] for name in ("sd", "min", "q05", "median", "q95", "max")]
            errors = [cells[name] for name in ("std_error", "ci_low", "ci_high", "z")]
            if cells["metric"] in NO_STATISTIC_PER_QUERY:
                self.assertEqual(set(per_query), {""}, line)
            elif cells["status"] == "ok":
                self.assertNotIn("", per_query[1:], line)  # one query has no sd
            if cells["experiment"] == "given" or cells["status"] == "degenerate":
                self.assertEqual(set(errors), {""}, line)
            elif cells["metric"] == "saturated":  # a share of 0 or 1 has an interval all the same
                self.assertNotIn("", errors[1:3], line)
            elif cells["status"] == "ok":
                self.assertNotIn("", errors[:3], line)
            if cells["status"] == "nonfinite":
                self.assertEqual(cells["estimate"], "", line)
            if cells["status"] == "rare":
                self.assertNotIn("", (cells["estimate"], errors[0]), line)
                self.assertEqual(errors[1:3], ["", ""], line)
        self.assertEqual(statuses, {"ok", "rare", "degenerate", "nonfinite"})

    def test_counts_a_line_per_cell_scaling_and_metric_in_config_order(self):
        columns, lines = read_csv(self.run_config(TRY_THIS, "run", *SMALL) / "summary.csv")
        expected = [("spread", str(d), "1", scaling, "logit_sd")
                    for d in (4, 16, 64, 256, 1024) for scaling in ("none", "div_sqrt_d", "div_d")]
        expected += [("softmax", str(d), "8", scaling, metric)
                     for d in (4, 16, 64, 256, 1024) for scaling in ("none", "div_sqrt_d", "div_d")
                     for metric in ("top_weight", "slope", "entropy")]
        places = [columns.index(name) for name in ("experiment", "d", "keys", "scaling", "metric")]
        self.assertEqual([tuple(line[i] for i in places) for line in lines], expected)

    def test_manifest_is_complete(self):
        run = self.run_config(EVERYTHING, "run", "--seed", "7", "--threads", "2")
        manifest = json.loads((run / "manifest.json").read_text())
        for key in ("version", "commit", "compiler", "libraries", "vector_target", "host",
                    "arguments", "seed", "fingerprint", "started", "ended", "status", "exit_code"):
            self.assertNotIn(manifest.get(key), (None, ""), key)
        self.assertIsInstance(manifest["commit_has_changes"], bool)
        self.assertEqual((manifest["status"], manifest["exit_code"], manifest["seed"]),
                         ("finished", 0, 7))
        self.assertEqual(manifest["arguments"],
                         ["run", "run.config.json", "--out", "run", "--quiet", "--seed", "7",
                          "--threads", "2"])
        self.assertRegex(manifest["fingerprint"], r"\A[0-9a-f]{64}\Z")
        self.assertLessEqual(manifest["started"], manifest["ended"])
        listed = {file["name"]: file for file in manifest["files"]}
        contents = promised_bytes(run)
        self.assertEqual(sorted(listed), sorted(contents))
        for name, content in contents.items():
            self.assertEqual((listed[name]["sha256"], listed[name]["bytes"], listed[name]["lines"]),
                             (hashlib.sha256(content).hexdigest(), len(content),
                              content.count(b"\n")), name)

    def test_events_tell_the_run_from_start_to_finish(self):
        run = self.run_config(EVERYTHING, "run")
        events = [json.loads(line) for line in lines_of(run / "events.jsonl")]
        names = [event["event"] for event in events]
        self.assertEqual((names[0], names[-1]), ("start", "finish"))
        self.assertIn("warning", names)  # one of its cells has one key only
        cells = [(event["experiment"], event["entries"], event["d"], event["keys"])
                 for event in events if event["event"] == "cell_done"]
        self.assertEqual(sorted(cells), sorted(("drawn", entries, d, keys) for d in (4, 9)
                                               for keys in (1, 4)
                                               for entries in ("normal", "wide")))
        self.assertEqual(events[-1]["status"], "finished")
        for event in events:
            self.assertRegex(event["time"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")

    def test_config_json_runs_to_the_same_bytes(self):
        for name, config in (("every", EVERYTHING), ("lesson", TRY_THIS)):
            first = self.run_config(config, name, *(SMALL if name == "lesson" else []),
                                    "--seed", "11")
            again = self.run_config(first / "config.json", f"{name}_again")
            self.assert_same_files(first, again)


class SameNumbersTest(CommandLineTest):
    def test_for_any_number_of_threads(self):
        first = self.run_config(EVERYTHING, "one", "--threads", "1", "--set", "queries=3000")
        for threads in (2, 3, 7):
            self.assert_same_files(first, self.run_config(
                EVERYTHING, f"threads_{threads}", "--threads", threads, "--set", "queries=3000"))

    def test_whatever_else_is_measured(self):
        base = {"name": "a", "experiments": [{"name": "e", "d": [4, 64], "keys": 8, "queries": 300,
                                              "scalings": ["div_sqrt_d"], "metrics": ["slope"]}]}
        lines = lines_of(self.run_config(base, "base") / "summary.csv")
        more = {"scaling": {"scalings": ["none", "div_sqrt_d"]},
                "metric": {"metrics": ["logit_sd", "slope", "margin"]},
                "d": {"d": [2, 4, 16, 64]},
                "keys": {"keys": [2, 8, 9]}}
        for name, change in more.items():
            config = {"name": "a", "experiments": [{**base["experiments"][0], **change}]}
            found = lines_of(self.run_config(config, name) / "summary.csv")
            self.assertGreater(len(found), len(lines), name)
            self.assertLessEqual(set(lines), set(found), name)
        moved = {"name": "a", "experiments": [{"name": "first", "d": 5, "queries": 9},
                                              base["experiments"][0]]}
        self.assertLessEqual(set(lines), set(lines_of(self.run_config(moved, "moved") /
                                                      "summary.csv")))

    def test_of_the_first_queries_of_a_longer_run(self):
        def sampled(queries):
            config = {"name": "a", "experiments": [{"d": [4, 64], "keys": 3, "queries": queries,
                                                    "samples": 40, "metrics": "all"}]}
            return lines_of(self.run_config(config, f"q{queries}") / "samples.csv")
        short, longer = sampled(40), sampled(2500)
        self.assertEqual(len(short), 1 + 2 * 3 * 40)
        self.assertEqual(short, longer)

    def test_another_seed_changes_every_estimate(self):
        config = {"name": "a", "experiments": [{"d": [4, 64], "queries": 50,
                                                "metrics": ["logit_sd"], "scalings": ["none"]}]}
        estimate = SUMMARY_COLUMNS.index("estimate")
        found = [read_csv(self.run_config(config, f"seed{seed}", "--seed", seed) / "summary.csv")[1]
                 for seed in (0, 1, 2**53 - 1)]
        for i in range(2):
            self.assertEqual(len({lines[i][estimate] for lines in found}), 3)

    def test_in_any_surroundings(self):
        first = self.run_config(EVERYTHING, "first")
        for number, surroundings in enumerate((
                {"LC_ALL": "C.UTF-8", "TZ": "Asia/Kolkata"},
                {"LC_ALL": "de_DE.UTF-8", "LC_NUMERIC": "de_DE.UTF-8"},
                {"LANG": "no_such_locale", "TZ": "nowhere", "COLUMNS": "20"},
                {})):  # nor HOME nor PATH
            self.assert_same_files(first, self.run_config_in(surroundings, f"run{number}"))

    def run_config_in(self, surroundings, out):
        name = self.write_config(EVERYTHING)
        self.succeed("run", name, "--out", out, "--quiet", env=surroundings)
        return self.folder / out


if __name__ == "__main__":
    unittest.main()
