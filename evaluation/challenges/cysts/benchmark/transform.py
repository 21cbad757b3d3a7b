"""Map ordinal confidences to an interval scale, with one subjectivity for all (Eq. 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES
from evaluation.core.fault import PhaseError

LOWEST, HIGHEST = 0.01, 1.0
"""The range of the value of a marked voxel."""

_MIN_CYSTS = 2


@dataclass(frozen=True, slots=True)
class Moments:
    """Number, mean and population variance of distinctions; mean and variance are NaN without any."""

    count: int
    mean: float
    variance: float


@dataclass(frozen=True, slots=True)
class Transform:
    """The linear map a·D + b of distinctions."""

    a: float
    b: float

    def of(self, distinction: float) -> float:
        """Return a·D + b, which may lie outside [0, 1]; NaN of NaN."""
        return self.a * distinction + self.b

    def __call__(self, distinction: float) -> float:
        """Return a·D + b, clipped to [0.01, 1]."""
        return min(HIGHEST, max(LOWEST, self.of(distinction)))


@dataclass(frozen=True)
class Supervisor:
    """The supervisor's distinctions by confidence, and the value of each confidence.

    ``pooled_with``: for a confidence with fewer than two cysts, the confidences pooled with it.
    """

    moments: Mapping[int, Moments]
    levels: Mapping[int, float]
    pooled_with: Mapping[int, int]

    @property
    def tied(self) -> tuple[tuple[int, ...], ...]:
        """The confidences that have one value, group by group, lowest first."""
        groups: dict[float, list[int]] = {}
        for confidence, value in self.levels.items():
            groups.setdefault(value, []).append(confidence)
        return tuple(tuple(group) for group in groups.values() if len(group) > 1)


def moments_of(distinctions: ArrayLike) -> Moments:
    """Return the moments of distinctions of both runs together; NaN (an empty ring) is left out."""
    values = np.asarray(distinctions, dtype=np.float64)
    values = np.sort(values[~np.isnan(values)])
    if not len(values):
        return Moments(0, math.nan, math.nan)
    # The rounded mean of equal numbers can differ from them, but their variance must be 0.
    if values[0] == values[-1]:
        return Moments(len(values), float(values[0]), 0.0)
    return Moments(len(values), float(values.mean()), float(values.var()))


def fit(annotator: Moments, supervisor: Moments) -> Transform:
    """Return the map that gives an annotator's distinctions the supervisor's mean and variance (Eq. 2).

    a = √(σ²_S / σ²_R), b = μ_S − a·μ_R. a is 1 where σ_R is 0 or the annotator has fewer than two cysts.
    Without any cyst the map is the identity.
    """
    if annotator.count == 0:
        return Transform(1.0, 0.0)
    a = 1.0
    if annotator.count >= _MIN_CYSTS and annotator.variance > 0:
        a = math.sqrt(supervisor.variance / annotator.variance)
    return Transform(a, supervisor.mean - a * annotator.mean)


def supervisor_of(distinctions: Mapping[int, Sequence[float]]) -> Supervisor:
    """Return the moments and values of the supervisor's confidences.

    A confidence with fewer than two cysts is pooled with the nearest one that has two (the lower of two
    equally near ones).
    The value of a confidence is its mean distinction, made non-decreasing by isotonic regression
    (weighted by the number of cysts) and clipped to [0.01, 1]. Raises `PhaseError` where no confidence has
    two cysts.
    """
    defined = {c: [value for value in distinctions.get(c, ()) if not math.isnan(value)] for c in CONFIDENCES}
    enough = [c for c in CONFIDENCES if len(defined[c]) >= _MIN_CYSTS]
    if not enough:
        raise PhaseError("the supervisor has no confidence with at least two cysts: nothing can be measured")
    pooled_with = {
        c: min(enough, key=lambda other: (abs(other - c), other)) for c in CONFIDENCES if c not in enough
    }
    moments = {
        c: moments_of(defined[c] + (defined[pooled_with[c]] if c in pooled_with else [])) for c in CONFIDENCES
    }
    means = isotonic([moments[c].mean for c in CONFIDENCES], [moments[c].count for c in CONFIDENCES])
    levels = {c: min(HIGHEST, max(LOWEST, float(value))) for c, value in zip(CONFIDENCES, means, strict=True)}
    return Supervisor(moments, levels, pooled_with)


def isotonic(values: ArrayLike, weights: ArrayLike) -> NDArray[np.float64]:
    """Return the non-decreasing sequence that is nearest to ``values`` in weighted squares."""
    from sklearn.isotonic import IsotonicRegression

    values = np.asarray(values, dtype=np.float64)
    fitted = IsotonicRegression().fit_transform(np.arange(len(values)), values, sample_weight=weights)
    return np.asarray(fitted, dtype=np.float64)
