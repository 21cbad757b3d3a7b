"""Calibration errors that there are by chance, where all probabilities are right."""

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.numbers import Floats


def expected_calibration_errors_when_right(
    probability: ArrayLike, bins: int, sets: int, seed: int, units: ArrayLike | None = None
) -> Floats:
    """Return `calibration_error` for labels that are drawn with the probabilities, shape (sets,).

    probability: shape (cases,), or (cases, classes) of classes of which one is drawn, for the mean of their
    errors; a row with NaN counts 1. units: shape (cases,), cases of one unit are drawn by the same random
    number. NaN without a case.
    """
    given = np.asarray(probability, dtype=np.float64)
    predicted: Floats = np.atleast_2d(given.T).T
    kept = ~np.isnan(predicted).any(axis=1)
    answered = predicted[kept]
    unit_of_case = np.arange(kept.sum())
    if units is not None:
        unit_of_case = np.unique(np.asarray(units)[kept], return_inverse=True)[1].reshape(-1)
    classes, missing = answered.shape[1], len(given) - len(answered)
    generator = np.random.Generator(np.random.PCG64(seed))
    of_bin = np.minimum((answered * bins).astype(np.int64), bins - 1) + bins * np.arange(classes)
    wanted = np.bincount(of_bin.ravel(), answered.ravel(), bins * classes)
    if not len(given):
        return np.full(sets, np.nan)
    ends = answered.cumsum(axis=1)
    starts = ends - answered
    found = np.empty(sets)
    for row in range(sets):
        place = generator.random((int(unit_of_case.max(initial=-1)) + 1, 1))[unit_of_case]
        drawn = (place >= starts) & (place < ends)
        distance = np.abs(np.bincount(of_bin.ravel(), drawn.ravel(), bins * classes) - wanted).sum()
        found[row] = (distance / classes + missing) / len(given)
    return found
