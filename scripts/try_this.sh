#!/usr/bin/env bash
# The lesson's exercise, from a fresh clone to tables and pictures.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/try_this.sh [RUN_OPTION...]

Installs what is missing, builds attnscale, runs configs/try_this.json into
results/try_this, prints its tables and draws its pictures. A finished run is
not run again. Options go to `attnscale run` (`build/attnscale run --help`):

  scripts/try_this.sh --set softmax.keys=128    one query against 128 keys
  scripts/try_this.sh --seed 1                  other random numbers
  scripts/try_this.sh --out DIR                 another folder

A run that --set or --seed change gets a folder of its own beside results/try_this.
END
}

# --out is read here as well, since the pictures go where the run goes.
started_in=$PWD
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out='' changes=() options=()
while (($#)); do
  case $1 in
    -h | --help)
      usage
      exit
      ;;
    --out=*) out=${1#*=} ;;
    --out)
      if (($# == 1)); then
        options+=("$1")
      else
        out=$2
        shift
      fi
      ;;
    --set=* | --seed=*) changes+=("$1") ;;
    --set | --seed)
      changes+=("$1" "${@:2:1}")
      (($# == 1)) || shift
      ;;
    *) options+=("$1") ;;
  esac
  shift
done
if [[ -n $out && $out != /* && $started_in != "$root" ]]; then
  out=$started_in/$out
fi

"$root/scripts/setup.sh"
cd "$root"  # so that the manifest and the messages name paths of the repository
if [[ -z $out ]]; then
  # What --set and --seed make of the config has a folder of its own; the program knows which.
  plan=$(build/attnscale plan configs/try_this.json "${changes[@]}")
  out=${plan##*Results go to }
fi

# 3 is a finished run too: it did not reach the precision it was asked for.
status=0
build/attnscale run configs/try_this.json --out "$out" "${changes[@]}" "${options[@]}" || status=$?
if [[ $status -ne 0 && $status -ne 3 || ! -f $out/summary.csv ]]; then
  exit "$status"
fi

# Debian's python3 has the packages, whatever comes before it in PATH.
python=python3
if [[ -x /usr/bin/python3 ]]; then
  python=/usr/bin/python3
fi
printf '\nPictures\n'
"$python" scripts/plot.py "$out" | sed 's/^/  /'

here=.
[[ $started_in == "$root" ]] || here=$(printf %q "$root")
printf '\nTry next\n'
if ((!${#changes[@]})); then
  echo "  $here/scripts/try_this.sh --set softmax.keys=128"
fi
echo "  $here/build/attnscale softmax 16,8,0 --d 16"
exit "$status"
