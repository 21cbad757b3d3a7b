"""Confidence intervals of proportions, of areas under ROC curves, of bootstraps; sample sizes for them."""

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from evaluation.metrics.arrays import Floats, Integers, distinct, quantiles

__all__ = ["auc_sample_size", "wilson_interval", "wilson_sample_size"]

_BISECTIONS = 60
_NEARLY_NORMAL = 1e6
UNSEEN_UNITS = 2
"""The units of a class that a sample may lack, by search the fewest with which areas hold."""
_NO_VARIANCE = 1e-20  # of a figure between 0 and 1: rounding


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval, in the unit of its metric."""

    lower: float
    upper: float

    @property
    def half_width(self) -> float:
        """Half of the interval's length; the interval need not be symmetric about the value."""
        return (self.upper - self.lower) / 2


def percentile_interval(values: ArrayLike, level: float = 0.95) -> Interval:
    """Percentile interval of bootstrap values: the quantiles (1 ∓ level) / 2, by linear interpolation.

    values: shape (resamples,); NaN where a resample has no value, which is left out. Raises ValueError for no
    value, or a level outside (0, 1).
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3.
    """
    check_level(level)
    column = np.asarray(values, dtype=np.float64)
    column = column[~np.isnan(column)]
    if not column.size:
        raise ValueError("values: expected numbers, found none")
    lower, upper = quantiles(column, ((1 - level) / 2, (1 + level) / 2)).tolist()
    return Interval(lower, upper)


def wilson_interval(successes: float, total: float, level: float = 0.95) -> Interval:
    """Return the Wilson score interval of a proportion.

    Parameters
    ----------
    successes : float
        The number of successes, from 0 to ``total``.
    total : float
        The number of trials, above 0.
    level : float, optional
        The confidence level, in (0, 1).

    Returns
    -------
    Interval
        ``lower`` and ``upper``, in [0, 1].

    Notes
    -----
    There is no interval of zero trials: a ``total`` of 0 is an error. Raises ValueError unless 0 ≤ successes
    ≤ total and total > 0, or for a level outside (0, 1).

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
    American Statistical Association 22:209–212, 1927.

    Examples
    --------
    >>> interval = wilson_interval(8, 10)
    >>> round(interval.lower, 4), round(interval.upper, 4)
    (0.4902, 0.9433)
    """
    check_level(level)
    if not (total > 0 and 0 <= successes <= total):
        raise ValueError(
            f"successes of total: expected 0 ≤ successes ≤ total > 0, found {successes} of {total}"
        )
    return _score_bounds(successes / total, total, NormalDist().inv_cdf((1 + level) / 2))


