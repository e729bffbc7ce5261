"""What the READMEs say is true: their commands and snippets run, page by page and from top to
bottom, in a folder that looks like a clone; the output they show is what is printed; the files,
links, options, keys and columns they name exist; and the front page stays short."""

import csv
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from attnscale_cli import BINARY, ROOT

sys.path.insert(0, str(ROOT / "tests"))
from includes_test import DIRECTLY_BELOW  # noqa: E402

# Page -> its most lines and words.
PAGES = {
    "README.md": (150, 1500),
    "configs/README.md": (500, 4000),
    "results/README.md": (220, 1700),
    "scripts/README.md": (220, 1700),
    "src/README.md": (220, 1700),
    "tests/README.md": (220, 1700),
}

# A command that installs and builds, and what then prints the same.
STAND_INS = {"./scripts/try_this.sh": "build/attnscale run configs/try_this.json"}
INTERPRETERS = {"python": [sys.executable, "-W", "error"], "r": ["Rscript"], "gnuplot": ["gnuplot"]}
KNOWN_FENCES = {"", "bash", "json", "sh", "sql", "text", *INTERPRETERS}


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def fences(page):
    """(language, content) of each block of a page, from top to bottom."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text_of(page), re.MULTILINE | re.DOTALL)


def prose(page):
    return re.sub(r"^```.*?^```$", "", text_of(page), flags=re.MULTILINE | re.DOTALL)


def commands(block):
    """(command without its comment, comment) of each line."""
    for line in block.replace("\\\n", " ").splitlines():
        command, _, comment = line.partition(" # ")
        if command.strip():
            yield command.strip(), comment


def table_below(page, header):
    """The rows, cell by cell, of the table whose header line begins with `header`."""
    lines = text_of(page).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(header))
    rows = []
    for line in lines[start + 2:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows


def quoted(text):
    """What stands in backticks."""
    return re.findall(r"`([^`\n]+)`", text)


def anchors(page):
    """The targets that a page's headings make."""
    headings = re.findall(r"^#+ (.*)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


class Clone:
    """A folder that looks like a clone in which the program is built."""

    def __init__(self, fonts):
        self.folder = Path(tempfile.mkdtemp())
        (self.folder / "build").mkdir()
        (self.folder / "build" / "attnscale").symlink_to(BINARY)
        for name in ("configs", "scripts"):
            shutil.copytree(ROOT / name, self.folder / name)
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith("ATTNSCALE")}
        self.environment["MPLCONFIGDIR"] = fonts  # Matplotlib lists them once, which takes a second
        # This test's python3 has the packages that plot.py needs.
        self.environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

    def remove(self):
        shutil.rmtree(self.folder)

    def run(self, *command):
        return subprocess.run(command, cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=120)

    def query(self, sentence):
        """The rows of a DuckDB query of one CSV file, which SQLite understands as well."""
        name = re.search(r"FROM '([^']+)'", sentence)[1]
        with open(self.folder / name, newline="", encoding="ascii") as file:
            header, *lines = csv.reader(file)
        database = sqlite3.connect(":memory:")
        columns = ", ".join(f'"{column}"' for column in header)
        database.execute(f'CREATE TABLE "{name}" ({columns})')
        database.executemany(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(header))})', lines)
        rows = database.execute(sentence).fetchall()
        database.close()
        return rows


class PageTest(unittest.TestCase):
    """Runs what a page shows, as a reader who starts at its top would."""

    @classmethod
    def setUpClass(cls):
        fonts = tempfile.TemporaryDirectory()
        cls.addClassCleanup(fonts.cleanup)
        cls.fonts = fonts.name

    def setUp(self):
        self.clone = Clone(self.fonts)
        self.addCleanup(self.clone.remove)
        self.printed = ""  # by the last block that ran

    def run_page(self, page):
        for language, block in fences(page):
            with self.subTest(page=page, block=block):
                self.assertIn(language, KNOWN_FENCES)
                getattr(self, f"run_{language}", self.run_snippet)(language, block)

    def run_(self, _, block):
        self.assertTrue(block.strip())  # a drawing

    def run_sh(self, _, block):
        printed = ""
        for command, comment in commands(block):
            answer = self.clone.run("bash", "-c", command)
            code = re.search(r"exit code (\d)", comment)
            self.assertEqual(answer.returncode, int(code[1]) if code else 0,
                             f"{command}\n{answer.stderr}")
            printed += answer.stdout
        self.printed = printed

    def run_bash(self, _, block):
        for command, _ in commands(block):
            if command in STAND_INS:
                self.run_sh("sh", STAND_INS[command])

    def run_text(self, _, block):
        printed = self.printed.splitlines()
        self.assertEqual([line for line in block.splitlines() if line not in printed], [])
        self.assertTrue(block in self.printed, "these lines are printed in another order")

    def run_json(self, _, block):
        name = json.loads(block)["name"]
        (self.clone.folder / f"{name}.json").write_text(block, encoding="utf-8")
        answer = self.clone.run("build/attnscale", "plan", f"{name}.json")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def run_snippet(self, language, block):
        script = self.clone.folder / f"snippet.{language}"
        script.write_text(block, encoding="utf-8")
        answer = self.clone.run(*INTERPRETERS[language], script.name)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertGreaterEqual(len(answer.stdout.splitlines()), 2)
        self.printed = answer.stdout

    def run_sql(self, _, block):
        self.assertGreater(len(self.clone.query(block)), 2)

    def test_front_page(self):
        self.run_page("README.md")

    def test_configs(self):
        self.run_page("configs/README.md")

    def test_results(self):
        self.run_page("results/README.md")

    def test_scripts(self):
        self.run_page("scripts/README.md")

    def test_src(self):
        self.run_page("src/README.md")

    def test_tests(self):
        self.run_page("tests/README.md")


