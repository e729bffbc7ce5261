#!/usr/bin/env bash
# Unpacks the arm64 packages that attnscale is built with into a folder of its own.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/support/arm_sysroot.sh FOLDER

Fetches the arm64 packages of Debian that attnscale is built with, and unpacks
them in FOLDER/sysroot for a cross compiler. Installs nothing, needs no root and
leaves the package lists of this machine alone. Does nothing where FOLDER/sysroot
is complete, of the packages that are needed now.
END
}

case ${1-} in
  -h | --help)
    usage
    exit
    ;;
  '' | -*)
    usage >&2
    exit 2
    ;;
esac

# The last two are only asked for their shared libraries, whose presence CMake's files check.
packages=(libboost1.74-dev libboost-program-options1.74-dev libfmt-dev libhwy-dev librandom123-dev
  libminizip-dev nettle-dev nlohmann-json3-dev zlib1g-dev libfmt9 libhwy1)

mkdir -p "$1"
cd "$1"
[[ ! -e sysroot/complete || "$(< sysroot/complete)" != "${packages[*]}" ]] || exit 0
rm -rf apt sysroot unpacked
mkdir -p apt/{lists,cache}/partial unpacked
: > apt/status
settings=(-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root
  -o "Dir::State::Lists=$PWD/apt/lists" -o "Dir::State::status=$PWD/apt/status"
  -o "Dir::Cache=$PWD/apt/cache" -o Acquire::Retries=2)
apt-get "${settings[@]}" update
cd apt
apt-get "${settings[@]}" download "${packages[@]}"
for file in *.deb; do
  dpkg -x "$file" ../unpacked
done
cd ..
printf '%s\n' "${packages[*]}" > unpacked/complete
mv unpacked sysroot
rm -rf apt
