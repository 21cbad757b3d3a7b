"""Differences of two figures on the same cases: interval and p of one procedure, and Holm's correction."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, TypeVar

from evaluation.stats.areas import Components, area_variance
from evaluation.stats.figure import LEVEL, Difference, Figure
from evaluation.stats.intervals import standard_error
from evaluation.stats.numbers import Floats
from evaluation.stats.student import student_quantile
from evaluation.stats.unseen import joint_distance

PAIRED_T, AREAS, OF_BOOTSTRAP = "paired t", "DeLong", "bootstrap t"
NULLS = {
    PAIRED_T: "the figures are equal",
    AREAS: "the areas are equal",
    OF_BOOTSTRAP: "the figures are equal",
}
_UPPER = 0.975
_ROUNDING = 1e-12


def student_difference(
    value: float,
    error: float,
    degrees_of_freedom: float,
    method: str,
    n: int | None = None,
    level: float = LEVEL,
) -> Difference:
    """Return a difference with Student's interval and the two-sided p of the same distribution.

    error: its standard error. Without any spread p is 1 where the difference is 0, else 0.
    """
    from scipy.special import stdtr  # 0.2 s that only comparisons need

    freedom = max(1.0, degrees_of_freedom)
    half = student_quantile((1 + level) / 2, freedom) * error
    p_value = 2 * float(stdtr(freedom, -abs(value) / error)) if error > 0 else float(value == 0)
    return Difference(
        value,
        value - half,
        value + half,
        p_value,
        method,
        n,
        null=NULLS[method],
        standard_error=error,
        degrees_of_freedom=freedom,
    )


def paired_difference(first: float, second: float, of_units: Floats, level: float = LEVEL) -> Difference:
    """Return the difference of two figures by Student's paired t.

    of_units: shape (units,), what each unit contributes to the first figure minus what it does to the second,
    see `standard_error`.
    """
    error = standard_error(of_units)
    if error <= _ROUNDING * (abs(first) + abs(second)):
        error = 0.0
    return student_difference(first - second, error, of_units.size - 1, PAIRED_T, of_units.size, level)


def area_difference(first: Components, second: Components, level: float = LEVEL) -> Difference:
    """Return the difference of two areas under the ROC curve on the same cases.

    Student's t with the degrees of freedom of Welch and Satterthwaite, as the interval of an area has them.
    Source: DeLong et al. 1988, Biometrics 44:837; where cases belong together, Obuchowski 1997, Biometrics
    53:567. See `area_variance`.
    """
    parts = first.minus(second)
    found = area_variance(parts)
    units = len({*parts.positive_units.tolist(), *parts.negative_units.tolist()})
    error = math.sqrt(found.variance)
    return student_difference(float(parts.area), error, found.degrees_of_freedom, AREAS, units, level)


def with_unseen(
    found: Difference, first: Figure, second: Figure, errors: tuple[float, float], level: float = LEVEL
) -> Difference:
    """Return a difference with the bounds that allow for a failure that neither sample shows.

    Each figure's bounds with unseen failures reach beyond the spread of the sample; this excess is added to
    the spread of the difference on either side, see `joint_distance`. p takes the side towards 0. errors: the
    standard errors of the two figures. Without such bounds the reason is given.
    """
    ends = [one.with_unseen_failures for one in (first, second)]
    bare = replace(found, with_unseen_failures=None)
    for one in ends:
        if one is None or one.lower is None or one.upper is None:
            reason = (one.reason if one else None) or "no interval of one of the figures"
            none = replace(bare, lower=None, upper=None, p_value=None, reason=reason, method="MOVER")
            return replace(found, with_unseen_failures=none)
    if found.standard_error is None or found.degrees_of_freedom is None:
        return found
    from scipy.special import stdtr  # 0.2 s that only comparisons need

    of_first, of_second = (one.interval for one in ends if one)
    assert of_first is not None
    assert of_second is not None
    down = first.value - of_first.lower, of_second.upper - second.value
    up = of_first.upper - first.value, second.value - of_second.lower
    tail = NormalDist().inv_cdf((1 + level) / 2)
    below, above = (joint_distance(found.standard_error, reach, errors, tail) / tail for reach in (down, up))
    quantile = student_quantile((1 + level) / 2, found.degrees_of_freedom)
    towards = float(below if found.value > 0 else above)
    p_value = 1.0 if found.value == 0 else 0.0
    if towards > 0:
        p_value = 2 * float(stdtr(found.degrees_of_freedom, -abs(found.value) / towards))
    lower, upper = found.value - quantile * float(below), found.value + quantile * float(above)
    unseen = replace(bare, lower=lower, upper=upper, p_value=p_value, method="MOVER")
    return replace(found, with_unseen_failures=unseen)


def detectable(found: Difference, span: float = math.inf) -> float | None:
    """Return the true difference that the test finds at 5 % with 80 % power, in the figure's unit.

    About 2.80 standard errors. None without a standard error, and where the difference exceeds the span, the
    length of the figure's range.
    """
    if not found.standard_error or found.degrees_of_freedom is None:
        return None
    size = shown_difference(found.standard_error, found.degrees_of_freedom)
    return size if size <= span else None


def shown_difference(error: float, degrees_of_freedom: float, power: float = 0.8) -> float:
    """Return the true difference that Student's test at 5 % finds with a power; error: its standard error."""
    return (student_quantile(_UPPER, degrees_of_freedom) + NormalDist().inv_cdf(power)) * error


