"""Files that someone damaged, or made to do harm, end in a sentence that names them: no signal, no
memory beyond that of a run, and nothing lost."""

import fcntl
import hashlib
import json
import re
import struct
import unittest

from attnscale_cli import CommandLineTest

CONFIG = {"name": "tiny", "seed": 3,
          "experiments": [{"name": "e", "d": [4, 16], "keys": 4, "queries": 4000,
                           "metrics": ["logit_sd", "top_weight"], "histogram": ["top_weight"]}]}


class HostileFilesTest(CommandLineTest):
    def setUp(self):
        super().setUp()
        self.config = self.write_config(CONFIG)

    def refused(self, *arguments, code, says):
        answer = self.attnscale(*arguments)
        self.assertEqual(answer.returncode, code, answer.stderr)
        self.assertRegex(answer.stderr, says)
        self.assertLess(len(answer.stderr), 1000)
        self.assertNotIn("exception", answer.stderr)


class DeepJsonTest(HostileFilesTest):
    def test_a_manifest_nested_without_end(self):
        self.succeed("run", self.config, "--quiet", "--out", "run")
        manifest = self.folder / "run" / "manifest.json"
        values = json.loads(manifest.read_text())
        for key in ("config", "description"):
            deep = dict(values)
            if key == "config":
                deep["config"] = dict(values["config"], description="@@")
            else:
                deep["@"] = "@@"
            manifest.write_text(json.dumps(deep).replace('"@@"', "[" * 200_000 + "]" * 200_000))
            self.refused("verify", "run", code=5, says="run/manifest.json: is damaged")
            self.refused("run", self.config, "--quiet", "--out", "run", code=2,
                         says="a manifest.json that is damaged")
            self.attnscale("show", "run")  # any answer but a signal
            self.assertGreaterEqual(self.attnscale("show", "run").returncode, 0)


