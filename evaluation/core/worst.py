"""The row of a case whose result is missing or failed: worst values, never those of an empty prediction."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isinf, nan

from evaluation.core.case_table import Row
from evaluation.core.metric import Metric

_FARTHEST = {1: -inf, 0: inf}


def worst_row(metrics: Iterable[Metric], known: Row) -> Row:
    """Return the row of a case without a usable result, as far as it follows from the metrics.

    A column whose mean or share a metric is takes the metric's worst value; a likelihood lies below every
    threshold for a positive and above every one for a negative; a decision is the wrong one. ``known`` holds
    the columns that do not follow: the labels, NaN where the case does not enter a metric, and the columns
    of other aggregates. Raises ValueError where neither gives a finite value, as for a distance.
    """
    row: dict[str, object] = {}
    for metric in metrics:
        row |= _worst_columns(metric, known)
    # A row that is known as a whole stays the one that other cases may share.
    return known if row.keys() <= known.keys() else {**row, **known}


def _worst_columns(metric: Metric, known: Row) -> Row:
    aggregate = metric.aggregate
    if column := aggregate.spread_column or aggregate.share_column:
        if column not in known and isinf(metric.worst):
            raise ValueError(f"{metric.name} has no finite worst value: its task must give {column!r}")
        return {column: known.get(column, float(metric.worst))}
    if curve := aggregate.curve:
        label = known[curve.label]
        return {curve.score: _FARTHEST.get(label, nan), curve.label: label}
    if decision := aggregate.decision:
        present = known[decision.present]
        return {decision.predicted: 1 - present, decision.present: present}
    return {}