class SnippetsTest(unittest.TestCase):
    """What results/README.md shows of one run is right for other configs, where laws and scalings
    are swept: each estimate stands alone, so that no top weight is above 1."""

    CHECKS = {"python": "assert 0.1 < table.max().max() <= 1, table",
              "r": "stopifnot(max(table) > 0.1, max(table) <= 1)"}

    def test_no_table_adds_up_curves(self):
        clone = Clone(tempfile.gettempdir())
        self.addCleanup(clone.remove)
        own, = [block for language, block in fences("README.md") if language == "json"]
        (clone.folder / "own.json").write_text(own, encoding="utf-8")
        snippets = [(language, block) for language, block in fences("results/README.md")
                    if language in {"sql", *self.CHECKS} and "try_this/summary.csv" in block]
        self.assertEqual({language for language, _ in snippets}, {"python", "r", "sql"})
        for config in ("own.json", "configs/exponents.json"):
            answer = clone.run("build/attnscale", "run", config, "--out", "results/other",
                               "--force", "--quiet", "--set", "queries=500")
            self.assertEqual(answer.returncode, 0, answer.stderr)
            for language, block in snippets:
                block = block.replace("results/try_this/", "results/other/")
                with self.subTest(config=config, block=block):
                    if language == "sql":
                        rows = clone.query(block)
                        self.assertEqual(len({row[:5] for row in rows}), len(rows))
                        self.assertGreater(len(rows), 8)
                        continue
                    script = clone.folder / f"snippet.{language}"
                    script.write_text(f"{block}\n{self.CHECKS[language]}\n", encoding="utf-8")
                    answer = clone.run(*INTERPRETERS[language], script.name)
                    self.assertEqual((answer.returncode, answer.stderr), (0, ""))