def _score_bounds(proportion: float, total: float, quantile: float) -> Interval:
    z = quantile
    shrinkage = 1 + z * z / total
    centre = (proportion + z * z / (2 * total)) / shrinkage
    half = z / shrinkage * math.sqrt(proportion * (1 - proportion) / total + (z / (2 * total)) ** 2)
    # With no success or no failure, the bound is exactly 0 or 1; rounding could miss it by one digit.
    lower = 0.0 if proportion == 0 else max(0.0, centre - half)
    upper = 1.0 if proportion == 1 else min(1.0, centre + half)
    return Interval(lower, upper)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence behind a bounded figure, for `effective_interval`.

    value: the figure. bounds: its lowest and its highest value. units: the number of independent units that
    decide, such as those of the rarest class. is_share: whether the figure is a share of so many units, whose
    variance is at least that of their binomial distribution. unseen: values that the
    figure has with a case that the sample may lack.
    """

    value: float
    bounds: tuple[float, float]
    units: int
    is_share: bool = False
    unseen: Sequence[float] = ()


def effective_interval(centre: float, variance: float, evidence: Evidence, level: float = 0.95) -> Interval:
    """Wilson's interval of any bounded figure with a known variance; it contains the value.

    The figure is scaled to [0, 1] and treated as a share of as many cases as give its variance, where the
    variance of a single case is taken at the share shrunk by z²/2 successes and failures (Agresti and Coull
    1998). These are at most the units or, for a figure that is no share, as many as the unshrunk share would
    give: so a variance of 0 leaves an interval. The quantile is Student's with one degree of freedom fewer
    than units.

    centre: about which the interval is taken, for example the mean of bootstrap values; variance: at least 0,
    both in the figure's unit.
    """
    check_level(level)
    low, high = evidence.bounds
    units, width = evidence.units, high - low
    quantile = student_quantile((1 + level) / 2, max(1, units - 1))
    share = min(1.0, max(0.0, (centre - low) / width))
    scaled = variance / width**2
    square = quantile * quantile
    shrunk = (units * share + square / 2) / (units + square)
    effective = float(units)
    if scaled > _NO_VARIANCE:
        most = effective if evidence.is_share else max(effective, share * (1 - share) / scaled)
        effective = min(most, shrunk * (1 - shrunk) / scaled)
    found = _score_bounds(share, effective, quantile)
    lower, upper = (low + width * end for end in (found.lower, found.upper))
    return Interval(max(low, min(lower, evidence.value)), min(high, max(upper, evidence.value)))


def wilson_bootstrap_interval(values: ArrayLike, evidence: Evidence, level: float = 0.95) -> Interval:
    """Return `effective_interval` about the mean of bootstrap values, with their variance.

    It contains the intervals about the values with an unseen case. values: shape (resamples,), within the
    bounds; NaN where a resample has no value, which is left out. With fewer than two values the interval is
    about the figure itself.
    """
    column = np.asarray(values, dtype=np.float64)
    column = column[~np.isnan(column)]
    few, value = column.size < 2, evidence.value
    centre, variance = (value, 0.0) if few else (float(column.mean()), float(column.var(ddof=1)))
    found = effective_interval(centre, variance, evidence, level)
    all_found = [found, *(effective_interval(one, variance, evidence, level) for one in evidence.unseen)]
    return Interval(min(one.lower for one in all_found), max(one.upper for one in all_found))


def check_level(level: float) -> None:
    """Raise ValueError for a confidence level outside (0, 1)."""
    if not 0 < level < 1:
        raise ValueError(f"level: expected a number between 0 and 1, found {level}")


def area_interval(parts: "Components", level: float = 0.95) -> Interval:
    """Return the interval of an area: DeLong's standard error on the logit scale, within (0, 1).

    The quantile is Student's with the degrees of freedom of Welch and Satterthwaite, which matters where one
    class has few cases. Where the area is 0 or 1 or its variance 0, that estimate says nothing, and the
    interval is the score interval of Hanley and McNeil's variance, with numbers of units for those of cases.
    Each bound is at least as far as the area with two more units of the class that has fewer, on the wrong or
    the right side of all others: so rare are such units that a sample may hold none.
    Source: Pepe 2003, The Statistical Evaluation of Medical Tests, section 5.2.5 (logit); variance, see
    `area_variance`; Newcombe 2006, Stat. Med. 25:559, method 5 (score interval).
    """
    area, found = float(parts.area), area_variance(parts)
    positives, negatives = distinct(parts.positive_units).size, distinct(parts.negative_units).size
    if found.variance == 0 or not 0 < area < 1:
        spread = score_interval(area, positives, negatives, level)
    else:
        quantile = student_quantile((1 + level) / 2, found.degrees_of_freedom)
        centre = math.log(area / (1 - area))
        half = quantile * math.sqrt(found.variance) / (area * (1 - area))
        spread = Interval(_logistic(centre - half), _logistic(centre + half))
    seen = 1 - UNSEEN_UNITS / (min(positives, negatives) + UNSEEN_UNITS)
    return Interval(min(spread.lower, area * seen), max(spread.upper, 1 - (1 - area) * seen))


def score_interval(area: float, positives: int, negatives: int, level: float = 0.95) -> Interval:
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
        0.0 if area == 0 else _boundary(outside, 0.0, area),
        1.0 if area == 1 else _boundary(outside, 1.0, area),
    )


@cache
def student_quantile(probability: float, degrees_of_freedom: float) -> float:
    """Return a quantile of Student's t distribution above its median; the normal one for infinite freedom.

    probability: in (½, 1). degrees_of_freedom: at least 1. The distribution function is integrated and
    inverted by bisection, exact to nine digits.
    """
    normal = NormalDist().inv_cdf(probability)
    if degrees_of_freedom > _NEARLY_NORMAL:
        return normal
    nodes, node_weights = _quadrature()
    root = math.sqrt(degrees_of_freedom)
    log_scale = math.lgamma((degrees_of_freedom + 1) / 2) - math.lgamma(degrees_of_freedom / 2)
    scale = math.exp(log_scale) / math.sqrt(math.pi)

    def reaches(angle: float) -> bool:
        # Under t = √ν · tan(angle) the density of t becomes a power of the cosine.
        cosines = np.cos(angle / 2 * (1 + nodes))
        integral = angle / 2 * scale * float(node_weights @ cosines ** (degrees_of_freedom - 1))
        return 0.5 + integral >= probability

    lower = math.atan(normal / root)
    upper = lower
    while not reaches(upper):
        lower, upper = upper, (upper + math.pi / 2) / 2 if degrees_of_freedom < 4 else 1.2 * upper
    return root * math.tan(_boundary(reaches, upper, lower))


@cache
def _quadrature() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return nodes, weights


def _boundary(outside: Callable[[float], bool], out: float, within: float) -> float:
    """Return where a condition that holds at ``out`` and not at ``within`` begins to hold."""
    for _ in range(_BISECTIONS):
        middle = (out + within) / 2
        if outside(middle):
            out = middle
        else:
            within = middle
    return within


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


# --- The variance of areas under ROC curves, also where cases belong together ---


@dataclass(frozen=True)
class Components:
    """The share of each case in an area, and the unit of each case.

    won: shape (…, positives), twice the number of negatives that a positive outscores, ties ½.
    lost: shape (…, negatives), twice the number of positives that outscore a negative, ties ½.
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
    def area(self) -> Floats:
        """The area under the curve, shape (…)."""
        return np.asarray(self.won.mean(axis=-1) / (2 * self.lost.shape[-1]))

    def of(self, classifier: int) -> "Components":
        """Return the components of one of several classifiers."""
        return Components(
            self.won[classifier], self.lost[classifier], self.positive_units, self.negative_units
        )

    def minus(self, other: "Components") -> "Components":
        """Return the components of the difference to another classifier on the same cases."""
        return Components(
            self.won - other.won, self.lost - other.lost, self.positive_units, self.negative_units
        )


