"""What `attnscale audit` answers."""

import unittest

from attnscale_cli import CommandLineTest


class AuditTest(CommandLineTest):
    def test_finds_that_scores_were_scaled_twice(self):
        text = self.succeed("audit", "--d", 64, "--measured-sd", 0.125, "--d-model", 512,
                            "--heads", 8, "--padded-d", 80, "--layers", 12).stdout
        table = [line.strip() for line in text.splitlines() if "q.k" in line and "  " in line]
        self.assertTrue(table[0].startswith("scaled twice"), text)
        self.assertRegex(table[0], r"0\.125 +1$")
        for row in ("never scaled", "root of the model's width", "root of the padded head size"):
            self.assertIn(row, text)
        self.assertIn("A measured spread of 0.125 fits: scaled twice", text)

    def test_answers_which_d_from_the_width_and_the_heads(self):
        for width, heads, d, root in [(768, 12, 64, "8"), (4096, 32, 128, "11.31"),
                                      (512, 8, 64, "8")]:
            text = self.succeed("audit", "--d-model", width, "--heads", heads).stdout
            self.assertIn(f"The head size {d} ({width} over {heads} heads), not the model's width "
                          f"{width}: divide q.k by sqrt({d}) = {root}.", text)

    def test_refuses_what_it_cannot_audit(self):
        self.refuse("audit", says=["--d N, or both --d-model N and --heads N"])
        self.refuse("audit", "--d-model", 512, says=["--heads"])
        self.refuse("audit", "--d-model", 512, "--heads", 7, says=["not a multiple", "--d"])
        self.refuse("audit", "--d", 0, says=["--d needs a whole number from 1", '"0"'])
        for spread in ("0", "-1", "nan", "inf", "x"):
            self.refuse("audit", "--d", 64, "--measured-sd", spread,
                        says=["--measured-sd needs", "above 0", f'"{spread}"'])
        self.refuse("audit", "--d", 64, "0.125", says=['takes no "0.125"'])
        self.refuse("audit", "--d", 64, "--measured", 1, says=['did you mean "--measured-sd"?'])


if __name__ == "__main__":
    unittest.main()
