"""usage: plant_faults.py [--check] [--only REGEX] [--expected] [--folder DIR]

Plants the small faults of tests/faults one at a time in a copy of the tree, builds it, and runs the
tests that are expected to catch each, then the other fast ones. Prints what caught each, and the
share of those that were caught. A fault is

  FILE: what is wrong
  - the text before, once in the file; more lines are more of it
  + the text after
  = the tests expected to catch it, a regular expression of ctest's

  --check     only says whether every fault can still be planted, in a second
  --only      faults whose file or words match
  --expected  only the tests expected to catch them
  --folder    of the copy and of results.csv, where a second call goes on (build-faults)
"""

import argparse
import csv
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LABELS = "^(slow|tidy|arm|slurm|page|deb)$"
FEWEST = 150


@dataclass
class Fault:
    file: str
    words: str
    before: list = field(default_factory=list)
    after: list = field(default_factory=list)
    tests: str = ""

    @property
    def name(self):
        return f"{self.file}: {self.words}"

    def planted(self, text):
        return text.replace("\n".join(self.before), "\n".join(self.after))

    def complaint(self):
        """Why it cannot be planted; nothing if it can."""
        path = ROOT / self.file
        if not path.exists():
            return "there is no such file"
        if not self.tests or self.before == self.after:
            return "changes nothing, or names no test"
        times = path.read_text().count("\n".join(self.before))
        return "" if times == 1 else f"its text before is {times} times in the file"


def read_faults():
    faults = []
    for path in sorted((ROOT / "tests" / "faults").glob("*.txt")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            kind, text = line[:2], line[2:]
            if kind == "- ":
                faults[-1].before.append(text)
            elif kind == "+ ":
                faults[-1].after.append(text)
            elif kind == "= ":
                faults[-1].tests = text
            elif match := re.fullmatch(r"(\S+): (.+)", line):
                faults.append(Fault(*match.groups()))
            elif line:
                sys.exit(f"{path}:{number}: is no line of a fault: {line}")
    return faults


def check(faults):
    complaints = [f"{fault.name}: {what}" for fault in faults if (what := fault.complaint())]
    names = [fault.name for fault in faults]
    complaints += [f"{name}: is there twice" for name in set(names) if names.count(name) > 1]
    if len(faults) < FEWEST:
        complaints.append(f"{len(faults)} faults; there were {FEWEST}")
    print("\n".join(complaints or [f"{len(faults)} faults can be planted"]))
    return 1 if complaints else 0


class Copy:
    """A copy of the tree with a build of its own, which keeps what no fault changes."""

    def __init__(self, folder):
        self.tree, self.build = folder / "tree", folder / "tree" / "build"
        listing = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True,
                                 capture_output=True, text=True).stdout
        for name in filter(None, listing.split("\0")):
            to = self.tree / name
            if not to.exists() or to.read_bytes() != (ROOT / name).read_bytes():
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, to)
        launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        subprocess.run(["cmake", "-G", "Ninja", "-S", self.tree, "-B", self.build, *launcher,
                        "-DCMAKE_UNITY_BUILD=OFF",
                        "-DATTNSCALE_BUILD_TESTS=ON"], check=True, stdout=subprocess.DEVNULL)

    def make(self, tests):
        """Builds what the tests need: those in Python the programs alone."""
        in_python = all(name.endswith("_test") for name in tests.split("|"))
        return subprocess.run(["cmake", "--build", self.build, "--target",
                               "programs" if in_python else "all"], capture_output=True)

    def failed_test(self, choice):
        """The first fast test of those chosen that fails, or nothing."""
        ended = subprocess.run(["ctest", "--test-dir", self.build, "-LE", LABELS, *choice, "-j2",
                                "--stop-on-failure", "--no-tests=error", "--timeout", "600"],
                               capture_output=True, text=True)
        found = re.search(r"\*\*\*(?:Failed|Timeout|Exception).*", ended.stdout)
        if ended.returncode == 0:
            return ""
        line = ended.stdout[:found.start()].splitlines()[-1] if found else "ctest itself"
        return re.sub(r".*Test +#\d+: |[ .]+$", "", line)

    def catch(self, fault, only_expected):
        """What caught the fault."""
        path = self.tree / fault.file
        good = path.read_text()
        path.write_text(fault.planted(good))
        try:
            if self.make(fault.tests).returncode:
                return "the compiler"
            caught = self.failed_test(["-R", fault.tests])
            if caught or only_expected:
                return caught
            return "the compiler" if self.make("all").returncode else self.failed_test([])
        finally:
            path.write_text(good)


def plant(faults, folder, only_expected):
    results = folder / "results.csv"
    copy = Copy(folder)
    known = dict(csv.reader(results.open(newline=""))) if results.exists() else {}
    known = {name: caught for name, caught in known.items() if caught or only_expected}
    waiting = [fault for fault in faults if fault.name not in known]
    tests = "|".join(sorted({name for fault in waiting for name in fault.tests.split("|")}))
    if waiting and (copy.make(tests).returncode or copy.failed_test(["-R", tests])):
        sys.exit(f"without any fault {copy.failed_test(['-R', tests]) or 'the build'} fails")
    for fault in waiting:
        began = time.monotonic()
        known[fault.name] = copy.catch(fault, only_expected)
        with results.open("a", newline="") as file:
            csv.writer(file).writerow([fault.name, known[fault.name]])
        print(f"{fault.name}\n    {known[fault.name] or 'SURVIVED'}, "
              f"{time.monotonic() - began:.0f} s", flush=True)
    caught = sum(bool(known[fault.name]) for fault in faults)
    print(f"{caught} of {len(faults)} caught: {caught / len(faults):.1%}")
    print("\n".join(f"survived: {fault.name}" for fault in faults if not known[fault.name]))
    return 0 if caught >= 0.95 * len(faults) else 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--expected", action="store_true")
    parser.add_argument("--folder", type=Path, default=ROOT / "build-faults")
    options = parser.parse_args()
    if options.check:
        return check(read_faults())
    chosen = [fault for fault in read_faults() if re.search(options.only, fault.name)]
    options.folder.mkdir(parents=True, exist_ok=True)
    return plant(chosen, options.folder.resolve(), options.expected)


if __name__ == "__main__":
    sys.exit(main())
