"""The shell scripts: clean for shellcheck, helpful, and right about what they install and run.

setup.sh and try_this.sh run in a copy of the tree's skeleton, where dpkg-query, apt-get, cmake and
the program are stand-ins that note how they were called.
"""

import os
import shlex
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHELL_SCRIPTS = sorted([*ROOT.glob("scripts/*.sh"), ROOT / ".ci" / "run"])

# Notes its name and arguments in $CALLS, then does what its body says.
STAND_IN = '#!/bin/bash\nprintf "%s\\n" "{name} $*" >> "$CALLS"\n{body}\n'
REAL_TOOLS = ["bash", "cat", "cut", "dirname", "env", "grep", "head", "mkdir", "mktemp", "nproc",
              "rm", "sed", "sha256sum", "sort", "tail", "touch"]


def call(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          **options)


class EveryScriptTest(unittest.TestCase):
    def test_shellcheck_finds_nothing(self):
        answer = call("shellcheck", *SHELL_SCRIPTS)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)

    def test_scripts_are_executable_and_stop_at_the_first_error(self):
        self.assertGreater(len(SHELL_SCRIPTS), 3)
        for script in SHELL_SCRIPTS:
            with self.subTest(script=script.name):
                self.assertTrue(os.access(script, os.X_OK))
                self.assertIn("\nset -euo pipefail\n", script.read_text())

    def test_help_goes_to_stdout_and_does_nothing(self):
        scripts = [ROOT / "scripts" / name
                   for name in ("plot.py", "report.py", "make_example_matrices.py")]
        for script in [*ROOT.glob("scripts/*.sh"), *scripts]:
            for option in ("--help", "-h"):
                with self.subTest(script=script.name, option=option):
                    answer = call(script, option, cwd="/")
                    self.assertEqual((answer.returncode, answer.stderr), (0, ""))
                    self.assertTrue(answer.stdout.startswith("usage: "), answer.stdout)


