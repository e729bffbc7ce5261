#!/usr/bin/env bash
# Gets the libraries that draw the charts of report.html, at fixed versions.
set -euo pipefail

usage() {
  cat <<'END'
usage: scripts/get_vega.sh

Gets Vega, Vega-Lite and vega-embed with npm, checks their hashes, and puts them
with their licences into ~/.cache/attnscale/vega, or the folder that
ATTNSCALE_VEGA names. attnscale report then draws charts that answer the mouse;
without them its page holds the pictures of attnscale plot.
END
}

case ${1-} in
  -h | --help)
    usage
    exit
    ;;
esac

folder=${ATTNSCALE_VEGA:-${XDG_CACHE_HOME:-$HOME/.cache}/attnscale/vega}

# Package, version, and the SHA-256 of its bundle and of its licence.
packages='
vega 6.2.0 ea6a5936381d06f912466354e2b6a20eb66c4d41f1ca9dff1e0236dfee6ee392 63727832aaf62004a2b249c933e327f3c90caf49e41a72f4bf436edf632cbda8
vega-lite 6.4.1 6d5035fdd429b4bc6f91f3754426c3f516f3dbd8e08b105cfc2496bed4ebd254 f618900fd0d64046963b29f40590cdd1e341a2f41449f99110d82fd81fea808c
vega-embed 7.1.0 c36254270219eee58fb9b1d954decad954fb07bfc9ab780c5d4401bd445cd50c 32df67148f0fc3db0eb9e263a7b75d07f1eb14c61955005a4a39c6918d10d137
'

command -v npm > /dev/null || { echo "get_vega.sh: npm is not installed" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

while read -r name version bundle licence; do
  [[ -n $name ]] || continue
  npm pack --silent "$name@$version" > /dev/null
  mkdir "$name"
  tar -xzf "$name-$version.tgz" -C "$name"
  cp "$name/package/build/$name.min.js" "$name.min.js"
  cp "$name/package/LICENSE" "$name.LICENSE"
  printf '%s  %s\n' "$bundle" "$name.min.js" "$licence" "$name.LICENSE" > "$name.sha256"
  sha256sum --check --quiet "$name.sha256" ||
    { echo "get_vega.sh: $name $version is not what it was; nothing was installed" >&2; exit 1; }
done <<< "$packages"

mkdir -p "$folder"
mv ./*.min.js ./*.LICENSE "$folder"
echo "wrote $folder"
