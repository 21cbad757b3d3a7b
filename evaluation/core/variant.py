"""Predictions that are derived from a reference, to rehearse a phase with."""

from __future__ import annotations

from enum import StrEnum


class Variant(StrEnum):
    """How a prediction differs from the reference that it is derived from.

    Perfect: in nothing. Near-perfect: as little as its kind allows, and at most so much that it is still far
    better than inverted. Empty: it finds nothing, whatever the reference holds. Inverted: wrong everywhere.
    """

    PERFECT = "perfect"
    NEAR = "near-perfect"
    EMPTY = "empty"
    INVERTED = "inverted"
