#!/usr/bin/env bash
# Checks the pinned packages for known vulnerabilities with pip-audit, in an environment of its own.
#
#   scripts/vulnerabilities.sh [REQUIREMENTS]
#
# REQUIREMENTS  by default requirements.txt, what is in the image
#
# Status 0: none is known. 1: some are. 3: no database answered, so nothing was checked.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

requirements=${1:-requirements.txt}
[[ -e $requirements ]] || fail "$requirements does not exist"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$(find_python)" -m venv "$scratch/venv"
"$scratch/venv/bin/python" -m pip install --quiet --disable-pip-version-check pip-audit \
  || { say "pip-audit could not be installed: nothing was checked"; exit 3; }

for service in pypi osv; do
  # Its status does not tell vulnerabilities from errors; the report does.
  "$scratch/venv/bin/pip-audit" --requirement "$requirements" --require-hashes --disable-pip --progress-spinner off \
    --vulnerability-service "$service" --format json --output "$scratch/$service.json" 2>"$scratch/$service.log" || true
done
status=0
"$scratch/venv/bin/python" scripts/vulnerabilities.py "$scratch/pypi.json" "$scratch/osv.json" || status=$?
exit "$status"
