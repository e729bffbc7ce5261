"""Every kind of wrong matrix file ends the run at once: exit 2, which file, where in it, what was
found and what to write instead, and no folder."""

import json
import os
import struct
import unittest

import numpy as np

from attnscale_cli import CommandLineTest, children_seconds

MAGIC = b"\x93NUMPY"


def npy(header, numbers=b"", version=(1, 0)):
    """The bytes of a .npy file with that header text."""
    text = header.encode("latin-1")
    size = struct.pack("<H" if version[0] == 1 else "<I", len(text))
    return MAGIC + bytes(version) + size + text + numbers


def header(descr="'<f8'", order="False", shape="(2, 2)"):
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"


FOUR = struct.pack("<4d", 1, 2, 3, 4)
GOOD = npy(header(), FOUR)
HEADER_BYTES = len(GOOD) - len(FOUR)


def with_number(index, number):
    """GOOD with another number at `index`."""
    at = HEADER_BYTES + 8 * index
    return GOOD[:at] + struct.pack("<d", number) + GOOD[at + 8:]


# (what is wrong, bytes of q.npy, what the message says)
WRONG_NPY = [
    ("empty", b"", ["byte 0: the file is empty"]),
    ("text", b"1,2\n3,4\n", ["byte 0: found \"1,2\\x0a3,\"", "numpy.save", ".csv"]),
    ("magic alone", MAGIC, ["byte 6: the header is cut off"]),
    ("version 4", npy(header(), FOUR, (4, 0)), ["byte 6: found version 4.0", "1.0, 2.0 or 3.0"]),
    ("header cut off", GOOD[:40], ["byte 40: the file ends inside its header",
                                   f"byte {HEADER_BYTES}"]),
    ("numbers cut off", GOOD[:-3], [f"byte {len(GOOD) - 3}: the file ends here",
                                    f"the shape (2, 2), whose numbers end at byte {len(GOOD)}"]),
    ("no numbers", GOOD[:HEADER_BYTES], [f"byte {HEADER_BYTES}: the file ends here"]),
    ("trailing bytes", GOOD + b"xyz", [f"byte {len(GOOD)}: 3 bytes too many",
                                       "save one array per file"]),
    ("int64", npy(header("'<i8'"), FOUR), ["found numbers of the type \"<i8\"",
                                           'save array.astype("<f4")']),
    ("complex", npy(header("'<c16'", shape="(2, 1)"), FOUR), ['found numbers of the type "<c16"']),
    ("object", npy(header("'|O'"), FOUR), ['found numbers of the type "|O"']),
    ("boolean", npy(header("'|b1'"), b"\1\0\0\1"), ['found numbers of the type "|b1"']),
    ("long double", npy(header("'<f16'", shape="(2, 1)"), FOUR), ['the type "<f16"']),
    ("big-endian integers", npy(header("'>i8'"), FOUR), ['found numbers of the type ">i8"',
                                                         'save array.astype("<f4")']),
    ("no byte order", npy(header("'f8'"), FOUR), ['found numbers of the type "f8"',
                                                  "of either byte order"]),
    ("structured", npy(header("[('a', '<f8')]"), FOUR),
     ["byte 20: found", '"<f2", "<f4" or "<f8"']),
    ("bits alone", npy(header("'|V2'", shape="(4, 4)"), FOUR), ['found "|V2"',
                                                                '"dtype": "bfloat16"']),
    ("wider bits", npy(header("'|V4'", shape="(2, 4)"), FOUR), ['type "|V4"', "array.view("]),
    ("complex", npy(header("'<c8'", shape="(2, 2)"), FOUR), ['type "<c8"', "array.real"]),
    ("bits as integers", npy(header("'<u2'", shape="(4, 4)"), FOUR), ['"dtype": "bfloat16"']),
    ("order no truth", npy(header(order="0"), FOUR), ["byte 44", "expected True or False"]),
    ("a single number", npy(header(shape="()"), FOUR[:8]), ["the shape ()", "(rows, d)"]),
    ("one dimension", npy(header(shape="(4,)"), FOUR), ["found the shape (4,)",
                                                        "(heads, rows, d) or (batch"]),
    ("five dimensions", npy(header(shape="(2, 1, 1, 2, 1)"), FOUR), ["the shape (2, 1, 1, 2, 1)"]),
    ("no rows", npy(header(shape="(0, 2)")), ["the shape (0, 2), which holds nothing"]),
    ("no columns", npy(header(shape="(2, 0)")), ["the shape (2, 0), which holds nothing"]),
    ("shape beyond memory", npy(header(shape="(4294967296, 4294967296)"), FOUR),
     ["the shape (4294967296, 4294967296), beyond any memory"]),
    ("size beyond integers", npy(header(shape="(99999999999999999999, 2)"), FOUR),
     ["byte 61: found a size beyond any memory"]),
    ("negative size", npy(header(shape="(-2, 2)"), FOUR), ["byte 61: found \"-2, 2)", "a size"]),
    ("shape no tuple", npy(header(shape="[2, 2]"), FOUR), ["byte 60", '"("']),
    ("no dict", npy("hello\n", FOUR), ["byte 10: found \"hello\\x0a\"", '"{"', "numpy.save"]),
    ("dict not closed", npy(header()[:-3], FOUR), ["the end of the header"]),
    ("behind the dict", npy(header() + "x", FOUR), ['found "x"', "its end"]),
    ("no shape", npy("{'descr': '<f8', 'fortran_order': False}", FOUR),
     ["the header has no 'shape'"]),
    ("a key twice", npy("{'descr': '<f8', 'descr': '<f8'}", FOUR), ["'descr' a second time"]),
    ("an unknown key", npy("{'dscr': '<f8'}", FOUR), ['found "dscr"', "'descr'"]),
    ("nan", with_number(1, np.nan), [f"byte {HEADER_BYTES + 8} (head 0, row 0, column 1",
                                     "found nan", "finite"]),
    ("infinity", with_number(2, np.inf), [f"byte {HEADER_BYTES + 16} (head 0, row 1, column 0",
                                          "found inf"]),
    ("half infinity", npy(header("'<f2'", shape="(2, 1, 2)"), b"\0\0" * 3 + b"\0\x7c"),
     ["(head 1, row 0, column 1", "found inf"]),
]

