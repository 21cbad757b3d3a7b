#!/usr/bin/env bash
# Builds the image evaluation-<phase>, which holds the phase's reference, sealed.
#
#   ./build.sh PHASE [arguments for docker build…]
#   ./build.sh FOLDER
#   ./build.sh --base [arguments for docker build…]
#
# PHASE is a name below ground-truth/. FOLDER is a phase folder anywhere else, or a repository with one in phase/, as
# `evaluation new` writes it (a path with a slash). --base builds the two images that such a phase is made from, both
# with the package and without any phase: evaluation-builder:VERSION seals and rehearses it, and its image starts from
# evaluation-base:VERSION, which has no code for organisers.
#
# The base image is pinned with --build-arg BASE=python@sha256:…; two builds of one phase have equal layers. The random
# number of the seal is kept in ground-truth/<phase>/.nonce: keep that file as secret as the labels.
#
# The manifest of the reference is made during the build (see Dockerfile). Its digest is only known afterwards, so the
# labels are added in a second, empty build.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

[[ $# -ge 1 ]] || fail "which phase? Usage: ./build.sh PHASE [arguments for docker build…]"
phase=$1
shift

# build_base [ARGUMENTS…]: builds the two images without a phase and prints their names.
build_base() {
  local target version
  version=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' evaluation/__init__.py)
  for target in builder base; do
    docker build --target "$target" --tag "evaluation-$target:$version" "$@" . >&2 \
      || fail "evaluation-$target could not be built"
    echo "evaluation-$target:$version"
  done
}

if [[ $phase == --base ]]; then
  require_engine
  build_base "$@"
  exit
fi
if is_phase_folder "$phase"; then
  require_engine
  build_base --quiet >/dev/null
  local_environment requirements.txt
  exec .venv/bin/python -m evaluation build "$(absolute "$phase")"
fi
require_phase "$phase"
require_engine

image=evaluation-$phase
log=$(mktemp)
trap 'rm -f "$log"' EXIT

nonce=ground-truth/$phase/.nonce
[[ -e $nonce ]] || (umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$nonce")

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

base=$(docker image inspect --format '{{index .Config.Labels "org.opencontainers.image.base.name"}}' "$image")
# An image that was never pulled has no digest of a registry; its own identifier names it as well.
base_digest=$(docker image inspect --format '{{if .RepoDigests}}{{index .RepoDigests 0}}{{else}}{{.Id}}{{end}}' "$base") \
  || fail "the base image $base cannot be inspected"

if ! docker build --quiet --tag "$image" \
  --label org.opencontainers.image.base.digest="${base_digest##*@}" \
  --label org.opencontainers.image.version="$version" \
  --label org.grand-challenge.evaluation.phase="$phase" \
  --label org.grand-challenge.evaluation.manifest="sha256:$digest" - <<<"FROM $image" >"$log" 2>&1; then
  cat "$log" >&2
  fail "$image could not be labelled"
fi

echo "$image: version $version, manifest sha256:$digest, base $base ${base_digest##*@}"
