"""The known name closest to a misspelt one."""

from __future__ import annotations

from collections.abc import Iterable

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
