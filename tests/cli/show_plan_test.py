"""The commands that run nothing: show, plan, list and schema."""

import csv
import io
import json
import os
import unittest

from attnscale_cli import ROOT, SUMMARY_COLUMNS, TRY_THIS, CommandLineTest

SIZES = (4, 16, 64, 256, 1024)

CAPPED = 'softmax.scalings=["none", {"name": "cap", "logit": "c tanh(q.k / c)", "c": [5, 50]}]'


class ShowTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.answer = self.succeed("run", TRY_THIS, "--set", "queries=400", "--out", "run")

    def test_prints_the_tables_of_the_run_again(self):
        self.assertEqual(self.succeed("show", "run").stdout, self.answer.stdout)

    def test_prints_one_table_per_metric_with_d_down_and_scalings_across(self):
        blocks = self.answer.stdout.split("\n\n")
        tables = [block.splitlines() for block in blocks if "div_sqrt_d" in block]
        titles = [table[0] for table in tables]
        for metric, title in zip(("logit_sd", "top_weight", "slope", "entropy"), titles,
                                 strict=True):
            self.assertIn(f"({metric})", title)
        for title, header, *lines in tables:
            self.assertEqual(header.split(), ["d", "none", "div_sqrt_d", "div_d"])
            self.assertEqual([int(line.split()[0]) for line in lines], list(SIZES))
        for line in tables[0][2:]:
            self.assertRegex(line, r"^ +\d+( +[\d.]+ \+- [\d.]+ \[[\d.]+\]){3}$")
        for line in tables[2][2:]:
            self.assertRegex(line, r"^ +\d+( +[-e\d.]+ \([-e\d.]+\)){3}$")

    def test_answers_the_four_questions_of_the_lesson(self):
        answers = self.answer.stdout.split("Answers\n")[1].replace("\n  ", " ").splitlines()
        for line, start in zip(answers, ("1 raw spread ", "2 unscaled, one key gets more than 0.9",
                                         "3 p(1-p) of a typical query at d = 1024",
                                         "4 divided by d at d = 1024"), strict=True):
            self.assertTrue(line.startswith(start), line)
        self.assertIn("raw spread sqrt(d) = 2 4 8 16 32 (exact; measured ", answers[0])
        self.assertIn("1/8 = 0.125", answers[3])

    def test_prints_markdown(self):
        text = self.succeed("show", "run", "--format", "markdown").stdout
        tables = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
        self.assertEqual(len(tables), 4)
        for table in tables:
            self.assertEqual({line.count("|") for line in table}, {5})
            self.assertRegex(table[1], r"^\|( -{3}:? ?\|| -+: \|)+")
            self.assertEqual(len(table), 2 + len(SIZES))
        self.assertIn("## Answers", text)

    def test_says_what_scalings_are_that_the_lesson_does_not_know(self):
        self.assertNotIn("Logits", self.answer.stdout)
        answer = self.succeed("run", TRY_THIS, "--set", "queries=200", "--out", "capped", "--set",
                              CAPPED)
        lines = ["softmax: cap 5 = 5 tanh(q.k / 5)", "softmax: cap 50 = 50 tanh(q.k / 50)"]
        self.assertTrue(answer.stdout.endswith("\n  ".join(["", *lines]) + "\n"), answer.stdout)
        self.assertEqual(self.succeed("show", "capped").stdout, answer.stdout)
        self.assertEqual(
            self.succeed("run", TRY_THIS, "--set", "queries=200", "--out", "capped", "--set",
                         CAPPED).stdout,
            answer.stdout)
        markdown = self.succeed("show", "capped", "--format", "markdown").stdout
        self.assertTrue(markdown.endswith("\n* ".join(["", *lines]) + "\n"), markdown)

    def test_prints_csv_as_the_file_holds_it_behind_the_run_id(self):
        text = self.succeed("show", "run", "--format", "csv").stdout
        manifest = json.loads((self.folder / "run" / "manifest.json").read_text("utf-8"))
        header, *lines = (self.folder / "run" / "summary.csv").read_text().splitlines()
        self.assertEqual(text.splitlines(), [f"run_id,{header}"] + [
            f"r{manifest['fingerprint'][:8]},{line}" for line in lines])

    def test_joins_several_runs(self):
        self.run_config(ROOT / "configs" / "lesson_examples.json", "lesson")
        text = self.succeed("show", "run", "lesson").stdout
        self.assertLess(text.index("run\n"), text.index("spread"))
        self.assertLess(text.index("lesson\n"), text.index("softmax_small"))
        joined = self.succeed("show", "run", "lesson", "run/", "--format", "csv").stdout
        lines = list(csv.DictReader(io.StringIO(joined)))
        self.assertEqual(list(lines[0])[:2], ["folder", "run_id"])
        objects = json.loads(self.succeed("show", "run", "lesson", "run/", "--format",
                                          "json").stdout)
        self.assertEqual([list(row) for row in objects], [list(line) for line in lines])
        self.assertEqual([(row["run_id"], row["estimate"]) for row in objects],
                         [(line["run_id"], float(line["estimate"])) for line in lines])
        text = (self.folder / "run" / "summary.csv").read_text()
        summary = list(csv.DictReader(io.StringIO(text)))
        for line, wanted in zip(lines, summary + summary, strict=True):  # lesson has no lines
            self.assertEqual(line["folder"], "run")
            self.assertEqual({**line, **wanted}, line)

    def test_joined_runs_are_told_apart_by_what_differs_in_their_configs(self):
        for keys, sampler in ((4, "vectors"), (8, "direct")):
            self.run_config({"name": "same", "experiments": [
                {"name": "spread", "d": 4, "queries": 50},
                {"name": "softmax", "d": 4, "keys": keys, "queries": 50, "sampler": sampler}]},
                f"run{keys}")
        joined = self.succeed("show", "run4", "run8", "--format", "csv").stdout
        header, *lines = csv.reader(io.StringIO(joined))
        self.assertEqual(header[:5], ["folder", "run_id", "softmax.keys", "softmax.sampler", "run"])
        told = {tuple(line[:4]) for line in lines}
        self.assertEqual({(folder, keys, sampler) for folder, _, keys, sampler in told},
                         {("run4", "4", "vectors"), ("run8", "8", "direct")})
        self.assertEqual(len({run_id for _, run_id, _, _ in told}), 2)
        self.assertEqual(len(lines), 2 * 2 * 9)  # each experiment's nine lines

    def test_refuses_before_it_prints_anything(self):
        self.refuse("show", "run", "absent", says=["absent"])
        self.refuse("show", "run", "run", "absent", "--format", "csv", says=["absent"])

    def test_tells_which_line_of_a_file_is_damaged(self):
        path = self.folder / "run" / "summary.csv"
        lines = path.read_text().splitlines()
        for damaged, number in ((lines[:3] + ["try_this,0"] + lines[4:], 4), (["foo"], 1)):
            path.write_text("\n".join(damaged) + "\n")
            self.refuse("show", "run", code=1, says=[f"summary.csv:{number}"])

    def test_fits_a_narrow_terminal_without_losing_numbers(self):
        # stdout is no terminal here, so the width is what the program takes for files and pipes
        self.assertLessEqual(max(map(len, self.answer.stdout.splitlines())), 130)


