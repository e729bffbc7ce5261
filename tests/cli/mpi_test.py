"""The same bytes from any number of ranks, and a run that ranks began goes on without them.

usage: mpi_test.py ATTNSCALE ATTNSCALE_MPI MPIEXEC
"""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

from attnscale_cli import FEW_OVERFLOW, RULES, SLOWDOWN

ATTNSCALE, ATTNSCALE_MPI, MPIEXEC = sys.argv[1:4]
MACHINE_FILES = {"manifest.json", "events.jsonl"}


def small_config(queries):
    """Cells of one ragged block and of many, with everything that is counted."""
    return {
        "name": "ranks",
        "seed": 3,
        "sampler": "boost",
        "experiments": [
            {"name": "spread", "d": [4, 16], "queries": 3000, "metrics": ["logit_sd"]},
            {"name": "softmax", "d": [4, 64], "keys": [2, 8], "queries": queries,
             "metrics": ["logit_kurtosis", "top_weight", "slope", "entropy"],
             "histogram": ["logit", "slope"]},
            {**RULES, "queries": 3000},
            FEW_OVERFLOW,
        ],
    }


def with_ranks(ranks, *arguments):
    return [MPIEXEC, "--oversubscribe", "--allow-run-as-root", "-n", str(ranks), ATTNSCALE_MPI,
            *map(str, arguments)]


def results_in(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()
            if path.name not in MACHINE_FILES}


