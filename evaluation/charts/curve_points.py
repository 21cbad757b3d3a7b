"""Points and bootstrap bands of ROC and precision–recall curves, few enough for a figure."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evaluation.charts.precision_recall import PrecisionBand, PrecisionRecallCurve
from evaluation.charts.roc import Band, Curve, OperatingPoint
from evaluation.metrics.probabilities import found_at_thresholds
from evaluation.metrics.roc import RocTable, roc_points, sensitivity_at_specificity, weighted_counts

Floats = NDArray[np.float64]

_STEPS = 250
"""Most distinct positions of a curve along each axis, approximately."""
_GRID = 50
_LEVEL = (0.025, 0.975)


def roc_curve(name: str, table: RocTable) -> Curve:
    """Return the curve of all cases, thinned to the resolution of a figure."""
    points = roc_points(table, np.ones(table.score.size))
    shown = thinned(points.false_positive_rate, points.sensitivity)
    return Curve(name, points.false_positive_rate[shown], points.sensitivity[shown])


def roc_band(table: RocTable, weights: Iterable[Floats]) -> Band:
    """Return the 95 % percentiles of the sensitivity at 51 false-positive rates.

    ``weights`` are blocks of case weights, shape (rows, cases).
    """
    rates = [Fraction(step, _GRID) for step in range(_GRID + 1)]
    rows = []
    for block in weights:
        counts = weighted_counts(table, block)
        rows.append(np.column_stack([sensitivity_at_specificity(table, counts, 1 - rate) for rate in rates]))
    lower, upper = np.nanquantile(np.vstack(rows), _LEVEL, axis=0)
    return Band(np.array([float(rate) for rate in rates]), lower, upper)


def point_on_curve(name: str, table: RocTable, sensitivity: float) -> OperatingPoint:
    """Return the point of the curve that reaches a sensitivity with the fewest false positives."""
    points = roc_points(table, np.ones(table.score.size))
    reaching = np.flatnonzero(points.sensitivity >= sensitivity - 1e-9)
    at = int(reaching[0]) if reaching.size else len(points.sensitivity) - 1
    return OperatingPoint(name, float(points.false_positive_rate[at]), float(points.sensitivity[at]))


def point_at_threshold(name: str, table: RocTable, threshold: float) -> OperatingPoint:
    """Return the point with scores of at least a threshold called positive."""
    called = table.score >= threshold
    negative = ~table.positive
    return OperatingPoint(name, float(called[negative].mean()), float(called[table.positive].mean()))


def precision_recall_curve(name: str, table: RocTable) -> PrecisionRecallCurve:
    """Return the curve of all cases by ascending recall, thinned to the resolution of a figure."""
    recall, precision = recall_and_precision(table, np.ones((1, table.score.size)))
    shown = thinned(recall[0], precision[0])
    return PrecisionRecallCurve(name, recall[0][shown], precision[0][shown])


def precision_band(name: str, curves: Iterable[tuple[Floats, Floats]]) -> PrecisionBand:
    """Return the 95 % percentiles of the precision at 50 recalls, where each is first reached.

    ``curves`` are blocks of recall and precision under case weights, both of shape (rows, thresholds), recall
    ascending.
    """
    recalls = np.arange(1, _GRID + 1) / _GRID
    rows = []
    for recall, precision in curves:
        at_recalls = np.full((len(recall), recalls.size), np.nan)
        for row, (found, made) in enumerate(zip(recall, precision, strict=True)):
            position = np.searchsorted(found, recalls - 1e-9)
            reached = position < found.size
            at_recalls[row, reached] = made[position[reached]]
        rows.append(at_recalls)
    values = np.vstack(rows)
    known = ~np.isnan(values).all(axis=0)
    lower, upper = np.nanquantile(values[:, known], _LEVEL, axis=0)
    return PrecisionBand(name, recalls[known], lower, upper)


def thinned(x: Floats, y: Floats, steps: int = _STEPS) -> NDArray[np.intp]:
    """Return the positions of the points to draw: the ends, and where the curve turns."""
    if x.size < 3:
        return np.arange(x.size)
    cell = np.column_stack((np.round(x * steps), np.round(y * steps)))
    moved = np.ones(x.size, dtype=np.bool_)
    moved[1:] = (np.diff(cell, axis=0) != 0).any(axis=1)
    moved[-1] = True
    kept = np.flatnonzero(moved)
    # inner points on a straight line are dropped
    dx, dy = np.diff(x[kept]), np.diff(y[kept])
    turns = np.ones(kept.size, dtype=np.bool_)
    turns[1:-1] = np.abs(dx[:-1] * dy[1:] - dx[1:] * dy[:-1]) > 1e-15
    return kept[turns]


def recall_and_precision(table: RocTable, weights: Floats) -> tuple[Floats, Floats]:
    """Return recall and precision at each distinct score, descending; both of shape (rows, scores)."""
    right, made = found_at_thresholds(table, weights)
    positives = weights[:, table.positive].sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return right / positives, np.where(made > 0, right / made, np.nan)
