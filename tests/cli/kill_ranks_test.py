"""usage: kill_ranks_test.py LIBRARY ATTNSCALE_MPI MPIEXEC [slow]

A rank that is killed at any message it sends, or the root at any call that changes its files, takes
the others along, but nothing that was saved: the program without MPI goes on to the bytes of a run
in one go. LIBRARY is built of tests/support/failing_calls.cpp. `slow` takes many calls, as starting
ranks takes its time; without it a few.
"""

import json
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from attnscale_cli import CommandLineTest
from failing_calls import CONFIG, ERRORS, KILLS, disturbed

LIBRARY, PROGRAM = (Path(path).resolve() for path in sys.argv[1:3])
MPIEXEC = sys.argv[3]
SLOW = sys.argv[4:] == ["slow"]
RANKS = 3

RUN = ["run", "config.json", "--out", "out", "--quiet", "--set", "drawn.queries=60000",
       "--set", "drawn.d=[4, 16, 64]"]


class KillRanksTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.place = self.folder / "place"
        self.make_place()
        self.succeed(*RUN, cwd=self.place)
        self.whole = (self.place / "out").rename(self.folder / "whole")

    def make_place(self):
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        (self.place / "config.json").write_text(json.dumps(CONFIG))

    def run_ranks(self, rank, **settings):
        """The ended mpiexec, one rank of which runs in an environment that disturbs it."""
        environment = disturbed(LIBRARY, self.place, sends="yes" if rank else "", **settings)
        disturb = ["env", *(f"{name}={value}" for name, value in environment.items())]
        command = [MPIEXEC, "--oversubscribe", "--allow-run-as-root"]
        for count, before in ((rank, []), (1, disturb), (RANKS - rank - 1, [])):
            if count:
                command += ["-n", str(count), *before, PROGRAM, *RUN, "--threads", "1", ":"]
        return subprocess.run(command[:-1], cwd=self.place, capture_output=True, text=True,
                              timeout=100)

    def play(self, rank, hows, stride):
        calls = self.folder / "calls"
        self.make_place()
        answer = self.run_ranks(rank, list=calls)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_same_files(self.whole, self.place / "out")
        count = len(calls.read_text().splitlines())
        self.assertGreater(count, 5)
        points = [(how, at) for how in hows for at in range(1, count + 1)]
        for how, at in points[stride // 2::stride]:
            with self.subTest(rank=rank, how=how, at=at):
                self.make_place()
                answer = self.run_ranks(rank, at=at, how=how)
                # How many messages there are depends on time: the last may not be reached. Some
                # errors cost nothing: that of a hint to the disk, or of the lock's removal.
                if how in ERRORS and answer.returncode != 0:
                    self.assertEqual(answer.returncode, 1, answer.stderr)
                    self.assertRegex(answer.stderr, rf"out\b.*{ERRORS[how]}")
                elif rank == 0 and how in KILLS:
                    self.assertNotEqual(answer.returncode, 0)
                self.succeed(*RUN, cwd=self.place)
                self.assert_same_files(self.whole, self.place / "out")
                tried["errors" if how in ERRORS else "kills"] += 1

    def test_the_root(self):
        self.play(0, [*KILLS, *ERRORS], 5 if SLOW else 110)

    def test_another_rank(self):
        self.play(2, ["kill"], 1 if SLOW else 4)


tried = {"kills": 0, "errors": 0}

if __name__ == "__main__":
    outcome = unittest.main(argv=sys.argv[:1], exit=False).result
    print(f"{tried['kills']} kills and {tried['errors']} errors, each resumed to the same bytes")
    sys.exit(not outcome.wasSuccessful())
