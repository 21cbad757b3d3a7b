"""The names of the kinds and metrics that can be declared, and their modules, none of which is imported."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

PACKAGE = __name__.rpartition(".")[0]
CHALLENGE = PACKAGE.rpartition(".")[2]
"""The name of the challenge that `phase.toml` declares."""
READING = f"{CHALLENGE}.reading"
"""The name of the challenge that its readers have instead."""
READING_MODULE = f"{PACKAGE}.reading"


@cache
def names_by_module() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return what each module of this package declares, by key and module, as its source says."""
    found: dict[str, dict[str, list[str]]] = {"kind": {}, "metric": {}}
    for file in sorted(Path(__file__).parent.glob("*.py")):
        for key, name in re.findall(rb'\n    (kind|metric): Literal\["(\w+)"\]', file.read_bytes()):
            found[key.decode()].setdefault(f"{PACKAGE}.{file.stem}", []).append(name.decode())
    return found


def names_in(text: str) -> list[str]:
    """Return the names of kinds and metrics among the words of a `phase.toml`, sorted."""
    known = {name for of_key in names_by_module().values() for names in of_key.values() for name in names}
    return sorted(known.intersection(re.findall(r"\w+", text)))
