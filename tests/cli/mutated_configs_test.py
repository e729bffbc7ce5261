"""usage: mutated_configs_test.py [slow | NUMBER...]

Configs changed by chance go through the program: each is refused with a sentence and leaves
nothing, or is measured, and then can be shown, verified, drawn and measured again to the same
bytes. No signal, no processor time beyond the limit. `slow` takes 10,000 of them; a NUMBER is one.
"""

import contextlib
import io
import os
import resource
import runpy
import shutil
import signal
import subprocess
import sys
import threading
import traceback
import unittest

from attnscale_cli import BINARY, ROOT, SANITIZER, SLOWDOWN, CommandLineTest, promised_bytes
from config_mutator import ConfigMutator

SLOW = sys.argv[1:] == ["slow"]
NUMBERS = range(10_000) if SLOW else [int(word) for word in sys.argv[1:]] or range(100)
TIME_LIMIT, MOST_SECONDS = 2, 5
MOST_BYTES = 4 << 30
# verify is wrong once in a thousand right runs. Of those that finish, more than this many false
# alarms have a chance of one in a thousand.
MOST_ALARMS = 4 if SLOW else 1
UNFINISHED = {"checkpoint.txt", "manifest.json", "events.jsonl"}


def set_limits():
    if not SANITIZER:  # which takes terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (60 * SLOWDOWN, 60 * SLOWDOWN))


class Ended:
    """The program after it ran: its exit code (a signal's is negative), messages, and the processor
    seconds it took."""

    def __init__(self, folder, *arguments):
        with open(folder / "messages", "w+b") as messages:
            process = subprocess.Popen([BINARY, *map(str, arguments)], cwd=folder,
                                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
                                       stderr=messages, preexec_fn=set_limits)
            timer = threading.Timer(300, process.kill)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
            messages.seek(0)
            self.said = messages.read().decode(errors="replace")
        self.code = process.returncode
        self.seconds = usage.ru_utime + usage.ru_stime


def draw(folder):
    """The exit code of plot.py, in a copy of this process, which has loaded its libraries."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            sys.path.insert(0, str(ROOT / "scripts"))
            sys.argv = ["plot.py", str(folder)]
            with contextlib.redirect_stdout(io.StringIO()):
                runpy.run_path(str(ROOT / "scripts" / "plot.py"), run_name="__main__")
            code = 0
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class MutatedConfigsTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        shutil.copytree(ROOT / "configs" / "example_matrices", self.folder / "example_matrices")
        self.out = self.folder / "out"

    def run_program(self, *arguments, codes):
        ended = Ended(self.folder, *arguments)
        self.assertIn(ended.code, codes, (arguments, ended.said[-2000:]))
        self.assertNotIn("exception", ended.said)
        return ended

    def test_no_config_is_too_much(self):
        mutator, counts, alarms = ConfigMutator(), {}, []
        for number in NUMBERS:
            content = mutator.config(number)
            with self.subTest(number=number, config=content.decode(errors="replace")[:2000]):
                (self.folder / "c.json").write_bytes(content)
                shutil.rmtree(self.out, ignore_errors=True)
                ended = self.run_program("run", "c.json", "--out", "out", "--quiet", "--threads", 1,
                                         "--time-limit", TIME_LIMIT, codes=(0, 2, 3, 4))
                counts[ended.code] = counts.get(ended.code, 0) + 1
                self.assertLess(ended.seconds, MOST_SECONDS * SLOWDOWN)
                if ended.code == 2:
                    self.assert_refused(ended)
                elif ended.code == 4:
                    # A program that must end within a second of its limit may leave its lock.
                    names = {path.name for path in self.out.glob("*")} - {".lock"}
                    if names - UNFINISHED:  # on a busy machine it was cut off while it wrote
                        code = self.run_program("run", "c.json", "--out", "out", "--quiet",
                                                codes=(0, 3)).code
                        self.assert_usable(code, number, alarms)
                    else:
                        self.assertIn(names, (UNFINISHED, set()))
                else:
                    self.assert_usable(ended.code, number, alarms)
        said = ", ".join(f"{counts[code]} ended with {code}" for code in sorted(counts))
        print(f"{len(NUMBERS)} configs: {said}; verify doubts {alarms}")
        self.assertLessEqual(len(alarms), MOST_ALARMS)

    def assert_refused(self, ended):
        self.assertFalse(self.out.exists())
        self.assertRegex(ended.said, r"\S")
        self.assertLess(len(ended.said), 5000)

    def assert_usable(self, code, number, alarms):
        self.run_program("show", "out", codes=(0,))
        if self.run_program("verify", "out", codes=(0, 5)).code == 5:
            alarms.append(number)
        self.run_program("run", "c.json", "--out", "out", "--quiet", codes=(code,))
        if SLOW or number % 8 == 0:
            self.assertEqual(draw(self.out), 0)
            shutil.rmtree(self.out / "figures")
        self.run_program("run", "out/config.json", "--out", "again", "--quiet", "--threads", 3,
                         codes=(code,))
        self.assert_same(self.folder / "again")
        if number % 4 == 0:
            for share in (1, 2):
                self.run_program("run", "c.json", "--out", f"share{share}", "--shard",
                                 f"{share}/2", "--quiet", codes=(0,))
            self.run_program("merge", "merged", "share2", "share1", "--quiet", codes=(code,))
            self.assert_same(self.folder / "merged")
            shutil.rmtree(self.folder / "share1")
            shutil.rmtree(self.folder / "share2")

    def assert_same(self, other):
        self.assertTrue(promised_bytes(self.out) == promised_bytes(other), other.name)
        shutil.rmtree(other)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    import matplotlib  # noqa: F401  draw() shall not load these each time
    import pandas  # noqa: F401
    unittest.main(argv=sys.argv[:1])
