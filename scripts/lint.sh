#!/usr/bin/env bash
# Checks style, types and shell scripts in the local environment .venv, which it makes itself.
#
#   scripts/lint.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

local_environment requirements-dev.txt
.venv/bin/ruff check
.venv/bin/ruff format --check
.venv/bin/mypy
if command -v shellcheck >/dev/null; then
  shellcheck ./*.sh scripts/*.sh .ci/run
else
  say "shellcheck is not installed: the shell scripts were not checked"
fi
