"""Configs that somebody might have got wrong: valid ones with a few things changed by chance, the
same for the same number."""

import copy
import json
import random

from attnscale_cli import ROOT

NUMBERS = [0, 1, -1, 2, 3, 7, 8, 64, 1000, 1025, 0.5, -0.5, 0.99, 1.0, 1e-9, 1e-300, 5e-324, 1e9,
           1e15, 1e300, -1e300, 2**31, 2**53 - 1, 2**53, 2**64]
OTHERS = ["", "x", "a b", "\u00e9", None, True, False, [], {}, [1], [1, 1], [[1, 2], [3]],
          {"from": 1, "to": 4, "step": 1}, {"from": 4, "to": 64, "times": 4}]
FACTORS = [-1, 0.1, 0.5, 1.5, 2, 10, 1e6, 1e-6]
LETTERS = "dknsq0123456789.+-*/^()<>=,_ abcelmortx\"\\"
MOST_QUERIES = 2000


def load_seeds():
    """The valid configs there are, with so few queries that each is measured in no time."""
    texts = [path.read_text() for path in sorted((ROOT / "configs").glob("*.json"))
             if path.name != "schema.json"]
    texts += (ROOT / "tests" / "config_corpus" / "valid.jsonl").read_text().splitlines()
    seeds = [json.loads(text) for text in texts if text.strip()]
    for seed in seeds:
        for experiment in seed["experiments"]:
            if "given" not in experiment:
                experiment["queries"] = min(experiment.get("queries", MOST_QUERIES), MOST_QUERIES)
                if "stop" in experiment:
                    experiment["stop"].pop("min_queries", None)
    return seeds


def places(value):
    """Every (container, key or index) below a value."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places(value[key])


class ConfigMutator:
    def __init__(self):
        self.seeds = load_seeds()
        self.values = {}  # key -> the values that it has in some seed
        for seed in self.seeds:
            for container, key in places(seed):
                if isinstance(container, dict):
                    self.values.setdefault(key, []).append(container[key])

    def config(self, number):
        """The bytes of the config of this number."""
        chance = random.Random(number)
        config = copy.deepcopy(chance.choice(self.seeds))
        for _ in range(chance.choice([1, 1, 1, 2, 2, 3])):
            self.change(config, chance)
        text = json.dumps(config).encode()
        return self.damage(text, chance) if chance.random() < 0.07 else text

    def change(self, config, chance):
        container, key = chance.choice(list(places(config)))
        old = container[key]
        change = chance.choice([self.add, self.add, self.replace, self.vary, self.vary, self.drop,
                                self.repeat])
        change(container, key, old, chance)

    def add(self, container, key, old, chance):
        """A key that some object has, with a value that it has there."""
        objects = [value for value in (old, container) if isinstance(value, dict)]
        if objects:
            name = chance.choice(list(self.values))
            objects[0][name] = copy.deepcopy(chance.choice(self.values[name]))
        else:
            self.vary(container, key, old, chance)

    def replace(self, container, key, old, chance):
        pool = self.values.get(key, []) if chance.random() < 0.5 else []
        container[key] = copy.deepcopy(chance.choice(pool or chance.choice([NUMBERS, OTHERS])))

    def vary(self, container, key, old, chance):
        """Something of the same type."""
        if isinstance(old, bool) or old is None:
            container[key] = not old
        elif isinstance(old, (int, float)):
            near = [old + 1, old - 1, chance.choice(FACTORS) * old]
            container[key] = chance.choice([*near, chance.choice(NUMBERS)])
        elif isinstance(old, str):
            words = [value for values in self.values.values() for value in values
                     if isinstance(value, str)]
            container[key] = chance.choice([chance.choice(words), self.misspell(old, chance)])
        else:
            items = list(old.items() if isinstance(old, dict) else old)
            chance.shuffle(items)
            container[key] = dict(items) if isinstance(old, dict) else items

    @staticmethod
    def misspell(text, chance):
        at = chance.randrange(len(text) + 1)
        return text[:at] + chance.choice(["", chance.choice(LETTERS)]) + text[
            at + chance.randrange(2):]

    @staticmethod
    def drop(container, key, old, chance):
        del container[key]

    @staticmethod
    def repeat(container, key, old, chance):
        if isinstance(container, list):
            container.insert(key, copy.deepcopy(old))
        else:
            container[key] = [old, old] if chance.random() < 0.5 else [old]

    @staticmethod
    def damage(text, chance):
        """The same with a few bytes changed, left out or repeated."""
        data = bytearray(text)
        for _ in range(chance.choice([1, 1, 2, 5])):
            at = chance.randrange(len(data))
            until = at + chance.choice([1, 1, 2, 20])
            data[at:until] = chance.choice([b"", bytes([chance.randrange(256)]),
                                            bytes(data[at:until]) * 2])
        return bytes(data)
