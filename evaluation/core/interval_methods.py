"""Confidence intervals of metrics; `core.interval_choice` says which method each gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.group_intervals import (
    Found,
    MethodInterval,
    Sample,
    Values,
    intervals_of_sample,
    resampled_values,
)
from evaluation.core.interval_choice import default_method
from evaluation.core.metric import IntervalMethod, Metric
from evaluation.core.resampling import Group, Resampling, groups_of
from evaluation.core.side_by_side import side_by_side

_MANY_DRAWS = 3_000_000  # fewer are not worth a second process


@dataclass(frozen=True)
class Intervals:
    """The intervals of metrics by name, one per table, and the reasons why other metrics have none."""

    found: Mapping[str, tuple[MethodInterval, ...]]
    missing: Mapping[str, str]


def intervals(
    metrics: Mapping[str, Metric], tables: Sequence[CaseTable], resampling: Resampling
) -> Intervals:
    """Return the intervals of metrics in one or more tables of the same cases and strata.

    Left out, with the reason: metrics that cannot be resampled (see `groups_of`), and metrics that do not
    exist in every resample of every table.
    """
    return intervals_of([(metrics, tables)], resampling)[0]


def intervals_of(
    parts: Sequence[tuple[Mapping[str, Metric], Sequence[CaseTable]]], resampling: Resampling
) -> list[Intervals]:
    """Return `intervals` of each pair of metrics and tables, computed together."""
    missing: list[dict[str, str]] = []
    samples: list[Sample] = []
    part_of_sample: list[int] = []
    for number, (metrics, tables) in enumerate(parts):
        groups, reasons = groups_of(metrics, tables[0], resampling)
        missing.append(reasons)
        samples += [Sample(group, _methods_of(group, resampling), tables, resampling) for group in groups]
        part_of_sample += [number] * len(groups)
    found: list[Found] = [{} for _ in parts]
    for number, sample, values in zip(part_of_sample, samples, _values_of(samples, resampling), strict=True):
        found[number] |= intervals_of_sample(sample, values)
    return [
        Intervals(
            {name: of_part[name] for name in metrics if name in of_part},
            reasons
            | {
                name: "it does not exist in every resample"
                for name in metrics
                if name not in of_part and name not in reasons
            },
        )
        for (metrics, _), of_part, reasons in zip(parts, found, missing, strict=True)
    ]


def _methods_of(group: Group, resampling: Resampling) -> dict[str, IntervalMethod]:
    return {
        name: resampling.methods.get(name) or default_method(metric, group.units is not None)
        for name, metric in group.metrics.items()
    }


def _values_of(samples: Sequence[Sample], resampling: Resampling) -> list[Values]:
    """Return the values of each sample's metrics in all resamples; a second process computes half of them."""
    rows = range(resampling.resamples)
    if len(rows) < 2 or sum(sample.draws for sample in samples) < _MANY_DRAWS:
        return resampled_values(samples, rows)
    half = len(rows) // 2
    tasks = [partial(resampled_values, samples, part) for part in (rows[:half], rows[half:])]
    first, second = side_by_side(tasks, [1, 1])
    return [
        {name: np.concatenate((of_half, other[name])) for name, of_half in one.items()}
        for one, other in zip(first, second, strict=True)
    ]
