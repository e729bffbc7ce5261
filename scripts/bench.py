"""Runs the benchmarks and the programs of scripts/peers in turn and prints how they compare.

scripts/bench.sh builds what this measures; its --help says what comes out.
"""

import argparse
import csv
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
PEERS = ROOT / "scripts" / "peers"
# Rate of the first over that of the second.
RATE_RATIOS = [
    ("entries/normal/AVX3", "numpy standard_normal"),
    ("entries/normal/AVX3", "entries/normal/boost_mt19937_64"),
    ("entries/normal/AVX2", "entries/normal/AVX3"),
    ("entries/normal/AVX2", "numpy standard_normal"),
    ("measure/direct/keys=8/d=4096", "measure/direct/keys=8/d=4"),
]


def has_torch():
    return importlib.util.find_spec("torch") is not None


def programs(scratch):
    """Name -> command line that does the lesson's exercise; `scratch` holds no run yet."""
    def run(sampler):
        return [BUILD / "attnscale", "run", ROOT / "configs" / "try_this.json", "--quiet",
                "--set", f"sampler={sampler}", "--out", f"{scratch}/{sampler}"]
    commands = {"attnscale vectors": run("vectors"), "attnscale direct": run("direct"),
                "numpy": [sys.executable, PEERS / "try_this_numpy.py"]}
    if has_torch():
        commands["torch"] = [sys.executable, PEERS / "try_this_torch.py"]
    commands["boost"] = [BUILD / "try_this_boost"]
    return commands


def measure_process(command):
    """Seconds by the clock, seconds of processors, and peak memory in MB, of one process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if status != 0:
        sys.exit(f"bench.sh: failed: {' '.join(map(str, command))}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def numpy_rate():
    """Normals a second of processor time."""
    import numpy
    random = numpy.random.default_rng(0)
    start = time.process_time()
    for _ in range(10):
        random.standard_normal((1000, 1024))
    return 10 * 1000 * 1024 / (time.process_time() - start)


def kernel_rates():
    """Name -> items a second of processor time, of each benchmark."""
    answer = subprocess.run([BUILD / "attnscale_benchmarks", "--benchmark_format=json",
                             "--benchmark_min_time=0.05"], check=True, capture_output=True)
    lines = json.loads(answer.stdout)["benchmarks"]
    return {line["name"]: line["items_per_second"] for line in lines}


def write_csv(path, header, values):
    """One line per name, repetition and what was measured."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for name, measured in values.items():
            writer.writerows([name, repetition, *line] for repetition, line in enumerate(measured))


def spread(numbers, text):
    """Median (lowest ... highest)."""
    return (f"{text(statistics.median(numbers)):>8} "
            f"({text(min(numbers))} ... {text(max(numbers))})")


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def print_rates(rates):
    print("\nOn one core: million a second of processor time, and nanoseconds each")
    for name, values in rates.items():
        nanoseconds = f"{1e9 / statistics.median(values):.2f}"
        millions = spread([value / 1e6 for value in values], number)
        print(f"  {name:36} {millions:32} {nanoseconds:>10}")
    print("\nRatios of rates")
    for first, second in RATE_RATIOS:
        if first in rates and second in rates:
            ratios = [a / b for a, b in zip(rates[first], rates[second])]
            print(f"  {first} over {second}: {spread(ratios, number)}")


def print_processes(runs):
    print("The lesson's exercise as a whole process: seconds by the clock, of processors; MB")
    for name, lines in runs.items():
        clock, processors, memory = zip(*lines)
        print(f"  {name:18} {spread(clock, number):28} {spread(processors, number):28} "
              f"{max(memory):6.0f}")
    for ours in ("attnscale vectors", "attnscale direct"):
        print(f"\nTimes faster is {ours}: by the clock, and of processors")
        for name in runs:
            if name.startswith("attnscale"):
                continue
            clock, processors = ([theirs[i] / own[i] for theirs, own in zip(runs[name], runs[ours])]
                                 for i in (0, 1))
            print(f"  {name:18} {spread(clock, number):28} {spread(processors, number)}")


def measure_processes(repetitions):
    if not has_torch():
        print("bench.sh: no torch in Debian's python3: its lines are left out", file=sys.stderr)
    runs = {}
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as scratch:
            for name, command in programs(scratch).items():
                runs.setdefault(name, []).append(measure_process(command))
    return runs


def measure_rates(repetitions):
    rates = {}
    for _ in range(repetitions):
        for name, rate in {**kernel_rates(), "numpy standard_normal": numpy_rate()}.items():
            rates.setdefault(name, []).append(rate)
    return rates


def main():
    parser = argparse.ArgumentParser(prog="bench.sh", allow_abbrev=False)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--only", choices=["processes", "rates"])
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "bench")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    if options.only != "rates":
        runs = measure_processes(options.repetitions)
        write_csv(options.out / "processes.csv",
                  ["program", "repetition", "seconds", "processor_seconds", "peak_mb"], runs)
        print_processes(runs)
    if options.only != "processes":
        rates = measure_rates(options.repetitions)
        write_csv(options.out / "rates.csv", ["benchmark", "repetition", "items_per_second"],
                  {name: [[rate] for rate in values] for name, values in rates.items()})
        print_rates(rates)


if __name__ == "__main__":
    main()
