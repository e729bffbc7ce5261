"""What a shell completes, asked of bash itself, ready configs found by their names, and the program
and its scripts where they are installed."""
import subprocess
import unittest
from pathlib import Path

from attnscale_cli import BINARY, TRY_THIS, CommandLineTest


class CompletionTest(CommandLineTest):
    def complete(self, *words):
        """What bash offers for the last of these words."""
        script = (f'eval "$({BINARY} completion bash)"; COMP_WORDS=("$@"); '
                  'COMP_CWORD=$(($# - 1)); _attnscale; printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", script, "bash", "attnscale", *words], cwd=self.folder,
                              capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_commands_of_the_help(self):
        listed = [line.split()[0] for line in self.attnscale("--help").stdout.splitlines()
                  if line.startswith("  ") and line[2:3].islower()]
        self.assertIn("run", listed)
        self.assertEqual(sorted(self.complete("")), sorted([*listed, "--help", "--version"]))
        self.assertEqual(self.complete("ver"), ["verify"])

    def test_every_option_of_every_command(self):
        for command in self.complete(""):
            if command.startswith("--"):
                continue
            shown = self.attnscale(command, "--help").stdout
            options = {word for line in shown.splitlines() for word in line.split()[:1]
                       if word.startswith("--")}
            self.assertEqual(set(self.complete(command, "--")), options, command)

    def test_choices_are_those_that_the_option_takes(self):
        (self.folder / "a.json").write_text(
            '{"name": "a", "experiments": [{"d": 4, "keys": 8, "queries": 10}]}')
        offered = self.complete("plan", "--format", "")
        self.assertIn("csv", offered)
        for word in offered:
            self.assertEqual(self.attnscale("plan", "a.json", "--format", word).returncode, 0)
        self.assertEqual(self.complete("run", "--progress", "b"), ["bar"])

    def test_files_lists_and_shells(self):
        (self.folder / "mine.json").touch()
        self.assertEqual(self.complete("run", "mi"), ["mine.json"])
        self.assertEqual(self.complete("list", "sc"), ["scalings"])
        self.assertEqual(self.complete("completion", ""), ["bash", "zsh"])

    def test_an_unknown_shell_is_named(self):
        self.refuse("completion", "fish", says=["bash, zsh"])

    def test_a_ready_config_is_found_by_its_name(self):
        by_name = self.attnscale("plan", "try_this", "--format", "csv")
        by_path = self.attnscale("plan", TRY_THIS, "--format", "csv")
        self.assertEqual((by_name.returncode, by_name.stdout), (0, by_path.stdout))
        (self.folder / "try_this").write_text(
            '{"name": "mine", "experiments": [{"d": 4, "keys": 8}]}')
        self.assertIn("mine", self.attnscale("plan", "try_this", "--format", "csv").stdout)
        self.refuse("plan", "try_that", says=["try_that"])

    def test_what_is_installed_draws_and_writes_pages_alone(self):
        build, place = Path(BINARY).parent, self.folder / "installed"
        if not (build / "cmake_install.cmake").exists():
            self.skipTest("the program is not in a build folder")
        subprocess.run(["cmake", "--install", build, "--prefix", place], check=True,
                       capture_output=True)
        run = self.run_config({"name": "drawn", "experiments": [{"d": 4, "queries": 50}]}, "run")
        for command, written in (("plot", "figures/top_weight.png"), ("report", "report.html")):
            done = subprocess.run([place / "bin" / "attnscale", command, run],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((run / written).exists(), done.stdout)


if __name__ == "__main__":
    unittest.main()
