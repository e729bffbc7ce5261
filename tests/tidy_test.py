"""usage: tidy_test.py FOLDER

clang-tidy finds nothing in any source, with the checks of .clang-tidy as errors. FOLDER is where
cmake writes how each is compiled: file by file and without precompiled headers, so a source that
lacks an include is found as well. Exits with 77 where clang-tidy is missing."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def run(*command):
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if answer.returncode != 0:
        print(answer.stdout)
        sys.exit(1)


def main():
    if not shutil.which("run-clang-tidy"):
        print("skipped: clang-tidy is not installed")
        sys.exit(77)
    folder = sys.argv[1]
    run("cmake", "-S", str(ROOT), "-B", folder, "-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON",
        "-DCMAKE_UNITY_BUILD=OFF")
    run("cmake", "--build", folder, "--target", "attnscale_build_info")
    run("run-clang-tidy", "-p", folder, "-quiet", "-j", str(len(os.sched_getaffinity(0))),
        f"^{ROOT}/(src|tests)/")


main()
