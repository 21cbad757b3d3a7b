"""The ranking scheme of a challenge, and the three schemes of the platform."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, get_args

from evaluation.core.challenge import Challenge, Options
from evaluation.core.scheme import Board, Rank, Scheme

PlatformMethod = Literal["absolute", "mean", "median"]
PLATFORM_METHODS: tuple[PlatformMethod, ...] = get_args(PlatformMethod)


def scheme_of(challenge: Challenge, options: Options) -> Scheme:
    """Return the ranking scheme of a challenge under a phase's options."""
    if challenge.ranking is not None:
        return challenge.ranking(options)
    return platform_scheme("mean", challenge.components)


def platform_scheme(method: PlatformMethod, metrics: Sequence[str]) -> Scheme:
    """Return one of the platform's schemes.

    metrics: the score, then the further ranked columns. "absolute" ranks by the score, "mean" and "median"
    by the mean and median of all ranks. The platform always leaves out submissions that lack one of the
    metrics.
    """
    if method == "absolute":
        # Weight 0: required, but without influence.
        terms = tuple(Rank(metric, Fraction(position == 0)) for position, metric in enumerate(metrics))
        return Scheme((Board("overall", terms),), overall="overall", complete_only=True)
    board = Board("overall", tuple(Rank(metric) for metric in metrics), combination=method)
    return Scheme((board,), overall="overall", complete_only=True)
