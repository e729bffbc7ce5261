"""What clang-format and flake8 say of every file. cli/scripts_test.py asks shellcheck, tidy_test.py
clang-tidy."""

import re
import shutil
import subprocess
import sys
import unittest

from includes_test import ROOT, tracked_files


def call(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def tracked(*suffixes):
    return [str(path) for path in tracked_files() if path.suffix in suffixes]


def clang_format():
    """The program of Debian 12: other versions lay pages out differently."""
    for name in ("clang-format-14", "clang-format"):
        if (path := shutil.which(name)) and " version 14." in call(path, "--version").stdout:
            return path
    return None


class StyleTest(unittest.TestCase):
    @unittest.skipUnless(clang_format(), "clang-format 14 is not installed")
    def test_clang_format_would_change_nothing(self):
        files = tracked(".h", ".cpp")
        self.assertGreater(len(files), 200)
        answer = call(clang_format(), "--dry-run", "-Werror", *files)
        self.assertEqual(answer.returncode, 0, answer.stderr)

    @unittest.skipIf(call(sys.executable, "-m", "flake8", "--version").returncode,
                     "python3-flake8 is not installed")
    def test_flake8_finds_nothing(self):
        files = tracked(".py")
        self.assertGreater(len(files), 25)
        answer = call(sys.executable, "-m", "flake8", "--isolated", "--max-line-length=100", *files)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)


class LabelsTest(unittest.TestCase):
    """What check_all.sh runs is what everything else leaves out."""

    def test_every_label_is_known_to_the_scripts_and_presets(self):
        names = re.search(r"^labels=\((.+)\)$", (ROOT / "scripts/check_all.sh").read_text(), re.M)
        labels = names[1].split()
        left_out = "^(" + "|".join(labels) + ")$"
        self.assertIn(f"labels=(-LE '{left_out}')", (ROOT / "scripts/test.sh").read_text())
        self.assertIn(f'"label": "{left_out}"', (ROOT / "CMakePresets.json").read_text())
        used = re.findall(r"LABELS (\w+)", (ROOT / "tests/CMakeLists.txt").read_text())
        self.assertIn("tidy", used)
        self.assertLessEqual(set(used), set(labels))


if __name__ == "__main__":
    unittest.main()
