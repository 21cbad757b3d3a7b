"""Numbers as participants may write them."""

from __future__ import annotations

import math
import re

from evaluation.core.fault import FaultKind, ReadError

DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 100


def parse_number(text: str) -> float:
    """Return a finite decimal number, for example ``-0.5``, ``.5``, ``3.`` or ``1e-7``.

    Spaces around it are allowed; everything else that Python would take (``nan``, ``1_000``, other
    scripts' digits) is not, nor is a number beyond the range of a float or of more than 100 characters.

    Raises `ReadError` (malformed).
    """
    stripped = text.strip(" \t")
    if len(stripped) <= _LONGEST_NUMBER and DECIMAL.fullmatch(stripped):
        value = float(stripped)
        if math.isfinite(value):
            return value
    raise ReadError(FaultKind.MALFORMED, "a finite number", f'"{text}"' if stripped else "nothing")


def is_number(text: str) -> bool:
    """Return whether `parse_number` accepts the text."""
    try:
        parse_number(text)
    except ReadError:
        return False
    return True
