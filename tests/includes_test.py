"""The shape of the tree: which room may include which, where third-party headers may stand, how
long a file may be, and what lies at the top level."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# main -> app -> execution -> experiment -> numerics; io serves the first three.
MAY_INCLUDE = {
    "main": {"app", "execution", "experiment", "numerics", "io"},
    "app": {"app", "execution", "experiment", "numerics", "io"},
    "execution": {"execution", "experiment", "numerics", "io"},
    "experiment": {"experiment", "numerics"},
    "numerics": {"numerics"},
    "io": {"io"},
}
SINGLE_HEADERS = {"io": {"experiment/result_row.h", "numerics/matrix.h"}}

# Header prefix -> the only files that may include it.
THIRD_PARTY = {
    "boost/program_options": r"app/command_line\w*\.cpp",
    "boost/": r"(experiment/\w+|numerics/\w+)\.cpp",
    "nlohmann/": r"(app/\w+|execution/run_identity|io/\w+)\.cpp",
    "Random123/": r"(experiment/sampler|numerics/)\w*\.cpp",
    "hwy/": r"numerics/(\w+\.cpp|\w+-inl\.h|vector_targets\.h)",
    "mpi.h": r"execution/executor_mpi\w*\.cpp",
}
GENERATED = {"build_info.h": "app/provenance.cpp"}

TOP_LEVEL = {"src", "configs", "scripts", "results", "tests", "CMakeLists.txt", "README.md",
             "CMakePresets.json", "LICENSE"}
LONGEST_FILE = 400


def tracked_files():
    """What git tracks or would add; in an unpacked archive, everything outside build folders."""
    listing = subprocess.run(["git", "-C", ROOT, "ls-files", "--cached", "--others",
                              "--exclude-standard", "-z"], capture_output=True, text=True)
    if listing.returncode == 0 and listing.stdout:
        return sorted({Path(name) for name in listing.stdout.split("\0")
                       if name and (ROOT / name).exists()})
    return sorted(path.relative_to(ROOT) for path in ROOT.rglob("*")
                  if path.is_file() and not path.relative_to(ROOT).parts[0].startswith("build"))


def sources():
    return [path for path in tracked_files()
            if path.parts[0] == "src" and path.suffix in (".h", ".cpp")]


def includes(path):
    """(line number, quote or angle bracket, header) of each include of a file."""
    pattern = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
    for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
        if match := pattern.match(line):
            yield number, match[1], match[2]


def third_party_prefix(header):
    return next((prefix for prefix in THIRD_PARTY if header.startswith(prefix)), None)


class IncludesTest(unittest.TestCase):
    def test_includes_between_rooms_point_one_way(self):
        wrong = []
        for path in sources():
            room = path.parts[1] if len(path.parts) > 2 else "main"
            for number, quote, header in includes(path):
                if quote != '"' or third_party_prefix(header):
                    continue
                inside = path.relative_to("src").as_posix()
                allowed = (header.split("/")[0] in MAY_INCLUDE[room]
                           or header in SINGLE_HEADERS.get(room, ())
                           or GENERATED.get(header) == inside)
                if not allowed:
                    wrong.append(f"{path}:{number}: {room} may not include {header}")
        self.assertEqual(wrong, [])

    def test_third_party_headers_stay_in_their_files(self):
        wrong = []
        for path in sources():
            inside = path.relative_to("src").as_posix()
            for number, quote, header in includes(path):
                prefix = third_party_prefix(header)
                if prefix and not re.fullmatch(THIRD_PARTY[prefix], inside):
                    wrong.append(f"{path}:{number}: {header} belongs in {THIRD_PARTY[prefix]}")
                # Of the standard library and the system only sys/ has a folder in its name.
                elif not prefix and quote == "<" and re.match(r"(?!sys/).*/", header):
                    wrong.append(f"{path}:{number}: {header} is of no library named in this test")
        self.assertEqual(wrong, [])

    def test_every_source_is_seen(self):
        self.assertGreater(len(sources()), 10)
        self.assertGreater(sum(1 for path in sources() for _ in includes(path)), 20)


class TreeTest(unittest.TestCase):
    def test_no_file_is_longer_than_one_idea(self):
        long = []
        for path in tracked_files():
            if path.parts[0] in ("src", "tests", "scripts") and path.suffix in (
                    ".h", ".cpp", ".py", ".sh", ".cmake"):
                lines = len((ROOT / path).read_text().splitlines())
                if lines > LONGEST_FILE:
                    long.append(f"{path}: {lines} lines")
        self.assertEqual(long, [])

    def test_the_top_level_is_the_designs(self):
        top = {path.parts[0] for path in tracked_files() if not path.parts[0].startswith(".")}
        self.assertEqual(top, TOP_LEVEL)


if __name__ == "__main__":
    unittest.main()
