"""DeLong's test of two areas under the ROC curve on the same cases."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.delong import Components, area_variance
from evaluation.ranking.methods.tied_ranks import mid_ranks
from evaluation.ranking.statistics.pairwise import PairTest, z_test

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class DelongTable:
    """AUC of every team, shape (teams,), and the variance of every difference, shape (teams, teams)."""

    auc: FloatArray
    difference_variance: FloatArray

    def test(self, first: int, second: int) -> PairTest:
        """Return the two-sided test of two teams' areas, see `z_test`."""
        difference = float(self.auc[first] - self.auc[second])
        return z_test("DeLong", difference, float(np.sqrt(self.difference_variance[first, second])))


def clustered_test(first: Components, second: Components) -> PairTest:
    """Return the two-sided test of two teams' areas where cases belong together, see `z_test`.

    Source: Obuchowski 1997, Biometrics 53:567; the variance is computed as in `metrics.delong`.
    """
    difference = first.minus(second)
    area = float(difference.won.sum()) / (2 * difference.won.size * difference.lost.size)
    return z_test("DeLong, clustered", area, math.sqrt(area_variance(difference).variance))


def delong_table(score: ArrayLike, positive: ArrayLike) -> DelongTable:
    """Return areas and the variances of their differences for all pairs of teams.

    score: finite, shape (teams, cases). positive: shape (cases,), at least two cases of each class.
    Counts are whole numbers, so that a variance of zero is found exactly.
    Raises ValueError for other shapes, scores that are not finite, and fewer cases.
    Source: DeLong et al. 1988, Biometrics 44:837; by mid-ranks, Sun and Xu 2014, IEEE SPL 21:1389.
    """
    scores, is_positive = np.asarray(score, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
    if scores.ndim != 2 or scores.shape[1:] != is_positive.shape:
        raise ValueError(
            "score and positive: expected shapes (teams, cases) and (cases,), "
            f"found {scores.shape} and {is_positive.shape}"
        )
    positives, negatives = int(is_positive.sum()), int((~is_positive).sum())
    if not np.isfinite(scores).all() or min(positives, negatives) < 2:
        raise ValueError("expected finite scores and at least two cases of each class")
    ranks = mid_ranks(scores)
    won_by_positive = _twice_won(ranks, scores, is_positive)
    lost_by_negative = 2 * positives - _twice_won(ranks, scores, ~is_positive)
    return DelongTable(
        auc=won_by_positive.sum(axis=1) / (2 * positives * negatives),
        difference_variance=(
            _difference_variance(won_by_positive) / (positives * (2 * negatives) ** 2)
            + _difference_variance(lost_by_negative) / (negatives * (2 * positives) ** 2)
        ),
    )


def _twice_won(ranks: FloatArray, scores: FloatArray, chosen: NDArray[np.bool_]) -> FloatArray:
    """Return twice the number of cases of the other class below each chosen case's score, ties ½."""
    return np.asarray(2 * (ranks[:, chosen] - mid_ranks(scores[:, chosen])), dtype=np.float64)


def _difference_variance(counts: FloatArray) -> FloatArray:
    """Return the variance (ddof = 1) over cases of the difference of two teams' counts, for all pairs."""
    cases = counts.shape[1]
    total = counts.sum(axis=1)
    products = cases * (counts @ counts.T) - np.outer(total, total)
    own = np.diag(products)
    return np.asarray((own[:, np.newaxis] + own - 2 * products) / (cases * (cases - 1)))
