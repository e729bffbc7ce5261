"""Tensors in .safetensors, .npz and .npy files as models dump them: right ones give the same
numbers in every form, broken ones end the run at once with a sentence and no folder."""

import io
import json
import struct
import unittest
import warnings
import zipfile

import numpy as np

from attnscale_cli import CommandLineTest
from tensor_makers import from_bfloat16, to_bfloat16


def safetensors(header, data=b"", size=None):
    """The bytes of a file with that header, an object or a text."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + data


def entry(begin, end, dtype="F32", shape=(2, 2)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


FOUR = struct.pack("<4f", 1, 2, 3, 4)
GOOD = safetensors({"q": entry(0, 16)}, FOUR)
TWICE = b'{"q":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},' \
        b'"q":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}'
# (what is wrong, the file's bytes, what the message says)
WRONG_SAFETENSORS = [
    ("empty", b"", ["is empty"]),
    ("seven bytes", GOOD[:7], ["byte 0"]),
    ("header of 2^60 bytes", safetensors(b"{}", size=2**60), ["header of 1152921504606846976"]),
    ("header of 2^64 - 1 bytes", safetensors(b"{}", size=2**64 - 1), ["header of"]),
    ("header cut off", GOOD[:30], ["cut off"]),
    ("numbers cut off", GOOD[:-1], ["within the 15 bytes"]),
    ("bytes too many", GOOD + b"x", ["belong to no tensor"]),
    ("no JSON", safetensors(b"hello"), ["is not JSON"]),
    ("JSON cut off", safetensors(b'{"q":'), ["is not JSON"]),
    ("a list", safetensors(b"[]"), ["no object"]),
    ("deep", safetensors(b"[" * 100000), ["nested too deeply"]),
    ("bad text", safetensors(b'{"\xff":1}'), ["is not JSON"]),
    ("a number beyond doubles", safetensors(b'{"q":1e999}'), ["beyond any size"]),
    ("a name twice", safetensors(TWICE, FOUR), ["a second time"]),
    ("no object", safetensors({"q": 3}), ["no object"]),
    ("no type", safetensors({"q": {"shape": [2, 2], "data_offsets": [0, 16]}}, FOUR), ["dtype"]),
    ("an unknown type", safetensors({"q": entry(0, 16, "F31")}, FOUR), ['"F31"']),
    ("a type that is a number", safetensors({"q": entry(0, 16, 32)}, FOUR), ['"32"']),
    ("integers", safetensors({"q": entry(0, 16, "I32")}, FOUR), ['type "I32"']),
    ("bits", safetensors({"q": entry(0, 8, "U16")}, FOUR[:8]), ["bfloat16"]),
    ("a size below 0", safetensors({"q": entry(0, 16, shape=(-2, 2))}, FOUR), ["list of sizes"]),
    ("a size with a fraction", safetensors({"q": entry(0, 16, shape=(2.5, 2))}, FOUR), ["sizes"]),
    ("a shape that is no list", safetensors({"q": {"dtype": "F32", "shape": 4,
                                                   "data_offsets": [0, 16]}}, FOUR), ["shape"]),
    ("a shape beyond memory", safetensors({"q": entry(0, 16, shape=(2**40, 2**40))}, FOUR),
     ["beyond any memory"]),
    ("another shape", safetensors({"q": entry(0, 16, shape=(2, 3))}, FOUR), ["needs 24"]),
    ("offsets turned", safetensors({"q": entry(16, 0)}, FOUR), ["(16, 0)"]),
    ("offsets beyond the file", safetensors({"q": entry(0, 2**50)}, FOUR), ["data_offsets"]),
    ("three offsets", safetensors({"q": {"dtype": "F32", "shape": [2, 2],
                                         "data_offsets": [0, 8, 16]}}, FOUR), ["(0, 8, 16)"]),
    ("overlapping offsets", safetensors({"q": entry(0, 16), "r": entry(8, 24)}, FOUR + FOUR[:8]),
     ["overlap"]),
    ("a gap", safetensors({"q": entry(0, 16), "r": entry(20, 36)}, FOUR * 2 + b"abcd"),
     ["belong to no tensor"]),
    ("nothing in it", safetensors({}), ["holds no tensor"]),
    ("a tensor of nothing", safetensors({"q": entry(0, 0, shape=(0, 2))}), ["the shape (0, 2)"]),
    ("another member", safetensors({"q": {**entry(0, 16), "x": 1}}, FOUR), ["alone"]),
    ("two tensors, none named", safetensors({"a": entry(0, 16), "b": entry(16, 32)}, FOUR * 2),
     ["holds 2 tensors", '"a", "b"']),
    ("not a number", safetensors({"q": entry(0, 16)}, FOUR[:12] + struct.pack("<f", np.nan)),
     ["found nan", "row 1, column 1"]),
]


def npz(**arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def zipped(name, content, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def zipped_together(*names):
    """An archive of one array under several names, which may be the same."""
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore")  # zipfile warns of names that are there
        array = zipfile.ZipFile(io.BytesIO(npz(q=np.ones((2, 2))))).read("q.npy")
        for name in names:
            archive.writestr(name, array)
    return file.getvalue()


def damaged(content, at):
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1:]


def encrypted(archive):
    """An archive whose one member says that it is encrypted, in its header and in the directory."""
    content = bytearray(archive)
    for flags in (6, archive.index(b"PK\x01\x02") + 8):
        content[flags] |= 1
    return bytes(content)


ARRAY = np.arange(200.0).reshape(20, 10)
PACKED = npz(q=ARRAY)
STORED = zipped("q.npy", b"\x93NUMPY" + b"x" * 100)
WRONG_NPZ = [
    ("magic alone", b"PK\x03\x04", ["was cut off"]),
    ("cut off", PACKED[:-30], ["was cut off"]),
    ("half of it", PACKED[:len(PACKED) // 2], ["was cut off"]),
    ("damaged", damaged(PACKED, 80), ["damaged"]),
    ("encrypted", encrypted(PACKED), ["is encrypted"]),
    ("damaged as it is stored", damaged(STORED, 60), ["checksum differs"]),
    ("no array", zipped("q.txt", "hello"), ["holds no tensor"]),
    ("an empty array", zipped("q.npy", ""), ["is empty"]),
    ("text in place of an array", zipped("q.npy", "hello"), ["NUMPY"]),
    ("two arrays, none named", npz(a=ARRAY, b=ARRAY), ["holds 2 tensors"]),
    ("a path that leads out", zipped("../../q.npy", "hello"), ["NUMPY"]),
    ("bzip2", zipped("q.npy", b"hello" * 100, zipfile.ZIP_BZIP2), ["compression method 12"]),
    ("a PyTorch file", zipped("archive/data.pkl", b"\x80\x02"), ["PyTorch", "torch.load", "npz"]),
    ("nothing in it", npz(), ["holds no tensor"]),
    ("a name twice", zipped_together("q.npy", "k.npy", "q.npy"), ['"q" a second time']),
    ("a name with and without its ending", zipped_together("q", "q.npy"), ['"q" a second time']),
    ("a text array", npz(q=np.array(["a", "b"])), ["of the type"]),
]
FOREIGN = [
    ("q.pt", b"\x80\x02\x8a\nl\xfc\x9cF\xf9", ["PyTorch", "torch.load", "numpy.savez"]),
    ("q.bin", zipped("pytorch_model/data.pkl", b"\x80\x02"), ["PyTorch", "torch.load"]),
    ("q.gguf", b"GGUF\x03\0\0\0", ["GGUF", "gguf.GGUFReader"]),
    ("q.h5", b"\x89HDF\r\n\x1a\n", ["HDF5", "h5py"]),
]


class TensorFilesTest(CommandLineTest):
    def config(self, queries, keys=None):
        return self.write_config({"name": "files", "experiments": [
            {"given": {"queries": queries, "keys": keys or queries, "weights": True},
             "scalings": ["div_sqrt_d"]}]})

    def test_broken_files_are_refused_with_a_sentence(self):
        wrong = [("q.safetensors", *row) for row in WRONG_SAFETENSORS]
        wrong += [("q.npz", *row) for row in WRONG_NPZ]
        wrong += [(name, name, content, says) for name, content, says in FOREIGN]
        self.assertGreaterEqual(len(wrong), 40)
        for name, what, content, says in wrong:
            with self.subTest(name=name, what=what):
                (self.folder / name).write_bytes(content)
                message = self.refuse("run", self.config(name), "--out", "run", says=[name, *says])
                self.assertEqual(message.count("\n"), 1, message)
                self.assertFalse((self.folder / "run").exists())

    def test_a_tensor_that_is_not_there_is_told_with_those_that_are(self):
        (self.folder / "q.safetensors").write_bytes(GOOD)
        for name in ("q.safetensors:k", "q.safetensors:../q"):
            self.refuse("run", self.config(name), says=["holds no tensor", '"q"'])

    def test_endings_in_capitals_are_the_same_endings(self):
        (self.folder / "A.SAFETENSORS").write_bytes(GOOD)
        (self.folder / "B.Npz").write_bytes(npz(q=ARRAY, k=ARRAY))
        (self.folder / "C.CSV").write_text("1,2\n3,4\n")
        for i, name in enumerate(["A.SAFETENSORS", "A.SAFETENSORS:q", "B.Npz:k", "C.CSV"]):
            self.run_config(self.folder / self.config(name), f"run{i}")

    def test_every_form_gives_the_same_numbers(self):
        random = np.random.default_rng(1)
        q = from_bfloat16(to_bfloat16(random.normal(size=(4, 6, 8))))
        k = from_bfloat16(to_bfloat16(random.normal(size=(2, 6, 8))))  # each shared by two
        raw = [to_bfloat16(array).tobytes() for array in (q, k)]
        header = {"__metadata__": {"format": "pt"},
                  "m.q": {"dtype": "BF16", "shape": [1, 4, 6, 8], "data_offsets": [0, len(raw[0])]},
                  "m.k": {"dtype": "BF16", "shape": [1, 2, 6, 8],
                          "data_offsets": [len(raw[0]), len(raw[0]) + len(raw[1])]}}
        (self.folder / "a.safetensors").write_bytes(safetensors(header, b"".join(raw)))
        np.savez(self.folder / "b.npz", q=q, k=k)
        np.savez_compressed(self.folder / "c.npz", q=q.astype("<f4"), k=k.astype("<f4"))
        np.save(self.folder / "q.npy", np.asfortranarray(q))
        np.save(self.folder / "k.npy", np.asfortranarray(k[None]))
        np.save(self.folder / "k2.npy", np.repeat(k, 2, axis=0))
        forms = [("a.safetensors:m.q", "a.safetensors:m.k"), ("b.npz:q", "b.npz:k"),
                 ("c.npz:q.npy", "c.npz:k"), ("q.npy", "k.npy"), ("q.npy", "k2.npy")]
        written = []
        for i, form in enumerate(forms):
            self.succeed("run", self.config(*form), "--out", f"run{i}", "--quiet")
            written.append((self.folder / f"run{i}" / "weights.csv").read_bytes())
            self.succeed("run", f"run{i}/config.json", "--out", f"again{i}", "--quiet")
        self.assertEqual(written, written[:1] * len(forms))

    def test_a_score_of_minus_infinity_hides_its_key(self):
        scores = np.random.default_rng(2).normal(size=(5, 5))
        hidden = np.where(np.tri(5) == 1, scores, -np.inf)
        lines = []
        for i, (array, causal) in enumerate([(scores, True), (hidden, True), (hidden, False)]):
            np.save(self.folder / "s.npy", array)
            config = self.write_config({"name": "s", "experiments": [
                {"given": {"scores": "s.npy", "causal": causal, "weights": True},
                 "scalings": ["none"]}]})
            self.succeed("run", config, "--out", f"run{i}", "--quiet")
            lines.append((self.folder / f"run{i}" / "weights.csv").read_bytes())
        self.assertEqual(lines, lines[:1] * 3)
        self.assertEqual(lines[0].count(b"\n"), 1 + 15)


if __name__ == "__main__":
    unittest.main()
