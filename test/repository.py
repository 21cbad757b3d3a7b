"""Where the repository and its bundled phases lie, and whether tests are to be thorough."""

import os
import random
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
PHASES = tuple(sorted(path.parent.name for path in REPOSITORY.glob("ground-truth/*/phase.toml")))
THOROUGH = os.environ.get("EVALUATION_THOROUGH") == "1"
"""Whether everything is tried that too little speaks for to try it at each change."""
WEEKLY = os.environ.get("EVALUATION_WEEKLY") == "1"
"""Whether the tests that are marked `weekly` run, and no others: fuzzing and sweeps."""
OF_EACH_CHALLENGE = ("adam-onsite", "cysts", "edd2020", "justraigs-phase1", "refuge-onsite")
CHOSEN = PHASES if THOROUGH else OF_EACH_CHALLENGE
"""The phases of tests that take seconds for each; others read, describe and rehearse all of them."""


@cache
def commit() -> str:
    """Return the commit that is tested, none in a folder without git."""
    command = ["git", "-C", str(REPOSITORY), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def drawn(names: Sequence[str], number: int, seed: str, thorough: bool = THOROUGH) -> set[str]:
    """Return as many of the names as a run tries, the same for a seed; all of them if it is thorough."""
    if thorough or number >= len(names):
        return set(names)
    return set(random.Random(seed).sample(sorted(names), number))


def is_drawn(name: str, share: float, thorough: bool = THOROUGH) -> bool:
    """Tell whether a run tries this one of many, of which it tries a share; each commit draws others."""
    return thorough or random.Random(f"{commit()} {name}").random() < share
