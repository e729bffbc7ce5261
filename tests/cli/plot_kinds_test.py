"""What each kind of scripts/plot.py's pictures shows and does not show, on tables made here."""

import json
import re
import unittest
from pathlib import Path

from plot_case import PlotCase, plot, texts

HEADER = ("run,seed,experiment,entries,entries_value,d,keys,scaling,scaling_value,metric,queries,"
          "estimate,std_error,ci_low,ci_high,sd,min,q05,median,q95,max,reference,z,status\n")


def summary_line(d=4, keys=8, scaling="none", value="", metric="entropy", estimate=1.0, half=0.1,
                 quantiles=(0.5, 0.9, 1.5), reference="", seed=0, law="normal", law_value="",
                 experiment="one"):
    """A line of summary.csv; half: half the width of the interval, None for no interval."""
    bars = ",,,"
    if estimate == "":
        quantiles = ("", "", "")
    elif half is not None:
        bars = f"{half / 2},{estimate - half},{estimate + half},"
    low, median, high = quantiles
    return (f"run,{seed},{experiment},{law},{law_value},{d},{keys},{scaling},{value},{metric},1000,"
            f"{estimate},{bars},,{low},{median},{high},,{reference},,ok\n")


class KindsTest(PlotCase):
    def setUp(self):
        super().setUp()
        (self.run_folder / "histogram.csv").unlink()

    def write(self, *lines, name="summary.csv", header=HEADER):
        (self.run_folder / name).write_text(header + "".join(lines))

    def draw(self, *options):
        """{name of a picture: its SVG}."""
        answer = plot(self.run_folder, *options)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        return {Path(name).stem: content.decode() for name, content in self.pictures().items()
                if name.endswith(".svg")}

    def test_a_curve_that_ends_says_so_and_no_line_leads_on_from_it(self):
        self.write(*[summary_line(d, estimate="" if name == "half" and d > 16 else 1.0 + level)
                     .replace(",none,", f",{name},")
                     for d in (4, 16, 64, 256) for level, name in enumerate(("none", "half"))])
        picture = self.draw()["entropy"]
        self.assertIn("half (ends at 16)", texts(picture))
        self.assertIn("none", texts(picture))
        # Right of its end the colour of "half" is that of its leader alone, outside of the plot.
        paths = re.findall(r'<path d="([^"]*)"[^>]*style="[^"]*stroke: (#\w+)', picture)
        right = max(float(x) for x in re.findall(r"[ML] ([\d.]+) ", next(
            path for path, colour in paths if colour == "#d55e00")))
        for path, colour in paths:
            xs = [float(x) for x in re.findall(r"[ML] ([-\d.]+) ", path)]
            if colour == "#cc79a7" and min(xs) > 0 and max(xs) > right:
                self.assertGreater(min(xs), right)

    def test_a_missing_estimate_is_a_gap_in_the_line(self):
        self.write(*[summary_line(d, estimate="" if d == 16 else 1.0) for d in (4, 16, 64, 256)])
        first = self.draw()["entropy"]
        self.write(*[summary_line(d) for d in (4, 64, 256)])
        self.assertNotEqual(self.draw()["entropy"], first)

    def test_a_law_without_an_estimate_says_why(self):
        self.write(summary_line(), summary_line(law="student_t", estimate="").replace(
            ",ok\n", ",no_moment\n"))
        self.assertIn("no estimate: no_moment", texts(self.draw()["entropy"]))

    def test_a_median_far_below_all_means_leaves_the_log_axis(self):
        self.write(*[summary_line(d, metric="slope", estimate=0.1, half=0.01,
                                  quantiles=(0, median, 0.2))
                     for d, median in ((4, 0.1), (16, 0.01), (64, 1e-28))])
        exponents = [int(found) for found in re.findall(r"10\s*\u2212(\d+)", " ".join(
            texts(self.draw()["slope"])))]
        self.assertTrue(exponents)
        self.assertLess(max(exponents), 12)

    def test_exact_values_are_marks_and_no_line(self):
        self.write(*[summary_line(d, estimate=1.0, reference=3.0 if d in (4, 256) else 2.0,
                                  quantiles=("", "", "")) for d in (4, 16, 64, 256)])
        picture = self.draw()["entropy"].replace("\n", " ")
        lines = re.findall(r'<path d="(M [-\d. ]+(?:L [-\d. ]+)+)" clip-path', picture)
        heights = [{y for _, y in re.findall(r"([-\d.]+) ([-\d.]+)", line)} for line in lines]
        self.assertTrue(any("exact" == text for text in texts(picture)))
        for of_line in heights:  # a chord would join two heights
            self.assertLessEqual(len(of_line), 2)
        joined = [line for line in lines if line.count("L") == 3]
        self.assertEqual(len({y for _, y in re.findall(r"([-\d.]+) ([-\d.]+)", joined[0])}), 1)
        self.assertEqual(len(joined), 1)

    def test_a_point_without_an_interval_is_open_and_the_legend_says_so(self):
        self.write(*[summary_line(d) for d in (4, 16, 64)])
        self.assertNotIn("mean of the queries, no interval", texts(self.draw()["entropy"]))
        self.write(*[summary_line(d, half=None if d == 16 else 0.1) for d in (4, 16, 64)])
        picture = self.draw()["entropy"]
        self.assertIn("mean of the queries, no interval", texts(picture))
        self.assertIn("fill: #ffffff; stroke: #d55e00", picture)

    def test_words_that_cannot_be_read_are_done_without(self):
        self.write(*[summary_line(d) for d in (4, 16, 64)])
        for text in ("{", "[" * 200_000 + "]" * 200_000):
            (self.run_folder / "config.json").write_text(text)
            self.assertIn("entropy", self.draw())

    def test_a_fraction_has_no_median(self):
        self.write(*[summary_line(d, metric="saturated", estimate=0.4, quantiles=(0, d > 4, 1))
                     for d in (4, 16, 64)])
        self.assertNotIn("median", texts(self.draw()["saturated"]))
        self.write(*[summary_line(d) for d in (4, 16, 64)])
        self.assertIn("median", texts(self.draw()["entropy"]))

    def test_names_have_unordered_colours_and_values_a_ramp(self):
        def colours(*scalings):
            self.write(*[summary_line(d).replace(",none,,", f",{name},{value},")
                         for d in (4, 16, 64) for name, value in scalings])
            picture = self.draw()["entropy"]
            found = re.findall(r"stroke: (#\w{6}); stroke-opacity: 0.65", picture)
            return [tuple(int(each[at:at + 2], 16) for at in (1, 3, 5))
                    for each in dict.fromkeys(found) if each != "#666666"]

        def lightness(colour):
            return 0.3 * colour[0] + 0.59 * colour[1] + 0.11 * colour[2]

        swept = [lightness(each) for each in colours(*[("capped", at) for at in (1, 2, 3, 4)])]
        self.assertEqual(len(swept), 4)
        self.assertEqual(swept, sorted(swept))
        named = [lightness(each) for each in colours(*[(name, "") for name in "abcd"])]
        self.assertEqual(len(named), 4)
        self.assertNotIn(named, (sorted(named), sorted(named, reverse=True)))

    def test_the_power_that_keeps_logits_the_same_is_black(self):
        (self.run_folder / "config.json").write_text(json.dumps({"experiments": [{
            "name": "one", "scalings": [{"name": "power", "logit": "q.k d^p",
                                         "p": [0, -0.25, -0.5, -0.75]}]}]}))
        self.write(*[summary_line(d, scaling="power", value=value, estimate=2 - value)
                     for d in (4, 16, 64) for value in (0, -0.25, -0.5, -0.75)])
        found = re.findall(r"stroke: (#\w{6}); stroke-opacity: 0.65", self.draw()["entropy"])
        self.assertIn("#000000", found)
        self.assertEqual(len(set(found) - {"#666666"}), 4)

    def test_words_come_from_the_config_and_the_data_package(self):
        (self.run_folder / "config.json").write_text(json.dumps({
            "description": "What does d do?", "experiments": []}))
        (self.run_folder / "datapackage.json").write_text(json.dumps({
            "metrics": [{"name": "entropy", "title": "disorder of the weights", "unit": "nat"}],
            "resources": [{"schema": {"fields": [{"name": "d", "title": "entries"}]}}]}))
        self.write(*[summary_line(d) for d in (4, 16, 64)])
        said = texts(self.draw()["entropy"])
        for words in ("What does d do?", "disorder of the weights (nat)", "d: entries"):
            self.assertIn(words, said)

    def test_pictures_say_which_run_they_show(self):
        (self.run_folder / "manifest.json").write_text('{"fingerprint": "0123abcd"}')
        self.write(*[summary_line(d, seed=7) for d in (4, 16)])
        self.draw("--pdf")
        for name, content in self.pictures().items():
            if not name.endswith(".pdf"):  # whose text is compressed
                self.assertIn(b"run run, seed 7, fingerprint 0123abcd", content, name)
            self.assertIn(b"attnscale plot.py", content, name)

    def test_pictures_of_another_call_are_removed_and_those_of_others_stay(self):
        self.write(*[summary_line(d) for d in (4, 16)],
                   *[summary_line(d, metric="margin") for d in (4, 16)])
        self.draw()
        (self.run_folder / "figures" / "mine.svg").write_text("<svg/>")
        (self.run_folder / "figures" / "margin.vl.json").write_text("{}")
        self.draw("--metric", "entropy")
        self.assertEqual(set(self.pictures()),
                         {"entropy.svg", "entropy.png", "mine.svg", "margin.vl.json"})

    def test_the_key_counts_of_one_scaling_share_a_picture_against_the_spread(self):
        self.write(*[summary_line(128, keys, "spread", value, metric,
                                  estimate=value if metric == "logit_sd" else 0.5)
                     for keys in (8, 64) for value in (1, 2, 4) for metric in ("logit_sd",
                                                                               "sum_p2")])
        drawn = self.draw("--metric", "sum_p2", "--x", "logit_sd")
        self.assertEqual(set(drawn), {"sum_p2"})
        for words in ("8 keys", "64 keys"):
            self.assertIn(words, texts(drawn["sum_p2"]))

    def test_panels_of_a_histogram_share_their_axes(self):
        lines = []
        for d, reach in ((4, 2), (16, 8)):
            for at in range(4):
                low = -reach + at * reach / 2
                lines.append(f"run,0,one,normal,,{d},8,none,,logit,{low},{low + reach / 2},25,"
                             f"{0.25 / (reach / 2)}\n")
        self.write(*lines, name="histogram.csv", header=HEADER.split("queries")[0]
                   + "bin_low,bin_high,count,density\n")
        self.write(*[summary_line(d) for d in (4, 16)])
        picture = self.draw()["histogram_logit"].replace("\n", " ")
        shapes = [[(float(x), float(y)) for x, y in re.findall(r"([-\d.]+) ([-\d.]+)", path)]
                  for path in re.findall(r'<path d="(M [^"]*)" clip-path[^>]*style="fill: #d55e00',
                                         picture)]
        widths = [max(x for x, _ in shape) - min(x for x, _ in shape) for shape in shapes]
        heights = [max(y for _, y in shape) - min(y for _, y in shape) for shape in shapes]
        self.assertEqual(len(shapes), 2)
        self.assertAlmostEqual(widths[1] / widths[0], 8 / 2, 3)
        self.assertAlmostEqual(heights[0] / heights[1], 8 / 2, 3)  # equal areas

    def test_weights_are_a_heat_map_with_a_causal_triangle(self):
        self.write()
        header = "experiment,head,query,scaling,key,score,logit,weight,slope\n"
        (self.run_folder / "config.json").write_text(json.dumps({"experiments": [
            {"name": "toy", "given": {"causal": True}}]}))
        self.write(*[f"toy,0,{query},none,{key},1,1,{1 / (query + 1)},0\n"
                     for query in range(4) for key in range(query + 1)],
                   *[f"lesson,0,0,{name},{key},1,1,{weight},0\n"
                     for name in ("none", "div_d") for key, weight in enumerate((0.7, 0.2, 0.1))],
                   name="weights.csv", header=header)
        drawn = self.draw()
        self.assertEqual(set(drawn), {"weights", "weights-experiment_toy"})
        toy = texts(drawn["weights-experiment_toy"])
        self.assertEqual((toy.count("1.0000"), toy.count("0.5000"), toy.count("0.2500")), (1, 2, 4))
        self.assertTrue(any("gray: keys that the query does not see" in text for text in toy))
        for words in ("lesson: none", "lesson: div_d", "0.7000"):
            self.assertIn(words, texts(drawn["weights"]))

    def test_given_metrics_stand_beside_the_random_ones(self):
        self.write(summary_line(law="", metric="entropy", half=None))
        self.write("run,0,one,4,8,none,,entropy,5,1.0,100,1.5,0.01,0.66,40,1.2,0.02,0.8\n",
                   name="baselines.csv",
                   header="run,seed,experiment,d,keys,scaling,scaling_value,metric,queries,"
                          "estimate,baseline_queries,baseline,baseline_std_error,ratio,"
                          "matched_queries,matched,matched_std_error,matched_ratio\n")
        said = texts(self.draw()["baseline-experiment_one"])
        self.assertIn("given", said)
        beside = "5 given queries beside 100 random ones and 40 matched ones"
        self.assertTrue(any(beside in text for text in said))

    def draw_seeds(self, *edits):
        """plot.py on a run for each edit, a pair of seed and estimate."""
        folders = []
        for seed, estimate in edits:
            folder = self.run_folder.parent / f"seed{len(folders)}"
            folder.mkdir(exist_ok=True)
            (folder / "summary.csv").write_text(HEADER + summary_line(
                seed=seed, estimate=estimate, reference=1.0))
            folders.append(folder)
        return folders, plot(*folders, "--out", self.run_folder.parent / "all")

    def test_the_intervals_of_many_seeds_are_counted_around_the_exact_value(self):
        _, answer = self.draw_seeds((1, 1.0), (2, 1.05), (3, 1.2), (4, 0.95))
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        picture = (self.run_folder.parent / "all" / "seeds_entropy.svg").read_text()
        self.assertIn("3 of 4 hold it", texts(picture))
        self.assertIn("3 of 4 hold the exact value (75.0%)", " ".join(reversed(texts(picture))))

    def test_runs_that_are_no_seeds_of_one_config_are_refused(self):
        folders, answer = self.draw_seeds((1, 1.0), (1, 1.1))
        self.expect_error(answer, "have the same seed, 1", str(folders[1]))
        for folder, keys in zip(folders, (8, 16)):
            (folder / "config.json").write_text(json.dumps({"experiments": {"keys": keys}}))
        self.expect_error(plot(*folders), "differ in more than their seed (/experiments/keys)")


if __name__ == "__main__":
    unittest.main()
