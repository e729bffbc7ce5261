"""What the program makes of its arguments: help, versions, refusals, and what goes where."""

import os
import signal
import subprocess
import time
import unittest

from attnscale_cli import BINARY, TRY_THIS, CommandLineTest

OPTIONS = {
    "run": ["--out DIR", "--set PATH=VALUE", "--seed N", "--threads N", "--shard I/N",
            "--time-limit SECONDS", "--progress MODE", "--quiet", "--force", "--help"],
    "plan": ["--set PATH=VALUE", "--seed N", "--format FORMAT", "--help"],
    "merge": ["--quiet", "--force", "--help"],
    "show": ["--format FORMAT", "--metric NAME", "--help"],
    "pool": ["--quiet", "--force", "--help"],
    "compare": ["--format FORMAT", "--help"],
    "softmax": ["--d N", "--help"],
    "audit": ["--d N", "--measured-sd X", "--d-model N", "--heads N", "--padded-d N",
              "--value-d N", "--layers N", "--help"],
    "plot": ["--metric M", "--x X", "--sort", "--out DIR", "--pdf", "--help"],
    "report": ["--out FILE", "--help"],
    "exact": ["--d N", "--keys N", r"--scaling PRESET\|FORMULA", "--metric NAME",
              "--reach LEVEL", "--format FORMAT", "--help"],
    "check": ["--d N", "--keys N", "--queries N", r"--scaling PRESET\|FORMULA", "--logit-sd X",
              "--top-weight X", "--format FORMAT", "--help"],
    "schema": ["--help"],
    "list": ["--format FORMAT", "--help"],
    "new": ["--help"],
}


