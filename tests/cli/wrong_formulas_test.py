"""Formulas that say nothing: each ends the program with code 2, one sentence and the character that
it is about."""

import json
import unittest

from attnscale_cli import CommandLineTest

# Formula, the character from 1 that is wrong, and what is said of it.
WRONG = (
    ("", 1, "the formula is empty"),
    ("q", 1, "found a query where a number may stand"),
    ("k", 1, "found a key where a number may stand"),
    ("q.", 3, "found the end where a number, a name, a function"),
    (".k", 1, 'found "." where a number, a name, a function'),
    ("q.q", 2, "but a query stands before it and a query after it"),
    ("k.q", 2, "but a key stands before it and a query after it"),
    ("k.k", 2, "but a key stands before it and a key after it"),
    ("q k", 3, "found a key where a number may stand"),
    ("q*k", 3, "found a key where a number may stand"),
    ("q . . k", 5, 'found "." where a number, a name, a function'),
    ("q.k +", 6, "found the end where a number, a name, a function"),
    ("* q.k", 1, 'found "*" where a number, a name, a function'),
    ("q.k q.k.k", 8, "but a number stands before it and a key after it"),
    ("2 q.k)", 6, 'found ")", but no bracket is open'),
    ("(q.k", 5, 'found the end, but ")" must close the bracket of character 1'),
    ("((q.k)", 7, 'found the end, but ")" must close the bracket of character 1'),
    ("[q.k]", 1, 'found "[": a formula is of'),
    ("q.k / ", 7, "found the end where a number, a name, a function"),
    ("q.k / / 2", 7, 'found "/" where a number, a name, a function'),
    ("q.k ^", 6, "found the end where a number, a name, a function"),
    ("q.k ** 2", 5, 'found "**": a formula is of'),
    ("q.k // 2", 6, 'found "/" where a number, a name, a function'),
    ("q.k % 2", 5, 'found "%": a formula is of'),
    ("sqrt q.k", 1, '"sqrt" is a function, which needs a bracket after it'),
    ("sqrt()", 1, "sqrt takes 1, not 0"),
    ("sqrt(q.k", 9, 'found the end, but ")" must close the bracket of character 5'),
    ("sqrt(q.k, 2)", 1, "sqrt takes 1, not 2"),
    ("max(q.k)", 1, "max takes 2 or more, not 1"),
    ("clamp(q.k, 1)", 1, "clamp takes 3, not 2"),
    ("clamp(q.k, 1, 2, 3)", 1, "clamp takes 3, not 4"),
    ("max()", 1, "max takes 2 or more, not 0"),
    ("sqtr(d) q.k", 1, '"sqtr" is unknown; did you mean "sqrt"?'),
    ("q.k / sqrtd", 7, '"sqrtd" is unknown; did you mean "sqrt"?'),
    ("q.k / D", 7, '"D" is unknown; did you mean "d"?'),
    ("kees q.k", 1, '"kees" is unknown; did you mean "keys"?'),
    ("1.2.3 q.k", 4, 'found ".3" right after a number: write * between them'),
    ("0x10 q.k", 2, '"x10" is unknown; names are q, k, d'),
    ("1e999 q.k", 1, "1e999 is beyond what a double can hold"),
    ("q.k / sqrt(d) = 1", 15, 'found "=": a formula is of'),
    ("q.k!", 4, 'found "!": a formula is of'),
    ("q.k / √d", 7, 'found "√": a formula is of'),
    ("q.k · 2", 5, 'found "·": a formula is of'),
    ("q.k − 1", 5, 'found "−": a formula is of'),
    ("'q.k'", 1, "found \"'\": a formula is of"),
    ("rms(q).k", 7, "a norm stands on both sides of the dot or on neither"),
    ("q.rms(k)", 2, "a norm stands on both sides of the dot or on neither"),
    ("rms(q).unit(k)", 7, "a norm stands on both sides of the dot or on neither"),
    ("rms(k).rms(q)", 7, "but a key stands before it and a query after it"),
    ("rms(q)", 1, "found a query where a number may stand"),
    ("rms(q) rms(k)", 8, "found a key where a number may stand"),
    ("rms(q, ).rms(k)", 8, 'found ")" where a number, a name, a function'),
    ("rms(q, k).rms(k)", 8, "found a key where a number may stand"),
    ("cos(q)", 1, "cos takes 2, not 1"),
    ("cos(k, q)", 8, "but a key stands before it and a query after it"),
    ("cos(q, k, 2)", 1, "cos takes 2, not 3"),
    ("(q + 1).k", 2, "found a query where a number may stand"),
    ("(q - k).k", 6, "found a key where a number may stand"),
    ("(q.k).k", 6, "but a number stands before it and a key after it"),
    ("(q / k).k", 6, "found a key where a number may stand"),
    ("tanh(q).k", 6, "found a query where a number may stand"),
    ("sqrt(d)", 1, "the formula has no product q.k of a query and a key"),
    ("rms(q).rms(k) + q.k", 17,
     "all products of a formula have the same norms, but this has others"),
    ("q.k + unit(q).unit(k)", 7,
     "all products of a formula have the same norms, but this has others"),
    ("layer(q, 5).layer(k)", 1, "layer takes 1, not 2"),
    ("(rms(2 q)).rms(k)", 6, "rms takes q or k alone; factors stand outside"),
    ("2(3)q.k,", 8, 'found ",", which stands only between the operands of a function'),
    ("q.k; q.k", 4, 'found ";": a formula is of'),
    ("q.k / 2 sqrt", 9, '"sqrt" is a function, which needs a bracket after it'),
    ("tanh", 1, '"tanh" is a function, which needs a bracket after it'),
    ("dot(q, k)", 1, '"dot" is unknown; names are q, k, d'),
    ("softmax(q.k)", 1, '"softmax" is unknown; names are q, k, d'),
    ("q@k", 2, 'found "@": a formula is of'),
    ("q.k^T", 5, '"T" is unknown; names are q, k, d'),
    ("rms(q j).rms(k)", 5, "rms takes q or k alone; factors stand outside"),
    ("(q 0.5 k)", 8, "found a key where a number may stand"),
    ("exp(q).k", 5, "found a query where a number may stand"),
    ("q.k / 1_0", 8, '"_0" is unknown; names are q, k, d'),
    ("q.k / (d", 9, 'found the end, but ")" must close the bracket of character 7'),
    ("e.k", 2, "but a number stands before it and a key after it"),
    ("q.k if d", 5, '"if" is unknown; did you mean "i"?'),
)

BEFORE = '{"name": "wrong", "experiments": [{"d": 4, "scalings": [{"name": "x", "logit": '
POINTER = "/experiments/0/scalings/0/logit"


class WrongFormulasTest(CommandLineTest):
    def test_each_is_refused_at_its_character(self):
        self.assertGreaterEqual(len(WRONG), 60)
        for formula, character, says in WRONG:
            with self.subTest(formula=formula):
                text = BEFORE + json.dumps(formula, ensure_ascii=False) + "}]}]}"
                name = self.write_config(text)
                message = self.refuse("run", name, "--out", "out")
                # The first character stands behind the quote.
                column = len(BEFORE) + 1 + character
                start = f"{name}:1:{column}: {POINTER}: at character {character}, "
                self.assertTrue(message.startswith(start), message)
                self.assertIn(says, message)
                self.assertEqual(message.count("\n"), 1, message)
                self.assertFalse((self.folder / "out").exists())


if __name__ == "__main__":
    unittest.main()
