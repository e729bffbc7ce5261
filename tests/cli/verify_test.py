"""verify: what it passes, and what it catches in a folder that is not what its run wrote."""

import csv
import hashlib
import io
import json
import shutil
import unittest

from attnscale_cli import TRY_THIS, CommandLineTest

CONFIG = {"name": "checked", "sampler": "direct", "experiments": [
    {"name": "spread", "d": [4, 64], "queries": 20_000, "metrics": ["logit_sd"]},
    {"name": "softmax", "d": [4, 64], "keys": 8, "queries": 20_000,
     "metrics": ["top_weight", "slope"]},
    {"name": "precise", "d": 16, "keys": 8, "queries": 200_000, "metrics": ["top_weight"],
     "stop": {"metric": "top_weight", "relative_error": 0.01}},
    {"name": "by_hand", "given": {"scores": [[16, 8, 0]], "d": 16}, "metrics": ["top_weight"]}]}


class Verify(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.out = self.run_config(CONFIG, "run")

    def edit_summary(self, edit):
        """Applies `edit` to the lines of summary.csv, and makes the manifest agree with them."""
        path = self.out / "summary.csv"
        with open(path, newline="", encoding="ascii") as file:
            reader = csv.DictReader(file)
            lines = edit(list(reader))
        text = io.StringIO()
        writer = csv.DictWriter(text, reader.fieldnames, lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)
        path.write_text(text.getvalue(), encoding="ascii")
        manifest = json.loads((self.out / "manifest.json").read_text())
        for entry in manifest["files"]:
            if entry["name"] == "summary.csv":
                entry["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        (self.out / "manifest.json").write_text(json.dumps(manifest))

    def mismatch(self, *says):
        answer = self.attnscale("verify", self.out)
        self.assertEqual(answer.returncode, 5, answer.stdout + answer.stderr)
        for part in says:
            self.assertIn(part, answer.stdout)

    def test_a_good_run_passes_and_says_what_was_checked(self):
        answer = self.succeed("verify", self.out)
        lines = 2 * 3 + 2 * 3 * 2 + 3 + 3
        for part in ("SHA-256", f"{lines} lines of summary.csv",
                     f"{lines - 3} lines against their exact values: all", "no mismatch"):
            self.assertIn(part, answer.stdout)

    def test_lines_of_few_queries_are_not_said_to_agree(self):
        self.run_config(TRY_THIS, "few", "--set", "queries=2")
        shown = self.succeed("verify", "few").stdout
        self.assertNotIn("0 lines against", shown)
        self.assertRegex(shown, r"\n\d+ lines not judged: too few queries carry them\n")

    def test_every_file_of_the_run_must_be_in_the_manifest(self):
        path = self.out / "manifest.json"
        manifest = json.loads(path.read_text())
        names = [entry["name"] for entry in manifest["files"]]
        self.assertIn("contrasts.csv", names)
        self.assertIn("weights.csv", names)
        for name in names:
            path.write_text(json.dumps(
                {**manifest, "files": [entry for entry in manifest["files"]
                                       if entry["name"] != name]}))
            self.mismatch(f"{name} is not among the manifest's files")

    def test_a_run_without_exact_values_says_so(self):
        self.run_config({**CONFIG, "experiments": CONFIG["experiments"][-1:]}, "typed")
        answer = self.succeed("verify", "typed")
        self.assertIn("\nno exact values to compare\nno mismatch\n", answer.stdout)

    def test_a_changed_or_missing_file(self):
        with open(self.out / "wide.csv", "a", encoding="ascii") as file:
            file.write("\n")
        (self.out / "crossings.csv").unlink()
        self.mismatch("wide.csv is not as it was written", "crossings.csv is missing",
                      "2 mismatches")

    def test_a_scaling_under_the_name_of_another(self):
        def relabel(lines):
            values = {(line["experiment"], line["d"], line["metric"], line["scaling"]): line
                      for line in lines}
            for line in lines:
                if line["scaling"] == "div_sqrt_d" and line["experiment"] != "by_hand":
                    other = values[line["experiment"], line["d"], line["metric"], "div_d"]
                    line.update({key: other[key] for key in other
                                 if key not in ("scaling", "series", "reference", "z", "queries")})
            return lines
        self.edit_summary(relabel)
        self.mismatch("standard errors off", "div_sqrt_d", "further from their exact values")

    def test_a_reference_that_is_not_the_configs(self):
        def halve(lines):
            lines[0]["reference"] = str(float(lines[0]["reference"]) / 2)
            return lines
        self.edit_summary(halve)
        self.mismatch("logit_sd of spread at d=4 keys=8 (normal) under none has the exact value 1; "
                      "it is 2")

    def test_an_exact_value_must_be_right_to_nine_digits(self):
        def off_by(share):
            def edit(lines):
                lines[0]["reference"] = repr(2 * (1 + share))
                return lines
            return edit
        self.edit_summary(off_by(3e-10))
        self.succeed("verify", self.out)
        self.edit_summary(off_by(3e-9))
        self.mismatch("has the exact value 2.000000006; it is 2")

    def test_a_block_too_few(self):
        def shorten(lines):
            lines[0]["queries"] = str(20_000 - 1024)
            return lines
        self.edit_summary(shorten)
        self.mismatch("has 18976 queries; the config asks for 20000")

    def test_a_target_that_stopped_between_its_looks(self):
        def shift(lines):
            for line in lines:
                if line["experiment"] == "precise":
                    line["queries"] = str(3 * 1024)
            return lines
        self.edit_summary(shift)
        self.mismatch("has 3072 queries", "a look at its target")

    def test_a_line_too_few_or_out_of_place(self):
        self.edit_summary(lambda lines: [lines[1], lines[0], *lines[2:]])
        self.mismatch("is where the config has")
        self.edit_summary(lambda lines: lines[:-1])
        self.mismatch("summary.csv has 23 lines; the config asks for 24")

    def test_a_weight_of_given_numbers_that_is_not_theirs(self):
        def change(lines):
            lines[-1]["estimate"] = "0.5"
            return lines
        self.edit_summary(change)
        self.mismatch("of by_hand", "is not what its numbers give")

    def test_a_folder_without_a_finished_run(self):
        self.refuse("verify", "nothing", says=["nothing: no such folder"])
        (self.folder / "empty").mkdir()
        self.refuse("verify", "empty", says=["empty: holds no run"])
        self.refuse("verify", "run.config.json", says=["is a file; expected the folder"])
        shutil.copytree(self.out, self.folder / "early")
        path = self.folder / "early" / "manifest.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "status": "interrupted"}))
        self.refuse("verify", "early", says=["not finished"])
        self.succeed("run", "run.config.json", "--out", "share", "--quiet", "--shard", "1/2")
        self.refuse("verify", "share", says=["shard 1 of 2", "attnscale merge"])
        self.refuse("verify", says=["folder"])


if __name__ == "__main__":
    unittest.main()
