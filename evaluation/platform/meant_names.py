"""The case that a file of another name is probably meant for."""

import re
from collections.abc import Iterator, Sequence

from evaluation.core.form import name_key

_PARTS = re.compile(r"[^\W\d_]+|\d+")
_CHANNEL = re.compile(r"_\d{4}$")
"""The number that nnU-Net puts at the end of an image's name."""

_MOST_PARTS = 12
_MOST_CASES = 20_000

_Parts = tuple[str, ...]


class MeantNames:
    """Finds the one case whose name is in a file's, or the other way round.

    So `CT_001_0000` as nnU-Net names its images, `001_pred` and `1` are meant for `001`. Names are compared
    part by part, words and numbers; leading zeros do not count. A name in which several cases could be meant
    is meant for none.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._cases: dict[_Parts, str | None] = {}
        self._within: dict[_Parts, str | None] = {}
        for name in names if len(names) <= _MOST_CASES else ():
            parts = _parts_of(name)
            self._cases[parts] = None if parts in self._cases else name
            for inner in _inner(parts):
                self._within[inner] = None if inner in self._within else name

    def case_of(self, stem: str) -> str | None:
        """Return the name of the case, None if it is not clear."""
        found = (self._of_parts(_parts_of(text)) for text in (_CHANNEL.sub("", stem), stem))
        return next(filter(None, found), None)

    def _of_parts(self, parts: _Parts) -> str | None:
        for names in (self._cases, self._within):
            found = {inner: names[inner] for inner in _inner(parts) if inner in names}
            if names is self._within:
                found = {inner: name for inner, name in found.items() if any(map(str.isdecimal, inner))}
            # The longest: of the cases 1 and CT_1, the second one is meant by CT_1_pred.
            longest = max(map(len, found), default=0)
            of_longest = {name for inner, name in found.items() if len(inner) == longest}
            if len(of_longest) == 1:
                return of_longest.pop()
        return None


def _parts_of(name: str) -> _Parts:
    parts = _PARTS.findall(name_key(name))[:_MOST_PARTS]
    return tuple(part.lstrip("0") or "0" if part.isdecimal() else part for part in parts)


def _inner(parts: _Parts) -> Iterator[_Parts]:
    """Yield every run of parts, once each."""
    runs = (parts[first:last] for first in range(len(parts)) for last in range(first + 1, len(parts) + 1))
    yield from dict.fromkeys(runs)
