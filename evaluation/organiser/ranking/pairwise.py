"""Tests between two teams: outcome, detectable difference, and correction for many tests."""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, TypeVar

from evaluation.metrics.intervals import Components, area_variance

TOO_FEW_CASES = "fewer than two cases enter both means"
EQUAL_MEANS = "equal means"
_LEVEL, _POWER = 0.05, 0.80
_OF_LEVEL, _OF_POWER = NormalDist().inv_cdf(1 - _LEVEL / 2), NormalDist().inv_cdf(_POWER)
_BISECTIONS = 50
_MOST_RATIO = 20.0  # an unseen case is a twentieth of the spread, and no more matters


PERMUTATION_OF_MEANS = "permutation of the mean"
SIGNED_RANK, RANK_SUM = "Wilcoxon signed-rank", "Mann–Whitney U"
_NULLS = {
    EQUAL_MEANS: "the means over all cases are equal, however often either fails",
    PERMUTATION_OF_MEANS: "the teams are exchangeable in every case: equal means, spread and failures",
    SIGNED_RANK: "the differences are symmetric about 0",
    RANK_SUM: "the values have the same distribution; the cases are not paired",
    "DeLong": "the areas are equal",
    "DeLong, clustered": "the areas are equal",
    "randomisation": "the teams are exchangeable in every case",
}


def null_of(method: str) -> str:
    """Return the null hypothesis that a test by its name rejects, empty for another one."""
    return _NULLS.get(method, "")


@dataclass(frozen=True, slots=True)
class PairTest:
    """A two-sided test of one pair of teams.

    ``p_value`` is None where the test cannot be computed, and ``note`` then says why. ``standard_error``: of
    the paired difference of the two metrics, or None. ``direction`` is 1 where the compared quantity is
    larger for the first team, −1 where it is larger for the second, 0 where it is equal or unknown.
    ``p_is_bound``: the exact p is at most ``p_value``. ``least_p``: the smallest p that the test can have on
    so many cases. ``unseen``: by how much a mean difference moves with a case that the sample of ``units``
    may lack, 0 in a test without one.
    """

    method: str
    p_value: float | None
    standard_error: float | None
    direction: int = 0
    note: str | None = None
    p_is_bound: bool = False
    least_p: float = 0.0
    unseen: float = 0.0
    units: int = 0

    def detectable_difference(self, span: float = math.inf) -> float | None:
        """Return the true difference that this test finds at 5 % with 80 % power, in the metric's unit.

        By the normal approximation, without an unseen case 2.80 · standard error of the difference. None
        where no true difference can be found so: without a standard error, if the smallest p is at least
        5 %, and where the difference exceeds the span, the length of the metric's range.
        """
        error = self.standard_error
        if not error or self.least_p >= _LEVEL:
            return None
        found = _critical(error, self.unseen, self.units) + _OF_POWER * error
        return found if found <= span else None


def _critical(error: float, unseen: float, units: int) -> float:
    """Return the least mean difference that a test with an unseen case of this size finds at 5 %."""
    if not unseen or error > _MOST_RATIO * unseen:
        return _OF_LEVEL * error

    def p_value(difference: float) -> float:
        # Under random weights: the expectation of min(1, exp(−x / unseen)) for a normal x.
        spread = math.hypot(error, difference / math.sqrt(units))
        steps, ratio = difference / spread, spread / unseen
        positive = math.exp(ratio**2 / 2 - steps * ratio) * _below(steps - ratio)
        return 2 * (_below(-steps) + positive)

    low, high = _OF_LEVEL * error, (_OF_LEVEL + _MOST_RATIO) * (error + unseen)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle) > _LEVEL else (low, middle)
    return high


def _below(quantile: float) -> float:
    return math.erfc(-quantile / math.sqrt(2)) / 2


def sign(difference: float) -> int:
    """Return 1, 0 or −1."""
    return (difference > 0) - (difference < 0)


def z_test(method: str, difference: float, standard_error: float) -> PairTest:
    """Return the two-sided test of a difference of areas under the normal distribution.

    Where its standard error is zero, p = 1 if the areas are equal, else it is not computable.
    """
    from scipy.special import ndtr  # 0.2 s that not all rankings need

    if standard_error > 0:
        p_value = float(2 * ndtr(-abs(difference) / standard_error))
        return PairTest(method, p_value, standard_error, sign(difference))
    if difference == 0:
        return PairTest(method, 1.0, 0.0)
    note = "the areas differ and their difference has no variance"
    return PairTest(method, None, 0.0, sign(difference), note)


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
    """Return records of tests with their ``p_value`` adjusted as ``p_holm`` within each family; see `holm`.

    family: returns the family of a record.
    """
    members: dict[Hashable, list[int]] = defaultdict(list)
    for position, test in enumerate(tests):
        members[family(test)].append(position)
    adjusted: dict[int, float | None] = {}
    for positions in members.values():
        adjusted |= zip(positions, holm([tests[position].p_value for position in positions]), strict=True)
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


def area_test(first: Components, second: Components, clustered: bool) -> PairTest:
    """Return the two-sided test of two areas under the ROC curve on the same cases, see `z_test`.

    Source: DeLong et al. 1988, Biometrics 44:837; where cases belong together, Obuchowski 1997, Biometrics
    53:567. See `area_variance`.
    """
    difference = first.minus(second)
    method = "DeLong, clustered" if clustered else "DeLong"
    return z_test(method, float(difference.area), math.sqrt(area_variance(difference).variance))
