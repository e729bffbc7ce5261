"""pandas, R and gnuplot read the files of a run without options and get what was written."""

import io
import json
import struct
import subprocess
import unittest

import pandas

from attnscale_cli import CommandLineTest, read_csv

CONFIG = {
    "name": "read_me",
    "experiments": [
        {"name": "wide", "d": [4, 1000], "keys": [2, 5], "queries": 60, "metrics": "all",
         "samples": 20, "histogram": ["top_weight"],
         "entries": [{"law": "normal", "name": "spread_out", "sd": [0.125, 3]}, "normal"]},
        {"name": "given", "given": {"scores": [[16, 8, 0], [1, 2]], "d": 4}, "metrics": "all"},
    ],
}
# What each column holds where it holds anything.
INTEGERS = {"seed", "d", "keys", "queries", "query", "key", "head", "component", "count"}
TEXTS = {"run", "experiment", "entries", "entries_series", "scaling", "series", "metric",
         "statistic", "baseline", "status"}


def kind_of(column, values):
    if column in TEXTS:
        return "text"
    if column in INTEGERS and "" not in values:
        return "integer"
    return "number"


def same_bits(a, b):
    return struct.pack("<d", a) == struct.pack("<d", b)


class ReadTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.run_folder = self.run_config(CONFIG, "run")
        self.tables = {path.name: read_csv(path) for path in self.run_folder.glob("*.csv")}

    def columns(self):
        """(file, column, its texts) of every column that has a value."""
        for name, (header, lines) in self.tables.items():
            for i, column in enumerate(header):
                values = [line[i] for line in lines]
                if any(values):
                    yield name, column, values

    def test_pandas_gives_every_column_its_type(self):
        frames = {name: pandas.read_csv(self.run_folder / name) for name in self.tables}
        for name, column, values in self.columns():
            kind = frames[name][column].dtype.kind
            expected = {"text": "O", "integer": "i", "number": "f"}[kind_of(column, values)]
            self.assertIn(kind, expected if expected != "f" else "fi", (name, column))
        self.assertEqual(len(frames["summary.csv"]), len(self.tables["summary.csv"][1]))

    def test_pandas_reads_every_float_to_the_bit_where_asked_and_nearly_so_where_not(self):
        exact = pandas.read_csv(self.run_folder / "summary.csv", float_precision="round_trip")
        fast = pandas.read_csv(self.run_folder / "summary.csv")
        for name, column, values in self.columns():
            if name != "summary.csv" or column in TEXTS:
                continue
            for text, number, near in zip(values, exact[column], fast[column], strict=True):
                if text:
                    self.assertTrue(same_bits(float(text), float(number)), (column, text, number))
                    # its default reader loses the last of 17 digits and rounds a few times
                    self.assertAlmostEqual(near, number, delta=2e-15 * abs(number))
                else:
                    self.assertTrue(pandas.isna(number), (column, number))

    def test_one_read_json_gives_the_same_as_the_csv(self):
        frame = pandas.read_json(self.run_folder / "summary.json")
        from_csv = pandas.read_csv(self.run_folder / "summary.csv")
        self.assertEqual(list(frame.columns), list(from_csv.columns))
        for column in from_csv.columns:
            pandas.testing.assert_series_equal(frame[column], from_csv[column], rtol=1e-14,
                                               atol=0, check_dtype=from_csv[column].notna().any())
        records = json.loads((self.run_folder / "summary.json").read_text())
        header, lines = self.tables["summary.csv"]
        for record, line in zip(records, lines, strict=True):
            self.assertEqual(list(record), header)
            for column, text in zip(header, line):
                value = record[column]
                if column in TEXTS and text:
                    self.assertEqual(value, text)
                elif text == "":
                    self.assertIsNone(value, column)
                else:
                    self.assertTrue(same_bits(float(value), float(text)), (column, value, text))

    def test_r_gives_every_column_its_type_and_value(self):
        script = """
            for (name in commandArgs(TRUE)) {
              frame <- read.csv(name)
              for (column in names(frame))
                cat(name, column, class(frame[[column]]), nrow(frame), "\\n", sep = ",")
            }
            frame <- read.csv("summary.csv")
            cat("estimates", sprintf("%.17g", frame$estimate), sep = ",")
        """
        answer = subprocess.run(["Rscript", "--vanilla", "-e", script, *self.tables],
                                capture_output=True, text=True, cwd=self.run_folder, timeout=60)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        *lines, estimates = answer.stdout.splitlines()
        types = {}
        for line in lines:
            name, column, kind, rows = line.split(",")[:4]
            types[name, column] = kind
            self.assertEqual(int(rows), len(self.tables[name][1]), name)
        for name, column, values in self.columns():
            allowed = {"text": {"character"}, "integer": {"integer"},
                       "number": {"numeric", "integer"}}[kind_of(column, values)]
            self.assertIn(types[name, column], allowed, (name, column))
        header, rows = self.tables["summary.csv"]
        written = [row[header.index("estimate")] for row in rows]
        for text, found in zip(written, estimates.split(",")[1:], strict=True):
            if text == "":
                self.assertEqual(found, "NA")
            else:
                # R's own reader of decimals is off by a few units in the last place
                self.assertAlmostEqual(float(found), float(text), delta=1e-15 * abs(float(text)))

    def test_gnuplot_draws_from_one_line(self):
        plot = ("set datafile separator comma; set datafile columnheaders; set datafile missing "
                "NaN; set table '/dev/stdout'; plot 'wide.csv' using 'd':'top_weight'")
        answer = subprocess.run(["gnuplot", "-e", plot], capture_output=True, text=True,
                                cwd=self.run_folder, timeout=60)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        points = [line.split() for line in answer.stdout.splitlines() if line.endswith(" i")]
        header, lines = self.tables["wide.csv"]
        for point, line in zip(points, lines, strict=True):
            for text, column in zip(point, ("d", "top_weight")):
                number = float(line[header.index(column)])
                self.assertAlmostEqual(float(text), number, delta=1e-5 * number)  # printed by %g

    def test_small_numbers_are_written_in_scientific_form(self):
        for name, column, values in self.columns():
            if column in TEXTS:
                continue
            for text in filter(None, values):
                number = float(text)
                if number != 0 and abs(number) < 0.1:
                    self.assertRegex(text, r"\A-?\d(\.\d+)?e-\d\d+\Z", (name, column))
                self.assertRegex(text, r"\A-?[0-9]", (name, column))

    def test_show_as_csv_is_one_frame_of_many_runs(self):
        second = self.run_config(CONFIG, "second", "--seed", "5")
        text = self.succeed("show", self.run_folder, second, "--format", "csv").stdout
        frame = pandas.read_csv(io.StringIO(text))
        self.assertEqual(sorted(frame.seed.unique()), [0, 5])
        self.assertEqual(frame.groupby("seed")[["folder", "run_id"]].nunique().values.tolist(),
                         [[1, 1], [1, 1]])
        lines = [line.split(",", 2) for line in text.splitlines()]
        self.assertEqual(lines[0][:2], ["folder", "run_id"])
        first = (self.run_folder / "summary.csv").read_text().splitlines()
        other = (second / "summary.csv").read_text().splitlines()[1:]
        self.assertEqual([line[2] for line in lines], first + other)


if __name__ == "__main__":
    unittest.main()
