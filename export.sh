#!/usr/bin/env bash
# Writes export/<phase>/evaluation-<phase>.tar.gz, the image to upload to grand-challenge.org.
#
#   ./export.sh PHASE [arguments for docker build…]
#
# The image is built first; what has not changed since the last build is reused as it is.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

[[ $# -ge 1 ]] || fail "which phase? Usage: ./export.sh PHASE [arguments for docker build…]"
phase=$1
./build.sh "$@"

compress=gzip
command -v pigz >/dev/null && compress=pigz

file=export/$phase/evaluation-$phase.tar.gz
mkdir -p "$(dirname "$file")"
trap 'rm -f "$file.partial"' EXIT
say "writing $file"
# with its tag, as without one every tag of that name would go into the file
if ! docker save "evaluation-$phase:latest" | "$compress" -9 >"$file.partial"; then
  fail "$file could not be written; free on this disk: $(df -Ph export | awk 'NR == 2 {print $4}')"
fi
mv "$file.partial" "$file"
echo "$file: $(($(wc -c <"$file") / 1000000)) MB"
