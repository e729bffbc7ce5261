"""usage: kill_test.py LIBRARY [slow]

A run that is killed, or told that the disk is full or broken, at any call that changes its files
goes on with the same command and ends with the bytes of a run in one go. LIBRARY is built of
tests/support/failing_calls.cpp, which says what can go wrong. `slow` takes every call; without it
a few of each scene, in every way.
"""

import json
import os
import shutil
import signal
import sys
import unittest
from pathlib import Path
from typing import NamedTuple

from attnscale_cli import CommandLineTest, promised_bytes
from failing_calls import CONFIG, ERRORS, KILLS, disturbed

LIBRARY = Path(sys.argv[1]).resolve()
STRIDE = 1 if sys.argv[2:] == ["slow"] else 73
TWICE = "twice"  # killed, and killed again when it goes on
HOWS = (*KILLS, TWICE, *ERRORS)

RUN = ["run", "config.json", "--out", "out", "--quiet"]
LONGER = [*RUN, "--set", "drawn.queries=60000"]


def share(number, out):
    return ["run", "config.json", "--out", out, "--quiet", "--shard", f"{number}/2"]


class Scene(NamedTuple):
    command: list       # what is disturbed
    before: list = []   # the commands before it
    after: list = None  # what writes `out`, if the command does not
    single: list = RUN  # what writes the same in one go
    clock: int = 1      # how much faster the clock of the disturbed command is


class KillTest(CommandLineTest):
    def play(self, scene):
        """The calls of a scene, or some of them, going wrong in every way."""
        self.scene = scene
        start, whole = self.folder / "start", self.folder / "whole"
        for folder in (start, whole):
            folder.mkdir()
            (folder / "config.json").write_text(json.dumps(CONFIG))
        for command in scene.before:
            self.assertIn(self.attnscale(*command, cwd=start).returncode, (0, 4))
        self.succeed(*scene.single, "--threads", 1, cwd=whole)
        count = len(self.calls(start))
        self.assertGreater(count, 15)
        points = [(how, at) for how in HOWS for at in range(1, count + 1)]
        for how, at in points[count % STRIDE::STRIDE]:
            with self.subTest(how=how, at=at):
                place = self.folder / "place"
                shutil.rmtree(place, ignore_errors=True)
                shutil.copytree(start, place)
                self.go_wrong(place, how, at, count)
                self.assert_whole_files(place, [whole / "out", start / "out"])
                self.assert_goes_on(place, whole / "out")
                tried["errors" if how in ERRORS else "kills"] += 1

    def calls(self, start):
        """What the command calls when nothing happens to it."""
        place, calls = self.folder / "count", self.folder / "calls"
        shutil.copytree(start, place)
        self.succeed(*self.scene.command, cwd=place, env=os.environ | disturbed(
            LIBRARY, place, list=calls, clock=self.scene.clock))
        return calls.read_text().splitlines()

    def disturb(self, place, at, how):
        return self.attnscale(*self.scene.command, cwd=place, env=os.environ | disturbed(
            LIBRARY, place, at=at, how=how, clock=self.scene.clock))

    def go_wrong(self, place, how, at, count):
        answer = self.disturb(place, at, "kill" if how == TWICE else how)
        if how in ERRORS:
            # Some errors cost nothing: that of a hint to the disk, or of the lock's removal.
            self.assertIn(answer.returncode, (0, 1), answer.stderr)
            if answer.returncode == 1:
                self.assertRegex(answer.stderr, rf"(out|one)\b.*{ERRORS[how]}")
            return
        # How often a run saves depends on time: the last calls may not be reached.
        reached = (-signal.SIGKILL,) if self.scene.clock == 1 else (-signal.SIGKILL, 0)
        self.assertIn(answer.returncode, reached, answer.stderr)
        if how == TWICE:
            again = self.disturb(place, 1 + at * 7 % count, "kill")
            self.assertIn(again.returncode, (-signal.SIGKILL, 0), again.stderr)

    def assert_whole_files(self, place, folders):
        """Each file with its final name is that of one of the folders; if a whole run was there
        before, a whole one is there now."""
        out, old = place / "out", folders[1]
        if not out.exists():
            return
        known = [promised_bytes(folder) for folder in folders if folder.is_dir()]
        for name, content in promised_bytes(out).items():
            if name not in (".lock", "checkpoint.txt") and not name.endswith(".tmp"):
                self.assertIn(content, [files.get(name) for files in known], name)
        if (old / "summary.csv").exists():
            codes = [self.attnscale("verify", folder, cwd=place).returncode
                     for folder in ("out", "out/replacement")]
            self.assertIn(0, codes)

    def assert_goes_on(self, place, whole):
        self.succeed(*self.scene.command, cwd=place)
        if self.scene.after:
            self.succeed(*self.scene.after, cwd=place)
        out = place / "out"
        self.assert_same_files(whole, out)
        self.assertEqual({path.name for path in out.iterdir()},
                         {path.name for path in whole.iterdir()})
        self.succeed("verify", "out", cwd=place)

    def test_a_run(self):
        self.play(Scene(RUN))

    def test_a_run_that_saves_what_it_has(self):
        self.play(Scene([*LONGER, "--threads", 2], single=LONGER, clock=5000))

    def test_a_run_that_goes_on(self):
        self.play(Scene([*LONGER, "--threads", 2], [[*LONGER, "--time-limit", "0.01"]],
                        single=LONGER, clock=5000))

    def test_a_run_that_replaces_another(self):
        self.play(Scene([*RUN, "--force"], [[*RUN, "--seed", 9]]))

    def test_a_share(self):
        self.play(Scene(share(1, "one"), [share(2, "two")],
                        ["merge", "out", "one", "two", "--quiet"]))

    def test_a_merge(self):
        self.play(Scene(["merge", "out", "two", "one", "--quiet"],
                        [share(1, "one"), share(2, "two")]))


tried = {"kills": 0, "errors": 0}

if __name__ == "__main__":
    outcome = unittest.main(argv=sys.argv[:1], exit=False).result
    print(f"{tried['kills']} kills and {tried['errors']} errors, each resumed to the same bytes")
    sys.exit(not outcome.wasSuccessful())
