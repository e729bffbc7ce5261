"""A run that is told to end does so wherever it is: before it measures, while it takes exact
values, and while it writes."""

import json
import os
import signal
import subprocess
import time
import unittest

from attnscale_cli import BINARY, SANITIZER, SLOWDOWN, CommandLineTest

SMALL = {"name": "small", "experiments": [{"d": [4, 16], "keys": 4, "queries": 100}]}
# An end takes half a second; a run that does not hear would never end.
PATIENCE = 20 * SLOWDOWN


@unittest.skipIf(SANITIZER == "thread", "ThreadSanitizer holds signals back while a call waits")
class StopEarly(CommandLineTest):
    def start(self, config, *options, **settings):
        command = [BINARY, "run", config, "--out", "out", "--quiet", *options]
        run = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True,
                               **settings)
        self.addCleanup(run.communicate)
        self.addCleanup(run.kill)
        return run

    def expect_end(self, run, reason):
        _, message = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 4, message)
        self.assertIn(f"stopped by {reason}", message)

    def expect_each_to_end_it(self, start, is_there):
        """Runs from `start` end by every signal once `is_there`, and by their time limit."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            run = start()
            deadline = time.monotonic() + PATIENCE
            while not is_there(run):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            run.send_signal(number)
            self.expect_end(run, number.name)
        self.expect_end(start("--time-limit", "0.1"), "the time limit")

    def catches_signals(self, run):
        """Whether the process has its handlers, as Linux tells."""
        with open(f"/proc/{run.pid}/status", encoding="ascii") as status:
            caught = next(line for line in status if line.startswith("SigCgt"))
        return int(caught.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1

    def test_while_nobody_opens_the_pipe_of_its_config(self):
        os.mkfifo(self.folder / "pipe")
        self.expect_each_to_end_it(lambda *options: self.start("pipe", *options),
                                   self.catches_signals)
        self.assertFalse((self.folder / "out").exists())

    def test_while_nobody_closes_the_pipe_of_its_config(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, writer)
        self.addCleanup(os.close, reader)
        self.expect_each_to_end_it(
            lambda *options: self.start("/dev/stdin", *options, stdin=reader),
            self.catches_signals)
        self.assertFalse((self.folder / "out").exists())

    def test_while_it_writes_and_goes_on(self):
        config = self.write_config(SMALL)
        whole = self.run_config(SMALL, "whole")
        out = self.folder / "out"
        out.mkdir()
        os.mkfifo(out / "summary.csv.tmp")  # opening it for writing waits for a reader
        events = out / "events.jsonl"
        events.touch()  # so that the folder is a run's
        starts = []

        def has_begun(run):
            if run.pid not in starts:
                starts.append(run.pid)
            begun = events.exists() and events.read_text().count('"start"') == len(starts)
            time.sleep(0.3 if begun else 0)  # then it is writing
            return begun
        self.expect_each_to_end_it(lambda *options: self.start(config, *options), has_begun)
        status = json.loads((out / "manifest.json").read_text())["status"]
        self.assertEqual(status, "interrupted")
        (out / "summary.csv.tmp").unlink()
        self.succeed("run", config, "--out", "out", "--quiet")
        self.assert_same_files(whole, out)


if __name__ == "__main__":
    unittest.main()
