"""usage: arm_test.py FOLDER

The program for 64-bit Arm gives the bytes of the one for x86-64. FOLDER is where Debian's arm64
packages are unpacked and the program is built, by a cross compiler; an emulator runs it. What is
there already is used again. Exits with 77 where a tool or a package is missing."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from attnscale_cli import ROOT, TRY_THIS, CommandLineTest
from telling_configs import CUBE_ROOTS, NARROW

COMPILER = "aarch64-linux-gnu-g++"
LIBRARIES = "/usr/aarch64-linux-gnu"
EMULATOR = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
FOLDER = Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build" / "tests" / "arm"
PROGRAM = FOLDER / "build" / "attnscale"


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def run(*command):
    """The ended process, its output in one text."""
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def build():
    for name, package in ((COMPILER, "g++-aarch64-linux-gnu"), (EMULATOR, "qemu-user-static"),
                          ("apt-get", "apt"), ("dpkg", "dpkg")):
        if not (name and shutil.which(name)):
            skip(f"{package} is not installed")
    answer = run(ROOT / "tests" / "support" / "arm_sysroot.sh", FOLDER)
    if answer.returncode:
        last = answer.stdout.strip().rpartition("\n")[2]
        skip(f"Debian's arm64 packages could not be fetched ({last})")
    tools = ["-G", "Ninja"] if shutil.which("ninja") else []
    for command in (
            ["cmake", *tools, "-S", ROOT, "-B", FOLDER / "build", "-DCMAKE_BUILD_TYPE=Release",
             f"-DCMAKE_TOOLCHAIN_FILE={ROOT}/tests/support/arm_toolchain.cmake",
             f"-DCMAKE_FIND_ROOT_PATH={FOLDER.resolve()}/sysroot",
             "-DATTNSCALE_BUILD_TESTS=OFF", "-DATTNSCALE_BUILD_MPI=OFF"],
            ["cmake", "--build", FOLDER / "build", "--target", "attnscale", "--parallel",
             str(len(os.sched_getaffinity(0)))]):
        answer = run(*command)
        if answer.returncode:
            print(answer.stdout)
            sys.exit(1)


def hashes(folder):
    """Name -> SHA-256 of every CSV file of a run and of its summary.json."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in (*folder.glob("*.csv"), folder / "summary.json")}


class ArmTest(CommandLineTest):
    def assert_same_bytes(self, config, *options):
        if not isinstance(config, Path):
            config = self.folder / self.write_config(config)
        self.succeed("run", config, "--out", "x86", "--quiet", *options)
        command = [EMULATOR, "-L", LIBRARIES, PROGRAM, "run", config, "--quiet"]
        answer = run(*command, "--out", self.folder / "arm", *options)
        self.assertEqual(answer.returncode, 0, answer.stdout)
        expected = hashes(self.folder / "x86")
        self.assertGreaterEqual(len(expected), 4)
        self.assertEqual(hashes(self.folder / "arm"), expected)
        manifest = json.loads((self.folder / "arm" / "manifest.json").read_text())
        self.assertEqual(manifest["vector_target"], "NEON")
        self.assertIs(manifest["bytes_promised"], True)

    def test_every_kind_of_rule_metric_law_and_sampler(self):
        self.assert_same_bytes(ROOT / "tests" / "cases" / "calibration.json")

    def test_the_lesson(self):
        self.assert_same_bytes(TRY_THIS)

    def test_the_lesson_of_566_queries(self):
        self.assert_same_bytes(TRY_THIS, "--set", "queries=566")

    def test_cube_roots_of_d(self):
        self.assert_same_bytes(CUBE_ROOTS)

    def test_clips_blocks_signs_and_every_step_of_narrow_arithmetic(self):
        self.assert_same_bytes(NARROW)

    def test_matrices_from_files(self):
        self.assert_same_bytes(ROOT / "configs" / "real_matrices.json")


if __name__ == "__main__":
    build()
    unittest.main()
