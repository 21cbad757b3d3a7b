"""The leaf rooms of the organiser's wing, and which are there: tests of what was deleted are skipped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evaluation.core.entry_points import own_entries

from .repository import REPOSITORY

ALL_LEAVES = (
    "analyses",
    "cyst_benchmark",
    "justraigs_graders",
    "paper",
    "parallel",
    "samples",
    "starter",
)
"""The rooms that nothing imports: each can be deleted with its tests. No other place lists them for tests."""
_ORGANISER = REPOSITORY / "evaluation" / "organiser"
LEAVES = tuple(leaf for leaf in ALL_LEAVES if (_ORGANISER / leaf).is_dir())
"""Those that are there."""
GONE = frozenset(ALL_LEAVES) - set(LEAVES)
_PARTS = {
    "evaluate --cluster": "parallel",
    "fuse cysts": "cyst_benchmark",
    "fuse graders": "justraigs_graders",
    "report --tables": "analyses",
    "report benchmark": "cyst_benchmark",
}
"""The leaf of a command's part, by the command and the argument that asks for it."""
_FOLDERS = ("evaluation/organiser", "test/organiser")


def _leaves_of_commands() -> dict[str, str]:
    """Return the leaf of each command that comes from one, also of commands that are gone with theirs."""
    places = own_entries("evaluation.commands")
    rooms = {name: place.split(".")[2] for name, place in places.items()}
    return {name: room for name, room in rooms.items() if room in ALL_LEAVES}


COMMANDS_OF_LEAVES = _leaves_of_commands()
"""The leaf of each command that comes from one."""


def needs(*leaves: str) -> pytest.MarkDecorator:
    """Skip a test where one of these leaves is gone."""
    gone = sorted(set(leaves) & GONE)
    return pytest.mark.skipif(bool(gone), reason=f"without {', '.join(gone)}")


def skip_without(*leaves: str) -> None:
    """Skip what follows, such as all tests of a fixture or a module, where one of these leaves is gone."""
    if gone := sorted(set(leaves) & GONE):
        pytest.skip(f"without {', '.join(gone)}", allow_module_level=True)


def leaves_of(line: str) -> set[str]:
    """Return the leaves that a line needs which calls a command of the package; none for any other line."""
    found = re.search(r"\b(?:python -m )?evaluation ([a-z]+)(?![\w.])(.*)", line)
    if found is None:
        return set()
    command, arguments = found[1], found[2].split()
    parts = {
        leaf for part, leaf in _PARTS.items() if part.split()[0] == command and part.split()[1] in arguments
    }
    return parts | {COMMANDS_OF_LEAVES[command]} if command in COMMANDS_OF_LEAVES else parts


def gone_of(text: str) -> set[str]:
    """Return the leaves that the commands of a text need and that are gone."""
    lines = text.replace("\\\n", " ").splitlines()
    return {leaf for line in lines for leaf in leaves_of(line)} & GONE


def is_of_a_gone_leaf(path: Path) -> bool:
    """Tell whether a path of the repository lies in a leaf that is gone, or in the folder of its tests."""
    folders = (REPOSITORY / folder / leaf for folder in _FOLDERS for leaf in GONE)
    resolved = path.resolve()
    return any(resolved.is_relative_to(folder) for folder in folders)
