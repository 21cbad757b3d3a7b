#!/usr/bin/env bash
# Builds the image evaluation-<phase>, which holds the phase's reference, sealed.
#
#   ./build.sh PHASE [arguments for docker build…]
#   ./build.sh FOLDER [arguments for docker build…]
#   ./build.sh --base [arguments for docker build…]
#
# PHASE is a name below ground-truth/. FOLDER is a phase folder anywhere else, or a repository with one in phase/, as
# `evaluation new` writes it (a path with a slash). --base builds the two images evaluation-builder:VERSION and
# evaluation-base:VERSION instead, which have the package and no phase; the second has no code for organisers.
#
# `evaluation build` does all of it, with the Python of .venv, which this script makes. The base image is pinned with
# --build-arg BASE=python@sha256:…; two builds of one phase have equal layers. The random number of the seal is kept in
# <phase>/.nonce: keep that file as secret as the labels.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

[[ $# -ge 1 ]] || fail "which phase? Usage: ./build.sh PHASE [arguments for docker build…]"
what=--without-phase
[[ $1 == --base ]] || what=$(phase_path "$1")
shift
require_engine
local_environment requirements.txt
exec .venv/bin/python -m evaluation build "$what" "${@/#/--docker=}"