@dataclass(frozen=True, slots=True)
class AreaVariance:
    """The variance of an area or of a difference of areas, and its degrees of freedom."""

    variance: float
    degrees_of_freedom: float


def components(score: ArrayLike, positive: ArrayLike, units: ArrayLike | None = None) -> Components:
    """Return the components of one or several classifiers on the same cases.

    score: shape (cases,) or (classifiers, cases), higher = more likely positive; −inf and +inf are allowed.
    positive: shape (cases,). units: integers, shape (cases,); None where cases are independent.
    Raises ValueError for a NaN score and for other shapes.
    """
    scores, is_positive = np.asarray(score, dtype=np.float64), np.asarray(positive, dtype=np.bool_)
    if is_positive.ndim != 1 or scores.shape[-1:] != is_positive.shape or np.isnan(scores).any():
        raise ValueError(
            "score and positive: expected numbers of shapes (…, cases) and (cases,), "
            f"found {scores.shape} and {is_positive.shape}"
        )
    unit_of_case = np.arange(is_positive.size) if units is None else np.asarray(units, dtype=np.int64)
    rows = scores.reshape(-1, is_positive.size)
    above, below = rows[:, is_positive], rows[:, ~is_positive]
    won = [_twice_below(one, other) for one, other in zip(above, below, strict=True)]
    lost = [2.0 * one.size - _twice_below(other, one) for one, other in zip(above, below, strict=True)]
    shape = scores.shape[:-1]
    return Components(
        np.reshape(won, (*shape, above.shape[1])),
        np.reshape(lost, (*shape, below.shape[1])),
        unit_of_case[is_positive],
        unit_of_case[~is_positive],
    )


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


# --- How many cases an interval of a wanted half-width needs, and the half-width that cases give ---

_MOST_CASES = 1 << 50


