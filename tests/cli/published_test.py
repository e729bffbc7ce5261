"""The run that the repository holds is what its config gives: every data file and picture, byte for
byte."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from attnscale_cli import BINARY, ROOT

PUBLISHED = ROOT / "results" / "published" / "try_this"


class PublishedTest(unittest.TestCase):
    def test_the_published_run_comes_out_again_byte_for_byte(self):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "try_this"
            subprocess.run([BINARY, "run", ROOT / "configs" / "try_this.json", "--out", folder,
                            "--quiet"], check=True, capture_output=True)
            subprocess.run([sys.executable, ROOT / "scripts" / "plot.py", folder], check=True,
                           capture_output=True, env={**os.environ, "MPLCONFIGDIR": scratch})
            published = sorted(path.relative_to(PUBLISHED) for path in PUBLISHED.rglob("*")
                               if path.is_file())
            self.assertIn(Path("summary.csv"), published)
            self.assertIn(Path("figures/top_weight.png"), published)
            for name in published:
                self.assertEqual((folder / name).read_bytes(), (PUBLISHED / name).read_bytes(),
                                 name)


if __name__ == "__main__":
    unittest.main()
