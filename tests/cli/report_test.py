"""report.html holds what the run's files hold, asks nobody, and can be read without scripts."""

import csv
import os
import re
import resource
import unittest
from functools import partial
from html.parser import HTMLParser

from attnscale_cli import ROOT, TRY_THIS, CommandLineTest

LIMIT = 1_200_000  # bytes, with Vega's 822 kB
VEGA = 822_000
STUBS = ("vega", "vega-lite", "vega-embed")


class Page(HTMLParser):
    """Tables as lists of lists of texts, by id; addresses; and specifications."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.far, self.addresses, self.charts = {}, 0, [], 0
        self.table, self.cell = None, None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.addresses += [attributes[name] for name in ("href", "src", "action", "xlink:href")
                           if attributes.get(name)]
        self.far += tag == "tr" and attributes.get("class") == "far"
        self.charts += attributes.get("class") == "chart"
        self.close_cell(tag in ("td", "th"))
        if tag == "table":
            self.table = self.tables.setdefault(attributes["id"], [])
        if tag == "tr" and self.table is not None:
            self.table.append([])
        if tag in ("td", "th") and self.table is not None:
            self.cell = []

    def close_cell(self, ends):
        if ends and self.cell is not None:
            self.table[-1].append("".join(self.cell))
            self.cell = None

    def handle_endtag(self, tag):
        self.close_cell(tag in ("td", "th", "tr"))
        if tag == "table":
            self.table = None

    def handle_data(self, data):
        if self.cell is not None:
            self.cell.append(data)


class ReportTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.vega = self.folder / "vega"
        self.vega.mkdir()
        for name in STUBS:
            (self.vega / f"{name}.min.js").write_text("// no library\n", "utf-8")
            (self.vega / f"{name}.LICENSE").write_text(f"Licence of {name}\n", "utf-8")
        self.environment = {**os.environ, "ATTNSCALE_VEGA": str(self.vega)}

    def report(self, *arguments, **changes):
        return self.succeed("report", *arguments, env={**self.environment, **changes})

    def page_of(self, path, *arguments, **changes):
        self.report(*arguments, **changes)
        text = path.read_text("utf-8")
        page = Page(text)
        for address in page.addresses:
            self.assertRegex(address, r"\A(#|data:)", "the page must not ask anybody")
        self.assertNotRegex(re.sub(r"https://vega\.github\.io/schema|http://www\.w3\.org|"
                                   r"xmlns:\w+=\"[^\"]+\"|<metadata>.*?</metadata>", "", text,
                                   flags=re.S), r"(?:src|href)=\"https?://")
        return text, page

    def test_a_page_that_the_disk_has_no_room_for_is_not_begun(self):
        run = self.run_config(TRY_THIS, "run", "--set", "queries=300")
        before = sorted(path.name for path in run.iterdir())
        for command, written in (("report", "logit_sd.vl.json"), ("plot", "logit_sd.svg")):
            message = self.refuse(command, "run", code=1, env=self.environment, says=[
                "cannot write ", written, "File too large", "make room or name another folder"],
                preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (4096, 4096)))
            self.assertNotIn("Traceback", message)
        left = {path.name for path in run.rglob("*")}
        self.assertEqual(sorted(left - {"figures"}), before)

    def test_holds_every_line_of_a_run(self):
        run = self.run_config(TRY_THIS, "run", "--set", "queries=300")
        text, page = self.page_of(run / "report.html", "run")
        with open(run / "summary.csv", newline="", encoding="ascii") as file:
            summary = list(csv.DictReader(file))
        header, *lines = page.tables["lines"]
        self.assertEqual(len(lines), len(summary))
        for line, wanted in zip(lines, summary):
            cells = dict(zip(header, line))
            for name in ("series", "metric", "experiment"):
                self.assertEqual(cells[name], wanted[name])
            for name in ("d", "estimate", "reference"):
                if wanted[name]:
                    self.assertAlmostEqual(float(cells[name]) / float(wanted[name]), 1, delta=1e-5)
        self.assertEqual(page.far, sum(abs(float(line["z"] or 0)) > 3 for line in summary))
        # One for each metric of an experiment, the crossings, and each experiment's contrasts.
        self.assertEqual(page.charts, len({(line["experiment"], line["metric"])
                                           for line in summary}) + 1 + 2)
        for words in ("largest weight", "Look for", "<noscript>", "<dt><code>top_weight</code>",
                      "softmax: how large are the largest weight, the ",
                      "of 300 queries (keys 8; d 4, 16, 64, 256, 1024; ",
                      "1 raw spread", "Licence of vega-lite", "attnscale run config.json",
                      "prefers-color-scheme"):
            self.assertIn(words, text)
        self.assertLess(len(text) + VEGA, LIMIT)
        specs = {path.name for path in (run / "figures").glob("*.vl.json")}
        self.assertIn("top_weight.vl.json", specs)

    def test_holds_pictures_where_the_libraries_are_missing(self):
        run = self.run_config({"name": "small", "experiments": [
            {"d": [4, 16], "queries": 50, "metrics": "top_weight"}]}, "run")
        text, page = self.page_of(run / "report.html", "run", ATTNSCALE_VEGA="nowhere")
        self.assertEqual((page.charts, text.count("<svg")), (0, 1))
        self.assertEqual(len(page.tables["lines"]), 1 + 2 * 3)
        self.assertEqual([path.name for path in (run / "figures").iterdir()],
                         ["top_weight.vl.json"])

    def test_compares_several_runs(self):
        for seed in (1, 2):
            self.run_config({"name": "same", "seed": seed, "experiments": [
                {"d": [4, 16], "queries": 100}]}, f"seed{seed}")
        _, page = self.page_of(self.folder / "report.html", "seed1", "seed2")
        header, *lines = page.tables["differences_table"]
        self.assertEqual(len(lines), 2 * 3 * 3)
        distances = [abs(float(dict(zip(header, line))["z"])) for line in lines]
        self.assertEqual(distances, sorted(distances, reverse=True))
        first = dict(zip(header, lines[0]))
        self.assertAlmostEqual(float(first["difference"]),
                               float(first["estimate_b"]) - float(first["estimate_a"]),
                               delta=1e-5)
        self.assertEqual({line[0] for line in page.tables["lines"][1:]}, {"seed1", "seed2"})

    def test_texts_of_a_config_are_texts_in_the_page(self):
        wild = "</script><b onclick=\"x\">&amp; 'so'"
        run = self.run_config({"name": "wild", "description": wild, "experiments": [
            {"d": 4, "queries": 50}]}, "run")
        text, _ = self.page_of(run / "report.html", "run")
        self.assertNotIn("<b onclick", text)
        self.assertIn("&lt;/script&gt;&lt;b onclick", text)

    def test_given_weights_crossings_and_histograms_have_their_places(self):
        run = self.run_config(ROOT / "configs" / "lesson_examples.json", "lesson")
        text, page = self.page_of(run / "report.html", "lesson")
        self.assertIn("Given weights", text)
        self.assertGreater(page.charts, 0)
        run = self.run_config({"name": "full", "experiments": [
            {"d": [4, 1024], "queries": 100, "scalings": ["none", "div_d"],
             "metrics": ["top_weight", "slope"], "histogram": ["slope"]}]}, "full")
        text, page = self.page_of(run / "report.html", "full")
        self.assertIn("Beyond the axis: none, d = 1024, 8 keys:", text)
        self.assertEqual(len(page.tables["crossings_table"]), 1 + 2 * 6)
        self.assertIn("d_std_error", page.tables["crossings_table"][0])

    def test_refuses_what_is_no_run(self):
        for arguments, words in ((("absent",), "no folder absent"), ((), "no run's folder given")):
            answer = self.attnscale("report", *arguments, env=self.environment)
            self.assertEqual(answer.returncode, 2)
            self.assertIn(words, answer.stderr)

    def test_plot_is_the_script_of_that_name(self):
        self.run_config({"name": "small", "experiments": [
            {"d": [4, 16], "queries": 50, "metrics": "top_weight"}]}, "run")
        self.succeed("plot", "run", "--metric", "top_weight", "--out", "pictures")
        self.assertTrue((self.folder / "pictures" / "top_weight.svg").exists())
        answer = self.attnscale("plot", "run", "--metric", "entropy")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("entropy", answer.stderr)


if __name__ == "__main__":
    unittest.main()