# (what is wrong, text of q.csv, what the message says)
WRONG_CSV = [
    ("a word", "1,2\n3,x\n", ["q.csv:2: cell 2: found x", "a finite number"]),
    ("nothing", "1,2\n3,\n", ["q.csv:2: cell 2: found nothing"]),
    ("nan", "1,nan\n", ["q.csv:1: cell 2: found nan"]),
    ("infinity", "1,2\ninf,1\n", ["q.csv:2: cell 1: found inf"]),
    ("a row of hidden keys", "1,2\n-inf,-inf\n", ["row 1", "all its keys are hidden"]),
    ("beyond doubles", "1,1e999\n", ["q.csv:1: cell 2: found 1e999"]),
    ("a longer row", "a,b\n1,2\n3,4,5\n", ["q.csv:3: found a row of 3 numbers; expected 2"]),
    ("a shorter row", "1,2\n3\n", ["q.csv:2: found a row of 1 numbers; expected 2"]),
    ("semicolons", "1;2\n", ["q.csv:1: cell 1: found 1;2"]),
    ("an empty line", "1,2\n\n3,4\n", ["q.csv:2: cell 1: found nothing"]),
    ("no last line end", "1,2\n3,4", ["q.csv:2: the last line has no line end"]),
    ("a header alone", "a,b\n", ["q.csv:1: found no numbers"]),
    ("a second header", "a,b\na,b\n1,2\n", ["q.csv:2: cell 1: found a"]),
    ("hexadecimal", "0x10,2\n", ["q.csv:1: cell 1: found 0x10"]),
    ("a byte that is no text", "1,2\n3,a\0b\n", ["q.csv:2: cell 2: found a\\u0000b; expected"]),
    ("empty", "", ["q.csv: byte 0: the file is empty"]),
]

# Lines that begin as numbers do: as the first of a file they are no header, which would be skipped.
NEARLY_NUMBERS = ["1e999,2e999", "1d0,2d0", "0x1,0x2", "\u22121,\u22122", '"1","2"', "1.0e,2.o",
                  "'1','2'", "+x,+y", ".,.", "-,-", "a,1e999", " 1e999,b", "--1,2x", "\t1x,y",
                  "\ufeff1e999,2"]

