"""Where the repository and its bundled phases lie, and which tests run."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PHASES = tuple(sorted(path.parent.name for path in REPOSITORY.glob("ground-truth/*/phase.toml")))
WEEKLY = os.environ.get("EVALUATION_WEEKLY") == "1"
"""Whether the tests that are marked `weekly` run, and no others: fuzzing and sweeps."""
OF_EACH_CHALLENGE = ("adam-onsite", "cysts", "edd2020", "justraigs-phase1", "refuge-onsite")
"""The phases of tests that take seconds for each; others read, describe and rehearse all of them."""
