#!/usr/bin/env bash
# Sets up, builds and runs the tests; the exit code is ctest's.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/test.sh [CTEST_OPTION...]

Installs what is missing, builds attnscale and its tests in build/ and runs
them, two at a time (CTEST_PARALLEL_LEVEL says otherwise). Tests with a label
(slow, tidy, arm, slurm, page, deb) run only where a label is asked for;
scripts/check_all.sh runs them all, and its --help describes them. Options go to ctest:

  scripts/test.sh -R softmax     the tests whose name has softmax
  scripts/test.sh -L slow        the slow tests
  scripts/test.sh -LE none       all of them

With CI set in the environment, as CI services do, a compiler warning is an error.
END
}

labels=(-LE '^(slow|tidy|arm|slurm|page|deb)$')
for argument in "$@"; do
  case $argument in
    -h | --help)
      usage
      exit
      ;;
    -L* | --label*) labels=() ;;
  esac
done

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
"$root/scripts/setup.sh" --tests ${CI:+-DCMAKE_COMPILE_WARNING_AS_ERROR=ON}
export CTEST_PARALLEL_LEVEL=${CTEST_PARALLEL_LEVEL:-2}
exec ctest --test-dir "$root/build" --output-on-failure --no-tests=error "${labels[@]}" "$@"
