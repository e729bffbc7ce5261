"""What clang-format and flake8 say of every file, and that no source computes with what differs
from machine to machine. cli/scripts_test.py asks shellcheck, tidy_test.py clang-tidy."""

import platform
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


# A type of 53, 64 or 113 bits, what promotes to it, and functions whose last bit libm chooses.
UNPORTABLE = re.compile(r"\blong\s+double\b|boost/math/|"
                        r"\bstd::(?:exp|exp2|expm1|log|log2|log10|log1p|pow|cbrt|hypot|a?sinh?|"
                        r"a?cosh?|a?tanh?|atan2|erfc?|[lt]gamma)[fl]?\(")
# The files whose numbers only a person reads.
FOR_DISPLAY = ["app/audit", "formula/number_words", "report/lesson_answers", "report/number_text"]


def unportable(text):
    """What of a source, comments apart, differs from machine to machine."""
    return UNPORTABLE.findall(re.sub(r"//.*", "", text))


class PortableTest(unittest.TestCase):
    def test_no_source_computes_with_what_differs_from_machine_to_machine(self):
        files = [path for path in tracked_files() if path.parts[0] == "src"
                 and path.suffix in (".h", ".cpp")]
        self.assertGreater(len(files), 200)
        for path in files:
            if path.relative_to("src").with_suffix("").as_posix() not in FOR_DISPLAY:
                with self.subTest(path=path):
                    self.assertEqual(unportable((ROOT / path).read_text()), [])

    def test_what_is_planted_is_found(self):
        for planted in ("long double x = 0;", "std::pow(x, y)", "x = std::logl(y);",
                        "#include <boost/math/special_functions/beta.hpp>", "std::erfc(x)"):
            self.assertEqual(len(unportable(f"int a;\n{planted}\n")), 1, planted)
        self.assertEqual(unportable("plain::exp(x); std::sqrt(y); // a long double\n"), [])

    @unittest.skipUnless(platform.machine() == "x86_64" and shutil.which("g++"),
                         "no g++ for x86-64")
    def test_kernels_compile_with_any_instruction_set_as_the_least(self):
        for machine in ("x86-64", "x86-64-v3", "x86-64-v4", "sapphirerapids"):
            answer = call("g++", "-std=c++20", "-fsyntax-only", f"-march={machine}", "-Isrc",
                          "src/numerics/vector_target.cpp")
            self.assertEqual(answer.returncode, 0, answer.stderr)


# What may be done in one place alone: print to the terminal, and read a file.
ONE_PLACE = {r"\bstd::(?:cerr|cout)\b|\bf?printf\(|\bfwrite\(|\bfputs\(": ["app/process"],
             r"\bstd::[io]?fstream\b|\bistreambuf_iterator\b|\bfopen\(": []}


class OnePlaceTest(unittest.TestCase):
    def test_what_has_one_place_is_done_nowhere_else(self):
        for path in tracked_files():
            if path.parts[0] != "src" or path.suffix not in (".h", ".cpp"):
                continue
            text = re.sub(r"//.*", "", (ROOT / path).read_text())
            for pattern, places in ONE_PLACE.items():
                if path.relative_to("src").with_suffix("").as_posix() not in places:
                    self.assertIsNone(re.search(pattern, text), (path, pattern))


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
