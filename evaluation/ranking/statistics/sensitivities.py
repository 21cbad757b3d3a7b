"""Sensitivities of two teams at a specificity, with their results exchanged in many ways."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
Ranks = NDArray[np.int32]
_NEVER = -1  # below the rank of every score and of every threshold


class ExchangedSensitivities:
    """The scores of several teams by class, ready for exchanges between any two of them.

    scores: shape (teams, cases), comparable between teams; −inf for a missing positive, +inf for a missing
    negative. positive: shape (cases,). target: the least specificity. The sensitivity is defined as in
    `evaluation.metrics.roc.sensitivity_at_specificity`, with every case once: a positive is detected where at
    least ⌈target · negatives⌉ negatives score less. Raises ValueError where a class has no case.
    """

    def __init__(self, scores: ArrayLike, positive: ArrayLike, target: Fraction) -> None:
        given, is_positive = np.asarray(scores, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
        self._positives, self._negatives = np.flatnonzero(is_positive), np.flatnonzero(~is_positive)
        if not (self._positives.size and self._negatives.size):
            raise ValueError("expected positives and negatives")
        # Ranks over the scores of all teams: half as much to read, and exchanged by bits.
        distinct = np.unique(given)
        ranks = np.searchsorted(distinct, given).astype(np.int32)
        ranks[np.isneginf(given) & is_positive] = _NEVER
        self._of_positives, self._of_negatives = ranks[:, self._positives], ranks[:, self._negatives]
        self._below = math.ceil(target * self._negatives.size)

    def between(
        self, first: int, second: int
    ) -> Callable[[NDArray[np.bool_]], tuple[FloatArray, FloatArray]]:
        """Return the function of exchanges between two teams, given by their positions.

        It takes an array of shape (rows, cases), true where the teams' scores are exchanged, and returns
        both sensitivities after the exchange, each of shape (rows,).
        """

        def sensitivities(exchanged: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
            positives = _exchanged(self._of_positives, first, second, exchanged[:, self._positives])
            negatives = _exchanged(
                self._of_negatives, first, second, np.take(exchanged, self._negatives, axis=1)
            )
            of_first, of_second = (
                np.count_nonzero(of_team > self._thresholds(against), axis=1) / self._positives.size
                for of_team, against in zip(positives, negatives, strict=True)
            )
            return of_first, of_second

        return sensitivities

    def _thresholds(self, negatives: Ranks) -> Ranks:
        """Return each row's threshold, which a detected positive exceeds, shape (rows, 1)."""
        if self._below == 0:
            return np.full((len(negatives), 1), _NEVER, dtype=np.int32)
        last = self._below - 1
        negatives.partition(last, axis=1)
        return negatives[:, last : last + 1]


def _exchanged(ranks: Ranks, first: int, second: int, exchanged: NDArray[np.bool_]) -> tuple[Ranks, Ranks]:
    """Return both teams' ranks after exchanges, each of shape (rows, cases)."""
    differing = ranks[first] ^ ranks[second]
    # All bits are set where the case is exchanged: a choice by a random mask would be ten times as slow.
    of_first = -exchanged.astype(np.int32)
    of_first &= differing
    of_first ^= ranks[first]
    return of_first, of_first ^ differing