class PlanTest(CommandLineTest):
    def test_csv_holds_one_line_per_cell(self):
        text = self.succeed("plan", TRY_THIS, "--format", "csv").stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([(row["experiment"], int(row["d"]), int(row["keys"])) for row in rows],
                         [("spread", d, 1) for d in SIZES] + [("softmax", d, 8) for d in SIZES])
        for row in rows:
            self.assertEqual((row["queries"], row["blocks"], row["block_queries"]),
                             ("10000", "10", "1024"))  # ceil(10000 / 1024)
            self.assertGreater(float(row["cpu_seconds"]), 0)
            self.assertIn("div_sqrt_d = q.k / sqrt(d)", row["logits"])

    def test_lines_name_the_run_and_its_fingerprint(self):
        self.run_config(TRY_THIS, "run", "--set", "softmax.keys=2", "--set", "queries=10")
        manifest = json.loads((self.folder / "run" / "manifest.json").read_text())
        for record in json.loads(self.succeed("plan", TRY_THIS, "--set", "softmax.keys=2", "--set",
                                              "queries=10", "--format", "json").stdout):
            self.assertEqual((record["run"], record["fingerprint"]),
                             ("try_this", manifest["fingerprint"]))

    def test_json_holds_the_same(self):
        table = self.succeed("plan", TRY_THIS, "--format", "csv").stdout
        records = json.loads(self.succeed("plan", TRY_THIS, "--format", "json").stdout)
        rows = list(csv.DictReader(io.StringIO(table)))
        for record, row in zip(records, rows, strict=True):
            self.assertEqual(list(record), list(row))
            for column, value in record.items():
                same = float(row[column]) == value if isinstance(value, (int, float)) else (
                    row[column] == (value or ""))
                self.assertTrue(same, (column, value, row[column]))

    def test_table_names_cells_formulas_and_the_total(self):
        text = self.succeed("plan", TRY_THIS).stdout
        self.assertEqual(len([line for line in text.splitlines()
                              if line.startswith(("  spread  ", "  softmax  "))]), 10)
        self.assertIn("div_d = q.k / d", text)
        self.assertRegex(text,
                         r"A run would take about [\d.]+ processor seconds\. Nothing was run\.")

    # Of the same sizes; Student's t took 2.6 times a normal entry, a sign 0.44 times.
    def test_a_law_costs_what_its_entries_take(self):
        config = self.write_config({"name": "a", "experiments": [
            {"d": 4096, "keys": 1, "entries": ["normal", {"law": "student_t", "nu": 5},
                                               "rademacher"]}]})
        rows = csv.DictReader(io.StringIO(self.succeed("plan", config, "--format", "csv").stdout))
        normal, student, sign = [float(row["cpu_seconds"]) for row in rows]
        self.assertAlmostEqual(student / normal, 2.6, 1)
        self.assertAlmostEqual(sign / normal, 0.44, 1)

    def test_a_factor_of_nothing_is_said(self):
        idle = {"name": "idle", "logit": "0 q.k"}
        config = self.write_config({"name": "a", "experiments": [
            {"d": [4, 8], "keys": 2, "queries": 50, "scalings": ["none", idle]},
            {"given": {"scores": [[1, 2, 3]]}, "scalings": [idle], "metrics": ["logit_sd"]}]})
        said = "".join(
            f"warning: config.json: experiment_{number}: under the scaling idle no logit depends "
            f"on its score: its factor is 0 at d={d} keys={keys}\n"
            for number, d, keys in ((1, 8, 2), (2, 1, 3)))
        self.assertEqual(self.succeed("plan", config).stderr, said)
        self.assertIn(said, self.succeed("run", config, "--out", "run").stderr)

    def test_the_cost_of_given_numbers_is_not_called_nothing(self):
        config = self.write_config({"name": "a", "experiments": [
            {"given": {"scores": [[1, 2]], "d": 4}}, {"d": 4}]})
        self.assertRegex(self.succeed("plan", config).stdout, r"given +4 +2 +1 +< 0\.01\n")
        given, _ = json.loads(self.succeed("plan", config, "--format", "json").stdout)
        self.assertGreater(given["cpu_seconds"], 0)

    def test_a_sampler_that_is_much_faster_is_named_where_it_can_draw_the_same(self):
        hint = (r"--set sampler=direct: about [\d.]+ processor seconds instead of \d+, and the "
                r"same answers\n")
        slow = {"sampler": "vectors", "d": 1024, "keys": 512, "queries": 10_000}
        for change, is_faster in (({}, True), ({"d": 4}, False), ({"sampler": "direct"}, False),
                                  ({"entries": "laplace"}, False)):
            config = self.write_config({"name": "a", "experiments": [{**slow, **change}]})
            text = self.succeed("plan", config).stdout
            (self.assertRegex if is_faster else self.assertNotRegex)(text, hint)
        config = self.write_config({"name": "a", "experiments": [slow]})
        started = self.attnscale("run", config, "--time-limit", 0.2)
        self.assertRegex(started.stderr, "^hint: " + hint)

    def test_swept_numbers_are_shown_as_a_person_writes_them(self):
        # 3 * 0.05 is 0.15000000000000002 in binary; files keep it.
        config = self.write_config({"name": "a", "experiments": [
            {"name": "a", "d": 4, "keys": 2, "queries": 50,
             "entries": {"law": "sparse", "p": {"from": 0.05, "to": 0.15, "times": 3}},
             "scalings": [{"name": "fixed", "logit": "c tanh(q.k / c)", "c": [0.05, 0.25]}]}]})
        plan = self.succeed("plan", config).stdout
        shown = self.succeed("run", config, "--out", "run").stdout
        for text in (plan, shown):
            for words in ("sparse 0.05 ", "sparse 0.15 ", "fixed 0.05 "):
                self.assertIn(words, text)
        self.assertIn(",0.15000000000000002,", (self.folder / "run/summary.csv").read_text())

    def test_a_block_shrinks_with_its_work_but_holds_8_queries(self):
        # 1024, halved until queries x keys x d <= 2^26, but at least 8
        config = self.write_config({"name": "a", "experiments": [
            {"name": name, "d": d, "keys": keys, "queries": 5000}
            for name, d, keys in (("a", 64, 1024), ("b", 128, 1024), ("c", 65536, 1),
                                  ("d", 65536, 4096))]})
        text = self.succeed("plan", config, "--format", "csv").stdout
        sizes = [int(row["block_queries"]) for row in csv.DictReader(io.StringIO(text))]
        self.assertEqual(sizes, [1024, 512, 1024, 8])

    def test_takes_overrides_and_runs_nothing(self):
        text = self.succeed("plan", TRY_THIS, "--set", "d=[7]", "--set", "queries=1", "--seed", "2",
                            "--format", "csv").stdout
        rows = list(csv.DictReader(io.StringIO(text)))
        self.assertEqual([(row["d"], row["queries"], row["blocks"]) for row in rows],
                         [("7", "1", "1")] * 2)
        self.assertEqual(list(self.folder.iterdir()), [])


