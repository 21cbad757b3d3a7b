"""The faults of a submission, in the same words everywhere."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

_MAX_PART_LENGTH = 120
_MAX_QUOTED_LENGTH = 400
_FLOAT32_STEP = 2.0**-23
_PLAIN_NAME = re.compile(r"[\w./-]+")
_HOSTILE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


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


DECIMAL_POINT = "use a decimal point"
"""The hint on a number with a decimal comma; many such faults are told in one line."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault of a submission's form: its place, the expected and the found value.

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
        if self.field:
            place += f", {printable(self.field)}"
        return place

    @property
    def complaint(self) -> str:
        """The expected and the found value, with the hint."""
        text = f"expected {printable(self.expected)}, found {printable(self.found)}"
        return text if self.hint is None else f"{text} ({printable(self.hint)})"

    def __str__(self) -> str:
        """Return for example ``disc/V0012.png: expected value 0 or 255, found 7``."""
        return f"{self.place}: {self.complaint}"


MAX_KEPT = 1000
"""How many faults of a kind are kept: the first by file, line and words. The others are counted."""


class Faults:
    """The faults of a submission, equal ones once; the first of each kind are kept, all are counted."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._kept: dict[FaultKind, dict[Fault, None]] = {}
        self._counts: Counter[FaultKind] = Counter()
        self.add(faults)

    def add(self, faults: Iterable[Fault], more: Mapping[FaultKind, int] | None = None) -> None:
        """Add faults, and the numbers by kind of further faults that were not kept."""
        for fault in faults:
            kept = self._kept.setdefault(fault.kind, {})
            if fault not in kept:
                kept[fault] = None
                self._counts[fault.kind] += 1
                if len(kept) == 2 * MAX_KEPT:
                    self._kept[fault.kind] = _first(kept)
        self._counts.update(more or {})

    def __len__(self) -> int:
        """Return how many faults there are, kept or not."""
        return self._counts.total()

    def __eq__(self, other: object) -> bool:
        """Return whether kept faults and numbers of other faults by kind are equal."""
        return isinstance(other, Faults) and list(self) == list(other) and self.counts == other.counts

    __hash__ = None  # type: ignore[assignment]  # faults can be added

    def __iter__(self) -> Iterator[Fault]:
        """Yield the faults that are kept, sorted by kind, file, line and words."""
        for kind in sorted(self._kept):
            yield from _first(self._kept[kind])

    @property
    def counts(self) -> Mapping[FaultKind, int]:
        """How many faults there are of each kind, sorted by kind."""
        return {kind: self._counts[kind] for kind in sorted(self._counts)}

    @property
    def more(self) -> Mapping[FaultKind, int]:
        """How many faults of each kind are not kept."""
        kept = Counter(fault.kind for fault in self)
        return {kind: count - kept[kind] for kind, count in self._counts.items() if count > kept[kind]}


def _first(faults: Iterable[Fault]) -> dict[Fault, None]:
    return dict.fromkeys(sorted(faults, key=_order)[:MAX_KEPT])


def _order(fault: Fault) -> tuple[object, ...]:
    place = fault.field or ""
    return fault.file, fault.line or 0, len(place), place, fault.found, fault.expected


class FormFault(Exception):  # noqa: N818 - "fault" is the project's word
    """Raised by readers of a submission; carries every fault found at that place."""

    def __init__(self, faults: Fault | Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("; ".join(map(str, self.faults)))

    @classmethod
    def raise_all(cls, faults: Collection[Fault]) -> None:
        """Raise one error with all faults, if there are any."""
        if faults:
            raise cls(faults)


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
    raw = str(text)
    if len(raw) > 2 * limit:
        raw = raw[:limit] + raw[-limit:]  # the middle is cut out anyway, and may be long
    escaped = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in shorten(str(text), 2 * limit + 1)
    )
    return shorten(escaped, limit)


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun: "1 case", "2 cases"; ``several``: the words after other numbers."""
    return f"{number} {one if number == 1 else several or one + 's'}"


