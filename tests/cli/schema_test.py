"""The committed schema and the corpus of configs agree.

The C++ test config/schema_test reads the same corpus with the tool, and checks that
configs/schema.json is what the tool prints; together they show that tool and schema accept and
refuse the same configs, but for the rules draft-07 cannot express (beyond_schema.jsonl, where
`description` says the rule).
"""

import json
import pathlib
import unittest

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "configs" / "schema.json").read_text())


def corpus(name):
    lines = (ROOT / "tests" / "config_corpus" / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


class SchemaTest(unittest.TestCase):
    def setUp(self):
        self.validator = jsonschema.Draft7Validator(SCHEMA)

    def test_schema_is_draft_07(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_accepts_what_the_tool_accepts(self):
        for config in corpus("valid"):
            with self.subTest(config=config):
                errors = [error.message for error in self.validator.iter_errors(config)]
                self.assertEqual(errors, [])

    def test_refuses_what_the_tool_refuses(self):
        for config in corpus("invalid"):
            with self.subTest(config=config):
                self.assertFalse(self.validator.is_valid(config))

    def test_lets_pass_what_draft_07_cannot_express(self):
        for config in corpus("beyond_schema"):
            with self.subTest(config=config):
                self.assertTrue(self.validator.is_valid(config))

    def test_accepts_the_committed_configs(self):
        for path in sorted((ROOT / "configs").glob("*.json")):
            if path.name != "schema.json":
                with self.subTest(path=path.name):
                    self.validator.validate(json.loads(path.read_text()))

    def test_describes_every_key(self):
        objects = [SCHEMA, *SCHEMA["definitions"].values()]
        for key, value in ((k, v) for o in objects for k, v in o.get("properties", {}).items()):
            with self.subTest(key=key):
                self.assertTrue(value["description"].endswith("."))


if __name__ == "__main__":
    unittest.main()
