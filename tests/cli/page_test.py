"""report.html in a browser: Chromium draws, switches, sorts and filters it without a word of
complaint and without asking anybody."""

import html
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from attnscale_cli import ROOT, CommandLineTest

BROWSER = shutil.which("chromium")
LIMIT = 1_200_000  # bytes of a page with the libraries
SOON = 5_000  # ms to the first contentful paint; 600 to 1,000 on two busy cores
LIBRARIES = Path(os.environ.get("ATTNSCALE_VEGA") or Path.home() / ".cache" / "attnscale" / "vega")

# Stands before everything else in the page.
LISTEN = """<script>
var said = [];
addEventListener('error', (event) => said.push(String(event.message)), true);
addEventListener('unhandledrejection', (event) => said.push(String(event.reason)));
console.error = (...words) => said.push(words.join(' '));
</script>"""

# Stands at the end: does what a reader would, and leaves what it saw as JSON.
READ = """<script>
const seen = {};
const marks = (place) => place.querySelectorAll('[role="graphics-symbol"]').length;
const pause = () => new Promise((resolve) => setTimeout(resolve, 500));
async function readPage() {
  const charts = [...document.querySelectorAll('.chart')];
  seen.charts = charts.length;
  seen.empty = charts.filter((chart) => marks(chart) === 0).length;
  seen.named = charts.filter((chart) => chart.getAttribute('aria-label')).length;
  seen.wide = document.documentElement.scrollWidth > innerWidth;
  seen.asked = performance.getEntriesByType('resource').map((entry) => entry.name)
    .filter((name) => !/^(data|blob):/.test(name));
  seen.paint = performance.getEntriesByName('first-contentful-paint').map(
    (entry) => Math.round(entry.startTime));
  const chart = charts.find((each) => each.querySelector('input[type=checkbox]'));
  if (chart) {
    seen.before = marks(chart);
    chart.querySelector('input[type=checkbox]').click();
    await pause();
    seen.after = marks(chart);
  }
  const selects = [...document.querySelectorAll('.chart select')];
  seen.selectors = [...new Set(selects.map((each) => each.closest('label').textContent.split(' ')[0]
    ))];
  if (selects.length) {
    const told = () => [...selects[0].closest('.chart').querySelectorAll('[aria-label]')]
      .map((mark) => mark.getAttribute('aria-label')).join();
    const was = told();
    selects[0].selectedIndex = 1;
    for (const name of ['input', 'change']) selects[0].dispatchEvent(new Event(name));
    await pause();
    seen.switched = told() !== was;
  }
  const symbol = document.querySelector('.chart .role-legend-symbol path');
  if (symbol) {
    for (const name of ['pointerdown', 'pointerup', 'click']) {
      symbol.dispatchEvent(new MouseEvent(name, {bubbles: true, view: window}));
    }
    await pause();
    seen.faded = symbol.closest('.chart').querySelectorAll('[opacity="0.12"]').length;
  }
  seen.tips = document.querySelectorAll('th[title], abbr[title]').length;
  seen.labelled = [...document.querySelectorAll('#all input, #all button')].every(
    (each) => each.closest('label') || each.textContent);
  const table = document.getElementById('lines');
  if (!table.tBodies[0].rows.length) return;  // nothing was drawn
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const sorted = heads.indexOf(heads.includes('z') ? 'z' : 'estimate');
  const column = () => [...table.tBodies[0].rows].map((row) => row.cells[sorted])
    .map((cell) => cell.dataset.value ?? cell.textContent);
  const button = table.tHead.rows[0].cells[sorted].querySelector('button');
  button.click();
  seen.up = column();
  button.click();
  seen.down = column();
  const filter = document.querySelector('#all input');
  filter.value = 'top_weight';
  filter.dispatchEvent(new Event('input'));
  const shown = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  seen.filtered = shown.length;
  seen.count = document.querySelector('#all [role=status]').textContent;
  seen.csv = tableText(table).trim().split('\\n').length - 1;
}
setTimeout(async () => {
  try { await readPage(); } catch (error) { said.push(String(error.stack)); }
  const answer = document.createElement('pre');
  answer.id = 'answer';
  answer.textContent = JSON.stringify({...seen, said});
  document.body.append(answer);
}, 2000);
</script></body>"""


