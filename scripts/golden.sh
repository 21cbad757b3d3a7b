#!/usr/bin/env bash
# Compares the golden figures of all phases with what the code computes, in real processes.
#
#   scripts/golden.sh [PHASE…]
#   scripts/golden.sh --write [PHASE…]
#
# PHASE    a folder of test/golden/; by default all: each bundled phase, example, public program and template
# --write  writes the figures anew, so that the difference of the commit shows what changed; and the input of a phase
#          that has none yet
#
# Prints each value that differs: its file, its path in it, before and after. The status is 1 if any does.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

local_environment requirements-dev.txt
exec .venv/bin/python -m test.golden "$@"
