#!/usr/bin/env bash
# Every test there is, the long ones too, and a table of what ran.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/check_all.sh [LABEL...]

Installs what is missing, builds attnscale and its tests in build/ and runs the
fast tests, then those of each label that scripts/test.sh leaves out; or those of
the labels named, of which `fast` is one:

  slow    statistics over many seeds
  tidy    clang-tidy over every source
  arm     the program for aarch64, emulated
  slurm   the sbatch scripts on a real queue
  page    the web page in a browser
  deb     the Debian package

Ends with a table of what passed, what failed, and what was skipped for lack of
a package. The exit code is 1 if anything failed.
END
}

labels=(slow tidy arm slurm page deb)

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
chosen=()
for argument in "$@"; do
  case $argument in
    -h | --help)
      usage
      exit
      ;;
    *)
      if [[ " fast ${labels[*]} " != *" $argument "* ]]; then
        printf 'check_all.sh: unknown label %s; known are fast %s\n' "$argument" "${labels[*]}" >&2
        exit 2
      fi
      chosen+=("$argument")
      ;;
  esac
done
((${#chosen[@]})) || chosen=(fast "${labels[@]}")

# An attribute of the test suite in ctest's report.
count() {
  grep -oE -m 1 "\\b$1=\"[0-9]+" "$report" | cut -d '"' -f 2 || echo 0
}

"$root/scripts/setup.sh" --tests
report=$(mktemp)
trap 'rm -f "$report"' EXIT
table=$(printf '%-7s %7s %7s %7s %8s\n' label passed failed skipped seconds)
failures=0
for label in "${chosen[@]}"; do
  printf '\n== %s\n' "$label"
  choice=(-L "^$label\$")
  if [[ $label == fast ]]; then
    choice=(-LE "^($(IFS='|' && echo "${labels[*]}"))\$")
  fi
  began=$SECONDS
  answer=0
  : > "$report"
  ctest --test-dir "$root/build" --output-on-failure --output-junit "$report" --no-tests=ignore \
    -j "${CTEST_PARALLEL_LEVEL:-2}" "${choice[@]}" || answer=$?
  tests=$(count tests) failed=$(count failures) skipped=$(count skipped)
  reason=$(sed -n 's/.*\(skipped: \)/\1/p' "$report" | sort -u | head -n 1)
  if ((tests == 0)); then
    reason='no such test in this tree'
  elif ((answer && ! failed)); then
    failed=1 reason="ctest ended with exit code $answer"
  fi
  failures=$((failures + failed))
  table+=$(printf '\n%-7s %7d %7d %7d %8d  %s' "$label" $((tests - failed - skipped)) "$failed" \
    "$skipped" $((SECONDS - began)) "$reason")
done
printf '\n%s\n' "$table"
((failures == 0))
