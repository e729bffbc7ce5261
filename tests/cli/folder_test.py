"""Where a run's results go, what a second run in the same folder does, and what it says
meanwhile."""

import ctypes
import json
import os
import resource
import stat
import subprocess
import unittest

from attnscale_cli import BINARY, CommandLineTest, promised_bytes

CONFIG = {"name": "tiny", "description": "first words", "seed": 3,
          "experiments": [{"name": "e", "d": [4, 16], "keys": 4, "queries": 40}]}


def drop_root_privilege():
    """Lets file permissions hold for root too; changes nothing for others."""
    drop_from_bounding_set, override = 24, 1  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE
    ctypes.CDLL(None).prctl(drop_from_bounding_set, override, 0, 0, 0)


class FolderTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.config = self.write_config(CONFIG)

    def folders(self):
        results = self.folder / "results"
        return sorted(path.name for path in results.iterdir()) if results.exists() else []

    def snapshot(self, folder):
        return {path.name: (path.stat().st_mtime_ns, path.stat().st_ino, path.read_bytes())
                for path in (self.folder / folder).iterdir()}


class PlaceTest(FolderTest):
    def test_is_named_after_the_config_and_what_was_changed(self):
        self.succeed("run", self.config, "--quiet")
        self.assertEqual(self.folders(), ["tiny"])
        for options in (["--set", "queries=50"], ["--seed", "4"], ["--set", "seed=4"],
                        ["--seed", "3"]):
            self.succeed("run", self.config, "--quiet", *options)
        # seed 4 by either option is one run, and so has one folder
        names = self.folders()
        self.assertEqual(len(names), 4, names)
        for name in names[1:]:
            self.assertRegex(name, r"\Atiny-[0-9a-f]{8}\Z")
            manifest = json.loads((self.folder / "results" / name / "manifest.json").read_text())
            self.assertTrue(manifest["fingerprint"].startswith(name[-8:]))

    def test_of_a_shard_is_named_after_its_share(self):
        self.attnscale("run", self.config, "--quiet", "--shard", "2/3")
        self.assertEqual(self.folders(), ["tiny.shard-2-of-3"])

    def test_is_the_one_asked_for_blanks_and_all(self):
        for name in ("with blanks", "deep/er", "Größe", "-- x", "a'b\"c", "trailing/"):
            self.succeed("run", self.config, "--quiet", f"--out={name}")
            self.assertTrue((self.folder / name / "summary.csv").exists(), name)
            self.succeed("show", "--", name)
        self.assertEqual(self.folders(), [])

    def test_overrides_change_what_they_name_and_nothing_else(self):
        self.succeed("run", self.config, "--out", "a", "--quiet", "--set", "queries=7",
                     "--set", "/experiments/0/d=[2]", "--set", "e.keys=3", "--set", "seed=9",
                     "--set", "description=free words")
        config = json.loads((self.folder / "a" / "config.json").read_text())
        experiment = config["experiments"][0]
        self.assertEqual((experiment["queries"], experiment["d"], experiment["keys"],
                          config["seed"], config["description"]),
                         (7, [2], [3], 9, "free words"))

    def test_that_cannot_be_is_told_with_the_reason(self):
        (self.folder / "file").write_text("mine")
        (self.folder / "locked").mkdir()
        (self.folder / "locked").chmod(stat.S_IRUSR | stat.S_IXUSR)
        for out in ("file", "file/deeper", "file/deeper/still"):
            self.refuse("run", self.config, "--out", out, says=["file is a file", "--out DIR"])
        for out in ("locked/new", "locked", "/proc/none"):
            message = self.refuse("run", self.config, "--out", out, code=1, says=[out],
                                  preexec_fn=drop_root_privilege)
            self.assertRegex(message, r"Permission denied|No such file")
            self.assertEqual(len(message.splitlines()), 1, message)
            self.assertNotIn("filesystem error", message)
        self.assertEqual((self.folder / "file").read_text(), "mine")

    def test_that_is_too_long_for_a_name_is_told_in_words(self):
        config = self.write_config(CONFIG)
        answer = self.refuse("run", config, "--out", "x" * 300, code=1, says=["too long"])
        self.assertNotIn("filesystem error", answer)

    def test_may_have_a_name_that_is_no_text(self):
        out = os.fsdecode(b"x\xff")
        self.succeed("run", self.write_config(CONFIG), "--out", out, errors="replace")
        manifest = json.loads((self.folder / out / "manifest.json").read_text(encoding="utf-8"))
        self.assertIn("x\N{REPLACEMENT CHARACTER}", manifest["arguments"])
        events = (self.folder / out / "events.jsonl").read_text(encoding="utf-8").splitlines()
        self.assertEqual(json.loads(events[0])["event"], "start")

    def test_whose_name_has_a_line_end_breaks_no_line(self):
        name = "runs/two\nlines\tand\x1b[31mred"
        shown = "runs/two\\u000alines\\u0009and\\u001b[31mred"
        config = self.write_config(CONFIG)
        self.assertIn(f"wrote {shown}\n", self.succeed("run", config, "--out", name).stderr)
        table = self.succeed("list", "runs", "runs",
                             env={**os.environ, "COLUMNS": "200"}).stdout.splitlines()
        self.assertEqual(len(table), 2)
        self.assertTrue(table[1].startswith(f"  {shown}  "))
        self.assertTrue(self.succeed("verify", name).stdout.startswith(f"checked {shown}\n"))
        self.assertTrue(self.succeed("compare", name, name).stdout.startswith(f"{shown} (B) less"))
        self.assertIn(f"\n{shown}\n\n", "\n" + self.succeed("show", name, name).stdout)
        self.refuse("run", config, "--out", name, "--set", "queries=51",
                    says=[f"{shown} holds another run"])
        faults = self.refuse("merge", "out", name, code=5).splitlines()
        self.assertEqual(faults[0], "cannot merge, nothing was written:")
        self.assertTrue(faults[1].startswith(f"  {shown}"), faults)
        self.refuse("show", name + "x", says=[f"{shown}x: no such folder"])

    def test_with_a_limit_on_file_sizes_is_an_error_and_leaves_no_half_file(self):
        config = self.write_config({"name": "big", "experiments": [
            {"name": "a", "d": 4, "queries": 2000, "samples": 1000}]})
        self.refuse("run", config, "--out", "out", code=1, says=["File too large"],
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
        self.assertEqual(list((self.folder / "out").glob("*.tmp")), [])

    def test_files_follow_the_umask(self):
        self.succeed("run", self.config, "--out", "a", "--quiet", umask=0o077)
        self.succeed("run", self.config, "--out", "b", "--quiet", umask=0o022)
        for name, mode in (("a", 0o600), ("b", 0o644)):
            for path in (self.folder / name).iterdir():
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode, path)


