#!/usr/bin/env bash
# One run as an array of Slurm jobs, a share of its blocks each, and a job that merges them.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/slurm_array.sh [--out DIR] CONFIG N [SBATCH_OPTION...]

Submits N jobs that each measure one share of CONFIG, into DIR.shard-I-of-N, and
a job that merges them into DIR when all are done: the same bytes as one run.
DIR is results/ and the config's file name unless --out says otherwise. Options
go to sbatch, for the shares and the merge:

  scripts/slurm_array.sh configs/sweep.json 20 --time=4:00:00 --cpus-per-task=8

A share that is out of time saves what it has; submitting again goes on from
there, and finished shares end at once. To stop one sooner, and save:
scancel --batch --signal=USR1 JOB_SHARE. Where a precision target was not reached
(exit code 3), a share counts as done. ATTNSCALE names the program, if it is not
build/attnscale.

What the jobs do can be done by hand:

  SLURM_ARRAY_TASK_ID=2 scripts/slurm_array.sh --share DIR CONFIG N
  scripts/slurm_array.sh --merge DIR N
END
}

fail() {
  echo "slurm_array.sh: $1" >&2
  exit 1
}

wrong_usage() {
  echo "slurm_array.sh: $1; --help shows how" >&2
  exit 2
}

check_count() {
  [[ $1 =~ ^[1-9][0-9]{0,5}$ ]] || wrong_usage "not a number of shares: $1"
}

# Runs the program and passes on Slurm's warning that time is almost over: SIGUSR1, on which it
# saves. Bash acts on a signal only when `wait` returns, so it waits again. A `wait` that a signal
# interrupts may lose the exit code, so a subshell that no signal reaches waits for the program.
run_share() {
  (($# == 3)) || wrong_usage '--share needs a folder, a config and a number of shares'
  [[ ${SLURM_ARRAY_TASK_ID-} ]] || wrong_usage '--share needs SLURM_ARRAY_TASK_ID, the share'
  check_count "$3"
  local out=$1 config=$2 count=$3 share=$SLURM_ARRAY_TASK_ID code=0
  local options=(--shard "$share/$count" --out "$out.shard-$share-of-$count" --quiet)
  if [[ -n ${SLURM_CPUS_PER_TASK-} ]]; then options+=(--threads "$SLURM_CPUS_PER_TASK"); fi
  notes=$(mktemp -d)  # the program's process, and its exit code
  trap 'rm -rf "$notes"' EXIT
  trap 'pass_on USR1' USR1
  trap 'pass_on TERM' TERM
  {
    "$program" run "$config" "${options[@]}" &
    trap '' USR1 TERM
    echo "$!" > "$notes/process"
    wait "$!" || code=$?
    echo "$code" > "$notes/code"
  } &
  while kill -0 "$!" 2> /dev/null; do wait "$!" || true; done
  code=$(< "$notes/code")
  if ((code == 3)); then code=0; fi
  exit "$code"
}

pass_on() {
  [[ ! -s $notes/process ]] || kill -"$1" "$(< "$notes/process")" 2> /dev/null || true
}

merge_shares() {
  (($# == 2)) || wrong_usage '--merge needs a folder and a number of shares'
  check_count "$2"
  local out=$1 count=$2 folders=() share
  for ((share = 1; share <= count; ++share)); do folders+=("$out.shard-$share-of-$count"); done
  local code=0
  "$program" merge "$out" "${folders[@]}" || code=$?
  if ((code == 3)); then code=0; fi
  exit "$code"
}

out=''
program=${ATTNSCALE-}
if [[ -z $program ]]; then
  program=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/attnscale
  [[ -x $program ]] || program=$(command -v attnscale) || program=build/attnscale
fi
case ${1-} in
  -h | --help)
    usage
    exit
    ;;
  --share) run_share "${@:2}" ;;
  --merge) merge_shares "${@:2}" ;;
  --out=*)
    out=${1#*=}
    shift
    ;;
  --out)
    (($# > 1)) || wrong_usage '--out needs a folder'
    out=$2
    shift 2
    ;;
esac
(($# >= 2)) || wrong_usage 'a config and a number of shares are needed'
config=$1 count=$2
shift 2
[[ -r $config ]] || wrong_usage "cannot read $config"
check_count "$count"
out=${out:-results/$(basename "$config" .json)}

command -v "$program" > /dev/null ||
  fail "there is no program $program; scripts/setup.sh builds build/attnscale"
command -v sbatch > /dev/null ||
  fail 'sbatch is missing: this machine is not part of a Slurm cluster; --help shows how to do the
same by hand'

# Slurm runs a copy of this script, which cannot find the program beside it.
export ATTNSCALE=$program
array=$(sbatch --parsable --job-name=attnscale --signal=B:USR1@60 "$@" --array="1-$count" \
  "${BASH_SOURCE[0]}" --share "$out" "$config" "$count")
merge=$(sbatch --parsable --job-name=attnscale-merge "$@" \
  --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes \
  "${BASH_SOURCE[0]}" --merge "$out" "$count") ||
  fail "job ${array%%;*} measures $count shares, but the job that merges them was refused. When all
are done: scripts/slurm_array.sh --merge $out $count"
echo "job ${array%%;*} measures $count shares, job ${merge%%;*} merges them into $out"