class Ranks(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.config = self.write_config("short", 20_000)

    def write_config(self, name, queries):
        path = self.folder / f"{name}.json"
        path.write_text(json.dumps(small_config(queries)))
        return path

    def run_to_end(self, command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=100 * SLOWDOWN)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_any_number_of_ranks_and_threads_writes_the_same_bytes(self):
        serial = self.folder / "serial"
        self.run_to_end([ATTNSCALE, "run", self.config, "--out", serial, "--quiet"])
        expected = results_in(serial)
        self.assertIn("summary.csv", expected)
        for ranks, threads in [(1, 1), (2, 1), (3, 2), (5, 1)]:
            with self.subTest(ranks=ranks, threads=threads):
                out = self.folder / f"ranks{ranks}"
                self.run_to_end(with_ranks(ranks, "run", self.config, "--out", out, "--quiet",
                                           "--threads", threads))
                self.assertEqual(results_in(out), expected)

    def test_any_number_of_ranks_stops_at_the_same_query(self):
        config = self.folder / "stop.json"
        config.write_text(json.dumps({"name": "stop", "sampler": "direct", "experiments": [
            {"name": "precise", "d": [4, 256], "keys": [4, 8], "queries": 1_000_000,
             "metrics": ["top_weight"], "histogram": ["top_weight"],
             "stop": {"metric": "top_weight", "relative_error": 0.002}},
            {"name": "plain", "d": 16, "queries": 20_000, "metrics": ["logit_sd"]}]}))
        serial = self.folder / "serial"
        self.run_to_end([ATTNSCALE, "run", config, "--out", serial, "--quiet"])
        self.assertIn(b",converged", (serial / "summary.csv").read_bytes())
        for ranks, threads in [(1, 1), (2, 1), (3, 2)]:
            with self.subTest(ranks=ranks):
                out = self.folder / f"ranks{ranks}"
                self.run_to_end(with_ranks(ranks, "run", config, "--out", out, "--quiet",
                                           "--threads", threads))
                self.assertEqual(results_in(out), results_in(serial))

    def test_queries_and_keys_from_files_are_measured_once(self):
        random = np.random.default_rng(1)
        for name in ("q", "k", "v"):
            np.save(self.folder / f"{name}.npy", random.normal(size=(2, 5, 8)))
        config = self.folder / "given.json"
        config.write_text(json.dumps({"name": "given", "experiments": [
            {"name": "files", "scalings": ["div_sqrt_d", "gemma4", "softmax1"], "metrics": "all",
             "given": {"queries": "q.npy", "keys": "k.npy", "values": "v.npy", "causal": True,
                       "weights": True, "baseline": True}},
            {"name": "drawn", "d": 8, "keys": 5, "queries": 3000, "metrics": ["top_weight"]}]}))
        serial, ranks = self.folder / "serial", self.folder / "ranks"
        self.run_to_end([ATTNSCALE, "run", config, "--out", serial, "--quiet"])
        self.assertIn("outputs.csv", results_in(serial))
        self.run_to_end(with_ranks(3, "run", config, "--out", ranks, "--quiet"))
        self.assertEqual(results_in(ranks), results_in(serial))

    def test_only_the_root_speaks(self):
        done = self.run_to_end(with_ranks(3, "list", "scalings"))
        serial = self.run_to_end([ATTNSCALE, "list", "scalings"])
        self.assertEqual(done.stdout, serial.stdout)

    def test_an_error_is_told_once_with_its_exit_code(self):
        done = subprocess.run(with_ranks(3, "run", self.folder / "absent.json"),
                              capture_output=True, text=True, timeout=100 * SLOWDOWN)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr.count("absent.json:"), 1, done.stderr)

    def test_a_root_that_can_write_no_more_sends_the_others_home(self):
        # So many cells that others are finished, and cannot be told of either, after the first.
        config = self.folder / "many.json"
        config.write_text(json.dumps({"name": "many", "sampler": "direct", "experiments": [
            {"name": "cells", "d": {"from": 1, "to": 10000, "step": 1}, "keys": [2, 3, 4, 5],
             "queries": 2000, "metrics": ["top_weight"]}]}))
        out = self.folder / "full"
        command = with_ranks(3, "run", config, "--out", out, "--quiet", "--threads", "1")
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
            events = out / "events.jsonl"
            wait_until(lambda: events.exists() and b"cell_done" in events.read_bytes())
            resource.prlimit(process_of_rank(run.pid, 0), resource.RLIMIT_FSIZE, (1, 1))
            message = run.communicate(timeout=60 * SLOWDOWN)[1]
        self.assertEqual(run.returncode, 1, message)
        self.assertIn("File too large", message)

    def test_a_signal_or_a_killed_rank_loses_nothing_that_was_saved(self):
        config = self.write_config("long", 1_500_000)
        out, whole = self.folder / "long", self.folder / "whole"
        checkpoint = out / "checkpoint.txt"
        command = with_ranks(3, "run", config, "--out", out, "--quiet", "--threads", "1")

        # SIGUSR1, which mpirun forwards to every rank, saves and ends the run.
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
            wait_until(lambda: (out / "events.jsonl").exists())
            time.sleep(1)
            run.send_signal(signal.SIGUSR1)
            message = run.communicate(timeout=60 * SLOWDOWN)[1]
        self.assertEqual(run.returncode, 4, message)
        saved = checkpoint.read_bytes()

        # A rank that dies takes the others along, but not what was saved.
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
            wait_until(lambda: checkpoint.read_bytes() != saved)
            os.kill(process_of_rank(run.pid, 2), signal.SIGKILL)
            message = run.communicate(timeout=60 * SLOWDOWN)[1]
        self.assertNotEqual(run.returncode, 0, message)
        self.assertTrue(checkpoint.exists())

        # The serial program goes on from there.
        self.run_to_end([ATTNSCALE, "run", config, "--out", out, "--quiet"])
        self.run_to_end([ATTNSCALE, "run", config, "--out", whole, "--quiet"])
        self.assertEqual(results_in(out), results_in(whole))


def wait_until(condition):
    deadline = time.monotonic() + 60 * SLOWDOWN
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("nothing happened in a minute")
        time.sleep(0.05)


def process_of_rank(launcher, rank):
    """The process that mpiexec, whose process is `launcher`, started as this rank."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((process / "stat").read_text().rpartition(")")[2].split()[1])
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if parent == launcher and f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment:
            return int(process.name)
    raise ProcessLookupError(f"no rank {rank}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
