"""scripts/plot.py on a small run: the pictures it promises, the same bytes twice, clean errors.

The fixture's means are exact values by quadrature; its intervals and quantiles are made up.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import unittest
from pathlib import Path
from xml.etree import ElementTree

from plot_case import FIXTURE, ROOT, PlotCase, plot, texts


def corners(path):
    """The points of an SVG path of straight lines."""
    return [tuple(map(float, point)) for point in re.findall(r"([-\d.]+) ([-\d.]+)", path)]


class PlotTest(PlotCase):
    def test_draws_what_was_measured_and_the_histograms_and_names_each_file(self):
        answer = plot(self.run_folder)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        measured = {line.split(",")[9] for line in
                    (FIXTURE / "summary.csv").read_text().splitlines()[1:]}
        names = {f"{stem}.{kind}" for stem in (*measured, "histogram_logit")
                 for kind in ("svg", "png")}
        pictures = self.pictures()
        self.assertEqual(set(pictures), names)
        self.assertEqual({Path(line).name for line in answer.stdout.splitlines()}, names)
        for name, content in pictures.items():
            if name.endswith(".png"):
                self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
                width, height = struct.unpack(">II", content[16:24])
                self.assertGreater(min(width, height), 600, name)
            else:
                self.assertEqual(ElementTree.fromstring(content).tag,
                                 "{http://www.w3.org/2000/svg}svg")

    def test_the_same_csv_gives_the_same_bytes(self):
        plot(self.run_folder, "--pdf")
        first = self.digests()
        shutil.rmtree(self.run_folder / "figures")
        plot(self.run_folder, "--pdf")
        self.assertEqual(len(first), 12)
        self.assertEqual(self.digests(), first)

    def test_another_number_gives_another_picture(self):
        plot(self.run_folder, "--metric", "top_weight")
        first = self.digests()["top_weight.svg"]
        self.edit_summary(lambda text: text.replace("t,10000,0.74822", "t,10000,0.5"))
        answer = plot(self.run_folder, "--metric", "top_weight")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertNotEqual(self.digests()["top_weight.svg"], first)

    def test_the_key_count_can_be_the_axis(self):
        self.edit_summary(lambda text: "".join(
            line + (line.replace(",8,", ",2,", 1) if ",8," in line else "")
            for line in text.splitlines(True)))
        answer = plot(self.run_folder, "--metric", "slope", "--x", "keys")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(set(self.pictures()), {
            f"slope-d_{d}.{kind}" for d in (4, 16, 64, 256, 1024) for kind in ("svg", "png")})

    def test_the_measured_spread_can_be_the_axis(self):
        # The spreads of the fixture stand in an experiment of their own.
        self.edit_summary(lambda text: text.replace(",spread,", ",softmax,").replace(
            ",1,none,,logit_sd", ",8,none,,logit_sd").replace(
                ",1,div_sqrt_d,,logit_sd", ",8,div_sqrt_d,,logit_sd").replace(
                    ",1,div_d,,logit_sd", ",8,div_d,,logit_sd"))
        answer = plot(self.run_folder, "--metric", "top_weight", "--x", "logit_sd")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(set(self.pictures()), {"top_weight.svg", "top_weight.png"})
        self.edit_summary(lambda text: text.replace(",logit_sd,", ",max_logit,"))
        self.expect_error(plot(self.run_folder, "--metric", "top_weight", "--x", "logit_sd"),
                          "no logit_sd")

    def test_scalings_that_alone_vary_stand_below_each_other(self):
        self.edit_summary(lambda text: "".join(
            line for line in text.splitlines(True) if line.split(",")[5] in ("d", "64")))
        plot(self.run_folder, "--metric", "top_weight")
        first = self.digests()
        plot(self.run_folder, "--metric", "top_weight", "--x", "scaling")
        self.assertEqual(self.digests(), first)
        self.assertEqual(set(first), {"top_weight.svg", "top_weight.png"})
        self.expect_error(plot(self.run_folder, "--metric", "top_weight", "--x", "d"),
                          "top_weight do not vary in d (all have d 64)")

    def test_the_values_of_a_sweep_stand_among_scalings_that_are_not_swept(self):
        def sweep_one(text):
            header, *lines = [line for line in text.splitlines()
                              if line.split(",")[5] in ("d", "64")]
            return "\n".join([header] + [
                line.replace(",div_d,,", f",capped,{value},") for line in lines
                for value in ((1, 5, 50) if ",div_d,," in line else (0,))]) + "\n"

        self.edit_summary(sweep_one)
        plot(self.run_folder, "--metric", "top_weight")
        first = self.digests()
        plot(self.run_folder, "--metric", "top_weight", "--x", "scaling")
        self.assertEqual(self.digests(), first)
        self.edit_summary(lambda text: "".join(
            line for line in text.splitlines(True) if ",none,," not in line))
        plot(self.run_folder, "--metric", "top_weight")
        first = self.digests()
        plot(self.run_folder, "--metric", "top_weight", "--x", "scaling_value")
        self.assertEqual(self.digests(), first)

    def test_a_law_without_a_value_has_none_in_the_name(self):
        def in_two_laws(text):
            header, *lines = text.splitlines()
            others = [line.replace(",normal,,", ",student_t,5,") for line in lines]
            return "\n".join([header, *lines, *others]) + "\n"

        self.edit_summary(in_two_laws)
        answer = plot(self.run_folder, "--metric", "top_weight")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(set(self.pictures()), {
            f"top_weight-{law}.{kind}" for kind in ("svg", "png")
            for law in ("entries_normal", "entries_student_t-entries_value_5")})

    def test_columns_in_another_order_and_new_ones_change_nothing(self):
        plot(self.run_folder, "--metric", "slope")
        first = self.digests()

        def turn(text):
            return "".join(",".join(["x", *reversed(line.split(","))]) + "\n"
                           for line in text.splitlines())

        self.edit_summary(turn)
        answer = plot(self.run_folder, "--metric", "slope")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(self.digests(), first)

    def test_empty_cells_are_left_out(self):
        lines = (self.run_folder / "summary.csv").read_text().splitlines()
        header = lines[0].split(",")
        emptied = [header.index(name) for name in ("estimate", "std_error", "ci_low", "ci_high",
                                                   "median", "q05", "q95", "reference", "z")]

        def empty(line):
            cells = line.split(",")
            return ",".join("" if at in emptied else cell for at, cell in enumerate(cells))

        self.edit_summary(lambda _: "\n".join(
            [lines[0]] + [empty(line) if ",1024,8,none," in line else line for line in lines[1:]]))
        answer = plot(self.run_folder)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def test_another_python_without_matplotlib_hands_over_to_the_systems_once(self):
        bare = self.run_folder.parent / "bare"
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", bare], check=True)
        command = [bare / "bin" / "python3", "-B", ROOT / "scripts" / "plot.py", self.run_folder,
                   "--metric", "slope"]
        answer = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(len(answer.stdout.splitlines()), 2)
        again = subprocess.run(command, capture_output=True, text=True,
                               env={**os.environ, "ATTNSCALE_PLOT_RESTARTED": "1"})
        self.assertEqual(again.returncode, 1)
        self.assertIn("bare/bin/python3 has no matplotlib", again.stderr)

    def test_a_missing_folder_is_named(self):
        self.expect_error(plot(self.run_folder / "none"), "no folder", "none")

    def test_an_unfinished_run_says_how_to_finish_it(self):
        (self.run_folder / "summary.csv").unlink()
        self.expect_error(plot(self.run_folder), "not finished", "attnscale run")

    def test_a_missing_column_is_named(self):
        self.edit_summary(lambda text: text.replace("ci_low", "low", 1))
        self.expect_error(plot(self.run_folder), "summary.csv", "no column ci_low")

    def test_text_among_the_numbers_is_refused(self):
        self.edit_summary(lambda text: text.replace(",10000,", ",many,", 1))
        self.expect_error(plot(self.run_folder), "summary.csv", "many")

    def test_a_file_of_a_header_alone_is_refused(self):
        self.edit_summary(lambda text: text.splitlines()[0] + "\n")
        (self.run_folder / "histogram.csv").unlink()
        self.expect_error(plot(self.run_folder), "holds no lines")

    def test_an_empty_file_is_refused(self):
        self.edit_summary(lambda _: "")
        self.expect_error(plot(self.run_folder), "summary.csv")

    def sweep_one_scaling(self, *values):
        """Puts a swept scaling in the place of div_d, at d = 64 and beside none and div_sqrt_d."""
        self.edit_summary(lambda text: "".join(
            line.replace(",div_d,,top", f",capped,{value},top")
            for line in text.splitlines(True) if line.split(",")[5] in ("d", "64")
            for value in (values if ",div_d,,top" in line else (0,))))

    def test_an_experiment_without_the_sweep_of_another_is_not_drawn_along_it(self):
        self.sweep_one_scaling(2, 3)
        self.edit_summary(lambda text: text + "".join(
            line.replace(",softmax,", ",plain,") for line in text.splitlines(True)
            if ",capped," not in line and not line.startswith("run,")))
        answer = plot(self.run_folder, "--metric", "top_weight", "--x", "scaling_value")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        drawn = {name for name in self.digests() if name.endswith(".svg")}
        self.assertTrue(drawn)
        self.assertTrue(all("-experiment_softmax" in name for name in drawn), drawn)

    def test_the_config_beside_the_tables_names_what_is_swept(self):
        self.sweep_one_scaling(2, 3)
        options = ("--metric", "top_weight", "--x", "scaling_value")
        config = self.run_folder / "config.json"
        titles = {}
        for capped in ({"cap": [1, 2]}, {"normaliser": {"sink": [1, 2]}}, {"g": 1}):
            config.write_text(json.dumps({"experiments": [
                {"name": "softmax", "scalings": [
                    "none", {"name": "capped", "logit": "q.k", **capped}]}]}))
            answer = plot(self.run_folder, *options)
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
            picture = (self.run_folder / "figures" / "top_weight.svg").read_text()
            titles[list(capped)[0]] = texts(picture)
        self.assertIn("cap of the scaling capped", titles["cap"])
        self.assertIn("sink of the scaling capped", titles["normaliser"])
        self.assertIn("scaling value", titles["g"])  # no sweep
        for nonsense in ("", "[]", "{\"experiments\": 1}", "{\"experiments\": [1]}"):
            config.write_text(nonsense)
            answer = plot(self.run_folder, *options)
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def test_what_is_said_of_bars_and_keys_holds(self):
        self.edit_summary(lambda text: "".join(
            line for line in text.splitlines(True) if line.split(",")[5] in ("d", "64")))
        picture = self.run_folder / "figures" / "top_weight.svg"
        plot(self.run_folder, "--metric", "top_weight")
        said = [text for text in texts(picture.read_text()) if "each query against" in text]
        self.assertEqual(said, ["experiment softmax, d = 64, each query against 8 keys, 10,000 "
                                "queries per point, bars: 95 %"])
        header = (self.run_folder / "summary.csv").read_text().splitlines()[0].split(",")
        bars = {header.index("ci_low"), header.index("ci_high")}
        self.edit_summary(lambda text: "".join(
            line if line.startswith("run,") else ",".join(
                "" if at in bars else cell for at, cell in enumerate(line.split(",")))
            for line in text.splitlines(True)))
        (self.run_folder / "config.json").write_text(json.dumps({"experiments": [
            {"name": "softmax", "given": {"causal": True}}]}))
        plot(self.run_folder, "--metric", "top_weight")
        said = [text for text in texts(picture.read_text()) if "each query against" in text]
        self.assertEqual(said, ["experiment softmax, d = 64, each query against up to 8 keys, "
                                "10,000 queries per point"])

    def test_laws_that_outnumber_the_scalings_stand_below_each_other(self):
        def in_four_laws(text):
            header, *lines = [line for line in text.splitlines()
                              if line.split(",")[5] in ("d", "64")]
            laws = (",normal,,", ",laplace,,", ",student_t,2.5,", ",student_t,5,")
            return "\n".join([header] + [
                line.replace(",normal,,", law) for line in lines for law in laws]) + "\n"

        self.edit_summary(in_four_laws)
        plot(self.run_folder, "--metric", "top_weight")
        self.assertEqual(set(self.pictures()), {"top_weight.svg", "top_weight.png"})
        picture = texts(self.pictures()["top_weight.svg"])
        for law in ("normal", "laplace", "student_t 2.5", "student_t 5"):
            self.assertIn(law, picture)
        first = self.digests()
        plot(self.run_folder, "--metric", "top_weight", "--x", "entries")
        self.assertEqual(self.digests(), first)

    def test_top_weights_over_more_than_two_decades_have_a_log_axis(self):
        picture = self.run_folder / "figures" / "top_weight.svg"
        plot(self.run_folder, "--metric", "top_weight")
        self.assertIn("0.0", texts(picture.read_text()))
        self.edit_summary(lambda text: text.replace(",4,8,div_d,,top_weight,10000,0.",
                                                    ",4,8,div_d,,top_weight,10000,0.00"))
        plot(self.run_folder, "--metric", "top_weight")
        self.assertNotIn("0.0", texts(picture.read_text()))
        self.assertIn("0.01", texts(picture.read_text()))

    def test_error_bars_reach_from_end_to_end_of_their_interval(self):
        lines = (self.run_folder / "summary.csv").read_text().splitlines()
        header = lines[0].split(",")

        def widen(line):
            cells = dict(zip(header, line.split(",")))
            if (cells["d"], cells["scaling"], cells["metric"]) == ("64", "div_d", "top_weight"):
                cells.update(estimate="0.5", ci_low="0.3", ci_high="0.6")
            return ",".join(cells.values())

        self.edit_summary(lambda _: "\n".join([lines[0], *map(widen, lines[1:])]) + "\n")
        plot(self.run_folder, "--metric", "top_weight")
        picture = (self.run_folder / "figures" / "top_weight.svg").read_text()
        # div_d's colour; the longest of its bars is the one that is 0.3 long.
        bars = [corners(path) for path in re.findall(
            r'<path d="(M [-\d. ]+L [-\d. ]+)"[^>]*stroke: #009e73', picture.replace("\n", " "))]
        (x, low), (_, high) = max((bar for bar in bars if bar[0][0] == bar[1][0]),
                                  key=lambda bar: abs(bar[0][1] - bar[1][1]))
        marks = [float(y) for mark_x, y in re.findall(
            r'<use xlink:href="#\w+" x="([\d.]+)" y="([\d.]+)" style="fill: #009e73', picture)
            if abs(float(mark_x) - x) < 0.01]
        middle = min(marks, key=lambda y: abs(y - (low + 2 * high) / 3))
        self.assertAlmostEqual((low - middle) / (middle - high), 2, 3)  # 0.5 - 0.3 to 0.6 - 0.5

    def test_guide_lines_are_the_powers_they_are_named_after(self):
        plot(self.run_folder, "--metric", "logit_sd")
        picture = (self.run_folder / "figures" / "logit_sd.svg").read_text().replace("\n", " ")

        def slope(points):
            (x, y), (end_x, end_y) = points[0], points[-1]
            return (end_y - y) / (end_x - x)

        guides = [slope(corners(path)) for path in re.findall(
            r'<path d="(M [-\d. ]+L [-\d. ]+)"[^>]*style="fill: none; stroke-dasharray: [^"]*'
            r'stroke: #666666', picture)]
        rising = slope(corners(re.search(  # of the spread of q.k, which is sqrt(d)
            r'<path d="(M [-\d. ]+(?:L [-\d. ]+){4})"[^>]*stroke: #d55e00', picture)[1]))
        # Both axes are logarithmic: the powers 1/2, 0 and -1/2 are straight lines.
        for guide, power in zip(guides, (0.5, 0, -0.5), strict=True):
            self.assertAlmostEqual(guide, rising * power / 0.5, 4)

    def test_what_lies_beyond_the_ends_of_a_histogram_is_told_in_words(self):
        key = "fixture,0,softmax,normal,,"
        header = "run,seed,experiment,entries,entries_value,d,keys,scaling,scaling_value,metric,"
        (self.run_folder / "histogram.csv").write_text("\n".join([
            header + "bin_low,bin_high,count,density",
            key + "4,8,none,,slope,,-20,648,",
            key + "4,8,none,,slope,-20,-10,9000,0.09",
            key + "4,8,none,,slope,-10,0,350,0.0035",
            key + "4,8,none,,slope,0,,2,",
            key + "16,8,none,,slope,0,0,10000,",  # all values are the same
            key + "4,8,half,,slope,,-20,0,",  # no value is finite
            key + "4,8,half,,slope,-20,0,0,",
            key + "16,8,half,,slope,,-20,10000,",
            key + "16,8,half,,slope,-20,0,0,0"]) + "\n")
        answer = plot(self.run_folder, "--metric", "slope")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        picture = texts(self.pictures()["histogram_slope.svg"])
        for words in ("648 of 10,000 lower", "2 of 10,000 higher", "10,000 of 10,000 at 0",
                      "no finite value", "10,000 of 10,000 lower"):
            self.assertEqual(picture.count(words), 1, words)

    def test_a_home_that_cannot_be_written_to_is_no_matter(self):
        answer = plot(self.run_folder, "--metric", "slope", HOME="/dev/null/home")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def test_a_folder_of_runs_is_no_unfinished_run(self):
        self.expect_error(plot(self.run_folder.parent), "is no run, but holds runs",
                          str(self.run_folder))

    def test_an_unknown_metric_is_answered_with_those_there_are(self):
        self.expect_error(plot(self.run_folder, "--metric", "entropie"), "entropie",
                          "logit_sd, top_weight, slope")

    def test_an_axis_the_run_lacks_is_refused(self):
        self.expect_error(plot(self.run_folder, "--x", "scaling_value"), "scaling_value")

    def test_a_spread_that_another_experiment_measured_is_no_axis(self):
        def move(line):
            run, seed, _, rest = line.split(",", 3)
            return f"{run},{seed},other,{rest}" if ",logit_sd," in line else line
        self.edit_summary(lambda text: "".join(map(move, text.splitlines(True))))
        self.expect_error(plot(self.run_folder, "--metric", "top_weight", "--x", "logit_sd"),
                          "no experiment has logit_sd beside top_weight")


if __name__ == "__main__":
    unittest.main()
