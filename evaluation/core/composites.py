"""The intervals of composites, from the figures of their metrics and resamples that draw these together."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Composite
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling, by_task, joint_draws, resampled
from evaluation.metrics.arrays import Floats
from evaluation.stats.figure import Figure, Interval
from evaluation.stats.intervals import steady
from evaluation.stats.unseen import joint_distance

_STEP = 1e-6
_FEWEST_ROWS = 2


def composite_figures(
    composite: Composite,
    metrics: Mapping[str, Metric],
    tables: Sequence[Mapping[str, CaseTable]],
    figures: Sequence[Mapping[str, Figure]],
    resampling: Resampling,
) -> tuple[Figure, ...]:
    """Return a composite with its interval for one or more results on the same cases.

    metrics: by "task.metric". tables: of each result, by task. figures: of each result, by metric; those of
    the composite all exist. The same resamples of the cases of all its tasks give the covariances of the
    metrics, and the distances of their bounds and their standard errors count with the derivatives of the
    composite, see `joint_distance`. Without an interval of one metric there is none.
    """
    parts = {name: metrics[name] for name in composite.metrics}
    draws = joint_draws(parts, tables[0], resampling)
    values = {name: np.empty((0, len(tables))) for name in parts}
    if not draws.missing:
        values = resampled(parts, {task: [of[task] for of in tables] for task in by_task(parts)}, draws)
    return tuple(
        _figure(composite, {name: of[name] for name in parts}, [values[name][:, place] for name in parts])
        for place, of in enumerate(figures)
    )


def _figure(composite: Composite, parts: Mapping[str, Figure], drawn: Sequence[Floats]) -> Figure:
    """Return the figure of one result; ``drawn``: of each part, the values in the same resamples."""
    values = np.array([part.value for part in parts.values()])
    value = float(composite.combine(*values))
    if lacking := [name for name, part in parts.items() if part.interval is None]:
        return Figure(value, reason=f"no interval of {lacking[0]}")
    rows = np.stack(drawn)
    rows = rows[:, np.isfinite(rows).all(axis=0)]
    if rows.shape[1] < _FEWEST_ROWS:
        return Figure(value, reason="its metrics do not exist in the same resamples")
    steps = _STEP * np.eye(values.size)
    slopes = np.array(
        [composite.combine(*(values + one)) - composite.combine(*(values - one)) for one in steps]
    ) / (2 * _STEP)
    covariance = np.atleast_2d(np.cov(rows)) * np.outer(slopes, slopes)
    errors = np.sqrt(np.diag(covariance))
    error = math.sqrt(max(0.0, float(covariance.sum())))
    low, high = sorted((composite.best, composite.worst))

    def around(given: Sequence[Figure | None]) -> Figure:
        ends = np.array(
            [(one.lower, one.upper) if one else (None, None) for one in given], dtype=np.float64
        ).T
        if np.isnan(ends).any():
            return Figure(value, reason="no such interval of one of its metrics")
        reach = [
            np.abs(slopes * (values - np.where(slopes > 0, ends[side], ends[1 - side]))) for side in (0, 1)
        ]
        down, up = joint_distance(error, reach, [errors, errors]).tolist()
        return Figure.of(value, steady(Interval(value - down, value + up), value, (low, high)), "MOVER")

    unseen = around([part.with_unseen_failures for part in parts.values()])
    return replace(around(list(parts.values())), with_unseen_failures=unseen)