ONES = {name: np.ones(shape) for name, shape in {
    "2x3": (2, 3), "4x3": (4, 3), "4x5": (4, 5), "3x2": (3, 2), "2h2x3": (2, 2, 3),
    "3h4x3": (3, 4, 3), "5x2": (5, 2)}.items()}

# (members of `given`, the key the message points at, what it says); names are those of ONES
WRONG_TOGETHER = [
    ({"queries": "2x3.npy", "keys": "4x5.npy"}, "/keys",
     ["found a row of 5 numbers in the keys in", "expected 3, as in the queries in"]),
    ({"queries": "2h2x3.npy", "keys": "3h4x3.npy"}, "/keys",
     ["found 3 heads in the keys in", "expected 2", "a number that divides it"]),
    ({"queries": "2h2x3.npy", "keys": "2h2x3.npy", "values": "3x2.npy"}, "/values",
     ["found 3 rows in the values in", "expected one per key, 2"]),
    ({"queries": "2x3.npy", "keys": "4x3.npy", "values": "5x2.npy"}, "/values",
     ["found 5 rows in the values in", "expected one per key, 4"]),
    ({"queries": "4x3.npy", "keys": "2x3.npy", "causal": True}, "/causal",
     ["found 2 keys for 4 queries", "at least as many keys"]),
    ({"scores": [[1, 2, 3], [1, 2]], "causal": True}, "/causal", ["differ in length"]),
    ({"scores": "4x3.npy", "d": 2, "causal": True}, "/causal", ["found 3 keys for 4 queries"]),
    ({"scores": "2x3.npy", "queries": "2x3.npy", "keys": "4x3.npy"}, "", ["not a mixture"]),
    ({"scores": "2x3.npy", "d": 2, "values": "3x2.npy"}, "", ["not a mixture"]),
    ({"queries": "2x3.npy", "keys": "4x3.npy", "d": 3}, "", ["not a mixture"]),
    ({"queries": "2x3.npy"}, "", ['"keys" is missing']),
    ({"queries": "2x3.npy", "keys": "4x3.npy", "baseline": True}, "/baseline",
     ["without metrics there is nothing to compare"]),
    ({"queries": "2x3.npy", "keys": "4x3.npy", "causal": "yes"}, "/causal",
     ['found "yes"; expected true or false']),
    ({"queries": "2x3.npy", "keys": "4x3.npy", "weights": 1}, "/weights",
     ["found 1; expected true or false"]),
    ({"queries": "2x3.npy", "keys": ""}, "/keys",
     ["name of a .safetensors, .npz, .npy or .csv file"]),
    ({"queries": "2x3.npy", "keys": "2x3.npy\0.npy"}, "/keys", ["the character", "u0000"]),
    ({"queries": "2x3.npy", "keys": 3}, "/keys", ["found 3", "q.npy"]),
    ({"queries": "2x3.npy", "keys": "missing.npy"}, "/keys",
     ["missing.npy: No such file", "relative to the config"]),
    ({"queries": "2x3.npy", "keys": "."}, "/keys", ["is not a file"]),
    ({"queries": "2x3.npy", "keys": {"path": "4x3.npy"}}, "/keys/path", ["unknown key"]),
    ({"queries": "2x3.npy", "keys": {"file": "4x3.npy", "sha256": "0" * 64}}, "/keys/sha256",
     ["4x3.npy has the SHA-256", "0" * 64]),
]


