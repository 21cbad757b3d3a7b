#!/usr/bin/env bash
# Runs all tests in the local environment .venv, which it makes itself.
#
#   ./test.sh [arguments for pytest…]
#
# Runs them in a process for each processor, up to four; add -n 0 for one, as a debugger needs it.
#
# The tests of the container are skipped where no Docker engine answers; EVALUATION_REQUIRE_DOCKER=1 makes them fail.
# So are those of reports in a browser where Debian's package chromium is missing; EVALUATION_REQUIRE_BROWSER=1.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

local_environment requirements-dev.txt
exec .venv/bin/python -m pytest --numprocesses=auto --maxprocesses=4 --dist=loadscope --no-loadscope-reorder "$@"
