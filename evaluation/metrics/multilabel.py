"""Distances of sets of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence


def label_errors(predicted: Sequence[bool | None], agreed: Sequence[bool | None]) -> tuple[float, ...]:
    """Return for every label 1 that is wrong or missing (None) 1, for a right one 0, NaN where not agreed.

    Both sequences have one entry a label. Raises ValueError where their lengths differ.
    """
    return tuple(
        math.nan if true is None else float(label is not true)
        for label, true in zip(predicted, agreed, strict=True)
    )


def modified_hamming_distance(errors: Sequence[float]) -> float:
    """Return the share of wrong labels among those that the graders agreed on, NaN where there is none.

    errors: as `label_errors` gives them. Source: JustRAIGS challenge design, metrics, P_just.
    """
    counted = [error for error in errors if not math.isnan(error)]
    return sum(counted) / len(counted) if counted else math.nan
