"""usage: slurm_test.py ATTNSCALE ATTNSCALE_MPI

slurm_array.sh and slurm_mpi.sh on a real queue: jobs are cut off, by their time and by scancel, and
submitted again until their bytes are those of the single run. Exits with 77 where Slurm or munge is
missing.

Where a job is to be cut off, its programs are stopped (SIGSTOP) until Slurm has sent its signal, so
that no machine is too fast to be caught in the middle.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from attnscale_cli import ROOT, CommandLineTest
from slurm_node import SlurmNode, missing_package, wait_until

ATTNSCALE, ATTNSCALE_MPI = (str(Path(path).resolve()) for path in sys.argv[1:3])

CONFIG = {"name": "queued", "seed": 5, "sampler": "boost", "experiments": [
    {"name": "softmax", "d": [16, 64], "keys": 8, "queries": 1_000_000, "histogram": ["logit"]},
    {"name": "spread", "d": 64, "keys": 1, "queries": 500_000, "metrics": ["logit_sd"]}]}


def programs_in(folder):
    """The processes of the program that write below `folder`."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].decode(errors="replace") in (ATTNSCALE, ATTNSCALE_MPI) and any(
                word.startswith(os.fsencode(folder)) for word in words):
            found.append(int(process.name))
    return found


def has_signal(process, mask, number):
    """Whether a signal is in a mask of /proc: caught (SigCgt), or sent to a process that cannot
    take it yet, being stopped (ShdPnd)."""
    for line in (Path("/proc") / str(process) / "status").read_text().splitlines():
        if line.startswith(f"{mask}:"):
            return bool(int(line.split()[1], 16) >> (number - 1) & 1)
    raise LookupError(f"no {mask}")


class SlurmTest(CommandLineTest):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.node = SlurmNode(scratch.name)
        cls.addClassCleanup(cls.node.stop)
        cls.environment = cls.node.environment | {"ATTNSCALE": ATTNSCALE,
                                                  "ATTNSCALE_MPI": ATTNSCALE_MPI}

    def run(self, result=None):
        unfinished = [result.failures, result.errors]
        before = sum(map(len, unfinished))
        super().run(result)
        if sum(map(len, unfinished)) > before:
            print(self.node.log(), file=sys.stderr)

    def setUp(self):
        super().setUp()
        self.config = self.folder / self.write_config(CONFIG)
        self.out = self.folder / "out"

    def submit(self, script, *arguments):
        """The jobs that a script submitted, by their numbers."""
        answer = subprocess.run(
            [ROOT / "scripts" / script, "--out", self.out, *arguments], capture_output=True,
            text=True, cwd=self.node.folder, env=self.environment, timeout=60)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        return re.findall(r"\bjob (\d+)", answer.stdout)

    def hold(self, count):
        """Stops the `count` programs that write to `out` once they catch signals and measure."""
        def measuring():
            programs = programs_in(self.out)
            return len(programs) == count and all(
                has_signal(process, "SigCgt", signal.SIGUSR1) for process in programs)
        wait_until(measuring, f"{count} programs", 120)
        time.sleep(0.5)
        programs = programs_in(self.out)
        self.assertEqual(len(programs), count, "ended before it could be cut off")
        for process in programs:
            os.kill(process, signal.SIGSTOP)
        return programs

    def let_go(self, programs):
        """Lets programs that are held go on once Slurm's SIGUSR1 waits for each of them."""
        wait_until(lambda: all(process not in programs_in(self.out) or
                               has_signal(process, "ShdPnd", signal.SIGUSR1)
                               for process in programs), f"SIGUSR1 to {programs}", 120)
        self.go_on(programs)

    def go_on(self, programs):
        for process in programs:
            with contextlib.suppress(ProcessLookupError):  # Slurm lets those of a step go on itself
                os.kill(process, signal.SIGCONT)

    def ended(self, job, count):
        """State and exit code of each task of a job, once all `count` have ended."""
        running = {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED"}

        def states():
            tasks = self.node.tasks(job)
            return tasks if len(tasks) == count and not any(
                state in running for state, _ in tasks.values()) else None
        return wait_until(states, f"the end of job {job}", 300)

    def assert_single_run(self):
        single = self.run_config(self.config, "single")
        self.assert_same_files(single, self.out)
        self.succeed("verify", self.out)
        manifest = json.loads((self.out / "manifest.json").read_text())
        self.assertEqual((manifest["status"], manifest["exit_code"]), ("finished", 0))

    def test_an_array_goes_on_where_time_or_a_signal_cut_it_off(self):
        tasks, shares = ["1", "2", "3", "4"], ["4", "--cpus-per-task=1"]
        # The shortest time there is: the warning, a minute before its end, comes within 30 seconds.
        array, merge = self.submit("slurm_array.sh", self.config, *shares, "--time=1")
        self.let_go(self.hold(4))
        self.assertEqual(self.ended(array, 4), dict.fromkeys(tasks, ("FAILED", 4)))
        self.assertEqual(self.ended(merge, 1)[merge][0], "CANCELLED")
        self.assertFalse(self.out.exists())

        array, merge = self.submit("slurm_array.sh", self.config, *shares)
        programs = self.hold(4)
        cut_off = programs_in(f"{self.out}.shard-2-of-4")
        self.node.ask("scancel", "--batch", "--signal=USR1", f"{array}_2")
        self.let_go(cut_off)
        self.go_on(programs)
        self.assertEqual(self.ended(array, 4), dict.fromkeys(tasks, ("COMPLETED", 0)) |
                         {"2": ("FAILED", 4)})
        self.assertEqual(self.ended(merge, 1)[merge][0], "CANCELLED")

        array, merge = self.submit("slurm_array.sh", self.config, *shares)
        self.assertEqual(self.ended(array, 4), dict.fromkeys(tasks, ("COMPLETED", 0)))
        self.assertEqual(self.ended(merge, 1), {merge: ("COMPLETED", 0)})
        self.assert_single_run()

    def test_ranks_go_on_where_time_or_a_signal_cut_them_off(self):
        ranks = ["--ntasks=2", "--cpus-per-task=1"]
        job, = self.submit("slurm_mpi.sh", self.config, *ranks, "--time=1")
        self.let_go(self.hold(2))
        self.assertEqual(self.ended(job, 1), {job: ("FAILED", 4)})

        job, = self.submit("slurm_mpi.sh", self.config, *ranks)
        programs = self.hold(2)
        self.node.ask("scancel", "--signal=USR1", job)
        self.let_go(programs)
        self.assertEqual(self.ended(job, 1), {job: ("FAILED", 4)})
        self.assertFalse((self.out / "summary.csv").exists())

        job, = self.submit("slurm_mpi.sh", self.config, *ranks)
        self.assertEqual(self.ended(job, 1), {job: ("COMPLETED", 0)})
        self.assert_single_run()


if __name__ == "__main__":
    if package := missing_package():
        print(f"skipped: {package} is not installed")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