class UsageTest(CommandLineTest):
    def test_help_names_every_command_and_every_exit_code(self):
        answer = self.succeed("--help")
        self.assertEqual(answer.stderr, "")
        for command in OPTIONS:
            self.assertRegex(answer.stdout, rf"(?m)^  {command} ")
        for code in range(6):
            self.assertRegex(answer.stdout, rf"\b{code} [a-z]")
        for spelling in ("-h", "help"):
            self.assertEqual(self.succeed(spelling).stdout, answer.stdout)

    def test_help_of_a_command_names_every_option_and_needs_nothing_else(self):
        for command, options in OPTIONS.items():
            answer = self.succeed(command, "--help")
            self.assertEqual(answer.stderr, "")
            self.assertTrue(answer.stdout.startswith(f"Usage: attnscale {command}"))
            for option in options:
                self.assertRegex(answer.stdout, rf"(?m)^  {option} ", command)
            self.assertEqual(self.succeed(command, "-h").stdout, answer.stdout)
            self.assertEqual(self.succeed("help", command).stdout, answer.stdout)
            self.assertEqual(self.succeed("--help", command).stdout, answer.stdout)

    def test_help_fits_a_page_of_100_columns(self):
        for command in [[], *([name] for name in OPTIONS)]:
            for line in self.succeed(*command, "--help").stdout.splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_no_arguments_print_the_usage_on_stderr_and_exit_2(self):
        self.assertEqual(self.refuse(), self.succeed("--help").stdout)

    def test_version_tells_what_was_built(self):
        text = self.succeed("--version").stdout
        self.assertRegex(text, r"\Aattnscale \d+\.\d+\.\d+\ncommit ")
        for part in ("compiler ", "boost ", "nlohmann_json ", "random123 ", "highway ", "vector"):
            self.assertRegex(text, rf"(?m)^{part}")

        for spelling in ("-V", "version"):
            self.assertEqual(self.succeed(spelling).stdout, text)

    def test_version_comes_at_once(self):
        durations = []
        for _ in range(5):
            start = time.perf_counter()
            self.succeed("--version")
            durations.append(time.perf_counter() - start)
        print(f"attnscale --version: {1000 * min(durations):.1f} ms at best of 5")
        self.assertLess(min(durations), 0.5)  # 20 ms are promised; a busy machine is allowed more

    def test_words_after_version_are_refused(self):
        self.refuse("--version", "run", says=["--version", '"run"'])

    def test_unknown_commands_are_answered_with_the_nearest(self):
        self.refuse("rnu", says=['unknown command "rnu"', 'did you mean "run"?', "softmax"])
        self.refuse("sofmax", "1,2", says=['did you mean "softmax"?'])
        self.refuse("--versio", says=['did you mean "--version"?'])
        self.refuse("help", "sho", says=['did you mean "show"?'])
        self.refuse("zzzzzz", says=["Allowed: run, plan, "])
        self.refuse("", says=['unknown command ""'])

    def test_options_are_never_guessed_from_an_abbreviation(self):
        for wrong, right in [("--thr", "--threads"), ("--thread", "--threads"),
                             ("--seeed", "--seed"), ("--prog=never", "--progress"),
                             ("--fo", "--force"), ("--treads", "--threads"), ("--Out", "--out")]:
            says = [f'unknown option "{wrong.split("=")[0]}"']
            if len(wrong) > 4:
                says.append(f'did you mean "{right}"?')
            self.refuse("run", TRY_THIS, wrong, "2", says=says)
        self.refuse("run", TRY_THIS, "--thr", "2", says=["Allowed: --out, --set, --seed"])

    def test_options_of_other_commands_and_short_ones_are_unknown(self):
        self.refuse("run", TRY_THIS, "--format", "csv", says=['unknown option "--format"'])
        self.refuse("plan", TRY_THIS, "--threads", "2", says=['unknown option "--threads"'])
        self.refuse("run", TRY_THIS, "-t", "2", says=['unknown option "-t"'])
        self.refuse("softmax", "-d", "4", "1,2", says=['did you mean "--d"?'])
        self.refuse("run", "--word", TRY_THIS, says=['unknown option "--word"'])

    def test_missing_and_surplus_arguments_are_named(self):
        self.refuse("run", says=["attnscale run: no config given", "run --help"])
        self.refuse("run", "", says=["no config given"])
        self.refuse("run", TRY_THIS, "second.json", says=['"second.json"'])
        self.refuse("plan", says=["attnscale plan: no config given"])
        self.refuse("merge", says=["attnscale merge: "])
        self.refuse("merge", "out", says=["attnscale merge: "])
        self.refuse("show", says=["attnscale show: no run's folder given"])
        self.refuse("show", "", says=["attnscale show: no run's folder given"])
        for words in (["compare", "a", ""], ["merge", "a", ""], ["pool", "a", "", "b"],
                      ["show", "a", ""], ["report", "", "a"], ["list", "runs", ""]):
            self.refuse(*words, says=[f"attnscale {words[0]}: a name is empty"])
        self.refuse("softmax", says=["no list of scores given"])
        self.refuse("list", says=["scalings, laws, metrics, precisions, samplers, runs"])
        self.refuse("list", "metric", says=['did you mean "metrics"?'])
        self.refuse("list", "laws", "metrics", says=['"metrics"'])
        self.refuse("schema", "x", says=['"x"'])

    def test_an_option_is_not_the_value_of_the_one_before_it(self):
        self.refuse("run", TRY_THIS, "--threads", says=["--threads", "needs N"])
        self.refuse("run", TRY_THIS, "--out", "--quiet", says=["--out needs DIR", "--quiet"])
        self.refuse("run", TRY_THIS, "--threads=", says=["--threads"])
        self.refuse("run", TRY_THIS, "--out", "", says=["--out needs a folder"])
        self.refuse("run", TRY_THIS, "--quiet=1", says=["--quiet"])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_an_option_given_twice_is_refused(self):
        for option in (["--seed", "1"], ["--threads", "1"], ["--out", "a"], ["--quiet"],
                       ["--progress", "never"], ["--shard", "1/2"], ["--time-limit", "9"]):
            self.refuse("run", TRY_THIS, *option, *option, says=[option[0], "twice"])

    def test_bad_values_are_refused_with_what_is_allowed(self):
        bad = {
            "--threads": (["0", "-1", "1.5", "abc", "+2", " 2", "1e1", "99999", "0x2"],
                          "1 to 1024"),
            "--seed": (["9007199254740992", "-1", "1.5", "abc", "1e3", "99999999999999999999"],
                       "0 to 9007199254740991"),
            "--shard": (["0/3", "4/3", "a", "1", "1/", "/3", "1/2/3", "-1/3", "1/0", "1.5/3"],
                        "such as 2/7"),
            "--time-limit": (["0", "nan", "inf", "-1", "abc", "1e400", "1s"], "seconds above 0"),
            "--progress": (["foo", "BAR", "1"], "auto, bar, plain, never"),
        }
        for option, (values, allowed) in bad.items():
            for value in values:
                self.refuse("run", TRY_THIS, option, value,
                            says=[f"attnscale run: {option}", f'"{value}"', allowed])
        for value in ("tabel", "markdown"):
            self.refuse("plan", TRY_THIS, "--format", value, says=["table, csv, json"])
        self.refuse("show", "x", "--format", "xml", says=["table, markdown, csv, json"])
        self.refuse("softmax", "1,2", "--d", "0", says=["--d", '"0"'])
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_overrides_that_are_none_are_refused(self):
        for value in ("foo", "=3", ""):
            self.refuse("run", TRY_THIS, "--set", value, says=["PATH=VALUE"])

    def test_overrides_that_are_no_text_are_refused(self):
        for value in (b"description=\xff", b'description=["\xff"]', b"name=\xc3"):
            self.refuse("run", TRY_THIS, "--set", os.fsdecode(value), says=["UTF-8"],
                        errors="replace")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_place_that_is_not_there_is_named_as_it_was_written(self):
        answer = self.refuse("run", TRY_THIS, "--set", "/experiments/0/d/~2=1")
        self.assertIn("there is nothing at /experiments/0/d/~2", answer)

    def test_a_config_may_come_through_a_pipe_but_must_end(self):
        text = TRY_THIS.read_text(encoding="utf-8")
        from_file = self.succeed("plan", TRY_THIS).stdout
        self.assertEqual(self.succeed("plan", "/dev/stdin", input=text).stdout, from_file)
        self.refuse("plan", "/dev/zero", says=["/dev/zero", "larger than 16 MiB"])

    def test_configs_that_cannot_be_read_are_named(self):
        self.refuse("run", "absent.json", says=["absent.json", "No such file"])
        self.refuse("run", ".", says=["is a folder"])
        self.refuse("show", "absent", says=["absent", "no such folder"])
        self.refuse("show", ".", says=["holds no finished run"])
        self.succeed("run", TRY_THIS, "--set", "queries=20", "--shard", "1/3", "--out", "share")
        self.refuse("show", "share",
                    says=["share: holds shard 1 of 3 of a run", "attnscale merge"])
        self.refuse("show", TRY_THIS, says=["is a file; expected the folder"])

    def test_lists_of_scores_are_read_strictly(self):
        for bad in ("1,,2", ",", "1,", ",1", "1 2", "nan,1", "inf,0", "1e400,0", "0x10,1", "+-1,2",
                    "[1,2]", "1;2", " "):
            self.refuse("softmax", bad, says=["attnscale softmax: scores are numbers", "16,8,0"])
        self.refuse("softmax", "", says=["no list of scores"])
        self.refuse("softmax", "-x", says=['unknown option "-x"'])
        self.refuse("softmax", "16", "8", "0", says=['"8"'])


