#!/usr/bin/env bash
# A class of runs that differ in their seed: measured or handed in, checked, pooled and drawn.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/classroom.sh [--seeds N] [--out DIR] [CONFIG [RUN_OPTION...]]
       scripts/classroom.sh [--out DIR] --handed-in FOLDER...

Measures CONFIG (default: configs/try_this.json) with the seeds 1 to N (default: 30)
into DIR/seed-1, DIR/seed-2 and so on (default of DIR: results/classroom), as if each
student had run it with a seed of their own. With --handed-in the folders are those
that students measured on their own machines, and nothing is measured.

Then it checks every folder with `attnscale verify`, pools those that pass into
DIR/pooled, and draws the interval of every seed around the exact value into
DIR/figures:

  scripts/classroom.sh --seeds 30
  scripts/classroom.sh --out results/monday --handed-in hand_ins/*/

DIR/checked.txt holds what verify said of each folder. Finished runs are kept, so the
same command can be started again. Exit code: 0; that of `attnscale run` if a run
fails; 2 for a wrong command or folders that are no runs of one config; 5 if a folder
did not pass, after the others were pooled. ATTNSCALE names the program, if it is not build/attnscale.
END
}

fail() {
  echo "classroom.sh: $1" >&2
  exit 2
}

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=${ATTNSCALE:-$root/build/attnscale}
[[ -n ${ATTNSCALE-} || -x $program ]] || program=$(command -v attnscale) || program=build/attnscale
seeds=30 out=results/classroom
while (($#)); do
  case $1 in
    -h | --help)
      usage
      exit
      ;;
    --seeds | --out)
      (($# > 1)) || fail "$1 needs a value after it; --help shows how"
      if [[ $1 == --seeds ]]; then seeds=$2; else out=$2; fi
      shift 2
      ;;
    *) break ;;
  esac
done
[[ $seeds =~ ^[1-9][0-9]{0,3}$ && $seeds -ge 2 ]] ||
  fail "--seeds needs a number from 2 to 9999, not \"$seeds\""
command -v "$program" > /dev/null ||
  fail "there is no program $program; scripts/setup.sh builds build/attnscale"

folders=()
mkdir -p "$out"
if [[ ${1-} == --handed-in ]]; then
  folders=("${@:2}")
  ((${#folders[@]} > 1)) || fail '--handed-in needs the folders of two runs or more'
  for folder in "${folders[@]}"; do
    [[ $folder != --* ]] || fail "$folder is no folder; it stands before --handed-in"
  done
else
  config=${1-$root/configs/try_this.json}
  for ((seed = 1; seed <= seeds; ++seed)); do
    folders+=("$out/seed-$seed")
    code=0
    "$program" run "$config" "${@:2}" --seed "$seed" --out "${folders[-1]}" --quiet \
      2> "$out/run.log" || code=$?
    if ((code != 0 && code != 3)); then  # 3: a precision was not reached, which pools all the same
      cat "$out/run.log" >&2
      exit "$code"
    fi
  done
  rm -f "$out/run.log"
fi

# A folder that someone changed is left out, and named.
: > "$out/checked.txt"
passed=() failed=()
for folder in "${folders[@]}"; do
  if "$program" verify "$folder" >> "$out/checked.txt" 2>&1; then
    passed+=("$folder")
  else
    failed+=("$folder")
  fi
done
echo "${#passed[@]} of ${#folders[@]} folders pass attnscale verify; $out/checked.txt says more"
((${#passed[@]} > 1)) || fail "fewer than two runs are left to pool"

"$program" pool "$out/pooled" "${passed[@]}" --force
"$root/scripts/plot.py" "${passed[@]}" --out "$out/figures"
if ((${#failed[@]})); then
  printf 'classroom.sh: does not pass: %q\n' "${failed[@]}" >&2
  exit 5
fi
