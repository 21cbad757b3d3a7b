"""Tests between all pairs of teams in one metric, and the tiers that follow from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.metric import Curve, Metric
from evaluation.metrics.delong import components
from evaluation.ranking.randomised import randomised
from evaluation.ranking.resampling import FloatArray, TeamCases
from evaluation.ranking.statistics.decimals import published_difference
from evaluation.ranking.statistics.delong import clustered_test, delong_table
from evaluation.ranking.statistics.exchanges import PERMUTATIONS
from evaluation.ranking.statistics.means import mean_tests
from evaluation.ranking.statistics.pairwise import (
    PairTest,
    detectable_difference,
    holm,
    significance_tiers,
)
from evaluation.ranking.statistics.ranks import rank_sum_test, signed_rank_tests

SIGNIFICANT = 0.05
_MIN_OF_CLASS = 10
Pair = tuple[int, int]
TestOfMeans = Literal["permutation", "signed-rank", "rank-sum"]


@dataclass(frozen=True)
class Comparison:
    """One pair of teams in one metric, the better one first.

    ``difference`` is first minus second. ``favours`` is the team that the test finds better: a test of ranks
    can contradict the order by the mean. ``significant`` says that they differ, whichever is better.
    ``detectable_difference`` is what a sample of this size could have found (80 % power, two-sided 5 %); a
    pair that is not significant is no tie unless that is small enough. ``cases``: the number of
    cases that enter a test of means, so n₁ = n₂ of a rank-sum test.
    """

    first: str
    second: str
    difference: float
    method: str
    p_value: float | None
    p_holm: float | None
    significant: bool | None
    favours: str | None
    detectable_difference: float | None
    note: str | None = None
    cases: int | None = None

    @property
    def contradicts_order(self) -> bool:
        """Whether the teams differ significantly, but not in the direction in which they are ordered."""
        return self.significant is True and not (self.difference and self.favours == self.first)

    @property
    def second_is_worse(self) -> bool | None:
        """Whether the second is significantly worse, in the order and in the test; None if not tested."""
        return None if self.significant is None else self.significant and not self.contradicts_order


@dataclass(frozen=True)
class Comparisons:
    """All pairs of one metric, and the tiers of the teams, best first.

    A tier ends before a team that is significantly worse than its first one, by the order and by the test.
    There are no tiers where a test that decides about them could not be computed.
    """

    pairs: tuple[Comparison, ...]
    tiers: tuple[tuple[str, ...], ...] | None


@dataclass(frozen=True)
class TestChoice:
    """The seed and number of random exchanges, and the test of means over cases.

    Means are tested by the paired permutation of the mean, which is what orders the teams, or on request by
    a test of ranks: Wilcoxon's signed-rank test, or the unpaired rank-sum test as in ADAM's paper.
    """

    __test__ = False

    seed: int
    permutations: int = PERMUTATIONS
    means: TestOfMeans = "permutation"


def compare(
    name: str,
    metric: Metric,
    values: Mapping[str, float],
    cases: TeamCases,
    resampled: FloatArray | None,
    choice: TestChoice,
) -> Comparisons:
    """Return the tests between all teams that have the metric and results per case, corrected by Holm.

    values: the metric by team. resampled: its paired bootstrap values, shape (resamples, teams).
    The area under a curve: DeLong, with Obuchowski's variance where cases cluster; where likelihoods were
    filled in or a class has fewer than ten units, randomisation. Means over cases: as chosen; the signed-rank
    test only where cases do not cluster. All others: randomisation, points of a curve on mid-ranks in the
    team. The test of a pair does not depend on the other teams; its correction for many pairs does.
    """
    tables = {
        position: table
        for position, table in cases.task_tables(name.partition(".")[0]).items()
        if cases.teams[position] in values
    }
    upwards = 1 if metric.better == "higher" else -1
    order = sorted(tables, key=lambda team: (-upwards * values[cases.teams[team]], cases.teams[team]))
    comparisons = compare_pairs(
        metric, values, cases, tables, list(combinations(order, 2)), resampled, choice
    )
    tiers = significance_tiers(order, lambda a, b: comparisons[a, b].second_is_worse)
    return Comparisons(
        tuple(comparisons.values()),
        None if tiers is None else tuple(tuple(cases.teams[team] for team in tier) for tier in tiers),
    )


def compare_pairs(
    metric: Metric,
    values: Mapping[str, float],
    cases: TeamCases,
    tables: Mapping[int, CaseTable],
    pairs: Sequence[Pair],
    resampled: FloatArray | None,
    choice: TestChoice,
) -> dict[Pair, Comparison]:
    """Return the tests of some pairs of teams, the better one first in each; these are the family of Holm.

    tables: of the metric's task, by the position of the team in ``cases``; see `compare`.
    """
    upwards = 1 if metric.better == "higher" else -1
    units = cases.units(next(iter(tables.values()))) if tables else None
    tests = _tests(metric, tables, pairs, units, resampled, choice)
    adjusted = holm([test.p_value for test in tests])
    differences = published_difference(
        *([values[cases.teams[pair[side]]] for pair in pairs] for side in (0, 1))
    ).tolist()
    of_mean = _cases_of_mean(metric, tables)
    comparisons: dict[Pair, Comparison] = {}
    for (first, second), test, p_holm, difference in zip(pairs, tests, adjusted, differences, strict=True):
        a, b = cases.teams[first], cases.teams[second]
        found = Comparison(
            first=a,
            second=b,
            difference=difference,
            method=test.method,
            p_value=test.p_value,
            p_holm=p_holm,
            significant=None if p_holm is None else p_holm < SIGNIFICANT,
            favours={1: a, -1: b}.get(upwards * test.direction),
            detectable_difference=None
            if test.standard_error is None
            else detectable_difference(test.standard_error),
            note=test.note,
            cases=of_mean,
        )
        if found.contradicts_order:
            found = replace(found, note=_contradiction(found))
        comparisons[first, second] = found
    return comparisons


def _contradiction(pair: Comparison) -> str:
    order = f"the metric is better for {pair.first}" if pair.difference else "the metric is equal"
    return f"the test favours {pair.favours or 'neither'}, but {order}: no break between tiers"


def _tests(
    metric: Metric,
    tables: Mapping[int, CaseTable],
    pairs: Sequence[Pair],
    units: NDArray[np.int64] | None,
    resampled: FloatArray | None,
    choice: TestChoice,
) -> list[PairTest]:
    aggregate = metric.aggregate
    if aggregate.spread_column:
        return _tests_of_means(aggregate.spread_column, tables, pairs, units, choice)
    errors = _standard_errors(resampled, pairs)
    if aggregate.curve and aggregate.curve.is_area:
        found = _tests_of_areas(aggregate.curve, tables, pairs, units)
    else:
        found = {}
    others = [pair for pair in pairs if pair not in found]
    found |= randomised(metric, tables, others, units, errors, choice.seed, choice.permutations)
    return [found[pair] for pair in pairs]


def _tests_of_means(
    column: str,
    tables: Mapping[int, CaseTable],
    pairs: Sequence[Pair],
    units: NDArray[np.int64] | None,
    choice: TestChoice,
) -> list[PairTest]:
    if not pairs:
        return []
    rows = {team: row for row, team in enumerate(tables)}
    columns = np.stack([table[column] for table in tables.values()])
    indices = [(rows[first], rows[second]) for first, second in pairs]
    if choice.means == "signed-rank" and units is None:
        return signed_rank_tests(columns, indices)
    paired = mean_tests(columns, indices, units, choice.seed, choice.permutations)
    if choice.means != "rank-sum":
        return paired
    found = []
    for (first, second), of_means in zip(indices, paired, strict=True):
        test = rank_sum_test(columns[first], columns[second])
        found.append(PairTest("Mann–Whitney U", test.p_value, of_means.standard_error, test.direction))
    return found


def _cases_of_mean(metric: Metric, tables: Mapping[int, CaseTable]) -> int | None:
    """Return how many cases enter a mean over cases, which the reference decides for all teams alike."""
    column = metric.aggregate.spread_column
    if column is None or not tables:
        return None
    return int(np.count_nonzero(~np.isnan(next(iter(tables.values()))[column])))


def _tests_of_areas(
    curve: Curve,
    tables: Mapping[int, CaseTable],
    pairs: Sequence[Pair],
    units: NDArray[np.int64] | None,
) -> dict[Pair, PairTest]:
    """Return DeLong's tests of those pairs for which they hold."""
    if not tables:
        return {}
    label = next(iter(tables.values()))[curve.label]
    labelled = ~np.isnan(label)
    positive = label[labelled] > 0
    unit_of_case = np.arange(len(label)) if units is None else units
    unit_of_case = unit_of_case[labelled]
    if min(np.unique(unit_of_case[chosen]).size for chosen in (positive, ~positive)) < _MIN_OF_CLASS:
        return {}
    scores = {team: table[curve.score][labelled] for team, table in tables.items()}
    finite = [team for team, score in scores.items() if np.isfinite(score).all()]
    testable = [pair for pair in pairs if pair[0] in finite and pair[1] in finite]
    if not testable:
        return {}
    at = {team: row for row, team in enumerate(finite)}
    stacked = np.stack([scores[team] for team in finite])
    if units is None:
        table = delong_table(stacked, positive)
        return {(a, b): table.test(at[a], at[b]) for a, b in testable}
    parts = components(stacked, positive, unit_of_case)
    return {(a, b): clustered_test(parts.of(at[a]), parts.of(at[b])) for a, b in testable}


def _standard_errors(resampled: FloatArray | None, pairs: Sequence[Pair]) -> dict[Pair, float | None]:
    if resampled is None:
        return dict.fromkeys(pairs)
    # var(a − b) = var(a) + var(b) − 2 cov(a, b), for all pairs at once.
    used = sorted({team for pair in pairs for team in pair})
    covariance = np.atleast_2d(np.cov(resampled[:, used], rowvar=False)) if used else np.empty((0, 0))
    at = {team: position for position, team in enumerate(used)}
    own = np.diag(covariance)
    variance = np.maximum(own[:, np.newaxis] + own - 2 * covariance, 0.0)
    return {(a, b): float(np.sqrt(variance[at[a], at[b]])) for a, b in pairs}
