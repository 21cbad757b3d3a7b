"""The phases whose figures are kept: those of the repository, of its examples, and of templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from test.repository import PHASES, REPOSITORY

BUNDLED, EXAMPLES, PROGRAMS, NEW = "bundled", "example", "program", "new"
TEAMS = ("ordinary", "other", "faulty")
"""The submissions to each phase: of ordinary quality, worse, and with missing, empty and failing cases."""
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Source:
    """A phase: its name, what it is of, and its `phase.toml`, or the template of one."""

    name: str
    of: str
    configuration: Path

    @property
    def folder(self) -> Path:
        """The folder of its input and its figures."""
        return FOLDER / (f"{self.of}-{self.name}" if self.of == NEW else self.name)

    @property
    def input(self) -> Path:
        """The cases, reference and teams that are scored; see `test.golden.inputs`."""
        return self.folder / "input.tar.xz"


def _found() -> Iterator[Source]:
    for name in PHASES:
        yield Source(name, BUNDLED, REPOSITORY / "ground-truth" / name / "phase.toml")
    for path in sorted(REPOSITORY.glob("examples/*/phase.toml")):
        yield Source(path.parent.name, EXAMPLES, path)
    for path in sorted(REPOSITORY.glob("examples/programs/*.toml")):
        yield Source(path.stem, PROGRAMS, path)
    # None, where the room of new repositories was taken away.
    for path in sorted(REPOSITORY.glob("evaluation/organiser/starter/templates/*.toml")):
        if path.stem not in ("head", "kinds"):
            yield Source(path.stem, NEW, path)


SOURCES = {source.folder.name: source for source in _found()}
