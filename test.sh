#!/usr/bin/env bash
# Runs all tests in the local environment .venv, which it makes itself.
#
#   ./test.sh [arguments for pytest…]
#
# The tests of the container are skipped where no Docker engine answers; EVALUATION_REQUIRE_DOCKER=1 makes them fail.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/scripts/environment.sh"

local_environment requirements-dev.txt
exec .venv/bin/python -m pytest "$@"
