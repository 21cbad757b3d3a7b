#!/usr/bin/env bash
# Runs the tests in the local environment .venv, which it makes itself.
#
#   ./test.sh [arguments for pytest…]
#
# Runs them in two processes more than there are processors, up to six, on Linux; add -n 0 for one, as a debugger needs it.
# EVALUATION_WEEKLY=1 runs fuzzing and sweeps, and no others.
#
# The tests of the container are skipped where no Docker engine answers; EVALUATION_REQUIRE_DOCKER=1 makes them fail.
# So are those of reports in a browser where Debian's package chromium is missing; EVALUATION_REQUIRE_BROWSER=1.
# EVALUATION_BRANCHES=FOLDER writes which branches of the package ran (see scripts/branch_coverage.py).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

local_environment requirements-dev.txt
# Two more than processors, since tests of containers and clusters wait for other processes.
processes=$(($(getconf _NPROCESSORS_ONLN) + 2))
exec .venv/bin/python -m pytest --processes=$((processes < 6 ? processes : 6)) "$@"