class ListsTest(CommandLineTest):
    def test_schema_is_the_committed_one(self):
        self.assertEqual(self.succeed("schema").stdout,
                         (ROOT / "configs" / "schema.json").read_text())

    def test_the_list_of_scalings_says_formula_meaning_and_source_of_each(self):
        listed = self.succeed("list", "scalings").stdout
        self.assertIn("gemma2_27b         logit = cap tanh(q.k / sqrt(144) / cap)\n"
                      "                   1/sqrt(144) for heads of 128, and a soft-cap of 50\n"
                      "                   from: google/gemma_pytorch", listed)
        self.assertIn("                   takes cap: where logits end; 50 by default\n", listed)
        self.assertIn("                   needs position: position of the query's token", listed)
        self.assertLessEqual(max(map(len, listed.splitlines())), 100)

    def listed(self, what):
        """The lines of a list, on a screen that is wide enough for each."""
        shown = self.succeed("list", what, env={**os.environ, "COLUMNS": "1000"})
        return shown.stdout.splitlines()

    def test_lists_name_what_a_config_may(self):
        expected = {"scalings": ["none", "div_sqrt_d", "div_d"], "laws": ["normal"],
                    "samplers": ["boost", "vectors"],
                    "metrics": ["logit_mean", "logit_sd", "logit_kurtosis", "top_weight", "slope",
                                "score_slope", "entropy", "sum_p2", "saturated", "margin",
                                "max_logit", "jacobian_norm"]}
        for what, names in expected.items():
            lines = self.listed(what)
            listed = [line.split()[0] for line in lines if not line.startswith(" ")]
            self.assertLessEqual(set(names), set(listed))
            self.assertEqual(len(listed), len(set(listed)))
            for line in lines:
                self.assertRegex(line, r"^(?:[a-z]\w*)? +\S.+$")
                self.assertTrue(what == "scalings" or line[0] != " ", line)
                self.assertTrue(line.isascii(), line)
        metrics = [line.split()[0] for line in self.listed("metrics")]
        samplers = [line.split()[0] for line in self.listed("samplers")]
        for sampler in samplers:
            config = self.write_config({"name": "a", "sampler": sampler, "experiments": [
                {"d": 4, "keys": 2, "queries": 4, "metrics": metrics, "scalings": ["none"],
                 "entries": {"alignment": 0.3, "aligned_keys": 1}}]})
            self.succeed("run", config, "--out", sampler, "--quiet")
        summary = (self.folder / samplers[0] / "summary.csv").read_text().splitlines()
        place = SUMMARY_COLUMNS.index("metric")
        self.assertEqual([line.split(",")[place] for line in summary[1:]], metrics)


if __name__ == "__main__":
    unittest.main()
