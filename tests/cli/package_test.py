"""The Debian package: made twice, checked by lintian, installed into an empty root and used there.
Skips with a sentence where help2man or lintian is missing."""
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from attnscale_cli import ROOT

missing = [tool for tool in ("help2man", "lintian", "dpkg") if not shutil.which(tool)]


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.made = [cls.make(f"clone {place}") for place in ("here", "in another place")]

    @classmethod
    def make(cls, name):
        """The files that package.sh writes, by name, from a copy of what the tree holds."""
        source = cls.scratch / name
        source.mkdir()
        listed = run("git", "-C", ROOT, "ls-files", "-z", check=True).stdout.split("\0")
        for file in filter(None, listed):
            (source / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, source / file)
        out = cls.scratch / f"out of {name}"
        done = run(source / "scripts" / "package.sh", out,
                   env={**os.environ, "SOURCE_DATE_EPOCH": "1764504000"})
        if done.returncode:
            log = (out / "package.log").read_text()[-4000:]
            raise AssertionError(done.stdout + done.stderr + log)
        return {path.name: path for path in out.iterdir() if path.suffix in (".deb", ".gz")}

    def deb(self):
        return next(path for name, path in self.made[0].items() if name.endswith(".deb"))

    def test_two_builds_give_the_same_bytes(self):
        sums = [{name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in made.items()}
                for made in self.made]
        self.assertEqual(len(sums[0]), 2)
        self.assertEqual(sums[0], sums[1])

    def test_lintian_has_nothing_to_say(self):
        done = run("lintian", "--fail-on", "error,warning", self.deb())
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_the_package_alone_runs_the_lesson(self):
        root = self.scratch / "root"
        (root / "var/lib/dpkg/updates").mkdir(parents=True)
        (root / "var/lib/dpkg/info").mkdir()
        for name in ("status", "available"):
            (root / "var/lib/dpkg" / name).touch()
        done = run("dpkg", f"--root={root}", "--force-depends", "--force-not-root",
                   "--force-script-chrootless", "--install", self.deb())
        self.assertEqual(done.returncode, 0, done.stderr)
        program = root / "usr/bin/attnscale"
        began = time.monotonic()
        done = run(program, "run", "try_this", cwd=self.scratch)
        seconds = time.monotonic() - began
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("\nAnswers\n", done.stdout)
        print(f"the lesson from the package: {seconds:.2f} s")
        libraries = {line.split()[0].split(".so")[0] for line in
                     run("ldd", program, check=True).stdout.splitlines()}
        self.assertLessEqual(libraries, {"linux-vdso", "libc", "libm", "libz",
                                         "/lib64/ld-linux-x86-64"})
        for file in ("share/man/man1/attnscale.1.gz", "share/attnscale/configs/schema.json",
                     "share/attnscale/scripts/plot.py", "share/doc/attnscale/copyright",
                     "share/doc/attnscale/changelog.gz",
                     "share/bash-completion/completions/attnscale",
                     "share/zsh/vendor-completions/_attnscale"):
            self.assertTrue((root / "usr" / file).is_file(), file)
        done = run(program, "plot", "results/try_this", cwd=self.scratch)
        self.assertEqual(done.returncode, 0, done.stderr)

        for shell, file in (("bash", "bash-completion/completions/attnscale"),
                            ("zsh", "zsh/vendor-completions/_attnscale")):
            if shutil.which(shell):
                done = run(shell, "-n", root / "usr/share" / file)
                self.assertEqual((done.returncode, done.stderr), (0, ""), shell)


if __name__ == "__main__":
    if missing:
        print(f"skipped: {' and '.join(missing)} missing: apt-get install help2man lintian")
        sys.exit(77)
    unittest.main()