def wilson_sample_size(proportion: float, half_width: float, level: float = 0.95) -> int:
    """Return the fewest cases for which Wilson's interval of a proportion has at most a half-width.

    References: as for `wilson_interval`.

    Parameters
    ----------
    proportion : float
        The expected proportion, such as a sensitivity, in [0, 1].
    half_width : float
        Half of the interval's length, in (0, 0.5).
    level : float, optional
        The confidence level, in (0, 1).

    Returns
    -------
    int
        The number of cases, at least 1: of positive ones for a sensitivity, of negative ones for a
        specificity.

    Notes
    -----
    The interval is computed for the expected number of successes, which need not be whole. Its half-width
    falls with each further case, so that any larger number of cases serves too. Cases are independent: with
    two eyes of each person, for example, more are needed. Raises ValueError for an argument out of its range,
    and where more than 2⁵⁰ cases are needed.

    Examples
    --------
    >>> wilson_sample_size(0.8, 0.02)
    1535
    """
    _check_share("proportion", proportion)
    return _fewest(lambda cases: wilson_of(proportion, cases, level).half_width, half_width)


def auc_sample_size(auc: float, half_width: float, prevalence: float | Fraction, level: float = 0.95) -> int:
    """Return the fewest cases for which the interval of an area under the ROC curve has a half-width.

    Raises ValueError as `wilson_sample_size`.

    Parameters
    ----------
    auc : float
        The expected area, in [0, 1].
    prevalence : float or Fraction
        The share of positive cases in the set, in (0, 1).
    half_width, level
        See `wilson_sample_size`.

    Returns
    -------
    int
        The number of cases of both classes, at least 2. The positive ones are their share, rounded.

    Notes
    -----
    The interval is the score interval of Hanley and McNeil's variance. A submission is scored with DeLong's
    variance, which its scores decide; before there are any, this one only needs the area.

    References
    ----------
    J. A. Hanley and B. J. McNeil, "The meaning and use of the area under a receiver operating characteristic
    (ROC) curve", Radiology 143:29–36, 1982. R. G. Newcombe, "Confidence intervals for an effect size measure
    based on the Mann–Whitney statistic. Part 2", Statistics in Medicine 25:559–573, 2006, method 5.

    Examples
    --------
    >>> auc_sample_size(0.9, 0.05, prevalence=0.5)
    165
    """
    _check_share("auc", auc)
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence: expected a number between 0 and 1, found {prevalence}")

    def half_width_of(cases: int) -> float:
        return area_of(auc, *class_sizes(cases, prevalence), level).half_width

    return _fewest(half_width_of, half_width)


def wilson_of(proportion: float, cases: int, level: float = 0.95) -> Interval:
    """Return Wilson's interval of the expected number of successes, see `wilson_interval`."""
    return wilson_interval(proportion * cases, cases, level)


def area_of(auc: float, positives: int, negatives: int, level: float = 0.95) -> Interval:
    """Return the score interval of an area; that without a case of each class is all of [0, 1]."""
    if positives < 1 or negatives < 1:
        return Interval(0.0, 1.0)
    return score_interval(auc, positives, negatives, level)


def class_sizes(cases: int, prevalence: float | Fraction) -> tuple[int, int]:
    """Return the numbers of positive and negative cases: the positive ones are their share, rounded."""
    positives = math.floor(2 * prevalence * cases + 1) // 2
    return positives, cases - positives


def _fewest(half_width_of: Callable[[int], float], wanted: float) -> int:
    """Return the first number of cases at which a falling half-width is at most the wanted one."""
    if not 0 < wanted < 0.5:
        raise ValueError(f"half_width: expected a number between 0 and 0.5, found {wanted}")
    too_few, enough = 0, 1
    while half_width_of(enough) > wanted:
        too_few, enough = enough, 2 * enough
        if enough > _MOST_CASES:
            raise ValueError(f"half_width: {wanted} needs more than 2⁵⁰ cases")
    between = range(too_few + 1, enough)
    return between.start + bisect_left(between, True, key=lambda cases: half_width_of(cases) <= wanted)


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise ValueError(f"{name}: expected a number from 0 to 1, found {value}")