class NamesTest(unittest.TestCase):
    """What the pages name exists."""

    maxDiff = None

    def test_pages_are_short(self):
        self.assertEqual(set(PAGES), {str(path.relative_to(ROOT)) for path in
                                      [*ROOT.glob("README.md"), *ROOT.glob("[!b]*/README.md")]})
        for page, (most_lines, most_words) in PAGES.items():
            with self.subTest(page):
                self.assertLessEqual(len(text_of(page).splitlines()), most_lines)
                self.assertLessEqual(len(text_of(page).split()), most_words)

    def test_links_lead_somewhere(self):
        for page in PAGES:
            for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
                with self.subTest(page=page, link=link):
                    if link.startswith("https://"):
                        continue
                    target, _, anchor = link.partition("#")
                    path = ((ROOT / page).parent / target).resolve() if target else ROOT / page
                    self.assertTrue(path.exists())
                    if anchor:
                        self.assertIn(anchor, anchors(path.relative_to(ROOT)))

    def test_the_front_page_links_to_every_page_and_the_paper(self):
        front = text_of("README.md")
        for page in set(PAGES) - {"README.md"}:
            self.assertIn(f"]({page})", front)
            self.assertIn("](../README.md)", text_of(page))
        self.assertIn("](https://arxiv.org/abs/1706.03762)", front)

    def test_files_named_exist(self):
        for page in PAGES:
            names = re.findall(
                r"(?<![\w./])(?:src|scripts|configs|tests|results/published)/[\w./-]*\w",
                text_of(page))
            for name in set(names):
                with self.subTest(page=page, name=name):
                    self.assertTrue((ROOT / name).exists())

    def test_what_is_not_run_names_scripts_options_and_presets_that_exist(self):
        presets = {preset["name"] for preset in
                   json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        for page in PAGES:
            lines = [line for language, block in fences(page) if language == "bash"
                     for line in commands(block)]
            for command, _ in lines:
                with self.subTest(page=page, command=command):
                    self.assertLessEqual(set(re.findall(r"--preset (\w+)", command)), presets)
                    program, *arguments = shlex.split(command)
                    if not re.fullmatch(r"(\./)?scripts/\S+", program):
                        continue
                    answer = subprocess.run([ROOT / program, "--help"], capture_output=True,
                                            text=True, check=True)
                    for option in arguments:
                        if option.startswith("-"):
                            self.assertIn(option.partition("=")[0], answer.stdout)

    def test_options_and_commands_named_exist(self):
        def help_of(*command):
            return subprocess.run([*command, "--help"], capture_output=True, text=True,
                                  check=True).stdout
        overview = help_of(BINARY)
        names = re.findall(r"^  ([a-z]+) ", overview, re.MULTILINE)
        self.assertIn("run", names)
        options = overview + "".join(help_of(BINARY, name) for name in names)
        scripts = [ROOT / "scripts" / name for name in ("plot.py", "sweep.sh", "setup.sh")]
        options += "".join(help_of(*([sys.executable] if script.suffix == ".py" else []), script)
                           for script in scripts)
        for page in ("README.md", "configs/README.md", "results/README.md", "scripts/README.md"):
            for code in quoted(prose(page)):
                with self.subTest(page=page, code=code):
                    wanted = re.findall(r"(?<!\S)--[a-z-]+", code)
                    self.assertEqual([option for option in wanted if option not in options], [])
                    if found := re.search(r"attnscale ([a-z]\w*)", code):
                        self.assertIn(found[1], names)

    def test_names_of_configs_do_not_clash_between_pages(self):
        # A reader of two pages must not meet another run in the folder.
        names = [json.loads(block)["name"] for page in PAGES
                 for language, block in fences(page) if language == "json"]
        self.assertEqual(sorted(names), sorted(set(names)))
        self.assertFalse({f"{name}.json" for name in names} & set(os.listdir(ROOT / "configs")))

    def test_every_key_law_and_sampler_is_explained(self):
        schema = json.loads((ROOT / "configs" / "schema.json").read_text())
        page = text_of("configs/README.md")
        explained = set(quoted(page)) | set(re.findall(r'"(\w+)"', page))
        keys = {key for entry in [schema, *schema["definitions"].values()]
                for key in entry.get("properties", {})}
        for listed in ("laws", "samplers"):
            answer = subprocess.run([BINARY, "list", listed], capture_output=True, text=True,
                                    check=True)
            keys |= {line.split()[0] for line in answer.stdout.splitlines() if line[0] != " "}
        self.assertEqual(keys - explained, set())

    def test_the_table_of_columns_is_that_of_the_file(self):
        rows = table_below("results/README.md", "| column | holds |")
        named = [column for row in rows for column in quoted(row[0])]
        with open(ROOT / "results/published/try_this/summary.csv", encoding="ascii") as file:
            self.assertEqual(named, file.readline().strip().split(","))

    def test_the_table_of_rooms_is_that_of_the_includes_test(self):
        rows = table_below("src/README.md", "| room | holds |")
        shown = {room.strip("`"): below.split(", ") if below else [] for room, _, below in rows}
        rooms = {room: below for room, below in DIRECTLY_BELOW.items() if room != "main"}
        self.assertEqual(shown, rooms)

    def test_every_file_of_a_run_is_explained(self):
        named = {name for row in table_below("results/README.md", "| file | holds |")
                 for name in quoted(row[0])}
        with tempfile.TemporaryDirectory() as scratch:
            def call(*command):
                subprocess.run([BINARY, *command, "--quiet"], check=True, capture_output=True,
                               cwd=scratch)
            call("run", ROOT / "configs" / "real_matrices.json", "--out", "real_matrices")
            for seed in "01":
                call("run", ROOT / "configs" / "try_this.json", "--set", 'histogram=["score"]',
                     "--set", "samples=1", "--set", "queries=100", "--seed", seed, "--out", seed)
            call("pool", "pooled", "0", "1")
            written = {path.name for path in Path(scratch).glob("*/*")}
        self.assertIn("histogram.csv", written)
        self.assertEqual(written - named, set())
        self.assertEqual(named - written, set())


if __name__ == "__main__":
    unittest.main()