class MatrixErrorsTest(CommandLineTest):
    def check(self, members, says, **more):
        config = self.write_config({"name": "wrong", "experiments": [
            {"given": members, **({"scalings": ["none"]} | more)}]})
        message = self.refuse("run", config, "--out", "run", says=[config, *says])
        self.assertEqual(message.count("\n"), 1, message)
        self.assertFalse((self.folder / "run").exists())
        self.refuse("plan", config, says=says)

    def test_a_right_file_is_taken(self):
        (self.folder / "q.npy").write_bytes(GOOD)
        config = self.write_config({"name": "right", "experiments": [
            {"given": {"scores": "q.npy"}, "metrics": ["top_weight"], "scalings": ["none"]}]})
        self.succeed("run", config, "--out", "run")

    def test_wrong_npy_files(self):
        for what, content, says in WRONG_NPY:
            with self.subTest(what):
                (self.folder / "q.npy").write_bytes(content)
                self.check({"scores": "q.npy"}, ["/experiments/0/given/scores", "q.npy", *says])

    def test_a_file_cut_anywhere_is_refused(self):
        for size in range(len(GOOD)):
            (self.folder / "q.npy").write_bytes(GOOD[:size])
            config = self.write_config({"name": "cut", "experiments": [
                {"given": {"scores": "q.npy"}, "scalings": ["none"]}]})
            self.refuse("plan", config, says=["q.npy: byte "])

    def test_wrong_csv_files(self):
        for what, content, says in WRONG_CSV:
            with self.subTest(what):
                (self.folder / "q.csv").write_text(content)
                self.check({"scores": "q.csv"}, says)

    def test_no_first_line_of_data_passes_as_a_header(self):
        for line in NEARLY_NUMBERS:
            with self.subTest(line):
                (self.folder / "q.csv").write_text(line + "\n3,4\n5,6\n", encoding="utf-8")
                self.check({"scores": "q.csv"}, ["q.csv:1: cell ", "a finite number such as 0.25"])

    def test_a_header_is_a_line_of_names(self):
        for first in ("a,b", '"a 1","b 2"', "q_1,E1", "\ufeffa,b", "\ufeff1,2"):
            with self.subTest(first):
                (self.folder / "q.csv").write_text(first + "\n3,4\n", encoding="utf-8")
                config = self.write_config({"name": "right", "experiments": [
                    {"given": {"scores": "q.csv", "weights": True}, "scalings": ["none"]}]})
                self.succeed("run", config, "--out", "run", "--force")
                lines = (self.folder / "run" / "weights.csv").read_text().splitlines()
                self.assertEqual(len(lines), 1 + (4 if "1,2" in first else 2))

    def test_numbers_that_do_not_go_together(self):
        for name, array in ONES.items():
            np.save(self.folder / f"{name}.npy", array)
        for members, key, says in WRONG_TOGETHER:
            with self.subTest(members):
                self.check(members, [f"/experiments/0/given{key}: ", *says])

    def test_sizes_are_compared_before_numbers_are_read(self):
        np.save(self.folder / "k.npy", np.ones((2, 3, 8)))
        size = 2 * 12 * 10**7 * 8
        text = npy(header(shape=f"(2, 12, {10**7})"))
        with open(self.folder / "q.npy", "wb") as file:  # of holes, which take no room
            file.write(text)
            file.truncate(len(text) + size)
        before = children_seconds()
        self.check({"queries": "q.npy", "keys": "k.npy"}, ["/keys: ", "found a row of 8 numbers"])
        self.assertLess(children_seconds() - before, 2)

    def test_a_path_that_is_no_text(self):
        folder = os.fsencode(self.folder) + b"/\xff"
        os.mkdir(folder)
        config = json.dumps({"name": "a", "experiments": [{"given": {"scores": "q.npy"},
                                                           "scalings": ["none"]}]})
        for name, content in ((b"/config.json", config.encode()), (b"/q.npy", GOOD)):
            with open(folder + name, "wb") as file:
                file.write(content)
        answer = self.attnscale("run", "config.json", cwd=folder, text=False)
        self.assertEqual(answer.returncode, 2)
        self.assertIn(b"absolute path of the file is not valid UTF-8", answer.stderr)

    def test_scores_do_not_tell_norms(self):
        self.check({"scores": [[1, 2]], "d": 4},
                   ["/experiments/0/scalings: ",
                    'the scaling "cosine" normalises queries and keys'],
                   scalings=[{"name": "cosine", "logit": "cos(q, k)"}])

    def test_a_baseline_of_scores_needs_d(self):
        self.check({"scores": [[1, 2]], "baseline": True},
                   ["/experiments/0/given/baseline: ", 'write "d" beside the scores'],
                   metrics=["top_weight"])


if __name__ == "__main__":
    unittest.main()
