"""A forced run leaves the run in its folder whole until it is whole itself."""

import resource
import shutil
import signal
import subprocess
import time
import unittest

from attnscale_cli import BINARY, CommandLineTest, promised_bytes

OLD = {"name": "old", "experiments": [{"d": [4, 16], "keys": 4, "queries": 40}]}
NEW = {"name": "new", "experiments": [{"d": [4, 16], "keys": 4, "queries": 50, "samples": 50}]}
LONG = {"name": "long", "experiments": [{"d": 64, "keys": 64, "queries": 100_000_000}]}


class Replace(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.old = self.run_config(OLD, "run")
        self.bytes = promised_bytes(self.old)
        self.tables = self.succeed("show", "run").stdout
        self.new = self.write_config(NEW, "new.json")

    def expect_old(self):
        self.assertEqual(promised_bytes(self.old), self.bytes)
        self.assertEqual(self.succeed("show", "run").stdout, self.tables)
        self.succeed("verify", "run")

    def expect_new(self):
        self.assert_same_files(self.run_config(NEW, "fresh"), self.old)
        self.assertFalse((self.old / "replacement").exists())
        self.succeed("verify", "run")

    def force(self, config, *options, **settings):
        return self.attnscale("run", config, "--out", "run", "--quiet", "--force", *options,
                              **settings)

    def test_a_full_disk_loses_neither(self):
        limit = max(map(len, self.bytes.values()))
        answer = self.force(self.new, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(answer.returncode, 1, answer.stderr)
        self.expect_old()
        self.assertEqual(self.force(self.new).returncode, 0)
        self.expect_new()

    def test_an_unfinished_run_is_kept_beside_and_goes_on(self):
        long = self.write_config(LONG, "long.json")
        seconds = 0.3
        while True:  # a busy machine may measure nothing at first
            answer = self.force(long, "--time-limit", str(seconds))
            self.assertEqual(answer.returncode, 4, answer.stderr)
            self.expect_old()
            if "going on after" in answer.stderr:
                break
            seconds *= 2

    def test_a_kill_loses_neither(self):
        long = self.write_config(LONG, "long.json")
        command = [BINARY, "run", long, "--out", "run", "--quiet", "--force"]
        with subprocess.Popen(command, cwd=self.folder) as run:
            deadline = time.monotonic() + 60
            while not (self.old / "replacement" / "events.jsonl").exists():
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            run.send_signal(signal.SIGKILL)
        (self.old / ".lock").unlink()  # of a dead process: does no harm
        self.expect_old()
        self.assertEqual(self.force(self.new).returncode, 0)
        self.expect_new()

    def test_a_kill_between_the_last_file_and_the_swap_leaves_the_new_run(self):
        fresh = self.run_config(NEW, "fresh")
        new_tables = self.succeed("show", "fresh").stdout
        # What such a kill leaves: a whole replacement, and any part of the old files or new ones.
        for left in (["summary.csv"], [], None):
            shutil.rmtree(self.old)
            shutil.copytree(fresh, self.old / "replacement")
            for name in left if left is not None else promised_bytes(fresh):
                shutil.copy(fresh / name, self.old / name)
            self.assertEqual(self.succeed("show", "run").stdout, new_tables)
            self.succeed("verify", "run")
            self.assertEqual(self.force(self.new).returncode, 0)
            self.assert_same_files(fresh, self.old)
            self.assertFalse((self.old / "replacement").exists())


if __name__ == "__main__":
    unittest.main()
