"""Kinds, metrics and commands by name: ours in a table of the package, those of other packages as theirs.

Each is an entry point, "module" or "module:object", in one of three groups. Ours are in
`evaluation/entry_points.txt`, which setuptools installs as it is: a copy of the package that nobody installed
reads the same table. Packages that are installed beside it add their own. These are asked for only where a
name is none of ours, so that the start of a command does not wait for the search.
"""

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from evaluation.core.fault import PhaseError

Group = Literal["evaluation.kinds", "evaluation.metrics", "evaluation.commands"]


@cache
def own_entries(group: Group) -> Mapping[str, str]:
    """Return the places of what this package has by name, in the order of the table."""
    table = (Path(__file__).parents[1] / "entry_points.txt").read_text(encoding="utf-8")
    _, _, lines = table.partition(f"[{group}]\n")
    return dict(line.split(" = ") for line in lines.partition("\n[")[0].splitlines() if line)


@cache
def other_entries(group: Group) -> Mapping[str, str]:
    """Return the places of what other installed packages add, sorted by name.

    Raises `PhaseError` where two of them have one name.
    """
    from importlib.metadata import entry_points  # takes longer to import than a small phase to score

    found: dict[str, str] = {}
    for point in sorted(entry_points(group=group)):
        if point.name not in own_entries(group) and found.setdefault(point.name, point.value) != point.value:
            raise PhaseError(f"{group}: {point.name!r} is both {found[point.name]} and {point.value}")
    return found


def place_of(group: Group, name: str) -> str | None:
    """Return the place of a name, None for an unknown one. Raises `PhaseError` as `other_entries`."""
    return own_entries(group).get(name) or other_entries(group).get(name)


def loaded(place: str) -> Any:
    """Return the module or the object of a place. Raises `PhaseError` where it is of no use."""
    module, _, attribute = place.partition(":")
    try:
        found = importlib.import_module(module)
        return getattr(found, attribute) if attribute else found
    except (ImportError, AttributeError) as error:
        if module.startswith("evaluation."):
            raise
        raise PhaseError(f"{place}, which an installed package names: {error}") from error