@dataclass(frozen=True)
class MarginPValues:
    """The one-sided p of a difference of −margin or less, and the larger one of both sides."""

    p_not_inferior: float
    p_equivalent: float


def margin_test(found: Difference, margin: float) -> MarginPValues | None:
    """Return the tests of a difference, higher is better, by its bounds; None without any.

    The standard error on either side is the distance of that bound over Student's quantile.
    Source: Schuirmann 1987, J. Pharmacokinet. Biopharm. 15:657.
    """
    from scipy.special import stdtr  # 0.2 s that only comparisons need

    if found.lower is None or found.upper is None or found.degrees_of_freedom is None:
        return None
    quantile = student_quantile(_UPPER, found.degrees_of_freedom)
    least = math.ulp(0.0)
    below = max(least, (found.value - found.lower) / quantile)
    above = max(least, (found.upper - found.value) / quantile)
    not_inferior = float(stdtr(found.degrees_of_freedom, -(found.value + margin) / below))
    not_superior = float(stdtr(found.degrees_of_freedom, (found.value - margin) / above))
    return MarginPValues(not_inferior, max(not_inferior, not_superior))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return Holm's adjusted p-values in the order given; None stays None, but is counted.

    A test without a p-value counts in the family, which can only make the others larger. Source: Holm 1979,
    Scand. J. Stat. 6:65.
    """
    adjusted: list[float | None] = [None] * len(p_values)
    smallest = 0.0
    computed = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    for done, (p, position) in enumerate(computed):
        smallest = max(smallest, min(1.0, p * (len(p_values) - done)))
        adjusted[position] = smallest
    return adjusted


Test = TypeVar("Test", bound=Any)


def corrected(tests: Sequence[Test], family: Callable[[Test], Hashable]) -> tuple[Test, ...]:
    """Return records with a ``difference``, whose p is adjusted as ``p_holm`` within each family; see `holm`.

    family: returns the family of a record.
    """
    members: dict[Hashable, list[int]] = defaultdict(list)
    for position, test in enumerate(tests):
        members[family(test)].append(position)
    adjusted: dict[int, float | None] = {}
    for positions in members.values():
        given = [tests[position].difference.p_value for position in positions]
        adjusted |= zip(positions, holm(given), strict=True)
    return tuple(replace(test, p_holm=adjusted[position]) for position, test in enumerate(tests))


def significance_tiers(
    teams: Sequence[str], worse: Callable[[str, str], bool | None]
) -> tuple[tuple[str, ...], ...] | None:
    """Return tiers of teams, best first; None where a test that decides about them could not be computed.

    teams: in the order of their ranks. The best team not yet placed opens a tier; the next ones join until
    the first that is significantly worse than the opener. worse: takes the opener and another team, and
    returns whether the other is significantly worse, or None if that could not be tested.
    """
    tiers: list[list[str]] = []
    for team in teams:
        answer = worse(tiers[-1][0], team) if tiers else True
        if answer is None:
            return None
        if answer:
            tiers.append([team])
        else:
            tiers[-1].append(team)
    return tuple(map(tuple, tiers))
