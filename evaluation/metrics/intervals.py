"""How many cases an interval of a wanted half-width needs, and the half-width that cases give."""

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction

from evaluation.stats.areas import score_interval
from evaluation.stats.figure import Interval
from evaluation.stats.intervals import wilson_interval

__all__ = ["auc_sample_size", "wilson_interval", "wilson_sample_size"]

_MOST_CASES = 1 << 50


def wilson_sample_size(proportion: float, half_width: float, level: float = 0.95) -> int:
    """Return the fewest cases for which Wilson's interval of a proportion has at most a half-width.

    proportion: the expected one, such as a sensitivity, from 0 to 1; the cases are then the positive ones.
    half_width: half of the interval's length, between 0 and 0.5. level: of confidence. The interval is
    computed for the expected number of successes, which need not be whole; any larger number of cases serves
    too. Cases are independent: with two eyes of each person, for example, more are needed. Raises ValueError
    for an argument out of its range, and where more than 2⁵⁰ cases are needed.
    Source: as of `wilson_interval`.

    >>> wilson_sample_size(0.8, 0.02)
    1535
    """
    _check_share("proportion", proportion)
    return _fewest(lambda cases: wilson_of(proportion, cases, level).half_width, half_width)


def auc_sample_size(auc: float, half_width: float, prevalence: float | Fraction, level: float = 0.95) -> int:
    """Return the fewest cases for which the interval of an area under the ROC curve has a half-width.

    auc: the expected area, from 0 to 1. prevalence: the share of positive cases in the set, between 0 and 1;
    the result is of both classes, of which the positive ones are their share, rounded. half_width, level,
    errors: as of `wilson_sample_size`. The interval is the score interval of Hanley and McNeil's variance,
    which needs the area alone; a submission is scored with DeLong's variance, which its scores decide.
    Source: Hanley and McNeil, Radiology 143:29, 1982; Newcombe, Statistics in Medicine 25:559, 2006, method
    5.

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
