#!/usr/bin/env bash
# Measures how fast attnscale is, on its own and beside what people use today.
set -euo pipefail

usage() {
  cat <<'END_OF_HELP'
usage: scripts/bench.sh [--repetitions N] [--only processes|rates] [--out DIR]

Installs what is missing, builds attnscale and its benchmarks in build/ and
measures, N times (5) in turn: numbers and queries a second on one core, and whole
processes that do the lesson's exercise, configs/try_this.json: attnscale, and the
programs of scripts/peers with NumPy, PyTorch and Boost.Random. --only measures one
of the two. Prints tables with the median and the range, and writes to DIR
(results/bench):

  rates.csv       one line per benchmark and repetition
  processes.csv   one line per program and repetition

PyTorch's lines are left out where Debian's python3 has no torch
(apt-get install python3-torch). A busy machine makes the clock worthless: the tables
have processor times beside it.
END_OF_HELP
}

for argument in "$@"; do
  case $argument in
    -h | --help)
      usage
      exit
      ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/scripts/setup.sh" --bench
# Debian's python3 has NumPy and torch, whatever comes before it in PATH.
python=python3
if [[ -x /usr/bin/python3 ]]; then
  python=/usr/bin/python3
fi
exec "$python" "$root/scripts/bench.py" "$@"
