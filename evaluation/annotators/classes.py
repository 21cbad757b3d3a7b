"""Combine classes by their votes, and the probabilities of classes by their mean."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence


def most_frequent_class(classes: Sequence[float], tie_is_foreground: bool = False) -> float:
    """Return the position of the most frequent class; NaN (excluded) only if it is more frequent.

    Of equally frequent classes the first in their order, with ``tie_is_foreground`` the last. Raises
    `ValueError` without any class.
    """
    if not classes:
        raise ValueError("classes: expected at least one, found none")
    votes = Counter(position for position in classes if not math.isnan(position))
    most = max(votes.values(), default=0)
    if len(classes) - votes.total() > most:
        return math.nan
    choose = max if tie_is_foreground else min
    return choose(position for position, number in votes.items() if number == most)


def mean_probabilities(given: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Return the mean of the probabilities of each class; the order of ``given`` does not matter.

    given: at least one sequence, with a number from 0 to 1 for each class. The sum of the means is the mean
    of the sums, up to rounding.
    """
    return tuple(min(1.0, math.fsum(of_class) / len(given)) for of_class in zip(*given, strict=True))
