"""Studentised bootstrap intervals of means over cases."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.intervals import Interval
from evaluation.metrics.quantiles import quantiles

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


class StudentisedMeans:
    """Studentised bootstrap intervals ("bootstrap-t") of several means of the same cases.

    values: shape (means, cases), finite. unit_of_case: shape (cases,), the unit that every case belongs to,
    numbered from 0. The standard error is that of a ratio estimator over units. Needs two units.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 12.5.
    """

    def __init__(self, values: ArrayLike, unit_of_case: NDArray[np.intp]) -> None:
        columns = np.asarray(values, dtype=np.float64)
        units = int(unit_of_case.max()) + 1
        self._means = columns.mean(axis=1)
        self._sample = _by_unit(columns - self._means[:, np.newaxis], unit_of_case, units)
        self._error = self._sample.studentised(np.ones((1, units)))[1][0]

    def ratios(self, weights: Iterable[NDArray[np.number]]) -> FloatArray:
        """Return the means' differences to the whole sample by their standard errors, shape (rows, means).

        weights: blocks of bootstrap weights of the units, shape (rows, units). A resample of equal values
        takes the standard error of the sample.
        """
        ratios = []
        for block in weights:
            moved, error = self._sample.studentised(block.astype(np.float64))
            error = np.where(error > 0, error, self._error)
            ratios.append(np.divide(moved, error, out=np.zeros_like(moved), where=error > 0))
        return np.concatenate(ratios)

    def intervals(
        self, ratios: FloatArray, bounds: tuple[ArrayLike, ArrayLike], level: float = 0.95
    ) -> list[Interval]:
        """Return the interval of each mean.

        ratios: of all resamples. bounds: the lowest and the highest value of each mean, where intervals are
        cut off.
        """
        lower, upper = quantiles(ratios, ((1 + level) / 2, (1 - level) / 2))
        ends = [self._means - lower * self._error, self._means - upper * self._error]
        return [Interval(*end) for end in np.clip(ends, bounds[0], bounds[1]).T.tolist()]


def _by_unit(centred: FloatArray, unit_of_case: NDArray[np.intp], units: int) -> _UnitSums:
    if units == unit_of_case.size:
        order = np.argsort(unit_of_case)
        return _UnitSums(centred[:, order], np.ones(units))
    sums = np.zeros((units, len(centred)))
    np.add.at(sums, unit_of_case, centred.T)
    return _UnitSums(sums.T, np.bincount(unit_of_case, minlength=units).astype(np.float64))
