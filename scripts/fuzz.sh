#!/usr/bin/env bash
# Feeds what the program reads with what nobody would write.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/fuzz.sh MINUTES [TARGET...]

Builds the fuzzers of tests/fuzz in build-fuzz/ with clang, address and undefined
behaviour sanitizers, and runs each target, or those named, for MINUTES (0.5 is half
of one), one after the other. Targets, with a folder of seeds each in tests/fuzz:

  checkpoint config csv folder formula manifest npy npz safetensors set softmax summary

What reaches new code is kept in build-fuzz/corpus and is where the next call begins;
an input that breaks a promise is build-fuzz/findings/TARGET-..., and
ATTNSCALE_FUZZ_TARGET=TARGET build-fuzz/tests/attnscale_fuzz FILE gives it again. Ends
with a table of executions; the exit code is 1 if anything was found.
END
}

targets=(checkpoint config csv folder formula manifest npy npz safetensors set softmax summary)

fail() {
  printf 'fuzz.sh: %s\n' "$*" >&2
  exit 2
}

minutes=
chosen=()
for argument in "$@"; do
  case $argument in
    -h | --help)
      usage
      exit
      ;;
    *)
      if [[ -z $minutes ]]; then
        minutes=$argument
      elif [[ " ${targets[*]} " == *" $argument "* ]]; then
        chosen+=("$argument")
      else
        fail "unknown target $argument; known are ${targets[*]}"
      fi
      ;;
  esac
done
((${#chosen[@]})) || chosen=("${targets[@]}")
if ! [[ $minutes =~ ^([0-9]+\.?[0-9]*|\.[0-9]+)$ ]]; then
  fail "found ${minutes:+\"$minutes\"}${minutes:-nothing} where minutes belong; see --help"
fi
command -v clang++ > /dev/null || fail 'needs clang++: apt-get install clang'

cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p build-fuzz/findings
if ! { cmake --preset fuzz && cmake --build --preset fuzz; } > build-fuzz/build.log 2>&1; then
  tail -n 40 build-fuzz/build.log >&2
  fail 'could not build; see build-fuzz/build.log'
fi

table=$(printf '%-12s %11s %8s  %s' target executions seconds found)
failures=0
for target in "${chosen[@]}"; do
  mkdir -p "build-fuzz/corpus/$target"
  log=build-fuzz/$target.log
  began=$SECONDS
  found=nothing
  if ! ATTNSCALE_FUZZ_TARGET=$target build-fuzz/tests/attnscale_fuzz \
    "build-fuzz/corpus/$target" "tests/fuzz/$target" -max_len=8192 -timeout=25 \
    -max_total_time="$(awk -v m="$minutes" 'BEGIN { printf "%d", 60 * m + 0.999 }')" \
    -print_final_stats=1 -artifact_prefix="build-fuzz/findings/$target-" > "$log" 2>&1; then
    found=$(grep -oE "build-fuzz/findings/$target-\S+" "$log" | tail -n 1)
    found=${found:-"ended early, see $log"}
    failures=$((failures + 1))
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  table+=$(printf '\n%-12s %11d %8d  %s' "$target" "${runs:-0}" $((SECONDS - began)) "$found")
done
printf '%s\n' "$table"
((failures == 0))
