"""What all tests between two teams return, and the smallest difference that they could have found."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

_LEVEL, _POWER = 0.05, 0.80
_QUANTILES = NormalDist().inv_cdf(1 - _LEVEL / 2) + NormalDist().inv_cdf(_POWER)


@dataclass(frozen=True, slots=True)
class PairTest:
    """A two-sided test of one pair of teams.

    ``p_value`` is None where the test cannot be computed, and ``note`` then says why. ``standard_error`` is
    that of the difference of the two metrics, paired; None where there is none.
    """

    method: str
    p_value: float | None
    standard_error: float | None
    note: str | None = None


def detectable_difference(standard_error: float) -> float:
    """Return the true difference that a two-sided test at 5 % finds with 80 % power, in the metric's unit.

    By the normal approximation: (z₀.₉₇₅ + z₀.₈) · standard error = 2.80 · standard error of the difference.
    """
    return _QUANTILES * standard_error
