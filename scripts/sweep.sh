#!/usr/bin/env bash
# Many runs at once: every config with every combination of varied settings.
# Functions are called by GNU parallel and by for_each_combination, which shellcheck cannot see:
# shellcheck disable=SC2317
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/sweep.sh [--jobs N] [--out DIR] CONFIG... [--vary PATH VALUE...]...

Runs every CONFIG with every combination of values, N runs at a time (as many as
there are processors), one thread each, into folders of DIR (results/sweep). PATH
and VALUE are those of `attnscale run --set`:

  scripts/sweep.sh configs/try_this.json --vary softmax.keys 2 8 32 --vary seed 0 1
  scripts/sweep.sh my.json --vary entries normal '{"law": "student_t", "nu": 5}'

DIR/runs.csv gets one line a run: config, the varied values, folder, status
(finished, short_of_precision, interrupted or failed) and exit code. A folder is
named after the config and a hash of its contents and of the values, so the same
sweep may be started again after a crash: finished runs are skipped, unfinished
ones go on. All results as one table: attnscale show DIR/*/ --format csv

Exit code: 0; 1 where a run failed, 4 where one was interrupted, 3 where one
missed its precision. ATTNSCALE names the program, if it is not build/attnscale.
END
}

wrong_usage() {
  echo "sweep.sh: $1; --help shows how" >&2
  exit 2
}

# One run, whose settings are in the file of its name. Its exit code goes to a file of its own, so
# that nothing depends on the order or number of runs.
run_one() {
  local name=$1 settings=() code=0
  mapfile -d '' settings < "$sweep_work/$name.settings"
  "$sweep_program" run "${settings[@]}" --out "$sweep_out/$name" --threads 1 --quiet \
    > "$sweep_work/$name.log" 2>&1 || code=$?
  echo "$code" > "$sweep_work/$name.code"
}
export -f run_one

csv_field() {
  if [[ $1 == *[\",$'\r\n']* ]]; then
    printf '"%s"' "${1//\"/\"\"}"
  else
    printf '%s' "$1"
  fi
}

csv_line() {
  local field separator=''
  for field; do
    printf '%s' "$separator"
    csv_field "$field"
    separator=,
  done
  printf '\n'
}

status_of() {
  case $1 in
    0) echo finished ;;
    3) echo short_of_precision ;;
    4) echo interrupted ;;
    *) echo failed ;;
  esac
}

# Calls a function with a config and one value for each path, for every combination of the values
# from path number $2 on. Values of path i are in the array values_i.
for_each_combination() {
  local action=$1 path=$2 chosen=("${@:3}") value
  if ((path == ${#paths[@]})); then
    "$action" "${chosen[@]}"
    return
  fi
  local -n values=values_$path
  for value in "${values[@]}"; do
    for_each_combination "$action" $((path + 1)) "${chosen[@]}" "$value"
  done
}

name_of() {
  local config=$1 hash
  hash=$({ cat "$config"; printf '%s\0' "${paths[@]}" "${@:2}"; } | sha256sum)
  echo "$(basename "$config" .json)-${hash:0:8}"
}

prepare() {
  local name i settings=("$1")
  name=$(name_of "$@")
  for ((i = 0; i < ${#paths[@]}; ++i)); do settings+=(--set "${paths[i]}=${*:i+2:1}"); done
  printf '%s\0' "${settings[@]}" > "$sweep_work/$name.settings"
  rm -f "$sweep_work/$name.code"
  names+=("$name")
}

report() {
  local name code=4
  name=$(name_of "$@")
  if [[ -e $sweep_work/$name.code ]]; then code=$(< "$sweep_work/$name.code"); fi
  csv_line "$@" "$sweep_out/$name" "$(status_of "$code")" "$code" >> "$sweep_out/runs.csv.tmp"
  if ((code == 0)); then return; fi
  printf '%s (exit code %d): %s\n' "$sweep_out/$name" "$code" \
    "$(tail -n 1 "$sweep_work/$name.log" 2> /dev/null)" >&2
  case $code in
    3) ((worst != 0)) || worst=3 ;;
    4) ((worst == 1)) || worst=4 ;;
    *) worst=1 ;;
  esac
}

jobs=$(nproc) sweep_out=results/sweep configs=() paths=() names=() worst=0
while (($#)); do
  case $1 in
    -h | --help)
      usage
      exit
      ;;
    --jobs | --out)
      (($# > 1)) || wrong_usage "$1 needs a value"
      if [[ $1 == --jobs ]]; then jobs=$2; else sweep_out=${2%/}; fi
      shift 2
      ;;
    --vary)
      (($# > 2)) || wrong_usage '--vary needs a path and values'
      declare -a "values_${#paths[@]}=()"
      declare -n list=values_${#paths[@]}
      paths+=("$2")
      shift 2
      while (($#)) && [[ $1 != --vary && $1 != --jobs && $1 != --out ]]; do
        list+=("$1")
        shift
      done
      ((${#list[@]})) || wrong_usage "no value for ${paths[-1]}"
      unset -n list
      ;;
    -*) wrong_usage "unknown option $1" ;;
    *)
      [[ -r $1 ]] || wrong_usage "cannot read $1"
      configs+=("$1")
      shift
      ;;
  esac
done
((${#configs[@]})) || wrong_usage 'a config is needed'
[[ $jobs =~ ^[1-9][0-9]*$ ]] || wrong_usage "not a number of jobs: $jobs"

sweep_program=${ATTNSCALE-}
if [[ -z $sweep_program ]]; then
  sweep_program=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/attnscale
fi
sweep_work=$sweep_out/.sweep
export sweep_program sweep_out sweep_work
mkdir -p "$sweep_work"

for config in "${configs[@]}"; do for_each_combination prepare 0 "$config"; done
# A combination that is asked for twice is run once.
printf '%s\n' "${names[@]}" | sort -u | SHELL=$BASH parallel --will-cite --jobs "$jobs" run_one || true

csv_line config "${paths[@]}" folder status exit_code > "$sweep_out/runs.csv.tmp"
for config in "${configs[@]}"; do for_each_combination report 0 "$config"; done
mv "$sweep_out/runs.csv.tmp" "$sweep_out/runs.csv"
case $worst in
  0) echo "${#names[@]} runs: $sweep_out/runs.csv" ;;
  *) echo "${#names[@]} runs, not all finished (exit code $worst): $sweep_out/runs.csv" ;;
esac
exit "$worst"
