#!/usr/bin/env bash
# Makes results/published/try_this again, the run that the README shows and a test reproduces.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/publish.sh

Runs configs/try_this.json, draws it, and puts the files that are a function of
the config and the seed alone into results/published/try_this.
END
}

case ${1-} in
  -h | --help)
    usage
    exit
    ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
./scripts/setup.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
build/attnscale run configs/try_this.json --out "$scratch/try_this" --quiet
/usr/bin/python3 scripts/plot.py "$scratch/try_this" > /dev/null
rm -f "$scratch/try_this/manifest.json" "$scratch/try_this/events.jsonl"
rm -rf results/published/try_this
mkdir -p results/published
cp -r "$scratch/try_this" results/published/
