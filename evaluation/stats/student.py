"""Quantiles of the normal and of Student's distribution, without the slow import of SciPy."""

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist

import numpy as np

from evaluation.stats.numbers import Floats

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""

_BISECTIONS = 60
_NEARLY_NORMAL = 1e6


def check_level(level: float) -> None:
    """Raise ValueError for a confidence level outside (0, 1)."""
    if not 0 < level < 1:
        raise ValueError(f"level: expected a number between 0 and 1, found {level}")


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
    return root * math.tan(boundary(reaches, upper, lower))


@cache
def _quadrature() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(64)
    return nodes, weights


def boundary(outside: Callable[[float], bool], out: float, within: float) -> float:
    """Return where a condition that holds at ``out`` and not at ``within`` begins to hold."""
    for _ in range(_BISECTIONS):
        middle = (out + within) / 2
        if outside(middle):
            out = middle
        else:
            within = middle
    return within
