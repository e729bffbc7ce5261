"""Many runs at once: the sweep's table, and a Slurm array's jobs run by hand.

usage: batch_test.py ATTNSCALE
"""

import csv
import fcntl
import json
import math
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import pandas as pd

ATTNSCALE = str(pathlib.Path(sys.argv[1]).resolve())
TESTS = pathlib.Path(__file__).resolve().parents[1]
SCRIPTS = TESTS.parent / "scripts"
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

    def lines(self, out="out"):
        with open(self.folder / out / "runs.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file, strict=True))

    def stand_in(self, name, body):
        """The environment in which the command `name` is a script of ours."""
        tools = self.folder / "tools"
        tools.mkdir(exist_ok=True)
        (tools / name).write_text(f"#!/bin/bash\n{body}\n")
        (tools / name).chmod(0o755)
        return {"PATH": f"{tools}:{os.environ['PATH']}"}

    def without(self, name):
        """The environment of a machine that lacks the command `name`."""
        tools = self.folder / f"without {name}"
        tools.mkdir()
        for folder in os.environ["PATH"].split(os.pathsep):
            for tool in pathlib.Path(folder).glob("*"):
                if tool.name != name and not (tools / tool.name).is_symlink():
                    (tools / tool.name).symlink_to(tool)
        return {"PATH": str(tools)}

    def test_the_same_text_beside_other_given_files_is_another_run(self):
        configs = [TESTS / "cases/break/sweep_same_text" / name / "c.json" for name in "ab"]
        answer = call("sweep.sh", "--jobs", 1, "--out", self.folder / "out", *configs)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        top_weights = []
        for line in self.lines():
            summary = pd.read_csv(pathlib.Path(line["folder"]) / "summary.csv")
            chosen = (summary["scaling"] == "none") & (summary["metric"] == "top_weight")
            top_weights.append(summary.loc[chosen, "estimate"].item())
        # Softmax of scores that are 1 apart; of scores that are 8 apart and of 600 apart.
        self.assertAlmostEqual(top_weights[0], 1 / (1 + math.exp(-1)), 12)
        self.assertAlmostEqual(top_weights[1], 1 - math.exp(-8) / (1 + math.exp(-8)) / 2, 12)

    def test_a_given_file_that_changed_is_another_run(self):
        shutil.copytree(TESTS / "cases/break/sweep_same_text/a", self.folder / "layer")
        arguments = ["--out", self.folder / "out", self.folder / "layer/c.json"]
        call("sweep.sh", *arguments)
        first = self.lines()[0]["folder"]
        (self.folder / "layer/q.csv").write_text("2,0\n0,1\n")
        answer = call("sweep.sh", *arguments)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertNotEqual(self.lines()[0]["folder"], first)

    def test_what_measures_the_same_is_run_once(self):
        copy = self.folder / "copy.json"
        config = json.loads(self.config.read_text())
        copy.write_text(json.dumps(config | {"description": "the same numbers"}, indent=4))
        answer, runs = self.sweep(copy, "--vary", "seed", 0, "0")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual((len(runs), runs["folder"].nunique()), (4, 1))
        listed = (self.folder / "out" / ".sweep" / "list").read_text()  # what parallel is given
        self.assertEqual(len(listed.splitlines()), 1)

    def test_a_run_short_of_its_precision_is_told_by_status_and_exit_code(self):
        config = json.loads(self.config.read_text())
        config["experiments"][0]["stop"] = {"metric": "top_weight", "relative_error": 1e-9}
        self.config.write_text(json.dumps(config))
        answer, runs = self.sweep("--vary", "seed", 0, 1)
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertEqual(list(runs["status"]), ["short_of_precision"] * 2)
        self.assertEqual(list(runs["exit_code"]), [3, 3])
        # A failed run outweighs it, in whatever order they come.
        for seeds in ([0, 1, -1], [-1, 1, 0]):
            answer, _ = self.sweep("--vary", "seed", *seeds)
            self.assertEqual(answer.returncode, 1, answer.stderr)

    def test_without_gnu_parallel_it_names_the_package(self):
        # The package moreutils has a command of that name too, which knows no --version.
        for environment in (self.without("parallel"), self.stand_in("parallel", "exit 1")):
            answer = call("sweep.sh", "--out", self.folder / "out", self.config, **environment)
            self.assertEqual((answer.returncode, answer.stdout), (1, ""))
            self.assertEqual(answer.stderr, "sweep.sh: GNU parallel is missing. On Debian: "
                                            "apt-get install parallel\n")
            self.assertFalse((self.folder / "out").exists())

    def test_a_failure_of_parallel_itself_is_a_failure_of_the_sweep(self):
        body = '[[ $1 != --version ]] || { echo "GNU parallel 20221122"; exit; }\nexit 255'
        answer = call("sweep.sh", "--out", self.folder / "out", self.config,
                      **self.stand_in("parallel", body))
        self.assertEqual(answer.returncode, 1)
        self.assertIn("sweep.sh: GNU parallel failed (exit code 255)\n", answer.stderr)
        self.assertEqual([(line["status"], line["exit_code"]) for line in self.lines()],
                         [("not_run", "")])

    def test_options_for_parallel_in_the_environment_change_nothing(self):
        answer = call("sweep.sh", "--out", self.folder / "out", self.config, PARALLEL="--dry-run")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(self.lines()[0]["status"], "finished")

    def test_a_program_that_is_not_there_is_named_before_anything_is_run(self):
        for script in ("sweep.sh", "slurm_array.sh"):
            answer = call(script, "--out", self.folder / "out", self.config, 3,
                          ATTNSCALE=str(self.folder / "no program"),
                          **self.stand_in("sbatch", "echo 1"))
            if script == "sweep.sh":  # "3" is no config
                self.assertEqual(answer.returncode, 2)
                answer = call(script, "--out", self.folder / "out", self.config,
                              ATTNSCALE=str(self.folder / "no program"))
            self.assertEqual((answer.returncode, answer.stdout), (1, ""))
            self.assertIn(f"there is no program {self.folder}/no program", answer.stderr)

    def test_names_of_configs_may_hold_anything(self):
        configs = []
        for name in ("two\nlines.json", "-dash.json", "=1+1.json", '"quoted", $(touch x).json',
                     "x" * 250 + ".json"):
            configs.append(self.folder / name)
            configs[-1].write_text(self.config.read_text())
        answer = call("sweep.sh", "--out", self.folder / "out", *configs)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual([line["config"] for line in self.lines()], [str(path) for path in configs])
        self.assertEqual({line["status"] for line in self.lines()}, {"finished"})

    def test_the_folder_may_have_any_name_too(self):
        for out in ("-o", "two\nlines", "$(touch x) 'y'"):
            answer = subprocess.run([SCRIPTS / "sweep.sh", f"--out={out}", self.config],
                                    cwd=self.folder, capture_output=True, text=True, timeout=100,
                                    env=os.environ | {"ATTNSCALE": ATTNSCALE})
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertTrue((self.folder / self.lines(out)[0]["folder"] / "summary.csv").exists())

    def test_what_a_spreadsheet_would_compute_is_made_a_text(self):
        values = ["=1+1", "@SUM(A1)", "+A1", "-A1", "\t=1+1", "=\"a\",b", "plain"]
        answer, _ = self.sweep("--vary", "description", *values)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual([line["description"] for line in self.lines()],
                         ["'" + value for value in values[:6]] + ["plain"])
        numbers = ["-0.5", "+3", "-1e-3", "-.5", "-2."]
        call("sweep.sh", "--out", self.folder / "numbers", self.config, "--vary", "seed", "0",
             *numbers)  # of which only 0 is a seed
        self.assertEqual([line["seed"] for line in self.lines("numbers")], ["0", *numbers])

    def test_two_sweeps_do_not_share_a_folder(self):
        out = self.folder / "out"
        self.sweep()
        before = (out / "runs.csv").read_bytes()
        with open(out / ".sweep/lock", "a", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            answer = call("sweep.sh", "--out", out, self.config, "--vary", "seed", 1, 2)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertIn(f"another sweep is using {out}", answer.stderr)
        self.assertEqual((out / "runs.csv").read_bytes(), before)
        answer, _ = self.sweep()
        self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_the_table_of_another_sweep_is_left_as_it_is(self):
        table = self.folder / "out" / "runs.csv"
        self.sweep("--vary", "seed", 0, 1)
        before = table.read_bytes()
        for others in (["--vary", "seed", 1, 2], ["--vary", "keys", 2], []):
            answer, _ = self.sweep(*others)
            self.assertEqual((answer.returncode, answer.stdout), (2, ""))
            self.assertIn(f"{table} is of another sweep: it lists ", answer.stderr)
            self.assertIn("'seed=0'", answer.stderr)
            self.assertEqual(table.read_bytes(), before)
        answer, longer = self.sweep("--vary", "seed", 2, 1, 0)
        self.assertEqual((answer.returncode, list(longer["seed"])), (0, [2, 1, 0]), answer.stderr)
        table.unlink()
        answer, _ = self.sweep("--vary", "keys", 2)
        self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_a_mistyped_path_runs_nothing_and_leaves_the_table_as_it_is(self):
        _, runs = self.sweep("--vary", "seed", 0, 1)
        before = (self.folder / "out" / "runs.csv").read_bytes()
        answer, _ = self.sweep("--vary", "sede", 0, 1)
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))
        self.assertIn('did you mean "seed"?', answer.stderr)
        self.assertIn("no combination can be run", answer.stderr)
        self.assertEqual((self.folder / "out" / "runs.csv").read_bytes(), before)
        answer, again = self.sweep("--vary", "seed", 0, 1)
        self.assertEqual((answer.returncode, list(again["folder"])), (0, list(runs["folder"])))

    def test_its_last_line_counts_the_runs(self):
        table = self.folder / "out" / "runs.csv"
        answer, _ = self.sweep()
        self.assertEqual(answer.stdout,
                         f"1 run, nothing varied (no --vary), finished; see {table}\n")
        table.unlink()
        answer, _ = self.sweep("--vary", "seed", 0, 1)
        self.assertEqual(answer.stdout, f"2 runs, finished; see {table}\n")

    def test_a_signal_ends_the_runs_and_the_table_is_still_written(self):
        config = json.loads(self.config.read_text())
        config["experiments"][0].update(queries=10**11)
        self.config.write_text(json.dumps(config))
        out = self.folder / "out"
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            sweep = subprocess.Popen(
                [SCRIPTS / "sweep.sh", "--jobs", "1", "--out", out, self.config, "--vary", "seed",
                 "1", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                env=os.environ | {"ATTNSCALE": ATTNSCALE}, start_new_session=True)
            until = time.monotonic() + 60
            while not list(out.glob("*/events.jsonl")) and time.monotonic() < until:
                time.sleep(0.05)
            sweep.send_signal(number)
            _, said = sweep.communicate(timeout=60)
            self.assertEqual(sweep.returncode, 4, said)
            self.assertIn("the same command goes on from here", said)
            self.assertEqual([line["status"] for line in self.lines()], ["interrupted"] * 2)
            shutil.rmtree(out)

    def test_a_share_that_ends_while_a_signal_comes_keeps_its_exit_code(self):
        program = self.folder / "program"
        for code, expected in ((0, 0), (1, 1), (3, 0), (4, 4)):
            program.write_text(f"#!/bin/bash\ntrap '' USR1\nkill -USR1 $SCRIPT\nexit {code}\n")
            program.chmod(0o755)
            for _ in range(10):
                answer = subprocess.run(
                    ["bash", "-c", 'SCRIPT=$$ exec "$0" --share out config.json 3',
                     SCRIPTS / "slurm_array.sh"], capture_output=True, text=True, timeout=100,
                    env=os.environ | {"SLURM_ARRAY_TASK_ID": "1", "ATTNSCALE": str(program)})
                self.assertEqual((answer.returncode, answer.stderr), (expected, ""))

    def test_a_share_that_is_out_of_time_saves_and_goes_on(self):
        share = [SCRIPTS / "slurm_array.sh", "--share", self.folder / "long", self.config, "3"]
        environment = os.environ | {"SLURM_ARRAY_TASK_ID": "2", "ATTNSCALE": ATTNSCALE}
        config = json.loads(self.config.read_text())
        config["experiments"][0].update(queries=10**11)
        self.config.write_text(json.dumps(config))
        log = self.folder / "long.shard-2-of-3" / "events.jsonl"
        for _ in range(2):
            began = log.stat().st_size if log.exists() else 0
            job = subprocess.Popen(share, stderr=subprocess.PIPE, text=True, env=environment)
            until = time.monotonic() + 60
            while (not log.exists() or log.stat().st_size == began) and time.monotonic() < until:
                time.sleep(0.05)
            job.send_signal(signal.SIGUSR1)
            _, said = job.communicate(timeout=60)
            self.assertEqual(job.returncode, 4, said)
            self.assertIn("stopped by SIGUSR1", said)

    def test_a_share_by_hand_says_what_it_lacks(self):
        for arguments, lack in (
                (["--share", "out", self.config, 3], "--share needs SLURM_ARRAY_TASK_ID"),
                (["--share", "out"], "--share needs a folder, a config and a number of shares"),
                (["--merge", "out"], "--merge needs a folder and a number of shares"),
                (["--merge", "out", "x"], "not a number of shares: x")):
            answer = call("slurm_array.sh", *arguments)
            self.assertEqual((answer.returncode, answer.stdout), (2, ""))
            self.assertEqual(answer.stderr, f"slurm_array.sh: {answer.stderr[16:]}")
            self.assertIn(lack, answer.stderr)
        answer = call("slurm_mpi.sh", "--job")
        self.assertEqual((answer.returncode, answer.stderr),
                         (2, "slurm_mpi.sh: --job needs a config; --help shows how\n"))

    def test_without_slurm_it_says_so(self):
        environment = self.without("sbatch")
        answer = call("slurm_array.sh", self.config, 3, **environment)
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        self.assertTrue(answer.stderr.startswith("slurm_array.sh: sbatch is missing"))
        answer = call("slurm_mpi.sh", self.config, ATTNSCALE_MPI=ATTNSCALE, **environment)
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        self.assertTrue(answer.stderr.startswith("slurm_mpi.sh: sbatch is missing"))

    def test_ranks_are_started_by_pmix_where_the_cluster_has_no_default(self):
        def job(default, plugins, **others):
            self.stand_in("scontrol", f"echo 'MpiDefault              = {default}'")
            environment = self.stand_in("srun", f"echo '{plugins}' \"$@\"")
            self.stand_in("program", "echo program")
            return call("slurm_mpi.sh", "--job", "c.json", ATTNSCALE_MPI="program",
                        **environment | others)
        run = " program run c.json --quiet\n"
        plugins = "MPI plugin types are... pmix none pmi2"
        for default, others, command in (
                ("none", {}, f"{plugins} --mpi=pmix{run}"), ("pmix", {}, f"{plugins}{run}"),
                ("none", {"SLURM_MPI_TYPE": "pmix_v4"}, f"{plugins}{run}"),
                ("none", {"LAUNCH": "srun --mpi=pmi2"}, f"{plugins} --mpi=pmi2{run}")):
            answer = job(default, plugins, **others)
            self.assertEqual((answer.returncode, answer.stdout, answer.stderr), (0, command, ""))
        answer = job("none", "MPI plugin types are... none pmi2")
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        self.assertIn("has no --mpi=pmix, which Open MPI needs", answer.stderr)

    def test_what_it_submits_are_the_shares_and_a_merge_that_waits_for_them(self):
        calls = self.folder / "calls"
        environment = self.stand_in("sbatch", 'printf "%q " "$@" >> "$CALLS"; echo >> "$CALLS"\n'
                                              "echo '17;cluster'")
        answer = call("slurm_array.sh", "--out", "a b", self.config, 3, "--time=1:00",
                      CALLS=str(calls), **environment)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        array, merge = (shlex.split(line) for line in calls.read_text().splitlines())
        self.assertIn("--array=1-3", array)
        self.assertIn("--time=1:00", array)
        self.assertEqual(array[-4:], ["--share", "a b", str(self.config), "3"])
        self.assertIn("--dependency=afterok:17", merge)
        self.assertEqual(merge[-3:], ["--merge", "a b", "3"])

    def test_a_merge_that_slurm_refuses_is_told_with_the_job_that_runs(self):
        environment = self.stand_in("sbatch", "[[ $* != *--merge* ]] || exit 1\necho 17")
        answer = call("slurm_array.sh", "--out", "o", self.config, 3, **environment)
        self.assertEqual((answer.returncode, answer.stdout), (1, ""))
        self.assertIn("job 17 measures 3 shares", answer.stderr)
        self.assertIn("scripts/slurm_array.sh --merge o 3", answer.stderr)

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