class SkeletonTest(unittest.TestCase):
    """A tree of scripts alone, and a PATH that holds little but stand-ins."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = Path(scratch.name).resolve()
        self.tree = self.scratch / "tree with a space"
        self.tools = self.scratch / "bin"
        (self.tree / "scripts").mkdir(parents=True)
        self.tools.mkdir()
        for name in REAL_TOOLS:
            (self.tools / name).symlink_to(shutil.which(name))
        self.calls_file = self.scratch / "calls"
        self.calls_file.touch()

    def stand_in(self, name, body="", folder=None):
        path = (folder or self.tools) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STAND_IN.format(name=name, body=body))
        path.chmod(0o755)

    def copy(self, *names):
        for name in names:
            shutil.copy(ROOT / "scripts" / name, self.tree / "scripts" / name)

    def run_script(self, name, *arguments, cwd="/"):
        environment = {"PATH": str(self.tools), "CALLS": str(self.calls_file)}
        return call(self.tree / "scripts" / name, *arguments, cwd=cwd, env=environment)

    def calls(self, name):
        return [line.rstrip() for line in self.calls_file.read_text().splitlines()
                if line.split()[0] == name]


class SetupTest(SkeletonTest):
    def setUp(self):
        super().setUp()
        self.copy("setup.sh", "packages.txt")
        self.stand_in("cmake")
        self.stand_in("apt-get")
        self.become(0)
        self.lacking()

    def become(self, user):
        self.stand_in("id", f"echo {user}")

    def lacking(self, *packages):
        self.stand_in("dpkg-query", f"""
            for argument; do
              case $argument in -*|*Status*|{"|".join(packages) or "none"}) ;;
                *) echo "installed $argument" ;;
              esac
            done""")

    def test_is_quiet_and_installs_nothing_where_nothing_is_missing(self):
        self.stand_in("attnscale", folder=self.tree / "build")
        answer = self.run_script("setup.sh")
        self.assertEqual((answer.returncode, answer.stdout, answer.stderr), (0, "", ""))
        self.assertEqual(self.calls("apt-get"), [])
        self.assertIn("cmake -G Ninja -B build -DATTNSCALE_BUILD_TESTS=OFF",
                      self.calls("cmake")[0])
        self.assertIn("--target programs", self.calls("cmake")[1])

    def test_refuses_an_option_that_it_does_not_know(self):
        answer = self.run_script("setup.sh", "--test")
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("unknown option --test; known are --tests", answer.stderr)
        self.assertEqual(self.calls("cmake"), [])

    def test_says_that_the_first_build_takes_its_time(self):
        answer = self.run_script("setup.sh")
        self.assertEqual((answer.returncode, answer.stdout), (0, ""))
        self.assertIn("takes minutes the first time", answer.stderr)
        self.stand_in("attnscale", folder=self.tree / "build")
        answer = self.run_script("setup.sh", "--tests")
        self.assertEqual((answer.returncode, answer.stdout), (0, ""))
        self.assertEqual(answer.stderr, "setup.sh: building the tests, which takes minutes the "
                                        "first time; see build/setup.log\n")
        self.stand_in("attnscale_tests", folder=self.tree / "build" / "tests")
        self.assertEqual(self.run_script("setup.sh", "--tests").stderr, "")

    def test_installs_what_is_missing_and_only_that(self):
        self.lacking("libhwy-dev", "g++")
        answer = self.run_script("setup.sh")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(len(self.calls("apt-get")), 1)
        self.assertTrue(self.calls("apt-get")[0].endswith(
            " install -y --no-install-recommends g++ libhwy-dev"))

    def test_fetches_the_package_lists_only_where_an_install_failed(self):
        self.lacking("g++")
        self.stand_in("apt-get", '[[ $* == *update* ]] && touch "$CALLS.new"; [[ -f $CALLS.new ]]')
        answer = self.run_script("setup.sh")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual([line.split()[3] for line in self.calls("apt-get")],
                         ["install", "update", "install"])

    def test_what_the_tests_need_is_installed_for_the_tests_alone(self):
        self.lacking("libgtest-dev")
        self.run_script("setup.sh")
        self.assertEqual(self.calls("apt-get"), [])
        self.run_script("setup.sh", "--tests")
        self.assertTrue(self.calls("apt-get")[0].endswith(" libgtest-dev"))
        self.assertIn("-DATTNSCALE_BUILD_TESTS=ON", self.calls("cmake")[2])

    def test_says_the_command_where_it_may_not_install(self):
        self.lacking("ninja-build")
        self.become(1000)
        for without in ("sudo", "password"):
            with self.subTest(without=without):
                answer = self.run_script("setup.sh")
                self.assertEqual(answer.returncode, 1)
                self.assertIn("apt-get update && apt-get install -y --no-install-recommends "
                              "ninja-build\n", answer.stderr)
                self.assertEqual(self.calls("apt-get") + self.calls("cmake"), [])
            self.stand_in("sudo", "exit 1")

    def test_uses_sudo_where_it_asks_for_no_password(self):
        self.lacking("ninja-build")
        self.become(1000)
        self.stand_in("sudo", '[[ $1 == -n ]] || exec "$@"')
        answer = self.run_script("setup.sh")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(len(self.calls("apt-get")), 1)

    def test_says_the_command_and_apts_words_where_installing_fails(self):
        self.lacking("g++")
        self.stand_in("apt-get", "echo no network; exit 100")
        answer = self.run_script("setup.sh")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("no network", answer.stderr)
        self.assertIn("apt-get install -y --no-install-recommends g++", answer.stderr)

    def test_names_the_packages_on_another_system_and_goes_on(self):
        (self.tools / "dpkg-query").unlink()
        answer = self.run_script("setup.sh")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("libhwy-dev", answer.stderr)

    def test_shows_a_build_that_fails(self):
        self.stand_in("cmake", "[[ $1 != --build ]] || { echo error: no such header; exit 1; }")
        answer = self.run_script("setup.sh")
        self.assertEqual(answer.returncode, 1)
        self.assertIn("error: no such header", answer.stderr)

    def test_a_clone_that_was_copied_or_moved_says_what_to_remove(self):
        (self.tree / "build").mkdir()
        cache = self.tree / "build" / "CMakeCache.txt"
        for other in (self.scratch, self.scratch / "gone"):
            cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={other}\n")
            answer = self.run_script("setup.sh")
            self.assertEqual((answer.returncode, answer.stdout), (1, ""))
            self.assertIn(f"setup.sh: build/ was made for a clone in {other}.\n", answer.stderr)
            remove = answer.stderr.splitlines()[-1]
            self.assertEqual(shlex.split(remove), ["rm", "-r", f"{self.tree}/build"])
            self.assertEqual(self.calls("cmake") + self.calls("apt-get"), [])
        call("bash", "-c", remove)  # what it says, works
        self.assertEqual(self.run_script("setup.sh").returncode, 0)
        (self.tree / "build").mkdir(exist_ok=True)
        cache.write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={self.tree}\n")
        self.assertEqual(self.run_script("setup.sh").returncode, 0)

    def test_a_clone_that_cannot_be_written_to_says_how_to_copy_it(self):
        answers = []
        (self.tree / "build" / "setup.log").mkdir(parents=True)  # as good as no permission
        answers.append(self.run_script("setup.sh"))
        self.stand_in("attnscale", folder=self.tree / "build")
        answers.append(self.run_script("setup.sh"))
        if os.getuid() == 0:  # whom no permission stops
            (self.tree / "build" / "setup.log").rmdir()
            (self.tree / "build" / "setup.log").write_text("the log of an earlier call")
            self.scratch.chmod(0o755)
            self.tools.joinpath("setpriv").symlink_to(shutil.which("setpriv"))
            answers.append(call(
                "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                self.tree / "scripts" / "setup.sh", cwd="/",
                env={"PATH": str(self.tools), "CALLS": str(self.calls_file)}))
        for answer in answers:
            self.assertEqual((answer.returncode, answer.stdout), (1, ""))
            self.assertIn(f"setup.sh: {self.tree}/build cannot be written to.", answer.stderr)
            self.assertNotIn("earlier call", answer.stderr)
            self.assertEqual(shlex.split(answer.stderr.splitlines()[-1])[:4],
                             ["cp", "-r", str(self.tree), "attnscale"])
        self.assertEqual(self.calls("cmake") + self.calls("apt-get"), [])
        self.assertNotIn("can be used as it is", answers[0].stderr)
        self.assertEqual(shlex.split(answers[1].stderr.splitlines()[1]),
                         [f"{self.tree}/build/attnscale", "run",
                          f"{self.tree}/configs/try_this.json"])

    def test_a_build_folder_keeps_its_generator(self):
        (self.tree / "build").mkdir()
        (self.tree / "build" / "CMakeCache.txt").touch()
        self.run_script("setup.sh")
        self.assertEqual(self.calls("cmake")[0], "cmake -B build")


class TestScriptTest(SkeletonTest):
    def setUp(self):
        super().setUp()
        self.copy("test.sh")
        self.stand_in("setup.sh", folder=self.tree / "scripts")
        self.stand_in("ctest", "exit 8")

    def test_leaves_labelled_tests_out_and_ends_with_ctests_exit_code(self):
        answer = self.run_script("test.sh", "-R", "softmax")
        self.assertEqual(answer.returncode, 8)
        self.assertEqual(self.calls("setup.sh"), ["setup.sh --tests"])
        self.assertIn(" -LE ^(slow|tidy|", self.calls("ctest")[0])
        self.assertTrue(self.calls("ctest")[0].endswith(")$ -R softmax"))

    def test_runs_slow_tests_where_a_label_is_asked_for(self):
        self.run_script("test.sh", "-L", "slow")
        self.assertTrue(self.calls("ctest")[0].endswith(" --no-tests=error -L slow"))

    def test_warnings_are_errors_for_continuous_integration(self):
        (self.tree / ".ci").mkdir()
        shutil.copy(ROOT / ".ci" / "run", self.tree / ".ci" / "run")
        answer = self.run_script("../.ci/run")
        self.assertEqual(answer.returncode, 8, answer.stderr)
        self.assertEqual(self.calls("setup.sh"),
                         ["setup.sh --tests -DCMAKE_COMPILE_WARNING_AS_ERROR=ON"])


class CheckAllTest(SkeletonTest):
    def setUp(self):
        super().setUp()
        self.copy("check_all.sh")
        self.stand_in("setup.sh", folder=self.tree / "scripts")

    def answer(self, tests, failures, skipped, *labels, code=0):
        """What check_all.sh prints last where ctest reports these numbers of tests."""
        self.stand_in("ctest", f"""
            while [[ $1 != --output-junit ]]; do shift; done
            printf '<testsuite tests="%d"\\n failures="%d"\\n skipped="%d">\\n' \\
              {tests} {failures} {skipped} > "$2"
            echo '<system-out>skipped: gadget is not installed' >> "$2"
            exit {code}""")
        answer = self.run_script("check_all.sh", *labels)
        return answer.returncode, answer.stdout.splitlines()[-1].split(None, 5)

    def test_ends_with_what_passed_failed_and_was_skipped_for_which_reason(self):
        reason = "skipped: gadget is not installed"
        code, row = self.answer(5, 0, 2, "tidy")
        self.assertEqual((code, row[:4], row[5]), (0, ["tidy", "3", "0", "2"], reason))
        code, row = self.answer(5, 1, 2, "slow", code=8)
        self.assertEqual((code, row[:4], row[5]), (1, ["slow", "2", "1", "2"], reason))

    def test_what_ctest_could_not_count_has_failed(self):
        code, row = self.answer(5, 0, 0, "fast", code=8)
        self.assertEqual((code, row[2], row[5]), (1, "1", "ctest ended with exit code 8"))

    def test_runs_every_label_and_refuses_another(self):
        self.answer(0, 0, 0)
        self.assertEqual(len(self.calls("ctest")), 7)
        answer = self.run_script("check_all.sh", "tiddy")
        self.assertEqual(answer.returncode, 2)
        self.assertIn("unknown label tiddy; known are fast slow tidy", answer.stderr)


class TryThisTest(SkeletonTest):
    def setUp(self):
        super().setUp()
        self.copy("try_this.sh")
        (self.tree / "scripts" / "plot.py").write_text("import sys\nprint('drew', sys.argv[1])\n")
        (self.tools / "python3").symlink_to(shutil.which("python3"))
        self.stand_in("setup.sh", folder=self.tree / "scripts")
        self.program("exit 0")

    def program(self, end):
        plan = 'if [ "$1" = plan ]; then echo "Results go to results/planned"; exit; fi\n'
        self.stand_in("attnscale", plan + 'mkdir -p "$4" && touch "$4/summary.csv"\n' + end,
                      folder=self.tree / "build")

    def runs(self):
        return [call for call in self.calls("attnscale") if call.startswith("attnscale run")]

    def out(self, number=0):
        return self.runs()[number].split(" --out ")[1].split(" --")[0].rstrip()

    def test_runs_the_lesson_and_draws_it(self):
        answer = self.run_script("try_this.sh", cwd=self.tree)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(self.runs(),
                         ["attnscale run configs/try_this.json --out results/planned"])
        self.assertIn("drew results/planned\n", answer.stdout)
        self.assertTrue(answer.stdout.endswith(
            "\nTry next\n  ./scripts/try_this.sh --set softmax.keys=128\n"
            "  ./build/attnscale softmax 16,8,0 --d 16\n"), answer.stdout)

    def test_does_not_suggest_a_change_to_who_made_one(self):
        answer = self.run_script("try_this.sh", "--set", "softmax.keys=128", cwd=self.tree)
        self.assertTrue(answer.stdout.endswith(
            "\nTry next\n  ./build/attnscale softmax 16,8,0 --d 16\n"), answer.stdout)

    def test_options_pass_on_to_run(self):
        self.run_script("try_this.sh", "--threads", "2", "--quiet")
        self.assertTrue(self.runs()[0].endswith("results/planned --threads 2 --quiet"))

    def test_draws_where_the_user_sends_the_run(self):
        for arguments in (["--out", "mine"], ["--out=mine"]):
            answer = self.run_script("try_this.sh", *arguments, cwd=self.scratch)
            self.assertIn(f"drew {self.scratch}/mine\n", answer.stdout)
        self.assertEqual(self.out(0), f"{self.scratch}/mine")
        self.assertEqual(self.out(1), f"{self.scratch}/mine")

    def test_a_changed_run_goes_where_the_program_plans_it(self):
        for arguments in (["--seed", "1"], ["--set", "d=[4, 16]"]):
            answer = self.run_script("try_this.sh", *arguments)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            changes = " ".join(arguments)
            self.assertEqual(self.calls("attnscale")[-2:],
                             [f"attnscale plan configs/try_this.json {changes}",
                              "attnscale run configs/try_this.json --out results/planned "
                              + changes])

    def test_a_run_short_of_its_precision_is_drawn_and_says_so(self):
        self.program("exit 3")
        answer = self.run_script("try_this.sh")
        self.assertEqual(answer.returncode, 3)
        self.assertIn("drew", answer.stdout)

    def test_a_refused_run_draws_nothing(self):
        self.program("exit 2")
        answer = self.run_script("try_this.sh", "--no-such-option")
        self.assertEqual((answer.returncode, answer.stdout), (2, ""))

    def test_an_option_without_its_value_is_left_to_the_program(self):
        for option in ("--seed", "--set", "--out"):
            self.run_script("try_this.sh", option)
            self.assertTrue(self.calls("attnscale")[-1].endswith(" " + option))


if __name__ == "__main__":
    unittest.main()
