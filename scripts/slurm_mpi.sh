#!/usr/bin/env bash
# One run on many nodes, as one Slurm job with MPI.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/slurm_mpi.sh [--out DIR] CONFIG [SBATCH_OPTION...]

Submits one job in which `srun attnscale-mpi run CONFIG` measures on all its
tasks. Options go to sbatch:

  scripts/slurm_mpi.sh configs/sweep.json --nodes=4 --ntasks-per-node=1 --cpus-per-task=32

A job that is out of time saves what it has; submitting again goes on from there,
as does build/attnscale run on one machine. To stop it sooner, and save:
scancel --signal=USR1 JOB. ATTNSCALE_MPI names the program, if it is not
build/attnscale-mpi.

What the job does can be done by hand: scripts/slurm_mpi.sh --job CONFIG [RUN_OPTION...]
LAUNCH is the command that starts the ranks (default: srun, with --mpi=pmix where
the cluster's own default is none).
END
}

fail() {
  echo "slurm_mpi.sh: $1" >&2
  exit 1
}

# The command that starts the ranks. A cluster whose default is none starts processes that do not
# know of each other, and each ends in MPI_Init.
launcher() {
  if [[ ${LAUNCH-} ]]; then
    echo "$LAUNCH"
  elif [[ ${SLURM_MPI_TYPE-} || ! $(scontrol show config 2> /dev/null) =~ MpiDefault\ *=\ *none ]]; then
    echo srun
  elif srun --mpi=list 2>&1 | grep -w pmix > /dev/null; then
    echo srun --mpi=pmix
  else
    fail 'the srun of this cluster has no --mpi=pmix, which Open MPI needs (srun --mpi=list says what
it has). Set LAUNCH to what starts MPI programs here, such as LAUNCH=mpirun, and submit again'
  fi
}

# srun passes the SIGUSR1 that Slurm sends its steps, a minute before the end, on to every rank.
run_job() {
  (($#)) || wrong_usage '--job needs a config'
  local launch options=("${@:2}") code=0
  launch=$(launcher)
  read -ra launch <<< "$launch"
  if [[ -n ${SLURM_CPUS_PER_TASK-} ]]; then
    options+=(--threads "$SLURM_CPUS_PER_TASK")
    export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK  # srun no longer takes it from the job
  fi
  "${launch[@]}" "$program" run "$1" --quiet "${options[@]}" || code=$?
  if ((code == 3)); then code=0; fi
  exit "$code"
}

wrong_usage() {
  echo "slurm_mpi.sh: $1; --help shows how" >&2
  exit 2
}

program=${ATTNSCALE_MPI-}
if [[ -z $program ]]; then
  program=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)/build/attnscale-mpi
  [[ -x $program ]] || program=$(command -v attnscale-mpi) || program=build/attnscale-mpi
fi
options=()
case ${1-} in
  -h | --help)
    usage
    exit
    ;;
  --job) run_job "${@:2}" ;;
  --out=*)
    options=("$1")
    shift
    ;;
  --out)
    (($# > 1)) || wrong_usage '--out needs a folder'
    options=("$1" "$2")
    shift 2
    ;;
esac
(($# >= 1)) || wrong_usage 'a config is needed'
config=$1
shift
[[ -r $config ]] || wrong_usage "cannot read $config"

command -v "$program" > /dev/null ||
  fail "there is no program $program; where MPI is installed, scripts/setup.sh builds
build/attnscale-mpi"
command -v sbatch > /dev/null ||
  fail 'sbatch is missing: this machine is not part of a Slurm cluster; --help shows how to do the
same by hand'

# Slurm runs a copy of this script, which cannot find the program beside it.
export ATTNSCALE_MPI=$program
sbatch --job-name=attnscale --signal=USR1@60 "$@" \
  "${BASH_SOURCE[0]}" --job "$config" "${options[@]}"