class LongTextsTest(HostileFilesTest):
    """A message stays one, whatever is as long as a page in what it is about."""

    def test_in_a_tensor_file(self):
        name, sizes = "k" * 100_000, [1] * 50_000
        tensor = {"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 8]}
        path = self.folder / "q.safetensors"
        config = self.write_config({"name": "a", "experiments": [
            {"given": {"queries": path.name, "keys": path.name}, "scalings": ["none"]}]})
        for wrong in ({name: 3}, {name: tensor}, {name: {**tensor, "dtype": name}},
                      {"q": {**tensor, "shape": sizes}}, {"q": {**tensor, "data_offsets": sizes}}):
            header = json.dumps(wrong).encode()
            numbers = struct.pack("<2f", 1, float("nan"))
            path.write_bytes(struct.pack("<Q", len(header)) + header + numbers)
            self.refused("plan", config, code=2, says="q.safetensors")

    def test_in_a_config_and_on_the_command_line(self):
        long = "x" * 100_000
        self.write_config('{"experiments": [{"d": %s}]}' % ("1" * 5000), "number.json")
        self.refused("plan", "number.json", code=2, says="too large for a number")
        for option in (long, f"{long}=1", "/x" * 40_000 + "=1", f"d={long}"):
            self.refused("plan", self.config, "--set", option, code=2, says="--set ")
        for words in ("1," * 40_000 + "x", long), ("1,2", long), ("1,2", "--d", long):
            self.refused("softmax", *words, code=2, says="attnscale softmax: ")


class CheckpointTest(HostileFilesTest):
    """A checkpoint whose hash is right, but whose numbers no run can have."""

    def setUp(self):
        super().setUp()
        self.succeed("run", self.config, "--quiet", "--shard", "1/2", "--out", "one")
        self.succeed("run", self.config, "--quiet", "--shard", "2/2", "--out", "two")
        self.file = self.folder / "one" / "checkpoint.txt"
        self.body = self.file.read_bytes().rpartition(b"sha256 ")[0]

    def write(self, body):
        digest = hashlib.sha256(body).hexdigest().encode()
        self.file.write_bytes(body + b"sha256 " + digest + b"\n")

    def refuse_merge(self, says):
        self.refused("merge", "whole", "one", "two", code=5, says=says)
        self.assertFalse((self.folder / "whole").exists())

    def test_is_as_the_program_wrote_it_without_a_change(self):
        self.write(self.body)
        self.succeed("merge", "whole", "one", "two", "--quiet")

    def test_with_bins_that_no_double_has(self):
        for extra in (rb"-2147483648 1", rb"2147483647 1", rb"393217 1", rb"-131073 1"):
            self.write(re.sub(rb"\n(counts \S+ \S+) ([^\n]*)", rb"\n\1 " + extra + rb" \2",
                              self.body, count=1))
            self.refuse_merge("one/checkpoint.txt: a bin is out of range")

    def test_with_a_config_that_is_no_json(self):
        for config in (b"not json", b"[" * 100_000 + b"]" * 100_000):
            start = self.body.index(b"\nconfig ") + 1
            end = self.body.index(b"\n", start)
            rest = self.body[end + 1 + int(self.body[start + 7:end]):]
            self.write(self.body[:start] + b"config %d\n" % len(config) + config + rest)
            self.refuse_merge("one/checkpoint.txt: its config is not JSON")

    def test_with_more_counts_than_queries(self):
        for line in (rb"\n(counts \S+ \S+ \S+) (\d+)", rb"\n(histogram) (\d+)"):
            self.write(re.sub(line, rb"\n\1 9\g<2>000000", self.body, count=1))
            self.refuse_merge("does not hold the cells of its own config")

    def test_with_moments_of_other_queries(self):
        def one_more(match):
            return match[1] + str(int(match[2]) + 1).encode()
        self.write(re.sub(rb"(\nnode \d+ \d+ \d+ \d+ )(\d+)", one_more, self.body, count=1))
        self.refuse_merge("does not hold the cells of its own config")

    def test_with_extremes_that_no_count_has(self):
        infinity, no_number = (struct.pack(">d", float(text)).hex().encode()
                               for text in ("inf", "nan"))
        for line in (rb"\ncounts \S+ ", rb"\ncounts \S+ \S+ ",
                     rb"\nnode \d+ \d+ \d+ \d+ \d+ \d+ \S+ "):
            for number in (infinity, no_number):
                self.write(re.sub(line, lambda match, word=number: match[0].rsplit(b" ", 2)[0]
                                  + b" " + word + b" ", self.body, count=1))
                self.refuse_merge("does not hold the cells of its own config")

    def test_of_a_run_that_goes_on_is_held_against_its_plan_too(self):
        self.write(re.sub(rb"\ncounts \S+ ", rb"\ncounts 0 ", self.body, count=1))
        (self.folder / "one" / "manifest.json").unlink()
        self.refused("run", self.config, "--quiet", "--shard", "1/2", "--out", "one", code=1,
                     says="one/checkpoint.txt: it does not hold the cells of its own config")


class FolderOfOthersTest(HostileFilesTest):
    def test_a_folder_with_files_of_others_is_left_alone(self):
        (self.folder / "photos").mkdir()
        (self.folder / "photos" / "cat.jpg").write_bytes(b"cat")
        self.refused("run", self.config, "--quiet", "--out", "photos", code=2,
                     says=r"photos holds cat\.jpg, but no manifest.*--out DIR")
        self.assertEqual([path.name for path in (self.folder / "photos").iterdir()], ["cat.jpg"])

    def test_an_empty_folder_will_do(self):
        (self.folder / "empty").mkdir()
        self.succeed("run", self.config, "--quiet", "--out", "empty")

    def test_a_file_is_no_folder(self):
        (self.folder / "notes").write_text("notes")
        self.refused("run", self.config, "--quiet", "--out", "notes", code=2,
                     says="notes is a file; write into a folder with --out DIR")
        self.assertEqual((self.folder / "notes").read_text(), "notes")

    def test_a_folder_in_the_place_of_a_file_is_named(self):
        for name in ("manifest.json", "checkpoint.txt", "summary.csv", "config.json",
                     "events.jsonl"):
            place = self.folder / f"has-{name}"
            (place / name).mkdir(parents=True)
            for force in ([], ["--force"]):
                self.refused("run", self.config, "--quiet", "--out", place.name, *force, code=2,
                             says=f"has-{name}/{name} is a folder, where a run writes a file; "
                                  "move it away, or write elsewhere with --out DIR")
            self.assertEqual([path.name for path in place.iterdir()], [name])
        self.refused("verify", "has-manifest.json", code=5,
                     says="cannot read has-manifest.json/manifest.json: Is a directory")
        self.refused("show", "has-manifest.json", code=1,
                     says="cannot read has-manifest.json/manifest.json: .*move that folder away")
        self.refused("merge", "m", "has-checkpoint.txt", code=5,
                     says="cannot read has-checkpoint.txt/checkpoint.txt: Is a directory")

    def test_what_is_no_folder_of_a_shard_is_named(self):
        (self.folder / "notes").write_text("notes")
        self.succeed("run", self.config, "--quiet", "--out", "whole")
        self.refused("merge", "m", "notes", code=2, says="notes: is a file; expected the folder")
        self.refused("merge", "m", "absent", code=2, says="absent: no such folder")
        self.refused("merge", "m", "whole", code=5,
                     says=r"whole is not a shard: it holds no checkpoint\.txt\n$")
        self.assertFalse((self.folder / "m").exists())

    def test_a_log_of_others_is_left_alone(self):
        place = self.folder / "logs"
        place.mkdir()
        (place / "events.jsonl").write_text('{"level": "info"}\n')
        self.refused("run", self.config, "--quiet", "--out", "logs", code=2,
                     says=r"logs holds events\.jsonl that is not of attnscale.*--out DIR")
        self.assertEqual((place / "events.jsonl").read_text(), '{"level": "info"}\n')
        for torn in ("", '{"ti', '{"time":"2026-11-30T08:17:04.903Z","event":"start"'):
            (place / "events.jsonl").write_text(torn)  # as a kill leaves it
            self.succeed("run", self.config, "--quiet", "--out", "logs", "--force")
            (place / "manifest.json").unlink()
            for path in place.iterdir():
                path.unlink()

    def test_a_lock_of_the_dead_does_not_outlive_a_finished_run(self):
        self.succeed("run", self.config, "--quiet", "--out", "run")
        lock = self.folder / "run" / ".lock"
        self.assertFalse(lock.exists())
        lock.write_text("process 1 on a machine that was switched off")
        self.succeed("run", self.config, "--quiet", "--out", "run")
        self.assertFalse(lock.exists())
        with open(lock, "w") as held:  # by somebody who lives
            fcntl.flock(held, fcntl.LOCK_EX)
            self.succeed("run", self.config, "--quiet", "--out", "run")
            self.assertTrue(lock.exists())

    def test_a_folder_in_use_is_wrong_input(self):
        (self.folder / "busy").mkdir()
        with open(self.folder / "busy" / ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.refused("run", self.config, "--quiet", "--out", "busy", code=2,
                         says="busy is in use by another run")


if __name__ == "__main__":
    unittest.main()
