"""Many runs at once: the sweep's table, and a Slurm array's jobs run by hand.

usage: batch_test.py ATTNSCALE
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import pandas as pd

ATTNSCALE = sys.argv[1]
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
MACHINE_FILES = {"manifest.json", "events.jsonl"}


def call(script, *arguments, **environment):
    return subprocess.run([SCRIPTS / script, *map(str, arguments)], capture_output=True, text=True,
                          timeout=100, env=os.environ | {"ATTNSCALE": ATTNSCALE} | environment)


class Batch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.config = self.folder / "a sweep.json"
        self.config.write_text(json.dumps({
            "name": "swept", "sampler": "boost",
            "experiments": [{"name": "softmax", "d": [4, 16], "keys": 2, "queries": 3000}]}))

    def sweep(self, *arguments):
        out = self.folder / "out"
        answer = call("sweep.sh", "--jobs", 2, "--out", out, self.config, *arguments)
        return answer, pd.read_csv(out / "runs.csv")

    def test_every_combination_is_a_line_and_values_survive_quoting(self):
        law = '{"law": "normal", "sd": 2}'
        answer, runs = self.sweep("--vary", "entries", "normal", law, "--vary", "seed", 0, 1)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(list(runs.columns),
                         ["config", "entries", "seed", "folder", "status", "exit_code"])
        self.assertEqual(list(zip(runs["entries"], runs["seed"])),
                         [("normal", 0), ("normal", 1), (law, 0), (law, 1)])
        self.assertEqual(set(runs["status"]), {"finished"})
        self.assertEqual(runs["folder"].nunique(), 4)

    def test_started_again_it_skips_what_is_finished_and_lists_what_failed(self):
        _, first = self.sweep("--vary", "seed", 0, 1)
        summaries = [pathlib.Path(folder) / "summary.csv" for folder in first["folder"]]
        written = [summary.stat().st_mtime_ns for summary in summaries]
        answer, second = self.sweep("--vary", "seed", 1, -1, 0)
        self.assertEqual(answer.returncode, 1)
        self.assertIn("(exit code 2)", answer.stderr)
        self.assertEqual(list(second["status"]), ["finished", "failed", "finished"])
        self.assertEqual([summary.stat().st_mtime_ns for summary in summaries], written)

    def test_the_jobs_of_a_slurm_array_give_the_single_runs_bytes(self):
        whole, merged = self.folder / "whole", self.folder / "merged"
        subprocess.run([ATTNSCALE, "run", self.config, "--out", whole, "--quiet"], check=True,
                       capture_output=True)
        for task in (3, 1, 2):
            answer = call("slurm_array.sh", "--share", merged, self.config, 3,
                          SLURM_ARRAY_TASK_ID=str(task))
            self.assertEqual(answer.returncode, 0, answer.stderr)
        answer = call("slurm_array.sh", "--merge", merged, 3)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        compared = {path.name for path in whole.iterdir()} - MACHINE_FILES
        self.assertIn("summary.csv", compared)
        for name in compared:
            self.assertEqual((merged / name).read_bytes(), (whole / name).read_bytes(), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