class SecondRunTest(FolderTest):
    def test_of_a_finished_run_prints_its_tables_and_changes_nothing(self):
        first = self.succeed("run", self.config, "--out", "a")
        before = self.snapshot("a")
        for options in ([], ["--threads", "1"], ["--force"]):
            again = self.succeed("run", self.config, "--out", "a", *options)
            self.assertEqual(again.stdout, first.stdout)
            self.assertIn("a holds this run already, finished", again.stderr)
            self.assertEqual(self.snapshot("a"), before)
        self.assertEqual(self.succeed("run", self.config, "--out", "a", "--quiet").stdout, "")
        self.assertEqual(self.succeed("show", "a").stdout, first.stdout)

    def test_ignores_words_that_change_no_number(self):
        self.succeed("run", self.config, "--out", "a", "--quiet")
        other = self.write_config("// note\n" + json.dumps({**CONFIG, "description": "others"},
                                                           indent=3), "other.json")
        self.succeed("run", other, "--out", "a", "--quiet")

    def test_of_another_run_is_refused_with_what_differs(self):
        self.succeed("run", self.config, "--out", "a", "--quiet")
        before = self.snapshot("a")
        for options, says in ((["--seed", "4"], ["/seed", "3 there", "4 here"]),
                              (["--set", "queries=41"], ["/experiments/0/queries", "40", "41"]),
                              (["--set", "d=[4,8]"], ["/experiments/0/d", "[4,16]", "[4,8]"]),
                              (["--set", "d=[4]"], ["/experiments/0/d", "[4] here"]),
                              (["--set", "name=other"], ["/name", '"tiny"', '"other"']),
                              (["--set", 'metrics=["slope"]'], ["/experiments/0/metrics"]),
                              (["--set", 'experiments=[{"d": 4}, {"d": 8}]'],
                               ["a holds another run: it has another list of experiments"])):
            self.refuse("run", self.config, "--out", "a", *options,
                        says=["a holds another run", "--force", "--out", *says])
        self.assertEqual(self.snapshot("a"), before)

    def test_replaces_another_run_when_forced_and_leaves_other_files_alone(self):
        config = self.write_config({**CONFIG, "experiments": [{**CONFIG["experiments"][0],
                                                               "samples": 5}]}, "samples.json")
        self.succeed("run", config, "--out", "a", "--quiet")
        (self.folder / "a" / "notes.txt").write_text("mine")
        self.succeed("run", self.config, "--out", "a", "--quiet", "--force")
        self.succeed("run", self.config, "--out", "b", "--quiet")
        self.assertEqual((self.folder / "a" / "notes.txt").read_text(), "mine")
        (self.folder / "a" / "notes.txt").unlink()
        self.assert_same_files(self.folder / "a", self.folder / "b")  # and no samples.csv

    def test_does_not_call_a_damaged_run_finished(self):
        for number, (name, damage, says) in enumerate((
                ("wide.csv", lambda path: path.unlink(), "wide.csv is missing"),
                ("summary.csv", lambda path: path.write_text("foo"), "summary.csv was changed"),
                ("manifest.json", lambda path: path.write_text("{"), "manifest.json"),
                ("manifest.json", lambda path: path.write_text("{}"), "manifest.json"),
                ("manifest.json", lambda path: path.write_text('{"version": 3, "config": {}, '
                                                               '"status": 1, "files": 2}'),
                 "manifest.json"))):
            out = f"run{number}"
            self.succeed("run", self.config, "--out", out, "--quiet")
            whole = promised_bytes(self.folder / out)
            damage(self.folder / out / name)
            self.refuse("run", self.config, "--out", out, says=[says, "--force", "--out"])
            self.succeed("run", self.config, "--out", out, "--quiet", "--force")
            self.assertEqual(promised_bytes(self.folder / out), whole)

    def test_refuses_a_folder_with_files_that_nothing_says_the_run_of(self):
        mine = self.folder / "summary.csv"
        mine.write_text("my own")
        self.refuse("run", self.config, "--out", ".", says=["summary.csv", "no manifest"])
        self.assertEqual(mine.read_text(), "my own")

    def test_replacing_a_run_takes_its_pictures_along(self):
        self.succeed("run", self.config, "--out", "a", "--quiet")
        (self.folder / "a" / "figures").mkdir()
        (self.folder / "a" / "figures" / "slope.svg").write_text("an old picture")
        self.succeed("run", self.config, "--out", "a", "--quiet", "--seed", "9", "--force")
        self.assertFalse((self.folder / "a" / "figures").exists())

    def test_says_that_an_interrupted_run_lost_its_checkpoint(self):
        long = self.write_config({**CONFIG, "experiments": [{**CONFIG["experiments"][0],
                                                             "queries": 10**9}]}, "long.json")
        answer = self.attnscale("run", long, "--out", "a", "--quiet", "--time-limit", "0.2")
        self.assertEqual(answer.returncode, 4, answer.stderr)
        (self.folder / "a" / "checkpoint.txt").unlink()
        answer = self.attnscale("run", long, "--out", "a", "--quiet", "--time-limit", "0.2")
        self.assertIn("it starts again", answer.stderr)


