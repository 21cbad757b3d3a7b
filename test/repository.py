"""Where the repository and its bundled phases lie, and whether tests are to be thorough."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PHASES = tuple(sorted(path.parent.name for path in REPOSITORY.glob("ground-truth/*/phase.toml")))
THOROUGH = os.environ.get("EVALUATION_THOROUGH") == "1"
"""Whether everything is tried that too little speaks for to try it at each change."""
OF_EACH_CHALLENGE = ("adam-onsite", "cysts", "edd2020", "justraigs-phase1", "refuge-onsite")
CHOSEN = PHASES if THOROUGH else OF_EACH_CHALLENGE
"""The phases of tests that take seconds for each; others read, describe and rehearse all of them."""
