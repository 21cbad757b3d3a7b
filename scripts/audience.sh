#!/usr/bin/env bash
# Runs a submission as Grand Challenge runs it (scripts/platform.sh), and prints what the participant, the public and
# the organiser would each see.
#
#   ./run.sh --audience PHASE SUBMISSION [SECONDS]
#
# SUBMISSION  a zip, a csv file, or a folder with what one of them holds; of an algorithm phase, what lies in /input
# SECONDS     the time limit of the phase, by default 3600
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

[[ $# -eq 2 || $# -eq 3 ]] || fail "Usage: ./run.sh --audience PHASE SUBMISSION [SECONDS]"
phase=$1 submission=$(absolute "$2") seconds=${3:-3600}
require_phase "$phase"
[[ -e $submission ]] || fail "there is no submission $submission"
[[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "the time limit is '$seconds'; expected seconds"
require_engine

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 0755 "$scratch"
mkdir -m 0777 "$scratch/results"

image=evaluation-$phase:run
say "building $image"
build_to_run "$phase"
say "evaluating $submission, for at most $seconds s"
scripts/platform.sh "$image" "$scratch/results" "$seconds" "$submission"
organise "$image" -- settings ground-truth >"$scratch/results/1/settings.json"
organise "$image" --mount "type=bind,source=$scratch/results/1,target=/mnt/run,readonly" -- audience /mnt/run
