"""Fisher's randomisation test: had the two teams' results been exchanged case by case at random."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.ranking.statistics.exchanges import PERMUTATIONS, exchanges
from evaluation.ranking.statistics.pairwise import PairTest, sign

FloatArray = NDArray[np.float64]
METHOD = "randomisation"


def randomisation_test(
    difference: Callable[[FloatArray], FloatArray],
    units: ArrayLike,
    seed: int,
    permutations: int = PERMUTATIONS,
    standard_error: float | None = None,
) -> PairTest:
    """Return the two-sided test of the difference of two teams' metrics.

    difference: takes an array of 0 and 1 of shape (rows, cases), 1 where the teams' results for the case are
    exchanged, and returns the differences of the metrics, shape (rows,), to the digits in which they are to
    be compared. units: shape (cases,), the cluster of every case; a cluster is exchanged as a whole. seed:
    of PCG64. With few units all exchanges are made, see `exchanges`, and p is exact. Without a standard error
    of the difference, that of the exchanged differences about zero stands for it.
    Source: Fisher 1935, The Design of Experiments.
    """
    chosen = exchanges(units, seed, permutations)
    observed = float(difference(np.zeros((1, chosen.unit_of_case.size)))[0])
    if np.isnan(observed):
        return PairTest(METHOD, None, None, note="the metric does not exist for both teams")
    reached, squares = 0, 0.0
    for exchanged in chosen.blocks():
        differences = difference(exchanged[:, chosen.unit_of_case].astype(np.float64))
        reached += int((np.abs(differences) >= abs(observed)).sum())
        squares += float(differences @ differences)
    if standard_error is None:
        standard_error = math.sqrt(squares / chosen.rows)
    return PairTest(METHOD, chosen.p_value(reached), standard_error, sign(observed))
