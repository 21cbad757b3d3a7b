"""The names of the challenge that `phase.toml` declares, and of kinds and metrics in its text."""

import re

from evaluation.core.entry_points import own_entries

PACKAGE = __name__.rpartition(".")[0]
CHALLENGE = PACKAGE.rpartition(".")[2]
"""The name of the challenge that `phase.toml` declares."""
READING = f"{CHALLENGE}.reading"
"""The name of the challenge that its readers have instead."""
READING_MODULE = f"{PACKAGE}.reading"


def names_in(text: str) -> list[str]:
    """Return the names of our kinds and metrics among the words of a `phase.toml`, sorted."""
    known = own_entries("evaluation.kinds").keys() | own_entries("evaluation.metrics").keys()
    return sorted(known.intersection(re.findall(r"\w+", text)))
