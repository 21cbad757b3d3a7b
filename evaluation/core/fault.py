"""What is wrong with a submission, in the same words everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

_MAX_PART_LENGTH = 120
_MAX_QUOTED_LENGTH = 400


class FaultKind(StrEnum):
    """The kinds by which faults are grouped and counted."""

    MISSING = "missing"
    UNKNOWN = "unknown"
    DUPLICATE = "duplicate"
    UNREADABLE = "unreadable"
    WRONG_SIZE = "wrong size"
    WRONG_VALUE = "wrong value"
    MALFORMED = "malformed"
    FORBIDDEN = "forbidden"
    TOO_LARGE = "too large"


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a submission's form: where, what was expected and what was found.

    ``hint`` names the probable mistake, if it can be recognised.
    """

    kind: FaultKind
    file: str
    expected: str
    found: str
    line: int | None = None
    field: str | None = None
    hint: str | None = None

    @property
    def place(self) -> str:
        """Where the fault lies: file, line and field."""
        place = printable(self.file)
        if self.line is not None:
            place += f", line {self.line}"
        if self.field is not None:
            place += f", {printable(self.field)}"
        return place

    @property
    def complaint(self) -> str:
        """What was expected there and what was found, with the hint."""
        text = f"expected {printable(self.expected)}, found {printable(self.found)}"
        return text if self.hint is None else f"{text} ({printable(self.hint)})"

    def __str__(self) -> str:
        """Return for example ``disc/V0012.png: expected value 0 or 255, found 7``."""
        return f"{self.place}: {self.complaint}"


class FormFault(Exception):  # noqa: N818 - "fault" is the project's word
    """Raised by readers of a submission; carries every fault found at that place."""

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("; ".join(map(str, self.faults)))


class ReadError(Exception):
    """Raised by file readers, which know the content of a file but not its name."""

    def __init__(
        self, kind: FaultKind, expected: str, found: str, line: int | None = None, hint: str | None = None
    ) -> None:
        self.kind, self.expected, self.found, self.line, self.hint = kind, expected, found, line, hint
        super().__init__(f"expected {expected}, found {found}")

    def fault(self, file: str, field: str | None = None) -> Fault:
        """Return this error as a fault of the named file."""
        return Fault(self.kind, file, self.expected, self.found, self.line, field, self.hint)


def printable(text: object, limit: int = _MAX_PART_LENGTH) -> str:
    """Return text that is safe in a log: one line, no control characters, no lone surrogates.

    All content of a submission that a message shows, file names included, passes through this function.
    Longer texts are cut in the middle, so that the end of a path stays readable.
    """
    escaped = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in shorten(str(text), 2 * limit + 1)
    )
    return shorten(escaped, limit)


def shorten(text: str, limit: int = _MAX_QUOTED_LENGTH) -> str:
    """Return text of at most that many characters, cut in the middle; to be used before text is quoted."""
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


class PhaseError(Exception):
    """Raised if a phase or another input of the organiser is invalid; lists every problem."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))
