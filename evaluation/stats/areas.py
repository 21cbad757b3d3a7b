"""Areas under ROC curves: DeLong's variance, also where cases belong together, and intervals."""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from evaluation.stats.figure import LEVEL, Interval
from evaluation.stats.numbers import Floats, Integers, distinct
from evaluation.stats.student import boundary, student_quantile

UNSEEN_UNITS = 2
"""The units of a class that a sample may lack, by search the fewest with which areas hold."""


def area_interval(parts: "Components", level: float = LEVEL) -> Interval:
    """Return the interval of an area: DeLong's standard error on the logit scale, within (0, 1).

    The quantile is Student's with the degrees of freedom of Welch and Satterthwaite, which matters where one
    class has few cases. Where the area is 0 or 1 or its variance 0, that estimate says nothing, and the
    interval is the score interval of Hanley and McNeil's variance, with numbers of units for those of cases.
    Source: Pepe 2003, The Statistical Evaluation of Medical Tests, section 5.2.5 (logit); variance, see
    `area_variance`; Newcombe 2006, Stat. Med. 25:559, method 5 (score interval).
    """
    area, found = parts.area, area_variance(parts)
    if found.variance == 0 or not 0 < area < 1:
        return score_interval(area, *_units_of(parts), level)
    quantile = student_quantile((1 + level) / 2, found.degrees_of_freedom)
    centre = math.log(area / (1 - area))
    half = quantile * math.sqrt(found.variance) / (area * (1 - area))
    return Interval(_logistic(centre - half), _logistic(centre + half))


def area_with_unseen(parts: "Components", level: float = LEVEL) -> Interval:
    """Return `area_interval` with bounds that allow for unseen units.

    Each is at least as far as the area with two more units of the class that has fewer, on the wrong or the
    right side of all others: so rare are such units that a sample may hold none.
    """
    area, spread = parts.area, area_interval(parts, level)
    seen = 1 - UNSEEN_UNITS / (min(_units_of(parts)) + UNSEEN_UNITS)
    return Interval(min(spread.lower, area * seen), max(spread.upper, 1 - (1 - area) * seen))


def _units_of(parts: "Components") -> tuple[int, int]:
    return distinct(parts.positive_units).size, distinct(parts.negative_units).size


def score_interval(area: float, positives: int, negatives: int, level: float = LEVEL) -> Interval:
    """Return the areas θ with |area − θ| ≤ z·SE(θ), by Hanley and McNeil's variance under exponential scores.

    Both class sizes are replaced by their mean in the correlation terms, as Newcombe 2006, Stat. Med. 25:559,
    method 5. Raises ValueError for an area outside [0, 1].
    """
    if not 0 <= area <= 1:
        raise ValueError(f"area: expected a number between 0 and 1, found {area}")
    quantile = NormalDist().inv_cdf((1 + level) / 2)
    typical = (positives + negatives) / 2

    def outside(theta: float) -> bool:
        shared = (1 - theta) / (2 - theta) + theta / (1 + theta)
        variance = theta * (1 - theta) * (1 + (typical - 1) * shared) / (positives * negatives)
        return abs(area - theta) > quantile * math.sqrt(variance)

    return Interval(
        0.0 if area == 0 else boundary(outside, 0.0, area),
        1.0 if area == 1 else boundary(outside, 1.0, area),
    )


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


@dataclass(frozen=True)
class Components:
    """The share of each case in an area, and the unit of each case.

    won: shape (positives,), twice the number of negatives that a positive outscores, ties ½.
    lost: shape (negatives,), twice the number of positives that outscore a negative, ties ½.
    positive_units, negative_units: integers, shape (positives,) and (negatives,); cases of one unit (the eyes
        of a person) belong together.
    Whole numbers, so that equal areas and a variance of zero are found exactly. The difference of two
    classifiers' components gives the difference of their areas.
    """

    won: Floats
    lost: Floats
    positive_units: Integers
    negative_units: Integers

    @property
    def area(self) -> float:
        """The area under the curve."""
        return float(self.won.mean()) / (2 * self.lost.size)

    def minus(self, other: "Components") -> "Components":
        """Return the components of the difference to another classifier on the same cases."""
        won, lost = self.won - other.won, self.lost - other.lost
        return Components(won, lost, self.positive_units, self.negative_units)


@dataclass(frozen=True, slots=True)
class AreaVariance:
    """The variance of an area or of a difference of areas, and its degrees of freedom."""

    variance: float
    degrees_of_freedom: float


def components(score: ArrayLike, positive: ArrayLike, units: ArrayLike | None = None) -> Components:
    """Return the components of a classifier.

    score: shape (cases,), higher = more likely positive; −inf and +inf are allowed. positive: shape (cases,).
    units: integers, shape (cases,); None where cases are independent.
    Raises ValueError for a NaN score and for other shapes.
    """
    scores, is_positive = np.asarray(score, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
    if is_positive.ndim != 1 or scores.shape != is_positive.shape or np.isnan(scores).any():
        raise ValueError(
            "score and positive: expected numbers of the shape (cases,), "
            f"found {scores.shape} and {is_positive.shape}"
        )
    unit_of_case = np.arange(is_positive.size) if units is None else np.asarray(units, dtype=np.int64)
    above, below = scores[is_positive], scores[~is_positive]
    won, lost = _twice_below(above, below), 2.0 * above.size - _twice_below(below, above)
    return Components(won, lost, unit_of_case[is_positive], unit_of_case[~is_positive])


def area_variance(parts: Components) -> AreaVariance:
    """Return the variance of an area, or of a difference, from the components of one classifier.

    Where units are single cases this is DeLong's estimate. Degrees of freedom by Welch and Satterthwaite from
    the numbers of units of the two classes. Needs two units of each class.
    Source: DeLong et al. 1988, Biometrics 44:837; with units, Obuchowski 1997, Biometrics 53:567, Eq. 6–9.
    """
    positives, negatives = parts.won.size, parts.lost.size
    units = int(max(parts.positive_units.max(), parts.negative_units.max())) + 1
    of_positives = _unit_sums(parts.won, parts.positive_units, units)
    of_negatives = _unit_sums(parts.lost, parts.negative_units, units)
    with_positive = distinct(parts.positive_units).size
    with_negative = distinct(parts.negative_units).size
    with_any = distinct(np.concatenate((parts.positive_units, parts.negative_units))).size
    scale = 1 / (2 * positives * negatives) ** 2
    # Products of whole numbers are exact, so that the order of the cases is nowhere in the result.
    first = scale * with_positive / (with_positive - 1) * float(of_positives @ of_positives) / positives**2
    second = scale * with_negative / (with_negative - 1) * float(of_negatives @ of_negatives) / negatives**2
    shared = scale * with_any / (with_any - 1) * float(of_positives @ of_negatives) / positives / negatives
    variance = max(0.0, first + second + 2 * shared)
    spent = first**2 / (with_positive - 1) + second**2 / (with_negative - 1)
    freedom = variance**2 / spent if spent > 0 else 1.0
    return AreaVariance(variance, max(1.0, freedom))


def _twice_below(scores: Floats, others: Floats) -> Floats:
    """Return for each score twice the number of others below it, and once those that are equal."""
    ordered = np.sort(others)
    below, up_to = (np.searchsorted(ordered, scores, side=side) for side in ("left", "right"))
    return np.asarray(below + up_to, dtype=np.float64)


def _unit_sums(counts: Floats, units: Integers, number: int) -> Floats:
    """Return the sums over units of each case's deviation from the mean of all, times the cases: whole."""
    return np.bincount(units, counts * counts.size - counts.sum(), number).astype(np.float64)
