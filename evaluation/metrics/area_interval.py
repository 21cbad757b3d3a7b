"""Confidence intervals of an area under a ROC curve."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np

from evaluation.metrics.delong import Components, area_variance
from evaluation.metrics.distinct import distinct
from evaluation.metrics.intervals import Interval

_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(64)
_BISECTIONS = 60
_NEARLY_NORMAL = 1e6


def area_interval(parts: Components, level: float = 0.95) -> Interval:
    """Return the interval of an area: DeLong's standard error on the logit scale, within (0, 1).

    The quantile is Student's with the degrees of freedom of Welch and Satterthwaite, which matters where one
    class has few cases. Where the area is 0 or 1 or its variance 0, that estimate says nothing, and the
    interval is the score interval of Hanley and McNeil's variance, with numbers of units for those of cases:
    an area of 1 gets a lower bound below 1.
    Source: Pepe 2003, The Statistical Evaluation of Medical Tests, section 5.2.5 (logit); variance, see
    `area_variance`; Newcombe 2006, Stat. Med. 25:559, method 5 (score interval).
    """
    area, found = float(parts.area), area_variance(parts)
    if found.variance == 0 or not 0 < area < 1:
        positives, negatives = distinct(parts.positive_units).size, distinct(parts.negative_units).size
        return score_interval(area, positives, negatives, level)
    quantile = student_quantile((1 + level) / 2, found.degrees_of_freedom)
    centre = math.log(area / (1 - area))
    half = quantile * math.sqrt(found.variance) / (area * (1 - area))
    lower, upper = (_logistic(centre + side * half) for side in (-1, 1))
    return Interval(lower, upper)


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


def student_quantile(probability: float, degrees_of_freedom: float) -> float:
    """Return a quantile of Student's t distribution above its median; the normal one for infinite freedom.

    probability: in (½, 1). degrees_of_freedom: at least 1. The distribution function is integrated and
    inverted by bisection, exact to nine digits.
    """
    normal = NormalDist().inv_cdf(probability)
    if degrees_of_freedom > _NEARLY_NORMAL:
        return normal
    root = math.sqrt(degrees_of_freedom)
    log_scale = math.lgamma((degrees_of_freedom + 1) / 2) - math.lgamma(degrees_of_freedom / 2)
    scale = math.exp(log_scale) / math.sqrt(math.pi)

    def reaches(angle: float) -> bool:
        # Under t = √ν · tan(angle) the density of t becomes a power of the cosine.
        cosines = np.cos(angle / 2 * (1 + _NODES))
        integral = angle / 2 * scale * float(_NODE_WEIGHTS @ cosines ** (degrees_of_freedom - 1))
        return 0.5 + integral >= probability

    lower = math.atan(normal / root)
    upper = lower
    while not reaches(upper):
        lower, upper = upper, (upper + math.pi / 2) / 2 if degrees_of_freedom < 4 else 1.2 * upper
    return root * math.tan(_boundary(reaches, upper, lower))


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
