#!/usr/bin/env bash
# Builds the image evaluation-<phase>, which holds the phase's reference, sealed.
#
#   ./build.sh PHASE [arguments for docker build…]
#
# The manifest of the reference is made during the build (see Dockerfile). Its digest is only known afterwards, so the
# labels are added in a second, empty build.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

[[ $# -ge 1 ]] || fail "which phase? Usage: ./build.sh PHASE [arguments for docker build…]"
phase=$1
shift
require_phase "$phase"
require_engine

image=evaluation-$phase
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Without attestations the exported file holds one image and nothing else.
export BUILDX_NO_DEFAULT_ATTESTATIONS=1

if ! docker build --tag "$image" --build-arg PHASE="$phase" "$@" . 2>&1 | tee "$log"; then
  if grep -qi 'no space left on device' "$log"; then
    fail "the disk is full; 'docker system prune' frees what no image or container uses"
  fi
  fail "$image could not be built; see the message above"
fi

platform=$(docker image inspect --format '{{.Os}}/{{.Architecture}}' "$image")
[[ $platform == linux/amd64 ]] || fail "$image is for $platform, but must be for linux/amd64"

facts=$(docker run --rm --network none --entrypoint python "$image" -c "
import hashlib, pathlib, evaluation
manifest = pathlib.Path('/opt/evaluation/ground-truth/manifest.json').read_bytes()
print(evaluation.__version__, hashlib.sha256(manifest).hexdigest())") || fail "$image does not start"
read -r version digest <<<"$facts"

if ! docker build --quiet --tag "$image" \
  --label org.opencontainers.image.version="$version" \
  --label org.grand-challenge.evaluation.phase="$phase" \
  --label org.grand-challenge.evaluation.manifest="sha256:$digest" - <<<"FROM $image" >"$log" 2>&1; then
  cat "$log" >&2
  fail "$image could not be labelled"
fi

echo "$image: version $version, manifest sha256:$digest"
