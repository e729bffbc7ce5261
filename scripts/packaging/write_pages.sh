#!/usr/bin/env bash
# Writes what only the built program knows how to: the man page and the completions, into $OUT.
# Compressed without names and times, so that two builds give the same bytes.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
mkdir -p "$OUT"
PATH=$(dirname "$PROGRAM"):$PATH  # help2man takes no path with a blank
"$PROGRAM" completion bash > "$OUT/attnscale.bash"
"$PROGRAM" completion zsh > "$OUT/_attnscale"

sections=$OUT/sections.h2m
{
  printf '[NAME]\nattnscale \\- measure how big attention scores get, and what that does to softmax\n'
  for command in $("$PROGRAM" help | sed -n '/^Commands/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    printf '\n[attnscale %s]\n.nf\n' "$command"
    COLUMNS=78 "$PROGRAM" help "$command" | sed 's/\\/\\\\/g; s/^\./\\\&./; s/-/\\-/g'
    printf '.fi\n'
  done
} > "$sections"
help2man --no-info --section 1 --source attnscale \
  --version-string "$("$PROGRAM" --version | head -n 1 | cut -d " " -f 2)" --include "$sections" "$(basename "$PROGRAM")" |
  gzip -9 -n > "$OUT/attnscale.1.gz"
gzip -9 -n < "$here/changelog" > "$OUT/changelog.gz"
