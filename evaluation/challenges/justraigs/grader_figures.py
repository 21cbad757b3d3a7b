"""The figures of graders as rows of a table: sensitivity and specificity with Wilson's intervals."""

from __future__ import annotations

import math

from evaluation.challenges.justraigs.grading import GraderFigures
from evaluation.metrics.intervals import wilson_interval

COLUMNS = (
    "grader",
    "eyes",
    "referable",
    "sensitivity",
    "sensitivity_lower",
    "sensitivity_upper",
    "not_referable",
    "specificity",
    "specificity_lower",
    "specificity_upper",
)


def row_of(figures: GraderFigures) -> tuple[object, ...]:
    """Return the cells of `COLUMNS`; a share of no eyes and its interval are NaN."""
    return (
        figures.grader,
        figures.eyes,
        figures.referable,
        *_share(figures.found, figures.referable),
        figures.not_referable,
        *_share(figures.cleared, figures.not_referable),
    )


def _share(part: int, whole: int) -> tuple[float, float, float]:
    """Return a share and its Wilson interval; NaN where the whole is 0."""
    if not whole:
        return (math.nan,) * 3
    interval = wilson_interval(part, whole)
    return part / whole, interval.lower, interval.upper
