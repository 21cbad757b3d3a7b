"""Fisher's randomisation test: two teams' results are exchanged case by case at random."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.ranking.statistics.exchanges import PERMUTATIONS, Exchanges, exchanges
from evaluation.ranking.statistics.pairwise import PairTest, sign

FloatArray = NDArray[np.float64]
Difference = Callable[[NDArray[np.bool_]], FloatArray]
METHOD = "randomisation"


def randomisation_tests(
    differences: Sequence[Difference],
    units: ArrayLike,
    seed: int,
    permutations: int = PERMUTATIONS,
    standard_errors: Sequence[float | None] | None = None,
) -> list[PairTest]:
    """Return the two-sided tests of differences of two teams' metrics, under the same exchanges for all.

    differences: a function for each pair, from exchanges, shape (rows, cases), true where the teams' results
    are exchanged, to the differences of the metrics, shape (rows,), rounded for comparison. units: shape
    (cases,), the cluster of every case; a cluster is exchanged as a whole. seed: of PCG64. With few units all
    exchanges are made, see `exchanges`, and p is exact. A missing standard error is replaced by the spread of
    the exchanged differences about zero.
    Source: Fisher 1935, The Design of Experiments.
    """
    chosen = exchanges(units, seed, permutations)
    none_exchanged = np.zeros((1, chosen.unit_of_case.size), dtype=np.bool_)
    observed = [float(difference(none_exchanged)[0]) for difference in differences]
    existing = [position for position, value in enumerate(observed) if not np.isnan(value)]
    reached, squares = [0] * len(differences), [0.0] * len(differences)
    for exchanged in chosen.blocks() if existing else ():
        by_case = exchanged[:, chosen.unit_of_case]
        for position in existing:
            values = differences[position](by_case)
            reached[position] += int((np.abs(values) >= abs(observed[position])).sum())
            squares[position] += float(values @ values)
    errors = standard_errors or [None] * len(differences)
    return [_test(chosen, *figures) for figures in zip(observed, reached, squares, errors, strict=True)]


def _test(
    chosen: Exchanges, observed: float, reached: int, squares: float, standard_error: float | None
) -> PairTest:
    if np.isnan(observed):
        return PairTest(METHOD, None, None, note="the metric does not exist for both teams")
    if standard_error is None:
        standard_error = math.sqrt(squares / chosen.rows)
    return PairTest(METHOD, chosen.p_value(reached), standard_error, sign(observed))
