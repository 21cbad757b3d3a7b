"""Studentised bootstrap intervals of means over cases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.intervals import Interval

FloatArray = NDArray[np.float64]
_NO_SPREAD = 1e-12


@dataclass(frozen=True)
class _UnitSums:
    """Cases by unit: of each mean's centred values, shape (means, units), and of how many cases there are."""

    sums: FloatArray
    cases: FloatArray

    def studentised(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the means' differences to the whole sample and their standard errors, (rows, means)."""
        units = len(self.cases)
        total = (weights @ self.cases)[:, np.newaxis]
        moved = weights @ self.sums.T / total
        about_sample = weights @ np.square(self.sums).T
        squares = (
            about_sample
            - 2 * moved * (weights @ (self.sums * self.cases).T)
            + moved**2 * (weights @ np.square(self.cases))[:, np.newaxis]
        )
        squares = np.where(squares > _NO_SPREAD * about_sample, squares, 0.0)
        return moved, np.sqrt(squares * units / (units - 1)) / total


def studentised_intervals(
    values: ArrayLike,
    units: ArrayLike | None,
    weights: Iterable[FloatArray],
    bounds: tuple[ArrayLike, ArrayLike],
    level: float = 0.95,
) -> list[Interval]:
    """Return the studentised bootstrap interval ("bootstrap-t") of each of several means of the same cases.

    values: shape (means, cases), finite. units: integers, shape (cases,), the cluster of every case; None
    where cases are independent. weights: blocks of bootstrap weights, shape (rows, cases), equal within a
    unit. bounds: the lowest and the highest value of each
    mean, where intervals are cut off. The standard error is that of a
    ratio estimator over units; a resample of equal values takes that of the sample. Needs two units.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 12.5.
    """
    columns = np.asarray(values, dtype=np.float64)
    unit_of_case = (
        np.arange(columns.shape[1])
        if units is None
        else np.unique(np.asarray(units), return_inverse=True)[1].reshape(-1)
    )
    first_of_unit = np.unique(unit_of_case, return_index=True)[1]
    means = columns.mean(axis=1)
    sample = _by_unit(columns - means[:, np.newaxis], unit_of_case, first_of_unit.size)
    own_error = sample.studentised(np.ones((1, first_of_unit.size)))[1][0]
    ratios = []
    for block in weights:
        moved, error = sample.studentised(block if units is None else block[:, first_of_unit])
        error = np.where(error > 0, error, own_error)
        ratios.append(np.divide(moved, error, out=np.zeros_like(moved), where=error > 0))
    lower, upper = np.quantile(np.concatenate(ratios), ((1 + level) / 2, (1 - level) / 2), axis=0)
    ends = np.clip([means - lower * own_error, means - upper * own_error], bounds[0], bounds[1])
    return [Interval(*end) for end in ends.T.tolist()]


def _by_unit(centred: FloatArray, unit_of_case: NDArray[np.intp], units: int) -> _UnitSums:
    if units == unit_of_case.size:
        order = np.argsort(unit_of_case)
        return _UnitSums(centred[:, order], np.ones(units))
    sums = np.zeros((units, len(centred)))
    np.add.at(sums, unit_of_case, centred.T)
    return _UnitSums(sums.T, np.bincount(unit_of_case, minlength=units).astype(np.float64))
