"""What the README says is true: its commands run, its snippets read a run's files, its config is
one, and the output it shows is that of the published run. DuckDB is not in Debian: not run."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from attnscale_cli import BINARY, ROOT

PUBLISHED = ROOT / "results" / "published" / "try_this"


def blocks(language):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


class ReadmeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # A folder that looks like a clone in which everything is built.
        cls.folder = Path(tempfile.mkdtemp())
        (cls.folder / "build").mkdir()
        (cls.folder / "build" / "attnscale").symlink_to(BINARY)
        (cls.folder / "configs").symlink_to(ROOT / "configs")
        cls.answers = {line: cls.run_in_clone(["bash", "-c", line])
                       for block in blocks("sh") for line in block.splitlines()
                       if line.startswith("build/attnscale")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def run_in_clone(cls, command):
        return subprocess.run(command, cwd=cls.folder, capture_output=True, text=True, timeout=120)

    def assert_runs(self, language, command):
        snippets = blocks(language)
        self.assertTrue(snippets, language)
        for number, snippet in enumerate(snippets):
            script = self.folder / f"snippet{number}.{language}"
            script.write_text(snippet, encoding="utf-8")
            answer = self.run_in_clone([*command, script.name])
            self.assertEqual((answer.returncode, answer.stderr), (0, ""), snippet)
            self.assertTrue(answer.stdout.strip(), snippet)
            yield answer.stdout

    def test_every_command_runs(self):
        self.assertGreater(len(self.answers), 5)
        for line, answer in self.answers.items():
            self.assertEqual(answer.returncode, 0, line + "\n" + answer.stderr)

    def test_the_output_shown_is_that_of_the_published_run(self):
        shown = subprocess.run([BINARY, "show", PUBLISHED], capture_output=True, text=True,
                               check=True).stdout
        for block in blocks("text"):
            self.assertIn(block, shown)

    def test_the_pandas_snippet_prints_the_weights(self):
        for output in self.assert_runs("python", [sys.executable]):
            self.assertRegex(output, r"(?m)^1024 ")

    def test_the_r_snippet_prints_the_weights(self):
        for output in self.assert_runs("r", ["Rscript"]):
            self.assertRegex(output, r"(?m)^ +1024 ")

    def test_the_gnuplot_snippet_draws(self):
        for output in self.assert_runs("gnuplot", ["gnuplot"]):
            self.assertIn("raw spread", output)

    def test_the_config_is_one(self):
        for number, block in enumerate(blocks("json")):
            config = self.folder / f"config{number}.json"
            config.write_text(block, encoding="utf-8")
            answer = self.run_in_clone([BINARY, "plan", config])
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def test_every_script_and_file_named_exists(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        for name in set(re.findall(r"\b(?:src|scripts|configs)/[\w./]+\.\w+", text)):
            self.assertTrue((ROOT / name).exists(), name)


if __name__ == "__main__":
    unittest.main()