class MergeTest(FolderTest):
    def test_a_single_shard_is_a_shard_and_merges_to_the_run(self):
        self.succeed("run", self.config, "--out", "whole", "--quiet")
        self.succeed("run", self.config, "--out", "part", "--quiet", "--shard", "1/1")
        self.succeed("merge", "merged", "part", "--quiet")
        self.assert_same_files(self.folder / "whole", self.folder / "merged")

    def test_never_writes_over_one_of_its_shards(self):
        self.succeed("run", self.config, "--out", "part", "--quiet", "--shard", "1/1")
        before = self.snapshot("part")
        self.refuse("merge", "part", "part", "--force", says=["part", "one of the shards"])
        self.assertEqual(self.snapshot("part"), before)


class ToldMeanwhileTest(FolderTest):
    def test_quiet_prints_nothing_on_stdout_and_no_progress(self):
        answer = self.succeed("run", self.config, "--out", "a", "--quiet", "--progress", "bar")
        self.assertEqual((answer.stdout, answer.stderr), ("", "wrote a\n"))

    def test_progress_goes_to_stderr_only(self):
        tables = self.succeed("run", self.config, "--out", "never", "--progress", "never")
        self.assertEqual(tables.stderr, "wrote never\n")
        for form in ("plain", "bar", "auto"):
            answer = self.succeed("run", self.config, "--out", form, "--progress", form)
            self.assertEqual(answer.stdout, tables.stdout)
            self.assertEqual("%" in answer.stderr, form == "bar", answer.stderr)

    def on_a_terminal(self, out, **surroundings):
        """What a run writes to a terminal that is its stderr."""
        leader, follower = os.openpty()
        answer = subprocess.run([BINARY, "run",
                                 self.config, "--out", out], cwd=self.folder, stderr=follower,
                                stdout=subprocess.DEVNULL, env=surroundings, timeout=60)
        os.close(follower)
        self.assertEqual(answer.returncode, 0)
        text = os.read(leader, 100_000).decode()
        os.close(leader)
        return text

    def test_no_color_is_honoured_on_a_terminal(self):
        colour = "\x1b[32m"
        self.assertIn(colour, self.on_a_terminal("a", TERM="xterm"))
        plain = self.on_a_terminal("b", TERM="xterm", NO_COLOR="1")
        self.assertIn("%", plain)
        self.assertNotIn(colour, plain)

    def test_warns_of_softmax_metrics_at_one_key_once_and_goes_on(self):
        config = self.write_config({"name": "one",
                                    "experiments": [{"d": 4, "keys": 1, "queries": 9}]})
        answer = self.succeed("run", config, "--out", "a")
        self.assertRegex(answer.stderr, r"\Awarning: config\.json:1:\d+: /experiments/0: with one "
                                        r"key the weight is always 1")
        manifest = json.loads((self.folder / "a" / "manifest.json").read_text())
        self.assertEqual(len(manifest["warnings"]), 1)


if __name__ == "__main__":
    unittest.main()
