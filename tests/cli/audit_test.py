"""What `attnscale audit` answers."""

import unittest

from attnscale_cli import CommandLineTest


class AuditTest(CommandLineTest):
    def test_names_what_presets_multiply_by_and_a_gain(self):
        # YaRN of 40 times the context with 0.0707: (0.0707 ln 40 + 1)^2 = 1.589626;
        # a gain of 0.116 on queries and keys.
        for options, name in (
                (("--d", 192, "--factor", 1.589626 / 192**0.5), "As the preset deepseek_v2 has it"),
                (("--d", 64, "--factor", 1 / 128), "or as the preset granite3_8b has it"),
                (("--d", 256, "--measured-sd", 0.116**2, "--gain", 0.116), "The gain squared"),
                (("--d", 256, "--measured-sd", 0.116, "--gain", 0.116), "The gain once")):
            with self.subTest(name=name):
                self.assertIn(name, self.succeed("audit", *options).stdout.partition("\n")[0])

    def test_takes_a_spread_of_0_and_a_factor_below_it(self):
        self.assertIn("A factor of 0",
                      self.succeed("audit", "--d", 64, "--measured-sd", 0).stdout)
        text = self.succeed("audit", "--d", 64, "--factor", -0.125).stdout
        self.assertIn("-0.125 = -1/8, -1/sqrt(64)", text)

    def test_finds_that_scores_were_scaled_twice(self):
        text = self.succeed("audit", "--d", 64, "--measured-sd", 0.125, "--d-model", 512,
                            "--heads", 8, "--padded-d", 80, "--layers", 12).stdout
        self.assertTrue(text.startswith("Scaled twice"), text)
        self.assertLessEqual(len(text.splitlines()), 14)

    def test_answers_which_d_from_the_width_and_the_heads(self):
        for width, heads, d, root in [(768, 12, 64, "8"), (4096, 32, 128, "11.31"),
                                      (512, 8, 64, "8")]:
            text = self.succeed("audit", "--d-model", width, "--heads", heads).stdout
            self.assertIn(f"The head size {d} ({width} over {heads} heads), not the model's width "
                          f"{width}: divide q.k by sqrt({d}) = {root}.", text)

    def test_takes_the_spreads_of_entries_and_a_factor(self):
        text = self.succeed("audit", "--d", 128, "--measured-sd", 0.1362, "--query-sd", 1.1,
                            "--key-sd", 1.4007).stdout
        self.assertTrue(text.startswith("Scaled twice"), text)
        answer = self.attnscale("audit", "--d", 192, "--factor", 0.0721688, "--like",
                                "deepseek_v2_lite")
        self.assertIn("m^2 missing", answer.stdout)
        self.assertEqual(answer.returncode, 5)

    def test_refuses_what_it_cannot_audit(self):
        self.refuse("audit", says=["--d N, or both --d-model N and --heads N"])
        self.refuse("audit", "--d-model", 512, says=["--heads"])
        self.refuse("audit", "--d-model", 512, "--heads", 7, says=["not a multiple", "--d"])
        self.refuse("audit", "--d", 0, says=["--d needs a whole number from 1", '"0"'])
        for spread in ("-1", "nan", "inf", "x"):
            self.refuse("audit", "--d", 64, "--measured-sd", spread,
                        says=["--measured-sd needs", "from 0 on", f'"{spread}"'])
        for name, says in (("yarn", "needs factor ("), ("qknorm", "needs length ("),
                           ("falcon_h1", 'numbers for the names in it: "q.(key_multiplier k)'),
                           ("gpt_oss", '"q.k / sqrt(d)" are its logits')):
            self.refuse("audit", "--d", 64, "--factor", 1, "--like", name,
                        says=[f'--like "{name}" needs', says])
        self.refuse("audit", "--d", 64, "0.125", says=['takes no "0.125"'])
        self.refuse("audit", "--d", 64, "--measured", 1, says=['did you mean "--measured-sd"?'])


if __name__ == "__main__":
    unittest.main()
