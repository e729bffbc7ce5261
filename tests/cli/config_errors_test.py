"""Every kind of wrong config ends the run at once: exit 2, where, what and what instead, no folder.

In each config @ stands before the place that the message must name.
"""

import unittest

from attnscale_cli import SLOWDOWN, CommandLineTest, children_seconds

TOP = ', "name": "a", "experiments": [{"d": 4}]}'


def experiment(members):
    """A config that is right beside its one experiment."""
    return '{\n  "name": "a",\n  "experiments": [\n    ' + members + "\n  ]\n}\n"


def given(members):
    return experiment('{"given": ' + members + "}")


def with_precision(text):
    scaling = f'{{"name": "s", "logit": "q.k", "precision": {text}}}'
    return experiment(f'{{"d": 4, "scalings": {scaling}}}')


FIRST = "/experiments/0"
PRECISION = f"{FIRST}/scalings/precision"
# (config, JSON Pointer, what the message says beside it); no pointer where it is not JSON.
NOT_JSON = [
    ("@", "", "empty"),
    ('{"name": "a",\n@}', "", "comma"),
    ('{"name": "a"\n  @"seed": 1}', "", "a comma is missing"),
    ('{"name" @"a"}', "", "a colon is missing"),
    ("{@'name': 1}", "", "double quotes"),
    ('{"seed": @01}', "", "not a JSON number"),
    ('{"seed": @NaN}', "", "NaN"),
    ('{"name": @"a}', "", "not closed"),
    ('{"name": "a"} @x', "", "after the end"),
    ('{"name": "a" @/* b}', "", "comment is not closed"),
]
AT_THE_TOP = [
    ("@[]", "", "expected an object"),
    ('@{"name": "a"}', "", '"experiments" is missing'),
    ('{@"sead": 1' + TOP, "/sead", 'did you mean "seed"?'),
    ('{"seed": 1, @"seed": 2' + TOP, "/seed", "duplicate key"),
    ('{"seed": @-1' + TOP, "/seed", "0 to 9007199254740991"),
    ('{"seed": @9007199254740992' + TOP, "/seed", "0 to 9007199254740991"),
    ('{"seed": @3.9' + TOP, "/seed", "an integer"),
    ('{"seed": @true' + TOP, "/seed", "an integer"),
    ('{"seed": @null' + TOP, "/seed", "an integer"),
    ('{"sampler": @"bost"' + TOP, "/sampler", 'did you mean "boost"?'),
    ('{"reference": @"on"' + TOP, "/reference", "auto, off"),
    ('{"description": @4' + TOP, "/description", "a text"),
    ('{"name": @"a b", "experiments": [{"d": 4}]}', "/name", "letters"),
    ('{"name": @"../a", "experiments": [{"d": 4}]}', "/name", "letters"),
    ('{"name": "a", "experiments": @[]}', "/experiments", "an empty list"),
    ('{"name": "a", "experiments": @{"d": 4}}', "/experiments", "a list"),
]
NESTED = [
    (experiment('@{"keys": 8}'), FIRST, '"d" is missing'),
    (experiment('{"d": 4, @"qeries": 1}'), f"{FIRST}/qeries", 'did you mean "queries"?'),
    (experiment('{"d": 4, @"d": 8}'), f"{FIRST}/d", "duplicate key"),
    (experiment('{"d": @3.9}'), f"{FIRST}/d", "an integer"),
    (experiment('{"d": @-5}'), f"{FIRST}/d", "found -5"),
    (experiment('{"d": @0}'), f"{FIRST}/d", "found 0"),
    (experiment('{"d": @true}'), f"{FIRST}/d", "found true"),
    (experiment('{"d": @"4"}'), f"{FIRST}/d", 'found "4"'),
    (experiment('{"d": @[]}'), f"{FIRST}/d", "an empty list"),
    (experiment('{"d": [4, @4.0]}'), f"{FIRST}/d/1", "second time"),
    (experiment('{"d": @{"from": 4, "to": 8}}'), f"{FIRST}/d", "times"),
    (experiment('{"d": {"from": 4, "to": 64, "times": @1}}'), f"{FIRST}/d/times", "found 1"),
    (experiment('{"d": {"from": 4, "too": 64, "times": 2}}'), f"{FIRST}/d", 'did you mean "to"?'),
    (experiment('{"d": 4, "keys": @0}'), f"{FIRST}/keys", "found 0"),
    (experiment('{"d": 4, "queries": @1.5}'), f"{FIRST}/queries", "an integer"),
    (experiment('{"d": 4, "queries": @-5}'), f"{FIRST}/queries", "found -5"),
    (experiment('{"d": 4, "scalings": @[]}'), f"{FIRST}/scalings", "an empty list"),
    (experiment('{"d": 4, "scalings": ["none", @"div_sqt_d"]}'), f"{FIRST}/scalings/1",
     'did you mean "div_sqrt_d"?'),
    (experiment('{"d": 4, "scalings": ["none", @"none"]}'), f"{FIRST}/scalings/1", "names must"),
    (experiment('{"d": 4, "scalings": @"sqrt_d"}'), f"{FIRST}/scalings",
     'did you mean "div_sqrt_d"?'),
    (experiment('{"d": 4, "metrics": [@"top"]}'), f"{FIRST}/metrics/0",
     'did you mean "top_weight"?'),
    (experiment('{"d": 4, "metrics": [@"top_wieght"]}'), f"{FIRST}/metrics/0",
     'did you mean "top_weight"?'),
    (experiment('{"d": 4, "metrics": ["slope", @"slope"]}'), f"{FIRST}/metrics/1", "second time"),
    (experiment('{"d": 4, "entries": @"normall"}'), f"{FIRST}/entries", 'did you mean "normal"?'),
    (experiment('{"d": 4, "entries": {"law": "normal", "sd": @-1}}'), f"{FIRST}/entries/sd",
     "found -1"),
    (experiment('{"d": 4, "entries": {"law": "normal", @"sdd": 1}}'), f"{FIRST}/entries/sdd",
     'did you mean "sd"?'),
    (experiment('{"d": 4, "saturated_above": @2}'), f"{FIRST}/saturated_above", "found 2"),
    (experiment('{"d": 4, "samples": @-1}'), f"{FIRST}/samples", "found -1"),
    (experiment('{"d": 4, "histogram": [@"scores"]}'), f"{FIRST}/histogram/0",
     'did you mean "score"?'),
    (experiment('{"name": "e", "d": 4}, {"name": @"e", "d": 8}'), "/experiments/1/name", '"e"'),
    (experiment('{"d": @4, "given": {"scores": [[1]]}}'), f"{FIRST}/d", "given"),
    (given('{"scores": [[1, @"2"]]}'), f"{FIRST}/given/scores/0/1", "a number"),
    (given('{"scores": @[]}'), f"{FIRST}/given/scores", "an empty list"),
    (given('{"scores": [@[]]}'), f"{FIRST}/given/scores/0", "an empty list"),
    (given('{"queries": [[1, 2]], "keys": [[1, 2], @[3]]}'), f"{FIRST}/given/keys/1", "2"),
    (experiment('{"d": 4, @"baseline": true}'), f"{FIRST}/baseline", 'inside "given"'),
    (experiment('{"given": {"scores": [[1]]}, @"causal": true}'), f"{FIRST}/causal",
     'inside "given"'),
    (given('{"scores": [[1]], @"metrics": "all"}'), f"{FIRST}/given/metrics", 'beside "given"'),
    (experiment('{"given": {"scores": [[1]]}, "by": @3}'), f"{FIRST}/by",
     'a list of "head" and "query", or one of these alone'),
    (experiment('{"given": {"scores": [[1]]}, "by": @{}}'), f"{FIRST}/by", "or one of these alone"),
    (experiment('{"d": 4, "histogram": @{}}'), f"{FIRST}/histogram", "or one of these alone"),
    (experiment('{"d": 4, "metrics": @{}}'), f"{FIRST}/metrics", 'one alone, or "all"'),
    (experiment('{"d": 4, "metrics": @"every"}'), f"{FIRST}/metrics", 'or "all" alone'),
    (given('{"scoers": [[1]]}'), f"{FIRST}/given", 'did you mean "scores"?'),
]
LAWS_AND_SCALINGS = [
    (experiment('{"d": 4, "scalings": [{"preset": @"gemma5"}]}'), f"{FIRST}/scalings/0/preset",
     'did you mean "gemma4"?'),
    (experiment('{"d": 4, "scalings": [@"mistral"]}'), f"{FIRST}/scalings/0", "gemma2_27b"),
    (experiment('{"d": 4, "scalings": [{"preset": "grok1", "cap": @0}]}'),
     f"{FIRST}/scalings/0/cap", "a number from 1e-09 to 1000000000 (where logits end)"),
    (experiment('{"d": 4, "entries": {"law": "student_t", "nu": @2}}'), f"{FIRST}/entries/nu",
     "write more than 2, such as 2.1"),
    (with_precision("@{}"), PRECISION, 'found an empty object; expected one of float64'),
    (with_precision("@3"), PRECISION, 'or an object of steps, such as {"product": "float16"}'),
    (with_precision('@"float15"'), PRECISION, "or an object of steps"),
    (with_precision('{@"prod": "float16"}'), f"{PRECISION}/prod", 'did you mean "product"?'),
    (with_precision('{@"prodcut": "float16"}'), f"{PRECISION}/prodcut", 'did you mean "product"?'),
    (experiment('{"d": 4, "scalings": [{"name": "g", "logit": "(2 rms(q))@.k"}]}'),
     f"{FIRST}/scalings/0/logit", "a norm stands on both sides of the dot or on neither"),
    (experiment('{"d": 4, "scalings": [{"name": "g", "logit": "g q.k", "g": [1, @true]}]}'),
     f"{FIRST}/scalings/0/g/1", "found true; expected a number"),
]
OVERRIDES = [
    ("queries=0", ["queries", "found 0"]),
    ("queries=ten", ["queries", '"ten"']),
    ("qeries=5", ['did you mean "queries"?']),
    ("e.qeries=5", ['did you mean "queries"?']),
    ("f.queries=5", ['"f"']),
    ("/experiments/9/d=4", ["/experiments/9"]),
    ("d=[4,4]", ["second time"]),
    ("seed=-1", ["seed", "found -1"]),
    ("metrics=[slop]", ["metrics"]),
    ('metrics=["slop"]', ['did you mean "slope"?']),
    ("name=a b", ["/name"]),
]


