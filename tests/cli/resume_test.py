"""A run that is told to end saves what it has and goes on from there, whatever it measures."""

import json
import signal
import subprocess
import time
import unittest

from attnscale_cli import BINARY, RULES, CommandLineTest

# Two seconds of one processor: long enough to be met in the middle.
LONG = {"name": "long", "experiments": [{**RULES, "queries": 200_000}]}


class Resume(CommandLineTest):
    def interrupt(self, name, out):
        """The exit code of a run that is told to end once it has begun to measure."""
        command = [BINARY, "run", name, "--out", out, "--quiet", "--threads", "1"]
        with subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE) as run:
            deadline = time.monotonic() + 60
            while not (self.folder / out / "events.jsonl").exists():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            time.sleep(0.2)
            run.send_signal(signal.SIGTERM)
            run.communicate(timeout=60)
        return run.returncode

    def test_after_sigterm_writes_the_bytes_of_a_run_in_one_go(self):
        name = self.write_config(LONG)
        self.assertEqual(self.interrupt(name, "resumed"), 4)
        resumed = self.folder / "resumed"
        self.assertEqual({path.name for path in resumed.iterdir()},
                         {"checkpoint.txt", "manifest.json", "events.jsonl"})
        status = json.loads((resumed / "manifest.json").read_text())["status"]
        self.assertEqual(status, "interrupted")
        self.succeed("run", name, "--out", "resumed", "--quiet", "--threads", "2")
        self.succeed("run", name, "--out", "whole", "--quiet", "--threads", "3")
        self.assert_same_files(self.folder / "whole", resumed)


if __name__ == "__main__":
    unittest.main()
