#!/usr/bin/env bash
# Installs the Debian packages that are missing and builds attnscale in build/. Says nothing where
# nothing is to be installed and the build succeeds.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/setup.sh [--tests | --bench] [CMAKE_OPTION...]

Installs what is missing of scripts/packages.txt, with sudo where not root, and
builds attnscale (Release) in build/. Quiet where nothing is to be done, safe to
run again, from any folder.

  --tests        also what the tests need, and the tests themselves
  --bench        also what scripts/bench.sh needs, and its programs
  CMAKE_OPTION   passed to cmake, such as -DCMAKE_CXX_COMPILER=clang++
END
}

fail() {
  printf 'setup.sh: %s\n' "$*" >&2
  exit 1
}

# The packages of the named sections of packages.txt, one a line.
listed_packages() {
  local sections=" $* " section='' line
  while IFS= read -r line; do
    line=${line%%#*}
    case $line in
      \[*) section=${line#[} section=${section%%]*} ;;
      *[!\ ]*)
        if [[ $sections == *" $section "* ]]; then
          printf '%s\n' "${line%% *}"
        fi
        ;;
    esac
  done < scripts/packages.txt
}

# Of the packages named, those that are not installed, one a line.
missing_packages() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
  local package
  for package in "$@"; do
    grep -qxF "installed $package" <<< "$installed" || printf '%s\n' "$package"
  done
}

install_packages() {
  local install=(install -y --no-install-recommends "$@") as_root=()
  local command="apt-get update && apt-get ${install[*]}"
  if [[ $(id -u) -ne 0 ]]; then
    # Where nobody can type a password, sudo must not ask for one.
    if command -v sudo > /dev/null && { [[ -t 0 ]] || sudo -n true 2> /dev/null; }; then
      as_root=(sudo)
    else
      fail "these packages are missing, and only root can install them. As root:
  $command"
    fi
  fi
  printf 'setup.sh: installing %s\n' "$*" >&2
  local log=build/install.log
  apt_get() {
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get -o DPkg::Lock::Timeout=300 "$@" >> "$log" 2>&1
  }
  : > "$log"
  # Fresh machines have no package lists and old ones stale lists: only then they are fetched.
  if ! apt_get "${install[@]}" && ! { apt_get update && apt_get "${install[@]}"; }; then
    tail -n 20 "$log" >&2
    fail "could not install what is missing. Once this works, run again:
  $command"
  fi
}

install_missing() {
  local wanted missing
  mapfile -t wanted < <(listed_packages "$@")
  if ! command -v dpkg-query > /dev/null; then
    printf 'setup.sh: not a Debian system; needed under their names here: %s\n' "${wanted[*]}" >&2
    return
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  if ((${#missing[@]})); then
    install_packages "${missing[@]}"
  fi
}

# Runs a command; its output appears only where it fails.
quietly() {
  local log=build/setup.log
  if ! "$@" > "$log" 2>&1; then
    cat "$log" >&2
    fail "failed: $*"
  fi
}

# Says what to do with a clone that cannot be built as it is.
check_clone() {
  local source
  if ! { mkdir -p build && : > build/setup.log; } 2> /dev/null; then
    [[ ! -x build/attnscale ]] || printf 'setup.sh: the program that is built can be used as it is:
  %q run %q\n' "$PWD/build/attnscale" "$PWD/configs/try_this.json" >&2
    fail "$PWD/build cannot be written to. To build in a copy of your own:
  cp -r $(printf %q "$PWD") attnscale && rm -rf attnscale/build && attnscale/scripts/setup.sh"
  fi
  [[ -f build/CMakeCache.txt ]] || return 0
  source=$(grep -m 1 '^CMAKE_HOME_DIRECTORY:' build/CMakeCache.txt) || return 0
  source=${source#*=}
  [[ $source -ef . ]] || fail "build/ was made for a clone in $source.
This clone was moved or copied, so build/ must be made anew. Remove it and try again:
  rm -r $(printf %q "$PWD/build")"
}

# Builds what $1 names, one or more targets.
build() {
  local names
  read -ra names <<< "$1"
  shift
  local fresh=()
  # A build folder keeps the generator it was made with.
  [[ -f build/CMakeCache.txt ]] || fresh=(-G Ninja)
  if [[ ${names[0]} == all ]]; then
    quietly cmake "${fresh[@]}" -B build -DATTNSCALE_BUILD_TESTS=ON "$@"
  elif [[ -f build/CMakeCache.txt ]]; then
    quietly cmake -B build "$@"
  else
    quietly cmake "${fresh[@]}" -B build -DATTNSCALE_BUILD_TESTS=OFF "$@"
  fi
  local what=building program=build/attnscale
  if [[ ${names[0]} == all ]]; then
    what+=' the tests' program=build/tests/attnscale_tests
  fi
  [[ -x $program ]] ||
    printf 'setup.sh: %s, which takes minutes the first time; see build/setup.log\n' "$what" >&2
  quietly cmake --build build --parallel "$(nproc)" --target "${names[@]}"
}

main() {
  local sections=(run) targets=programs
  case ${1-} in
    -h | --help)
      usage
      exit
      ;;
    --tests)
      sections+=(test)
      targets=all
      shift
      ;;
    --bench)
      sections+=(bench)
      targets='programs attnscale_benchmarks try_this_boost print_words'
      shift
      set -- -DATTNSCALE_BUILD_BENCHMARKS=ON "$@"
      ;;
    --[a-z]*) fail "unknown option $1; known are --tests, --bench and options of cmake such as -D" ;;
  esac
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  check_clone
  install_missing "${sections[@]}"
  build "$targets" "$@"
}

main "$@"
