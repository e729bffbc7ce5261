"""What a run says of its files is true: datapackage.json of the standard, types, hashes, and
schema.sql in SQLite; and no reader's pivot adds up curves."""

import csv
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

import jsonschema
import pandas as pd

from attnscale_cli import ROOT, CommandLineTest

# The profile of Frictionless Data, as version 1.1.10 of npm's datapackage (MIT) carries it.
PROFILE = ROOT / "tests" / "fixtures" / "datapackage" / "tabular-data-package.json"
CORPUS = ROOT / "tests" / "config_corpus" / "valid.jsonl"
EVERY_FILE = {"name": "Every_file", "description": "All files.", "experiments": [
    {"name": "drawn", "d": [4, 16], "keys": [2, 8], "queries": 60, "samples": 3,
     "entries": ["normal", {"law": "student_t", "nu": [3, 5]}], "metrics": "all",
     "histogram": ["logit", "slope"],
     "scalings": ["none", {"name": "power", "logit": "q.k d^p", "p": [-0.5, -0.25]}]},
    {"name": "typed", "given": {"queries": [[1, 2]], "keys": [[1, 0], [0, 1]],
                                "values": [[1], [2]], "baseline": True},
     "metrics": ["logit_sd"], "by": ["head", "query"]}]}
PANDAS_TYPES = {"string": str, "integer": "Int64", "number": float}


class DataPackageTest(CommandLineTest):
    def package_of(self, run):
        return json.loads((run / "datapackage.json").read_text("utf-8"))

    def check_files(self, run, package):
        for resource in package["resources"]:
            path = run / resource["path"]
            content = path.read_bytes()
            self.assertEqual(resource["bytes"], len(content))
            self.assertEqual(resource["hash"], "sha256:" + hashlib.sha256(content).hexdigest())
            fields = resource["schema"]["fields"]
            with open(path, newline="", encoding="ascii") as file:
                header, *lines = csv.reader(file)
            self.assertEqual([field["name"] for field in fields], header)
            for place, field in enumerate(fields):
                cells = [line[place] for line in lines]
                told = "".join(f"{cell}\n" for cell in cells)
                self.assertEqual(field["sha256"], hashlib.sha256(told.encode()).hexdigest())
                required = field.get("constraints", {}).get("required", False)
                if required:
                    self.assertNotIn("", cells, field["name"])
                for cell in filter(None, cells):
                    {"string": str, "integer": int, "number": float}[field["type"]](cell)
                for word in ("title", "description"):
                    self.assertGreater(len(field[word]), 0, (resource["path"], field["name"]))
                if field["type"] != "string":
                    self.assertGreater(len(field["unit"]), 0, field["name"])

    def test_is_of_the_standard_and_true(self):
        run = self.run_config(EVERY_FILE, "run")
        package = self.package_of(run)
        profile = json.loads(PROFILE.read_text("utf-8"))
        jsonschema.validators.validator_for(profile)(profile).validate(package)
        named = {resource["path"] for resource in package["resources"]}
        self.assertEqual(named, {path.name for path in run.glob("*.csv")})
        self.assertEqual(len(named), 11)
        self.assertEqual(package["description"], "All files.")
        self.assertIn({"name": "top_weight", "title": "largest weight", "unit": "1"},
                      [{key: metric[key] for key in ("name", "title", "unit")}
                       for metric in package["metrics"]])
        self.check_files(run, package)

    def test_is_true_of_what_other_configs_write(self):
        lines = CORPUS.read_text("utf-8").splitlines()
        for number, line in enumerate(lines[::4]):
            config = json.loads(line)
            for experiment in config["experiments"]:
                if "given" not in experiment:
                    experiment["queries"] = min(experiment.get("queries", 40), 40)
                    experiment.pop("stop", None)
                    experiment["samples"] = min(experiment.get("samples", 0), 40)
            with self.subTest(config=line):
                run = self.run_config(json.dumps(config), f"run{number}")
                self.check_files(run, self.package_of(run))
                shutil.rmtree(run)

    def test_is_the_same_for_any_number_of_threads(self):
        one = self.run_config(EVERY_FILE, "one", "--threads", "1")
        self.assert_same_files(one, self.run_config(EVERY_FILE, "two", "--threads", "2"))

    def test_tells_sqlite_the_types(self):
        run = self.run_config(EVERY_FILE, "run")
        script = (run / "schema.sql").read_text("utf-8")
        database = sqlite3.connect(":memory:")
        database.executescript(script)
        for resource in self.package_of(run)["resources"]:
            with open(run / resource["path"], newline="", encoding="ascii") as file:
                header, *lines = csv.reader(file)
            database.executemany(f"INSERT INTO {resource['name']} VALUES "
                                 f"({', '.join('?' * len(header))})", lines)
        database.executescript("\n".join(line.removeprefix("-- SQLite: ")
                                         for line in script.splitlines()
                                         if line.startswith("-- SQLite: ")))
        frame = pd.read_csv(run / "summary.csv")
        largest, mean, known = database.execute(
            "SELECT max(d), avg(reference), count(reference) FROM summary").fetchone()
        self.assertEqual(largest, 16)  # as a number: as texts "4" is larger
        self.assertAlmostEqual(mean, frame["reference"].mean())
        self.assertEqual(known, frame["reference"].notna().sum())
        database.close()