def without_controls(text: str) -> str:
    """Return a text for a page, with control characters and signs that turn its direction escaped.

    Lines stay as they are: on a page a name cannot begin one.
    """
    return _HOSTILE.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), text)


def quotation(text: str) -> str:
    """Return a stranger's name between quotation marks, so that no words in it are taken for ours.

    A name of letters, digits and the signs of paths stays as it is.
    """
    if _PLAIN_NAME.fullmatch(text):
        return text
    escaped = printable(text).replace('"', r"\x22")
    return f'"{escaped}"'


def in_digits(number: float, *others: float, digits: int = 6) -> str:
    """Return a number in so many significant digits, or in more where it would look like one of ``others``.

    So 0.99999994 is not shown as 1 where 1 is expected. Zero has no sign.
    """
    unlike = [other for other in others if other != number]
    for count in range(digits, 17):
        text, *looks = (f"{one + 0.0:.{count}g}" for one in (number, *unlike))
        if text not in looks:
            return text
    return f"{number + 0.0:.17g}"


def apart(expected: Sequence[float], found: Sequence[float], digits: int = 6) -> tuple[str, str]:
    """Return numbers separated by commas, each in as many digits as tell it from the other at its place.

    Where another place tells the two apart, numbers that differ by the rounding of a file look the same.
    """
    pairs = list(zip(expected, found, strict=True))
    told = [abs(one - other) > _FLOAT32_STEP * max(abs(one), abs(other)) for one, other in pairs]
    if any(told):
        pairs = [(one, other if differ else one) for (one, other), differ in zip(pairs, told, strict=True)]
    return (
        ", ".join(in_digits(one, other, digits=digits) for one, other in pairs),
        ", ".join(in_digits(other, one, digits=digits) for one, other in pairs),
    )


def shorten(text: str, limit: int = _MAX_QUOTED_LENGTH) -> str:
    """Return text cut in the middle to at most ``limit`` characters; to be used before text is quoted."""
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head]}…{text[len(text) - (limit - 1 - head) :]}"


class PhaseError(Exception):
    """Raised if a phase or another input of the organiser is invalid; lists every problem."""

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))

    @classmethod
    def raise_all(cls, problems: Collection[str]) -> None:
        """Raise one error with all problems, each once, if there are any."""
        if problems:
            raise cls(*dict.fromkeys(problems))


# --- The known name closest to a misspelt one ---

_ALIKE = 0.75
# Comparing takes microseconds per name and grows with the length of both.
_MAX_COMPARED = 1000
_MAX_LENGTH = 100


def most_similar(wanted: str, names: Iterable[str]) -> str | None:
    """Return the name most similar to the wanted one, ignoring case; None if none is similar.

    Only the first 1000 names in alphabetical order are compared, and none with a text of more than 100
    characters.
    """
    if len(wanted) > _MAX_LENGTH:
        return None
    from difflib import get_close_matches

    by_key = {name.casefold(): name for name in sorted(set(names))[:_MAX_COMPARED]}
    found = get_close_matches(wanted.casefold(), by_key, n=1, cutoff=_ALIKE)
    return by_key[found[0]] if found else None


def name_meant(text: object, names: Sequence[str]) -> str | None:
    """Return the one of some names that a text is in any letter case, None if it is none."""
    if not isinstance(text, str) or text in names:
        return text if isinstance(text, str) else None
    key = text.casefold()
    same = [name for name in names if name.casefold() == key]
    return same[0] if len(same) == 1 else None


@lru_cache(maxsize=1024)
def hint_of_name(text: str, names: tuple[str, ...]) -> str | None:
    """Return which of some names a text that is none was probably meant to be."""
    similar = most_similar(text.removesuffix(".0"), names)
    return None if similar is None else f"did you mean {similar!r}?"
