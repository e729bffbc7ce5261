"""Public cases of scalings that people asked about, each with the right answer: worked out again by
closed form or quadrature outside the program. The numbers are those of the cases' own threads."""

import math
import unittest

from attnscale_cli import CommandLineTest, read_csv


class FieldCasesTest(CommandLineTest):
    def lines(self, file, experiment):
        """The lines of a file of a run of one experiment, as dicts."""
        out = self.run_config({"name": "case", "experiments": [experiment]}, "case", "--force")
        header, lines = read_csv(out / file)
        return [dict(zip(header, line)) for line in lines]

    def given(self, scores, scaling, **more):
        """What weights.csv holds of given scores under one scaling: a dict for each key."""
        return self.lines("weights.csv", {
            "given": {"scores": scores, "weights": True, **more}, "scalings": [scaling],
            "metrics": ["top_weight"]})

    def weights(self, scores, scaling, **more):
        return [float(line["weight"]) for line in self.given(scores, scaling, **more)]

    def logits(self, scores, scaling, **more):
        return [float(line["logit"]) for line in self.given([scores], scaling, **more)]

    def exact(self, scalings, metric, **experiment):
        """The column reference of one metric, line by line."""
        lines = self.lines("summary.csv", {"queries": 64, "sampler": "direct", "keys": 8,
                                           **experiment, "scalings": scalings, "metrics": [metric]})
        return [float(line["reference"]) for line in lines]

    def assert_near(self, found, right, digits=6):
        self.assertEqual(len(found), len(right))
        for one, other in zip(found, right):
            self.assertAlmostEqual(one / other if other else one, 1 if other else 0, digits)

    def test_mla_without_yarns_square(self):
        """onnxruntime/mobius PR 548: 192^-0.5 without m^2."""
        scalings = ["div_sqrt_d", "deepseek_v2_lite", "deepseek_v3"]
        self.assert_near(self.exact(scalings, "logit_sd", d=192), [1, 1.589626, 1.873854])
        self.assert_near(self.exact(scalings, "top_weight", d=192, keys=1024),
                         [0.01629, 0.05588, 0.08900], 3)
        self.assert_near(self.exact(scalings, "entropy", d=192, keys=1024),
                         [6.4333, 5.6903, 5.2404], 4)

    def test_the_size_of_the_latent_or_of_the_values_for_that_of_the_heads(self):
        """vllm-project/vllm PR 41569."""
        scalings = [{"name": "latent", "logit": "q.k / sqrt(576)"},
                    {"name": "values", "logit": "q.k / sqrt(128)"}]
        self.assert_near(self.exact(scalings, "logit_sd", d=192), [0.57735, 1.22474], 5)
        self.assert_near(self.exact(scalings[:1], "top_weight", d=192, keys=1024), [0.00551], 2)

    def test_multiplied_in_place_of_divided(self):
        """AI-Hypercomputer/maxtext issue 1370."""
        multiplied = [{"name": "multiplied", "logit": "q.k sqrt(d)"}]
        self.assert_near(self.exact(multiplied, "logit_sd", d=192, keys=64), [192])
        self.assert_near(self.exact(multiplied, "top_weight", d=192, keys=64), [0.9915], 4)

    def test_no_scale_at_all(self):
        """mlc-ai/mlc-llm PR 3426, FrancescoSaverioZuppichini/ViT issue 2."""
        self.assert_near(self.exact(["none"], "logit_sd", d=[64, 96]), [8, 9.798], 4)
        self.assert_near(self.exact(["none", "div_sqrt_d"], "top_weight", d=96, keys=197),
                         [0.8003, 0.0515], 3)

    def test_a_preset_of_another_head_size(self):
        """OpenNMT/CTranslate2 PR 1882: Granite's 1/128 where heads have 64."""
        self.assert_near(self.exact(["granite3_8b", "granite3_2b"], "logit_sd", d=64),
                         [0.0625, 0.125])
        config = self.write_config({"name": "a", "experiments": [
            {"d": 64, "scalings": ["granite3_8b"]}]})
        self.assertIn("granite3_8b is made for d = 128; at d = 64 its 1/128 leaves a spread of "
                      "0.0625", self.succeed("plan", config).stderr)
        config = self.write_config({"name": "a", "experiments": [
            {"d": {"from": 1, "to": 1000, "step": 1}, "scalings": ["granite3_8b"]}]})
        warnings = self.succeed("plan", config).stderr.splitlines()
        self.assertEqual(sum("granite3_8b is made for d = 128" in line for line in warnings), 4)
        self.assertIn("off at more of these head sizes", warnings[-1])

    def test_longrope(self):
        """microsoft/LongRoPE issue 21."""
        self.assert_near(self.exact(["phi3_128k"], "logit_sd", d=96), [1.416667])

    def test_grok2s_temperature_follows_the_cap(self):
        """sgl-project/sglang issue 32942."""
        far = {"preset": "grok2", "position": 131071, "start": 1024}
        self.assert_near(self.logits([40, 10], far, d=1), [44.373, 16.397], 4)
        before = {"name": "before", "logit": "30 tanh(1.7 q.k / 30)"}
        self.assert_near(self.logits([40, 10], before), [29.362, 15.387], 4)
        for position, factor in ((1023, 1), (1025, 1.00014), (2047, 1.09993), (8191, 1.29998)):
            [logit] = self.logits([1e-6], {**far, "position": position}, d=1)
            self.assertAlmostEqual(logit / 1e-6, factor, 5)

    def test_ministrals_form_of_llama4s_factor(self):
        """huggingface/transformers PR 44860."""
        for preset, positions in (
                ("ministral3", {16383: 1, 16384: 1.069315, 131071: 1.207944, 262143: 1.277259}),
                ("llama4", {16383: 1.109861, 131071: 1.283321})):
            scalings = [{"preset": preset, "name": f"at_{position}", "position": position}
                        for position in positions]
            self.assert_near(self.exact(scalings, "logit_sd", d=64), list(positions.values()))

    def test_log_n_counts_the_visible_keys(self):
        """DAMO-NLP-SG/CLEX issue 1."""
        found = self.lines("weights.csv", {
            "given": {"queries": [[1, 2, 0, 1]] * 4, "weights": True, "causal": True,
                      "keys": [[1, 1, 0, 1], [0, 1, 1, 0], [1, -1, 2, 1], [2, 0, 1, 0]]},
            "scalings": ["log_keys"], "metrics": ["top_weight"]})
        self.assert_near([float(line["weight"]) for line in found],
                         [1, 2 / 3, 1 / 3, 9 / 13, 3 / 13, 1 / 13, .64, .16, .04, .16])

    def test_qwens_log_n_has_a_floor(self):
        """QwenLM/Qwen issue 42, vllm-project/vllm PR 44136."""
        self.assert_near(self.exact(["qwen1"], "logit_sd", d=64, keys=[2047, 4095, 8191, 32767]),
                         [1, 1.090877, 1.181802, 1.363633])

    def test_a_bias_by_distance(self):
        """ofirpress/attention_with_linear_biases issues 9 and 17."""
        self.assert_near(self.weights([[0, 0, 0, 0]],
                                      {"name": "a", "logit": "q.k - slope (i - j)", "slope": 0.5}),
                         [.101536, .167405, .276004, .455054], 5)

    def test_cosines_of_one_number(self):
        """microsoft/Swin-Transformer issue 373: at head size 1 every cosine is 1 or -1."""
        def mean_top(n):
            share = [math.comb(n, m) / 2**n for m in range(n + 1)]
            return share[0] / n + sum(p / (m + (n - m) * math.exp(-20))
                                      for m, p in enumerate(share) if m)
        for sampler in ("vectors", "direct", "boost"):
            lines = self.lines("summary.csv", {
                "d": 1, "keys": [2, 8, 49], "sampler": sampler, "queries": 4000,
                "scalings": [{"preset": "swin2", "tau": 0.1}],
                "metrics": ["logit_sd", "top_weight"]})
            for line in lines:
                estimate, keys = float(line["estimate"]), int(line["keys"])
                if line["metric"] == "logit_sd":
                    self.assertAlmostEqual(estimate, 10, delta=0.2)
                else:  # false alarms: 6 errors, once in 5e8
                    self.assertLess(abs(estimate - mean_top(keys)), 6 * float(line["std_error"]))
                    self.assertEqual(line["reference"], "")
        self.assert_near([mean_top(2), mean_top(8), mean_top(49)], [0.75, 0.294634, 0.0417054], 5)

    def test_unit_vectors_times_a_fixed_number(self):
        """lucidrains/muse-maskgit-pytorch issue 40."""
        for scale, spreads in ((8, (1, 0.7071, 0.5)), (10, (1.25, 0.8839, 0.625))):
            scaling = [{"name": "c", "logit": f"{scale} cos(q, k)"}]
            self.assert_near(self.exact(scaling, "logit_sd", d=[64, 128, 256]), spreads, 4)
            self.assert_near(self.exact(scaling, "logit_kurtosis", d=[64, 128, 256]),
                             [3 * d / (d + 2) for d in (64, 128, 256)])

    def test_layernorm_takes_one_dimension(self):
        """NVIDIA/Megatron-LM PR 1130, ml-explore/mlx-examples PR 565."""
        sizes = (4, 64, 128)
        draws = {"d": list(sizes), "sampler": "vectors"}
        self.assert_near(self.exact(["vit22b"], "logit_sd", **draws),
                         [math.sqrt(d / (d - 1)) for d in sizes])
        self.assert_near(self.exact(["command_r_plus"], "logit_kurtosis", **draws),
                         [3 * (d - 1) / (d + 1) for d in sizes])

    def test_gains_of_both_sides_multiply(self):
        """NeuraLegion/shainet PR 176: gains stored as offsets from one."""
        scalings = [{"name": name, "logit": "(g rms(q)).(g rms(k)) / sqrt(d)", "g": gain}
                    for name, gain in (("right", 1.09), ("wrong", 0.116))]
        self.assert_near(self.exact(scalings, "logit_sd", d=256), [1.1881, 0.013456])

    def test_a_sink_is_a_sigmoid_of_the_logarithm_of_the_sum(self):
        """pytorch/torchtitan PR 2211: both forms are equal, far out too."""
        for bias, right in ((1.5, 0.712510), (30, 1.0394e-12)):
            lines = self.lines("summary.csv", {
                "given": {"scores": [[2, 1, 0]]}, "metrics": ["total_weight"],
                "scalings": [{"name": "s", "logit": "q.k", "normaliser": {"sink": bias}}]})
            total = float(lines[0]["estimate"])
            lse = math.log(math.exp(2) + math.e + 1)
            self.assertAlmostEqual(total * (1 + math.exp(bias - lse)), 1, 13)
            self.assertAlmostEqual(total / right, 1, 4)

    def test_dividing_by_d_in_place_of_its_root(self):
        """YutaroOgawa/pytorch_advanced issue 174, at d = 300."""
        self.assert_near(self.exact(["div_sqrt_d", "div_d"], "logit_sd", d=300), [1, 0.057735], 5)

    def test_entries_of_torch_rand(self):
        """feifeibear/long-context-attention issue 122."""
        self.assert_near(self.exact(["div_sqrt_d"], "logit_sd", d=128, keys=16, sampler="vectors",
                                    entries={"law": "uniform", "mean": 0.5, "sd": 12**-0.5}),
                         [math.sqrt(7 / 144)])


if __name__ == "__main__":
    unittest.main()