# What Node finds out, where DuckDB is installed: npm install --prefix build @duckdb/node-api.
DUCKDB = """
const {DuckDBInstance} = require('@duckdb/node-api');
(async () => {
  const database = await (await DuckDBInstance.create()).connect();
  await database.run(require('fs').readFileSync('run/schema.sql', 'utf-8'));
  await database.run("COPY summary FROM 'run/summary.csv' (HEADER)");
  const rows = await database.runAndReadAll(
    `SELECT max(d)::INT, avg(reference), count(reference)::INT FROM summary`);
  const pivot = await database.runAndReadAll(
    `PIVOT (FROM summary WHERE metric = 'top_weight' AND experiment = 'drawn')
     ON series USING max(estimate) GROUP BY entries_series, keys, d`);
  console.log(JSON.stringify([rows.getRows()[0], pivot.getRows().length]));
})();
"""


# Draws a specification that attnscale report wrote, from the run's own file, without a browser.
VEGA = """
const fs = require('fs'), vm = require('vm');
Object.assign(globalThis, {self: globalThis, exports: undefined, module: undefined});
for (const name of ['vega', 'vega-lite']) {
  vm.runInThisContext(fs.readFileSync(`${process.env.VEGA}/${name}.min.js`, 'utf-8'));
}
const spec = JSON.parse(fs.readFileSync('run/figures/top_weight.vl.json', 'utf-8'));
spec.width = 400;
const loader = {load: async (uri) => fs.readFileSync(`run/figures/${uri}`, 'utf-8')};
(async () => {
  const view = await new vega.View(vega.parse(vegaLite.compile(spec).spec),
                                   {loader, renderer: 'none'}).runAsync();
  console.log(JSON.stringify([view.data('source_0'), await view.toSVG()]));
})();
"""


class ReadersTest(CommandLineTest):
    """Programs that read the files, each where it is installed."""

    def setUp(self):
        super().setUp()
        self.run_folder = self.run_config(EVERY_FILE, "run")
        self.summary = pd.read_csv(self.run_folder / "summary.csv")

    def answer_of(self, *command, **options):
        answer = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                                timeout=120, **options)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return answer.stdout

    def test_no_pivot_on_series_adds_up_curves(self):
        drawn = self.summary.query("metric == 'top_weight' and experiment == 'drawn'")
        table = drawn.pivot(index=["entries_series", "keys", "d"], columns="series",
                            values="estimate")
        self.assertEqual(table.shape, (3 * 2 * 2, 3))
        self.assertLessEqual(table.max().max(), 1)
        counts = drawn.groupby(["series", "keys", "d", "entries_series"]).size()
        self.assertEqual(counts.max(), 1)

    def test_the_sqlite_program(self):
        if not shutil.which("sqlite3"):
            self.skipTest("sqlite3 is not installed")
        self.answer_of("sqlite3", "run.db", ".read run/schema.sql",
                       ".import --csv --skip 1 run/summary.csv summary")
        script = (self.run_folder / "schema.sql").read_text("utf-8")
        updates = "\n".join(line.removeprefix("-- SQLite: ") for line in script.splitlines()
                            if line.startswith("-- SQLite: UPDATE summary"))
        self.answer_of("sqlite3", "run.db", updates)
        found = self.answer_of("sqlite3", "run.db",
                               "SELECT max(d), count(reference), count(*) FROM summary")
        self.assertEqual(found.strip(),
                         f"16|{self.summary['reference'].notna().sum()}|{len(self.summary)}")

    def test_miller(self):
        if not shutil.which("mlr"):
            self.skipTest("Miller is not installed")
        found = self.answer_of("mlr", "--icsv", "--ojson", "filter",
                               '$metric == "top_weight" && $experiment == "drawn"', "then",
                               "count-distinct", "-f", "series", "run/summary.csv")
        self.assertEqual({row["series"]: row["count"] for row in json.loads(found)},
                         {"none": 12, "power -0.5": 12, "power -0.25": 12})

    def test_duckdb(self):
        modules = ROOT / "build" / "node_modules" / "@duckdb"
        if not (shutil.which("node") and modules.exists()):
            self.skipTest("npm install --prefix build @duckdb/node-api")
        place = {"NODE_PATH": str(modules.parent), "PATH": os.environ["PATH"]}
        found = json.loads(self.answer_of("node", "-e", DUCKDB, env=place))
        largest, mean, known = found[0]
        self.assertEqual((largest, known), (16, self.summary["reference"].notna().sum()))
        self.assertAlmostEqual(mean, self.summary["reference"].mean())
        self.assertEqual(found[1], 3 * 2 * 2)

    def test_vega_lite(self):
        libraries = Path(os.environ.get("ATTNSCALE_VEGA") or
                         Path.home() / ".cache" / "attnscale" / "vega")
        if not (shutil.which("node") and (libraries / "vega-lite.min.js").exists()):
            self.skipTest("scripts/get_vega.sh")
        self.succeed("report", "run")
        lines, picture = json.loads(self.answer_of(
            "node", "-e", VEGA, env={**os.environ, "VEGA": str(libraries)}))
        # What the selectors stand on first.
        wanted = self.summary.query("metric == 'top_weight' and experiment == 'drawn' and "
                                    "entries_series == 'normal' and keys == 2")
        self.assertEqual(sorted((line["series"], line["d"], line["keys"], line["estimate"])
                                for line in lines),
                         sorted(zip(wanted["series"], wanted["d"], wanted["keys"],
                                    wanted["estimate"])))
        self.assertEqual(picture.count('aria-roledescription="line mark"'), 3)  # of each series


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
