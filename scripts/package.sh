#!/usr/bin/env bash
# Makes attnscale's Debian package and its archive.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/package.sh [OUT_DIR]

Builds attnscale (Release; scripts/setup.sh installs what that needs) and
writes attnscale_VERSION_ARCHITECTURE.deb and attnscale-VERSION-Linux.tar.gz
to OUT_DIR (default build-package/). Two calls on one commit give the same
bytes. Install the first with

  sudo apt install ./build-package/attnscale_*.deb
END
}

case ${1:-} in
  -h | --help)
    usage
    exit
    ;;
esac

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${1:-$root/build-package}
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$root"
for tool in cmake ninja help2man dpkg-deb; do
  command -v "$tool" > /dev/null && continue
  printf 'package.sh: needs %s. As root:\n  apt-get install %s\n' "$tool" \
    "$(sed 's/^ninja$/ninja-build/; s/-deb$//' <<< "$tool")" >&2
  exit 1
done
tree=$out/tree

# The time of the commit, and no path of this machine. Debian's packages share zlib, which dpkg itself
# needs.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || date -r CMakeLists.txt +%s)}
export SOURCE_DATE_EPOCH
cmake -G Ninja -S . -B "$tree" -DCMAKE_BUILD_TYPE=Release -DATTNSCALE_BUILD_TESTS=OFF \
  -DCMAKE_INSTALL_PREFIX=/usr -DZLIB_LIBRARY=z \
  -DATTNSCALE_MAP_PATHS=ON > "$out/package.log"
cmake --build "$tree" --target programs packaged_pages >> "$out/package.log"
(cd "$tree" && cpack -B "$out" >> "$out/package.log")
rm -rf "$out/_CPack_Packages"
ls "$out"/*.deb "$out"/*.tar.gz