def place_of(marked):
    """Line and column of the @, counted in characters from 1."""
    before = marked[:marked.index("@")]
    return 1 + before.count("\n"), len(before) - (before.rfind("\n") + 1) + 1


class ConfigErrorsTest(CommandLineTest):
    def assert_no_folder(self):
        self.assertEqual([path.name for path in self.folder.iterdir() if path.is_dir()], [])

    def refuse_all(self, cases):
        start = children_seconds()
        for marked, pointer, says in cases:
            name = self.write_config(marked.replace("@", ""))
            message = self.refuse("run", name, says=[says])
            if "@" in marked:
                line, column = place_of(marked)
                place = f"{name}:{line}:{column}: " + (f"{pointer}: " if pointer else "")
                self.assertTrue(message.startswith(place), (marked, place, message))
            else:
                self.assertRegex(message, rf"\A{name}:\d+:\d+: {pointer}", marked)
            self.assertNotIn("what()", message)
        self.assert_no_folder()
        each = (children_seconds() - start) / len(cases)
        print(f"{len(cases)} bad configs refused in {1000 * each:.0f} ms each")
        self.assertLess(each, 0.1 * SLOWDOWN)

    def test_there_are_more_than_40_of_them(self):
        self.assertGreaterEqual(len(NOT_JSON) + len(AT_THE_TOP) + len(NESTED), 40)

    def test_what_is_not_json(self):
        self.refuse_all(NOT_JSON)

    def test_at_the_top(self):
        self.refuse_all(AT_THE_TOP)

    def test_nested(self):
        self.refuse_all(NESTED)

    def test_of_laws_and_scalings(self):
        self.refuse_all(LAWS_AND_SCALINGS)

    def test_the_same_through_plan_and_with_a_folder_asked_for(self):
        for marked, _, says in AT_THE_TOP[:6]:
            name = self.write_config(marked.replace("@", ""))
            self.refuse("plan", name, says=[says])
            self.refuse("run", name, "--out", "deep/er", says=[says])
        self.assert_no_folder()

    def test_overrides_pass_the_same_checks(self):
        name = self.write_config({"name": "a", "experiments": [{"name": "e", "d": 4}]})
        self.succeed("plan", name)
        for override, says in OVERRIDES:
            self.refuse("run", name, "--set", override, says=[f"--set {override}", *says])
            self.refuse("run", name, "--set=" + override, "--out", "x", says=says)
        self.assert_no_folder()

    def test_a_long_experiment_ends_as_fast_as_a_short_one(self):
        many = ", ".join(f'{{"name": "e{i}", "d": 4}}' for i in range(2000))
        name = self.write_config(experiment(many + ', {"d": 3.9}'))
        start = children_seconds()
        self.refuse("run", name, says=["/experiments/2000/d", "found 3.9"])
        self.assertLess(children_seconds() - start, SLOWDOWN)

    def test_bytes_that_are_no_text(self):
        for content in (b"\xff\xfe{", b"\x00", b'{"name": "\xff"}', b"\xef\xbb\xbf{}"):
            (self.folder / "bytes.json").write_bytes(content)
            self.refuse("run", "bytes.json", says=["bytes.json:1:"])
        self.assert_no_folder()


if __name__ == "__main__":
    unittest.main()