class ControlCharactersTest(CommandLineTest):
    """A terminal obeys what stands in names, paths and files of others: it is not shown them."""

    ESCAPES = ["\x1b[31m", "\x9b31m", "\r", "\x07"]

    def printed(self, *arguments, **options):
        answer = self.attnscale(*arguments, text=False, **options)
        shown = answer.stdout + answer.stderr
        for number in [*range(9), *range(11, 32), 127]:
            self.assertNotIn(number, shown, (arguments, shown))
        for number in range(0x80, 0xA0):
            self.assertNotIn(b"\xc2" + bytes([number]), shown, (arguments, shown))
        return shown.decode("utf-8")  # and nothing that is not text

    def test_of_arguments(self):
        for escape in self.ESCAPES:
            for arguments in (
                    [f"c{escape}"], ["run", f"c{escape}.json"], ["run", TRY_THIS, f"--{escape}"],
                    ["run", TRY_THIS, "--set", f"a{escape}=1"],
                    ["run", TRY_THIS, "--set", f'name="{escape}"'],
                    ["run", TRY_THIS, "--threads", escape], ["run", TRY_THIS, "--shard", escape],
                    ["merge", f"m{escape}", f"s{escape}"], ["show", f"r{escape}"],
                    ["verify", f"r{escape}"], ["softmax", f"1,{escape}"], ["list", escape],
                    ["plan", TRY_THIS, "--format", escape],
                    ["audit", "--queries", f"q{escape}", "--keys", "k", "--weights", "w"],
                    ["audit", "--d", "4", "--like", f"q.k * {escape}"]):
                shown = self.printed(*arguments)
                self.assertRegex(shown, r"\\u00(1b\[31m|9b31m|0d|07)", arguments)

    def test_of_marks_that_turn_text(self):
        for mark in "\u202e\u2066\u200f\u2028":
            message = self.refuse("run", f"a{mark}b.json")
            self.assertIn(f"a\\u{ord(mark):04x}b.json", message)
            self.assertNotIn(mark, message)

    def test_of_the_folder(self):
        out = "a\x1b[31mb"
        wrote = self.printed("run", TRY_THIS, "--set", "queries=20", "--out", out)
        self.assertIn(r"wrote a\u001b[31mb", wrote)
        self.assertTrue((self.folder / out / "summary.csv").exists())
        self.assertIn(r"a\u001b[31mb holds this run already",
                      self.printed("run", TRY_THIS, "--set", "queries=20", "--out", out))
        for command in ("show", "verify"):
            self.printed(command, out)
        strange = os.fsdecode(b"x\x9b\xff")
        self.assertIn(r"wrote x\x9b\xff",
                      self.printed("run", TRY_THIS, "--set", "queries=20", "--out", strange))

    def test_of_configs_and_of_files(self):
        for text in ('{"name": "a", "experiments": [{"d": 4, "\\u001b[31m": 1}]}',
                     '{"name": "a", "experiments": [{"d": 4, "\\u009b31m": 1}]}',
                     '{"name": "a", "experiments": [{"d": \x1b[31m}]}',
                     '{"name": "a", "experiments": [{"d": "\\u009b31m"}]}',
                     '{"name": "a", "experiments": [{"given": {"scores": "s.csv"}}]}'):
            (self.folder / "s.csv").write_text("1,2\n\x1b[31mx,1\n")
            self.assertRegex(self.printed("run", self.write_config(text)),
                             r"u00[19]b\[?31m|0x1b")

    def test_of_the_files_of_a_run(self):
        self.printed("run", TRY_THIS, "--set", "queries=20", "--out", "run")
        for name in ("summary.csv", "manifest.json", "crossings.csv", "config.json"):
            path = self.folder / "run" / name
            text = path.read_text()
            path.write_text(text.replace("try_this", "try\x1b[31m").replace(
                "none = q.k", r"none\u001b[31m\u009b31m = q.k"))
            for command in (["show", "run"], ["show", "run", "--format", "csv"],
                            ["show", "run", "--format", "markdown"], ["verify", "run"],
                            ["run", TRY_THIS, "--set", "queries=20", "--out", "run"]):
                self.printed(*command)
            path.write_text(text)

    def test_of_the_environment(self):
        for name in ("COLUMNS", "NO_COLOR", "TERM", "HOME", "LANG"):
            self.printed("plan", TRY_THIS, env={**os.environ, name: "\x1b[31m"})


