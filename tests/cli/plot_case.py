"""What the tests of scripts/plot.py share: a run's folder made of a small fixture, drawn."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
FIXTURE = ROOT / "tests" / "fixtures" / "plot"


def plot(folder, *options, **environment):
    return subprocess.run([sys.executable, "-B", ROOT / "scripts" / "plot.py", folder, *options],
                          capture_output=True, text=True, env=os.environ | environment)


def texts(picture):
    """The texts of an SVG, which are text and no outlines."""
    return ["".join(each.itertext()).strip() for each in ElementTree.fromstring(picture).iter(
        "{http://www.w3.org/2000/svg}text")]


class PlotCase(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.run_folder = Path(scratch.name) / "run"
        shutil.copytree(FIXTURE, self.run_folder)

    def pictures(self):
        return {path.name: path.read_bytes() for path in (self.run_folder / "figures").iterdir()}

    def digests(self):
        """To compare pictures without printing them."""
        return {name: sha256(content).hexdigest() for name, content in self.pictures().items()}

    def edit_summary(self, edit):
        path = self.run_folder / "summary.csv"
        path.write_text(edit(path.read_text()))

    def expect_error(self, answer, *words):
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertEqual(len(answer.stderr.splitlines()), 1, answer.stderr)
        self.assertTrue(answer.stderr.startswith("plot.py: "), answer.stderr)
        self.assertEqual(answer.stdout, "")
        for word in words:
            self.assertIn(word, answer.stderr)
