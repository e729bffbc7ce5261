"""The first config of one's own: what may be left out, where it may come from, what lists it."""

import csv
import io
import json
import os
import subprocess
import unittest

from attnscale_cli import ROOT, CommandLineTest

SMALL = {"d": 4, "queries": 50}


class NameTest(CommandLineTest):
    def test_a_config_without_a_name_has_that_of_its_file(self):
        self.write_config({"experiments": [{"d": 80, "keys": 64, "queries": 20}]}, "q.json")
        self.succeed("run", "q.json", "--quiet")
        config = json.loads((self.folder / "results" / "q" / "config.json").read_text("utf-8"))
        self.assertEqual(config["name"], "q")

    def test_a_file_whose_name_is_no_name_must_say_one(self):
        name = self.write_config({"experiments": [SMALL]}, "my config.json")
        self.refuse("run", name, says=['"name" is missing', '"my config"', "letters"])
        name = self.write_config({"name": "good", "experiments": [SMALL]}, "my config.json")
        self.succeed("run", name, "--quiet")

    def test_a_config_may_come_from_standard_input(self):
        text = json.dumps({"name": "piped", "experiments": [SMALL]})
        self.succeed("run", "-", "--quiet", input=text)
        self.assertTrue((self.folder / "results" / "piped" / "summary.csv").exists())
        self.succeed("plan", "-", input=text)
        nameless = json.dumps({"experiments": [SMALL]})
        self.refuse("run", "-", input=nameless, says=["standard input", '"name" is missing'])
        self.succeed("run", "-", "--set", "name=said", "--quiet", input=nameless)
        self.refuse("run", "-", input="{", says=["standard input:1:"])

    def test_keys_are_eight_by_default(self):
        out = self.run_config({"name": "k", "experiments": [SMALL]}, "k")
        with open(out / "summary.csv", newline="", encoding="ascii") as file:
            lines = list(csv.DictReader(file))
        self.assertEqual({line["keys"] for line in lines}, {"8"})
        self.assertEqual({line["status"] for line in lines}, {"ok"})

    def test_one_item_is_a_list_of_one(self):
        one = {**SMALL, "name": "e", "scalings": "none", "metrics": "slope", "histogram": "slope"}
        several = {**one, "scalings": ["none"], "metrics": ["slope"], "histogram": ["slope"]}
        first = self.run_config({"name": "a", "experiments": [one]}, "one")
        second = self.run_config({"name": "a", "experiments": [several]}, "several")
        self.assert_same_files(first, second)
        third = self.run_config({"name": "a", "experiments": [{**several, "metrics": ["entropy"]}]},
                                "set", "--set", "e.metrics=slope")
        self.assert_same_files(first, third)
        power = {"name": "power", "logit": "q.k d^p", "p": -0.25}
        self.run_config({"name": "a", "experiments": [{**SMALL, "scalings": power}]}, "object")


class NewTest(CommandLineTest):
    def test_writes_a_config_that_runs_and_whose_schema_is_there(self):
        self.assertIn("attnscale run my.json", self.succeed("new", "my.json").stdout)
        config = json.loads((self.folder / "my.json").read_text("utf-8"))
        self.assertEqual(config["name"], "my")
        schema = self.folder / config["$schema"]
        self.assertEqual(schema.read_bytes(), (ROOT / "configs" / "schema.json").read_bytes())
        self.succeed("run", "my.json", "--quiet")
        self.assertTrue((self.folder / "results" / "my" / "wide.csv").exists())

    def test_what_it_prints_can_be_pasted(self):
        for name in ("my file.json", "it's $HOME.json", "tab\there\n.json", "a;b.json",
                     "plain.json"):
            said, command = self.succeed("new", name).stdout.splitlines()
            word = command.removeprefix("Try: attnscale run ")
            again = subprocess.run(["bash", "-c", f"printf %s {word}"], capture_output=True,
                                   check=True).stdout.decode()
            self.assertEqual(again, name)
            self.assertTrue(said.isprintable())
        self.assertEqual(command, "Try: attnscale run plain.json")

    def test_a_config_without_its_ending_is_named(self):
        self.write_config({"experiments": [SMALL]}, "my_question.json")
        for command in ("run", "plan"):
            self.refuse(command, "my_question", says=["did you mean my_question.json?"])
            self.refuse(command, "your_question", says=["such as configs/try_this.json"])

    def test_leaves_what_is_there(self):
        self.write_config("mine", "my.json")
        self.refuse("new", "my.json", says=["my.json", "is there already"])
        self.assertEqual((self.folder / "my.json").read_text("utf-8"), "mine")
        self.refuse("new", "none/my.json", says=["none", "no such folder"])
        self.refuse("new", says=["no file to write"])


class ListTest(CommandLineTest):
    def test_shows_one_name(self):
        text = self.succeed("list", "scalings", "gemma2_27b").stdout
        self.assertTrue(text.startswith("gemma2_27b  logit = "))
        self.assertNotIn("grok1", text)
        self.refuse("list", "scalings", "sqrt_d", says=["list scalings", '"div_sqrt_d"'])
        self.refuse("list", "scaling", says=['did you mean "scalings"?', "runs"])

    def test_gives_the_same_to_programs(self):
        for what in ("scalings", "laws", "metrics", "samplers"):
            rows = json.loads(self.succeed("list", what, "--format", "json").stdout)
            text = self.succeed("list", what).stdout
            for row in rows:
                self.assertRegex(text, rf"(?m)^{row['name']} ")
            lines = list(csv.DictReader(io.StringIO(
                self.succeed("list", what, "--format", "csv").stdout)))
            self.assertEqual([line["name"] for line in lines], [row["name"] for row in rows])
        row, = json.loads(self.succeed("list", "metrics", "top_weight", "--format", "json").stdout)
        self.assertEqual(row["title"], "largest weight")

    def test_lists_runs_with_what_was_changed(self):
        name = self.write_config({"name": "a", "experiments": [SMALL]}, "a.json")
        self.succeed("run", name, "--quiet")
        self.succeed("run", name, "--quiet", "--set", "d=[4, 9]", "--seed", "7")
        self.succeed("run", name, "--quiet", "--shard", "1/2")
        (self.folder / "results" / "other").mkdir()
        killed = self.folder / "results" / "killed"
        killed.mkdir()
        (killed / "events.jsonl").write_text("{}\n", "utf-8")
        rows = json.loads(self.succeed("list", "runs", "--format", "json").stdout)
        facts = {(row["run"], row["seed"], row["changes"], row["queries"], row["status"])
                 for row in rows}
        self.assertEqual(facts, {("a", 0, None, 50, "finished"),
                                 ("a", 7, "d=[4, 9] seed=7", 100, "finished"),
                                 ("a", 0, None, 50, "finished, shard 1 of 2"),
                                 (None, None, None, None, "unfinished")})
        wide = {**os.environ, "COLUMNS": "120"}
        text = self.succeed("list", "runs", "results", env=wide).stdout
        self.assertRegex(text, r"(?m)^  results/a +a +0 .* 50 +finished +20")
        self.assertIn("results/a", self.succeed("list", "runs", "results/a").stdout)
        self.refuse("list", "runs", "nowhere", says=["nowhere", "no such folder"])


if __name__ == "__main__":
    unittest.main()
