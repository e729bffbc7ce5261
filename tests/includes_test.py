"""The shape of the tree: which room may include which, that nothing includes in a circle, where
third-party headers may stand, how long a file may be, what CMake lists, and what lies at the top
level."""

import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Room -> the rooms right below it. What a room may include it may also reach below.
DIRECTLY_BELOW = {
    "numerics": [],
    "formula": ["numerics"],
    "draw": ["numerics"],
    "theory": ["numerics"],
    "audit": ["numerics"],
    "experiment": ["draw", "formula", "theory"],
    "estimate": ["experiment"],
    "io": ["estimate"],
    "execution": ["io"],
    "report": ["io"],
    "config": ["io"],
    "app": ["audit", "config", "execution", "report"],
    "main": ["app"],
}

# Header prefix -> the only files that may include it.
THIRD_PARTY = {
    "boost/program_options": r"app/arguments\.cpp",
    "boost/": r"draw/law\.cpp",
    "nlohmann/json_fwd.hpp": r"io/json_text\.h",
    "nlohmann/json.hpp": r"(app/(commands|manifest)|config/\w+|execution/run_identity|"
                         r"io/\w+)\.cpp",
    "Random123/": r"(draw/sampler|numerics/)\w*\.cpp",
    "hwy/": r"numerics/(\w+\.cpp|\w+-inl\.h|vector_targets\.h)",
    "nettle/": r"io/sha256\.cpp",
    "minizip/": r"io/npz_file\.cpp",
    "zlib.h": r"io/npz_file\.cpp",
    "fmt/core.h": r".+\.cpp",
    "fmt/": r"fmt_library\.cpp",
    "mpi.h": r"execution/executor_mpi\w*\.cpp",
}
# Sources that declare nothing: programs, a library's own, and rows of the table in draw/sampler.h.
WITHOUT_HEADER = r"(fmt_library|main\w*|draw/sampler_\w+)\.cpp"
GENERATED = {"build_info.h": "app/version.cpp"}

TOP_LEVEL = {"src", "configs", "scripts", "results", "tests", "CMakeLists.txt", "README.md",
             "CMakePresets.json", "LICENSE"}
LONGEST_FILE = 400
CMAKE_FILES = ["CMakeLists.txt", "src/CMakeLists.txt", "tests/CMakeLists.txt"]


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


def room_of(name):
    """The room of a path below src/; files of src/ itself are `main`."""
    return name.split("/")[0] if "/" in name else "main"


def reachable(graph, start):
    """What can be reached from a node along one arrow or more."""
    found, front = set(), list(graph.get(start, ()))
    while front:
        node = front.pop()
        if node not in found:
            found.add(node)
            front.extend(graph.get(node, ()))
    return found


def circles(graph):
    """Of each circle of the graph its members, sorted."""
    return sorted({tuple(sorted(other for other in reachable(graph, node)
                                if node in reachable(graph, other)))
                   for node in graph if node in reachable(graph, node)})


def pairs_graph():
    """Pair -> the pairs that its header or its source includes."""
    graph = {}
    for path in sources():
        pair = path.relative_to("src").with_suffix("").as_posix()
        headers = {re.sub(r"\.h$", "", header) for _, quote, header in includes(path)
                   if quote == '"' and not third_party_prefix(header)}
        graph.setdefault(pair, set()).update(headers - {pair})
    return graph


def third_party_prefix(header):
    return next((prefix for prefix in THIRD_PARTY if header.startswith(prefix)), None)


class IncludesTest(unittest.TestCase):
    def test_rooms_lie_in_floors(self):
        self.assertEqual(circles(DIRECTLY_BELOW), [])
        rooms = {room_of(path.relative_to("src").as_posix()) for path in sources()}
        self.assertEqual(rooms, set(DIRECTLY_BELOW))

    def test_includes_between_rooms_point_down(self):
        wrong = []
        for path in sources():
            inside = path.relative_to("src").as_posix()
            room = room_of(inside)
            allowed = {room, *reachable(DIRECTLY_BELOW, room)}
            for number, quote, header in includes(path):
                if quote != '"' or third_party_prefix(header) or GENERATED.get(header) == inside:
                    continue
                if room_of(header) not in allowed:
                    wrong.append(f"{path}:{number}: {room} may not include {header}")
        self.assertEqual(wrong, [])

    def test_every_source_has_its_own_header(self):
        """Else two sources behind one header could call one another and no include would tell."""
        alone = [str(path) for path in sources() if path.suffix == ".cpp"
                 and not re.fullmatch(WITHOUT_HEADER, path.relative_to("src").as_posix())
                 and not (ROOT / path.with_suffix(".h")).exists()]
        self.assertEqual(alone, [])

    def test_no_files_include_one_another_in_a_circle(self):
        self.assertEqual(circles(pairs_graph()), [])

    def test_a_planted_circle_is_found(self):
        self.assertEqual(circles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set()}),
                         [("a", "b", "c")])
        graph = pairs_graph()
        below = next(iter(graph["app/program"]))
        graph[below] = {*graph.get(below, ()), "app/program"}
        self.assertIn("app/program", {pair for circle in circles(graph) for pair in circle})

    def test_no_room_holds_more_than_a_fifth_of_the_lines(self):
        lines = {}
        for path in sources():
            room = room_of(path.relative_to("src").as_posix())
            lines[room] = lines.get(room, 0) + len((ROOT / path).read_text().splitlines())
        self.assertEqual([room for room in lines if lines[room] > sum(lines.values()) / 5], [])

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

    def test_cmake_lists_every_source_sorted_by_room(self):
        rooms = list(DIRECTLY_BELOW)
        for folder in ("src", "tests"):
            text = (ROOT / folder / "CMakeLists.txt").read_text()
            with self.subTest(folder=folder):
                for target in text.split("add_"):
                    listed = re.findall(r"^  (\w+/\w+\.cpp)$", target, re.M)
                    self.assertEqual(listed, sorted(listed, key=lambda name: (
                        rooms.index(room_of(name)), name)))
                unlisted = [str(path) for path in tracked_files()
                            if path.parts[0] == folder and path.suffix == ".cpp"
                            and path.relative_to(folder).as_posix() not in text]
                self.assertEqual(unlisted, [])

    def test_cmake_has_three_files(self):
        self.assertEqual([str(path) for path in tracked_files() if path.name == "CMakeLists.txt"],
                         CMAKE_FILES)

    def test_the_top_level_is_the_designs(self):
        top = {path.parts[0] for path in tracked_files() if not path.parts[0].startswith(".")}
        self.assertEqual(top, TOP_LEVEL)


if __name__ == "__main__":
    unittest.main()
