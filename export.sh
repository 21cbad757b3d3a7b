#!/usr/bin/env bash
# Writes into export/<phase>/ what an organiser needs on grand-challenge.org:
#
#   evaluation-<phase>.tar.gz     the image to upload
#   ground-truth-<phase>.tar.gz   its reference, sealed alike, to upload beside the image or instead of the one in it
#   settings.json                 the phase's settings on the platform
#   form.json                     what participants check their submissions with
#   format.md                     the format of a submission in words, for the challenge's page
#
#   ./export.sh PHASE [arguments for docker build…]
#   ./export.sh FOLDER [arguments for docker build…]
#
# Of a phase elsewhere (a path with a slash), into FOLDER/export/ of a repository with phase/, else export/ beside it.
#
# The image is built first; what has not changed since the last build is reused as it is. `evaluation export` does it.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

[[ $# -ge 1 ]] || fail "which phase? Usage: ./export.sh PHASE [arguments for docker build…]"
folder=$(phase_path "$1")
output=export/$1
if [[ $1 == */* ]]; then
  output=$folder/export
  [[ ! -e $folder/phase.toml ]] || output=$(dirname "$folder")/export/$(basename "$folder")
fi
shift
require_engine
local_environment requirements.txt
exec .venv/bin/python -m evaluation export "$folder" --output "$output" "${@/#/--docker=}"
