"""usage: builds_test.py [slow | WAY...]

The program has the same bytes however it is built: by clang, for the machine it is built on,
without optimisation, with shared libraries asked for, and from a folder with spaces and without git
and network by scripts/setup.sh. `slow` is all of these; a WAY is one of clang, native, plain,
shared, alone.
"""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from attnscale_cli import BINARY, ROOT, RULES, TRY_THIS, CommandLineTest, promised_bytes
from telling_configs import CUBE_ROOTS, NARROW

WAYS = [word for word in sys.argv[1:] if word != "slow"]
CONFIGS = {"lesson": TRY_THIS, "few": TRY_THIS, "roots": CUBE_ROOTS, "narrow": NARROW,
           "rules": RULES, "files": ROOT / "configs" / "real_matrices.json",
           "kinds": ROOT / "tests" / "cases" / "calibration.json"}
OPTIONS = {"few": ["--set", "queries=566"]}
PROCESSORS = str(len(os.sched_getaffinity(0)))


class BuildsTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        way = self._testMethodName.split("_")[-1]
        if WAYS and way not in WAYS:
            self.skipTest("not asked for")
        self.tree = self.folder / "a tree with spaces"
        self.build = self.tree / "build"
        for name in ("CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md"):
            self.tree.mkdir(exist_ok=True)
            shutil.copy2(ROOT / name, self.tree / name)
        for name in ("src", "scripts", "configs", "tests"):
            shutil.copytree(ROOT / name, self.tree / name)

    def must(self, *command, **options):
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               **options)
        self.assertEqual(ended.returncode, 0, ended.stdout[-3000:])

    def make(self, *options):
        tools = ["-G", "Ninja"] if shutil.which("ninja") else []
        self.must("cmake", *tools, "-S", self.tree, "-B", self.build,
                  "-DATTNSCALE_BUILD_TESTS=OFF", *options)
        self.must("cmake", "--build", self.build, "--target", "programs", "--parallel", PROCESSORS)

    def runs_of(self, program, folder):
        """Config -> the files of its run, and what the run printed."""
        found = {}
        for name, config in CONFIGS.items():
            if not isinstance(config, Path):
                config = self.folder / self.write_config(config, f"{name}.json")
            ended = subprocess.run([program, "run", config, "--out", self.folder / folder / name,
                                    *OPTIONS.get(name, [])], capture_output=True, text=True)
            self.assertEqual(ended.returncode, 0, ended.stderr)
            found[name] = promised_bytes(self.folder / folder / name), ended.stdout
        return found

    def assert_same_bytes(self):
        expected = self.runs_of(BINARY, "known")
        found = self.runs_of(self.build / "attnscale", "built")
        for name, (files, screen) in expected.items():
            with self.subTest(config=name):
                built, built_screen = found[name]
                self.assertEqual(sorted(files), sorted(built))
                self.assertEqual([file for file in files if files[file] != built[file]], [])
                self.assertEqual(screen.replace("known", "built"), built_screen)

    def test_clang(self):
        if not shutil.which("clang++"):
            self.skipTest("clang is not installed")
        self.make("-DCMAKE_CXX_COMPILER=clang++", "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON")
        self.assert_same_bytes()

    def test_native(self):
        self.make("-DCMAKE_CXX_FLAGS=-march=native")
        self.assert_same_bytes()

    def test_plain(self):
        self.make("-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0")
        self.assert_same_bytes()

    def test_shared(self):
        self.make("-DBUILD_SHARED_LIBS=ON")
        self.assert_same_bytes()

    def test_alone(self):
        tools = self.folder / "tools"  # all programs but git
        tools.mkdir()
        for folder in os.environ["PATH"].split(":"):
            for path in Path(folder).glob("*"):
                if not path.name.startswith("git") and not (tools / path.name).exists():
                    (tools / path.name).symlink_to(path)
        cut_off = ["unshare", "--net"]
        if subprocess.run([*cut_off, "true"], capture_output=True).returncode:
            cut_off = []  # only root may; then the network is there and is not needed either
        self.must(*cut_off, self.tree / "scripts" / "setup.sh", cwd=self.folder,
                  env=os.environ | {"PATH": str(tools)})
        self.assert_same_bytes()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