class PageTest(CommandLineTest):
    def browse(self, page, *options):
        """The page's source after a reader of 1000 x 800 points was there."""
        answer = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1000,800",
             f"--user-data-dir={self.folder / 'browser'}", "--virtual-time-budget=20000",
             "--dump-dom", *options, page.resolve().as_uri()],
            capture_output=True, text=True, timeout=120)
        return answer.stdout

    def see(self, page, *options):
        text = page.read_text("utf-8")
        self.assertLess(len(text.encode()), LIMIT)
        text = text.replace("<head>", "<head>" + LISTEN, 1)
        ends = text.rindex("</body>")
        watched = page.with_name("watched.html")
        watched.write_text(text[:ends] + READ + text[ends + len("</body>"):], "utf-8")
        found = re.search(r'<pre id="answer">(.*?)</pre>', self.browse(watched, *options), re.S)
        self.assertIsNotNone(found, "the page was not read to its end")
        return json.loads(html.unescape(found[1]))

    def check(self, seen, charts, lines):
        """lines: those of summary.csv, of which some are of the top weight."""
        self.assertEqual((seen["said"], seen["asked"], seen["wide"]), ([], [], False))
        self.assertEqual((seen["charts"], seen["empty"], seen["named"]), (charts, 0, charts))
        if "before" in seen:
            self.assertGreater(seen["after"], seen["before"])
        self.assertLess(seen["paint"][0], SOON)
        self.assertGreater(seen["faded"], 0, "a click on a legend lets the other curves fade")
        self.assertGreater(seen["tips"], 10)
        self.assertTrue(seen["labelled"])
        for order, sign in (("up", 1), ("down", -1)):
            numbers = [sign * float(z) for z in seen[order] if z]
            self.assertEqual(numbers, sorted(numbers))
            self.assertEqual(len(seen[order]), len(lines))
        of_metric = sum("top_weight" in line for line in lines)
        self.assertEqual((seen["filtered"], seen["csv"]), (of_metric, of_metric))
        self.assertEqual(seen["count"], f"{of_metric} of {len(lines)} lines")

    def lines(self, *runs):
        return [line for run in runs
                for line in (self.folder / run / "summary.csv").read_text().splitlines()[1:]]

    def test_the_pages_of_ready_configs(self):
        # As many charts as metrics and experiments that have them, histograms, maps of weights, one
        # of crossings, and one of contrasts for each experiment.
        for name, charts in (("try_this", 7), ("exponents", 6), ("real_matrices", 8)):
            with self.subTest(config=name):
                run = self.run_config(ROOT / "configs" / f"{name}.json", name)
                self.succeed("report", name)
                self.check(self.see(run / "report.html"), charts, self.lines(name))

    def test_the_page_of_typed_numbers(self):
        run = self.run_config(ROOT / "configs" / "lesson_examples.json", "lesson")
        self.succeed("report", "lesson")
        seen = self.see(run / "report.html")
        self.assertEqual((seen["charts"], seen["empty"], seen["said"]), (6, 0, []))

    def test_selectors_of_all_that_varies(self):
        run = self.run_config({"name": "many", "experiments": [
            {"d": [4, 16], "keys": [2, 8], "entries": ["normal", "laplace"], "queries": 200,
             "metrics": ["top_weight", "entropy"], "histogram": "top_weight"}]}, "many")
        self.succeed("report", "many")
        seen = self.see(run / "report.html")
        self.assertEqual(set(seen["selectors"]), {"keys", "entries_series", "d", "metric", "level",
                                                  "statistic"})
        self.assertTrue(seen["switched"])
        self.check(seen, 5, self.lines("many"))

    def test_a_run_of_all_metrics_has_a_page_of_the_same_size(self):
        run = self.run_config({"name": "large", "experiments": [
            {"d": {"from": 4, "to": 512, "times": 2}, "keys": [2, 8, 32], "metrics": "all",
             "queries": 100, "histogram": ["logit", "slope", "top_weight"],
             "scalings": ["none", "div_sqrt_d", "div_d",
                          {"name": "p", "logit": "q.k d^p", "p": [-0.75, -0.25]}]}]}, "large")
        self.succeed("report", "large")
        seen = self.see(run / "report.html")
        self.assertEqual((seen["said"], seen["empty"]), ([], 0))
        page = (run / "report.html").read_text("utf-8")
        self.assertIn("more lines are in the files", page)
        self.assertIn("Too many lines for one page: figures/output_sd.vl.json draws them", page)

    def test_the_page_of_two_runs(self):
        for seed in ("1", "2"):
            self.run_config(ROOT / "configs" / "try_this.json", f"seed{seed}", "--seed", seed)
        self.succeed("report", "seed1", "seed2", "--out", "both.html")
        self.check(self.see(self.folder / "both.html"), 7, self.lines("seed1", "seed2"))


if __name__ == "__main__":
    if not BROWSER:
        print("skipped: Chromium is not installed: apt-get install chromium")
        sys.exit(77)
    if not (LIBRARIES / "vega-embed.min.js").exists():
        print("skipped: the libraries of the charts are missing: scripts/get_vega.sh")
        sys.exit(77)
    unittest.main()
