#!/usr/bin/env bash
# Many runs at once: every config with every combination of varied settings.
# Functions are called by GNU parallel and by for_each_combination, which shellcheck cannot see:
# shellcheck disable=SC2317
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/sweep.sh [--jobs N] [--out DIR] CONFIG... [--vary PATH VALUE...]...

Runs every CONFIG with every combination of values, N runs at a time (default: one
for each processor), one thread each, into folders of DIR (default: results/sweep).
PATH and VALUE are those of `attnscale run --set`:

  scripts/sweep.sh configs/try_this.json --vary softmax.keys 2 8 32 --vary seed 0 1
  scripts/sweep.sh my.json --vary entries normal '{"law": "student_t", "nu": 5}'

DIR/runs.csv gets one line for each combination: config, the varied values, folder,
status and exit code. The status is finished, short_of_precision, interrupted, failed
or not_run. A text that a spreadsheet would compute, such as =1+1, gets a ' before it.

A folder is named after the run and its fingerprint, which covers all settings and
the contents of the given files: combinations that measure the same are run once.
The same sweep can be started again after a crash, and with more values: finished
runs are skipped, unfinished ones go on. Another sweep needs another DIR. To see all
results as one table:

  attnscale show DIR/*/ --format csv

Needs GNU parallel. Exit code: 0; 1 if a run failed or could not be started; 2 for a
wrong command, if no combination can be run, or if DIR holds or is used by another
sweep; in these cases runs.csv is left as it was; 4 if a run was interrupted; 3 if a
run missed its precision. ATTNSCALE names the program, if it is not build/attnscale.
END
}

fail() {
  echo "sweep.sh: $1" >&2
  exit "${2-1}"
}

wrong_usage() {
  fail "$1; --help shows how" 2
}

check_tools() {
  command -v "$sweep_program" > /dev/null ||
    fail "there is no program $sweep_program; scripts/setup.sh builds build/attnscale"
  local version
  version=$(parallel --version 2> /dev/null) || true
  [[ $version == 'GNU parallel'* ]] ||
    fail 'GNU parallel is missing. On Debian: apt-get install parallel'
  command -v flock > /dev/null || fail 'flock is missing. On Debian: apt-get install util-linux'
}

# One run, by its fingerprint. Its exit code goes to a file of its own, so that nothing depends on
# the order or number of runs.
run_one() {
  local settings=() code=0
  trap : INT TERM HUP  # the program saves what it has and ends; its exit code is still noted
  mapfile -d '' settings < "$sweep_work/$1.settings"
  "$sweep_program" run "${settings[@]}" --threads 1 --quiet > "$sweep_work/$1.log" 2>&1 || code=$?
  echo "$code" > "$sweep_work/$1.code"
}
export -f run_one

# A sign before a number is no formula, whatever a spreadsheet makes of other texts.
is_computed() {
  [[ $1 == [=@+$'\t\r'-]* && ! $1 =~ ^[+-]([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$ ]]
}

csv_field() {
  local field=$1
  if is_computed "$field"; then field="'$field"; fi
  if [[ $field == *[\",$'\r\n']* ]]; then
    printf '"%s"' "${field//\"/\"\"}"
  else
    printf '%s' "$field"
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
    '') echo not_run ;;
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

# Asks the program what a combination measures, and writes down how to run it. One that the program
# refuses has no fingerprint, and its message and exit code are kept.
prepare() {
  local i plan code=0 settings=("$1")
  for ((i = 0; i < ${#paths[@]}; ++i)); do settings+=(--set "${paths[i]}=${*:i+2:1}"); done
  plan=$("$sweep_program" plan "${settings[@]}" --format json 2> "$sweep_work/plan.log") || code=$?
  if ((code)); then
    fingerprints+=('') folders+=('') refusals+=("$code $(tail -n 1 "$sweep_work/plan.log")")
    return
  fi
  [[ $plan =~ \"run\":\"([^\"]+)\",\"fingerprint\":\"([0-9a-f]{64})\" ]] ||
    fail "$sweep_program does not print a fingerprint; is it an older version?"
  local fingerprint=${BASH_REMATCH[2]} folder
  folder=$sweep_out/${BASH_REMATCH[1]}-${fingerprint:0:8}
  fingerprints+=("$fingerprint") folders+=("$folder") refusals+=('')
  printf '%s\n' "${settings[*]@Q}" >> "$sweep_work/combinations.new"
  if [[ -v is_listed[$fingerprint] ]]; then return; fi
  is_listed[$fingerprint]=1
  rm -f "$sweep_work/$fingerprint."*
  printf '%s\0' "${settings[@]}" --out "$folder" > "$sweep_work/$fingerprint.settings"
  echo "$fingerprint" >> "$sweep_work/list"
}

# Ends before anything is run or written over if nothing can be run, or if runs.csv lists what this
# sweep does not.
check_combinations() {
  if [[ ! -s $sweep_work/list ]]; then
    printf '%s\n' "${refusals[@]#* }" | sort -u >&2
    fail "no combination can be run; nothing was changed in $sweep_out" 2
  fi
  [[ -e $sweep_out/runs.csv && -e $sweep_work/combinations ]] || return 0
  local lost
  lost=$(grep -vxFf "$sweep_work/combinations.new" "$sweep_work/combinations" | head -n 1) || true
  [[ -z $lost ]] || fail "$sweep_out/runs.csv is of another sweep: it lists $lost
Choose another folder with --out, or remove that file to replace it" 2
}

# Runs what is listed. On a signal, parallel passes it on to the runs, which save what they have,
# and starts no more of them.
run_all() {
  local code=0
  # $! is parallel as soon as it runs.
  trap 'is_stopped=1; kill -TERM "${!-}" 2> /dev/null || true' INT TERM HUP
  SHELL=$BASH parallel --plain --will-cite --jobs "$jobs" --termseq TERM,60000,KILL,25 \
    run_one < "$sweep_work/list" &
  # Bash acts on a signal only when `wait` returns, so it waits until there is nothing to wait for.
  while kill -0 "$!" 2> /dev/null; do wait "$!" || true; done
  wait "$!" || code=$?
  if ((code && !is_stopped)); then
    echo "sweep.sh: GNU parallel failed (exit code $code)" >&2
    worst=1
  fi
}

report() {
  local fingerprint=${fingerprints[done_lines]} folder=${folders[done_lines]}
  local refusal=${refusals[done_lines]} code='' message='' label
  ((++done_lines))
  if [[ -n $refusal ]]; then
    code=${refusal%% *} message=${refusal#* } label=$*
  else
    label=$folder
    if [[ -e $sweep_work/$fingerprint.code ]]; then
      code=$(< "$sweep_work/$fingerprint.code")
      message=$(tail -n 1 "$sweep_work/$fingerprint.log")
    elif ((is_stopped)); then
      code=4
    fi
  fi
  csv_line "$@" "$folder" "$(status_of "$code")" "$code" >> "$sweep_out/runs.csv.tmp"
  if [[ $code == 0 ]]; then return; fi
  if [[ $label == *[[:cntrl:]]* ]]; then label=${label@Q}; fi
  echo "$label: $(status_of "$code")${code:+ (exit code $code)}${message:+: $message}" >&2
  case $code in
    3) ((worst)) || worst=3 ;;
    4) ((worst == 1)) || worst=4 ;;
    *) worst=1 ;;
  esac
}

jobs=$(nproc) sweep_out=results/sweep configs=() paths=()
while (($#)); do
  case $1 in
    -h | --help)
      usage
      exit
      ;;
    --jobs=*)
      jobs=${1#*=}
      shift
      ;;
    --out=*)
      sweep_out=${1#*=}
      shift
      ;;
    --jobs | --out)
      (($# > 1)) || wrong_usage "$1 needs a value"
      if [[ $1 == --jobs ]]; then jobs=$2; else sweep_out=$2; fi
      shift 2
      ;;
    --vary)
      (($# > 2)) || wrong_usage '--vary needs a path and values'
      declare -a "values_${#paths[@]}=()"
      declare -n list=values_${#paths[@]}
      for path in "${paths[@]}"; do
        [[ $path != "$2" ]] || wrong_usage "$2 is varied twice"
      done
      paths+=("$2")
      shift 2
      while (($#)) && [[ $1 != @(--vary|--jobs|--out|--jobs=*|--out=*) ]]; do
        list+=("$1")
        shift
      done
      ((${#list[@]})) || wrong_usage "no value for ${paths[-1]}"
      unset -n list
      ;;
    -*) wrong_usage "unknown option $1" ;;
    *)
      [[ -r $1 && ! -d $1 ]] || wrong_usage "cannot read $1"
      configs+=("$1")
      shift
      ;;
  esac
done
((${#configs[@]})) || wrong_usage 'a config is needed'
[[ $jobs =~ ^[1-9][0-9]*$ ]] || wrong_usage "not a number of jobs: $jobs"
[[ -n $sweep_out ]] || wrong_usage '--out needs a folder'
if [[ $sweep_out == -* ]]; then sweep_out=./$sweep_out; fi
if [[ $sweep_out == *[!/]* ]]; then sweep_out=${sweep_out%/}; fi

sweep_program=${ATTNSCALE-}
if [[ -z $sweep_program ]]; then
  sweep_program=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/attnscale
  [[ -x $sweep_program ]] || sweep_program=$(command -v attnscale) || sweep_program=build/attnscale
fi
sweep_work=$sweep_out/.sweep
export sweep_program sweep_work
check_tools
mkdir -p "$sweep_work"
# The runs inherit the lock, so it outlives this script as long as they do.
exec {lock}>> "$sweep_work/lock"
flock --nonblock "$lock" ||
  fail "another sweep is using $sweep_out: wait for it to end, or choose another --out" 2

# One element for each combination, in the order of runs.csv.
fingerprints=() folders=() refusals=()
declare -A is_listed
worst=0 is_stopped=0 done_lines=0
: > "$sweep_work/list"
: > "$sweep_work/combinations.new"
for config in "${configs[@]}"; do for_each_combination prepare 0 "$config"; done
check_combinations
mv "$sweep_work/combinations.new" "$sweep_work/combinations"
run_all

csv_line config "${paths[@]}" folder status exit_code > "$sweep_out/runs.csv.tmp"
for config in "${configs[@]}"; do for_each_combination report 0 "$config"; done
mv "$sweep_out/runs.csv.tmp" "$sweep_out/runs.csv"
runs="${#folders[@]} runs"
if ((${#folders[@]} == 1)); then runs='1 run'; fi
if ((!${#paths[@]})); then runs+=', nothing varied (no --vary)'; fi
case $worst in
  0) echo "$runs, finished; see $sweep_out/runs.csv" ;;
  *) echo "$runs, not all finished (exit code $worst); see $sweep_out/runs.csv" ;;
esac
exit "$worst"
