#!/usr/bin/env bash
# Builds the documentation site into site/ with the local environment .venv, which it makes itself. A warning is an error.
#
#   scripts/docs.sh [arguments for mkdocs build…]
#
# To read it with its search: python -m http.server --directory site
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

local_environment requirements-docs.txt
.venv/bin/mkdocs build --quiet --strict "$@"
say "wrote $PWD/site/index.html"