class OutputTest(CommandLineTest):
    def test_stdout_carries_only_what_was_asked_for(self):
        answer = self.succeed("run", TRY_THIS, "--set", "queries=20", "--out", "run")
        self.assertIn("spread", answer.stdout)
        self.assertNotIn("wrote", answer.stdout)
        self.assertEqual(answer.stderr, "wrote run\n")
        for command in (["schema"], ["list", "laws"], ["softmax", "1,2"], ["plan", TRY_THIS],
                        ["show", "run"]):
            self.assertEqual(self.succeed(*command).stderr, "", command)

    def test_a_full_or_closed_stdout_is_an_error(self):
        commands = [["--version"], ["--help"], ["schema"], ["list", "metrics"], ["softmax", "1,2"],
                    ["plan", TRY_THIS],
                    ["run", TRY_THIS, "--set", "queries=20", "--out", "run"], ["show", "run"]]
        for command in commands:
            with open("/dev/full", "w") as full:
                answer = self.attnscale(*command, capture_output=False, stdout=full,
                                        stderr=subprocess.PIPE)
            self.assertEqual(answer.returncode, 1, command)
            self.assertRegex(answer.stderr, r"cannot write to standard output: No space left")
            answer = self.attnscale(*command, capture_output=False, stderr=subprocess.PIPE,
                                    preexec_fn=lambda: os.close(1))
            self.assertEqual(answer.returncode, 1, command)
            self.assertIn("cannot write to standard output", answer.stderr)
        # what could not be printed is measured and kept all the same
        answer = self.succeed("run", TRY_THIS, "--set", "queries=20", "--out", "run")
        self.assertIn("finished; nothing to do", answer.stderr)

    def test_closed_standard_files_never_become_files_of_a_run(self):
        def close_all():
            for number in range(3):
                os.close(number)
        command = ["run", TRY_THIS, "--set", "queries=20", "--progress", "bar", "--out"]
        self.succeed(*command, "open")
        self.attnscale(*command, "closed", capture_output=False, preexec_fn=close_all)
        self.assert_same_files(self.folder / "open", self.folder / "closed")
        events = (self.folder / "closed" / "events.jsonl").read_text().splitlines()
        self.assertTrue(all(line.startswith('{"time":') for line in events), events)

    def test_a_reader_that_goes_away_ends_it_quietly(self):
        reader, writer = os.pipe()
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            answer = self.attnscale("schema", capture_output=False, stdout=pipe,
                                    stderr=subprocess.PIPE)
        self.assertEqual((answer.returncode, answer.stderr), (-signal.SIGPIPE, ""))
        head = subprocess.run(f"'{BINARY}' schema | head -n 1", shell=True, capture_output=True,
                              text=True, cwd=self.folder)
        self.assertEqual((head.stdout, head.stderr), ("{\n", ""))


if __name__ == "__main__":
    unittest.main()
