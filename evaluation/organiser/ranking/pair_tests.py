"""Which test compares two teams in a metric: of means, of areas under curves, or by randomisation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.estimator import Curve
from evaluation.core.metric import Metric
from evaluation.metrics.arrays import Floats
from evaluation.metrics.intervals import components
from evaluation.organiser.ranking import exchanges, rank_statistics
from evaluation.organiser.ranking.pairwise import PairTest, area_test
from evaluation.phase.places import mid_ranks

# --- Randomisation tests between teams in any metric: their results are exchanged case by case ---

Pair = tuple[str, str]
_PAIRS_AT_ONCE = 32  # their tables are held at once


def randomised(
    metric: Metric,
    tables: Mapping[str, CaseTable],
    pairs: Sequence[Pair],
    units: NDArray[np.int64] | None,
    standard_errors: Mapping[Pair, float | None],
    seed: int,
    permutations: int,
) -> dict[Pair, PairTest]:
    """Return the tests of pairs of teams, see `randomisation_tests`.

    tables: by team, with the same cases. units: the cluster of every case. Points of a curve are compared on
    mid-ranks in the team, since the teams' likelihoods may have different scales.
    """
    if not pairs:
        return {}
    curve = metric.estimator.curve
    used = {team: tables[team] for team in sorted({team for pair in pairs for team in pair})}
    if curve:
        used = {team: _on_mid_ranks(table, curve) for team, table in used.items()}
    cases = np.arange(len(used[pairs[0][0]])) if units is None else units
    by_threshold = _by_threshold(curve, used) if curve else None
    found: dict[Pair, PairTest] = {}
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        together = pairs[start : start + _PAIRS_AT_ONCE]
        if by_threshold:
            differences = [by_threshold(pair) for pair in together]
        else:
            differences = [_by_weights(metric, used[first], used[second]) for first, second in together]
        errors = [standard_errors[pair] for pair in together]
        tests = exchanges.randomisation_tests(differences, cases, seed, permutations, errors)
        found |= zip(together, tests, strict=True)
    return found


def _by_weights(metric: Metric, first: CaseTable, second: CaseTable) -> exchanges.Difference:
    """Return the difference of any metric, from both teams' rows in one table.

    For each case a weight of 0 or 1 chooses the team whose result is scored.
    """
    joined = CaseTable((*first.names, *second.names), (*first.rows, *second.rows))

    def difference(exchanged: NDArray[np.bool_]) -> Floats:
        moved = exchanged.astype(np.float64)
        kept = 1 - moved
        as_first = WeightedCases(joined, np.concatenate([kept, moved], axis=1))
        as_second = WeightedCases(joined, np.concatenate([moved, kept], axis=1))
        return rank_statistics.published_difference(
            metric.estimator.values(as_first), metric.estimator.values(as_second)
        )

    return difference


def _by_threshold(
    curve: Curve, tables: Mapping[str, CaseTable]
) -> Callable[[Pair], exchanges.Difference] | None:
    """Return the differences of sensitivities by pair, None for other points of a curve and without a class.

    The result equals `_by_weights`, ten times as fast.
    """
    label = next(iter(tables.values()))[curve.label]
    if curve.specificity is None or not ((label == 0).any() and (label > 0).any()):
        return None
    labelled = np.flatnonzero(~np.isnan(label))
    at = {team: position for position, team in enumerate(tables)}
    scores = np.stack([table[curve.score][labelled] for table in tables.values()])
    sensitivities = exchanges.ExchangedSensitivities(scores, label[labelled] > 0, curve.specificity)

    def of_pair(pair: Pair) -> exchanges.Difference:
        after = sensitivities.between(at[pair[0]], at[pair[1]])
        return lambda exchanged: rank_statistics.published_difference(
            *after(exchanged if labelled.size == label.size else np.take(exchanged, labelled, axis=1))
        )

    return of_pair


def _on_mid_ranks(table: CaseTable, curve: Curve) -> CaseTable:
    """Return a table with mid-ranks in (0, 1) as scores, since teams' likelihoods have different scales.

    Filled-in scores stay infinite; the order of the scores stays the same, and so do curves.
    """
    score = table[curve.score]
    finite = np.isfinite(score)
    ranks = score.copy()
    ranks[finite] = mid_ranks(score[finite][np.newaxis])[0] / (finite.sum() + 1)
    rows = [{**row, curve.score: rank} for row, rank in zip(table.rows, ranks.tolist(), strict=True)]
    return CaseTable(table.names, rows)


TestOfMeans = Literal["equal-means", "permutation", "signed-rank", "rank-sum"]

_MIN_OF_CLASS = 10


@dataclass(frozen=True)
class TestChoice:
    """The seed and number of random exchanges, and the test of means over cases.

    Of means, the null is that they are equal, since the mean orders the teams, or on request that the teams
    are exchangeable (permutation of the mean), or one of ranks: Wilcoxon's signed-rank test, or the unpaired
    rank-sum test as in ADAM's paper.
    """

    __test__ = False

    seed: int
    permutations: int = exchanges.PERMUTATIONS
    means: TestOfMeans = "equal-means"


def tests_of_pairs(
    metric: Metric,
    tables: Mapping[str, CaseTable],
    pairs: Sequence[Pair],
    units: NDArray[np.int64] | None,
    resampled: Mapping[str, Floats],
    choice: TestChoice,
) -> list[PairTest]:
    """Return the test of each pair of teams; it does not depend on the other teams.

    tables: of the metric's task, by team, with the same cases. units: the cluster of every case. resampled:
    the paired bootstrap values of the metric by team, shape (resamples,), if there are any.
    The area under a curve: DeLong, with Obuchowski's variance where cases cluster; where likelihoods were
    filled in or a class has fewer than ten units, randomisation. Means over cases: as chosen; the signed-rank
    test only where cases do not cluster. All others: randomisation, points of a curve on mid-ranks in the
    team.
    """
    estimator = metric.estimator
    if estimator.mean_column:
        span = abs(metric.best - metric.worst)
        return _tests_of_means(estimator.mean_column, tables, pairs, units, choice, span)
    errors = _standard_errors(resampled, pairs)
    is_area = estimator.curve is not None and estimator.curve.is_area
    found = _tests_of_areas(estimator.curve, tables, pairs, units) if estimator.curve and is_area else {}
    others = [pair for pair in pairs if pair not in found]
    found |= randomised(metric, tables, others, units, errors, choice.seed, choice.permutations)
    return [found[pair] for pair in pairs]


def _tests_of_means(
    column: str,
    tables: Mapping[str, CaseTable],
    pairs: Sequence[Pair],
    units: NDArray[np.int64] | None,
    choice: TestChoice,
    span: float,
) -> list[PairTest]:
    if not pairs:
        return []
    rows = {team: row for row, team in enumerate(tables)}
    columns = np.stack([table[column] for table in tables.values()])
    indices = [(rows[one], rows[other]) for one, other in pairs]
    if choice.means == "signed-rank" and units is None:
        return rank_statistics.signed_rank_tests(columns, indices)
    of_means = span if choice.means == "equal-means" else None
    paired = exchanges.mean_tests(columns, indices, units, choice.seed, choice.permutations, of_means)
    if choice.means != "rank-sum":
        return paired
    return [
        replace(rank_statistics.rank_sum_test(columns[a], columns[b]), standard_error=test.standard_error)
        for (a, b), test in zip(indices, paired, strict=True)
    ]


def _tests_of_areas(
    curve: Curve, tables: Mapping[str, CaseTable], pairs: Sequence[Pair], units: NDArray[np.int64] | None
) -> dict[Pair, PairTest]:
    """Return DeLong's tests of the pairs for which they are valid."""
    if not tables:
        return {}
    label = next(iter(tables.values()))[curve.label]
    labelled = ~np.isnan(label)
    positive = label[labelled] > 0
    unit_of_case = (np.arange(len(label)) if units is None else units)[labelled]
    if min(np.unique(unit_of_case[chosen]).size for chosen in (positive, ~positive)) < _MIN_OF_CLASS:
        return {}
    scores = {team: table[curve.score][labelled] for team, table in tables.items()}
    finite = [team for team, score in scores.items() if np.isfinite(score).all()]
    testable = [pair for pair in pairs if pair[0] in finite and pair[1] in finite]
    if not testable:
        return {}
    at = {team: row for row, team in enumerate(finite)}
    stacked = np.stack([scores[team] for team in finite])
    parts = components(stacked, positive, unit_of_case)
    return {(a, b): area_test(parts.of(at[a]), parts.of(at[b]), units is not None) for a, b in testable}


def _standard_errors(resampled: Mapping[str, Floats], pairs: Sequence[Pair]) -> dict[Pair, float | None]:
    paired = {team for pair in pairs for team in pair}
    used = [team for team in resampled if team in paired]
    if not used:
        return dict.fromkeys(pairs)
    # var(a − b) = var(a) + var(b) − 2 cov(a, b), for all pairs at once.
    covariance = np.atleast_2d(np.cov([resampled[team] for team in used]))
    at = {team: position for position, team in enumerate(used)}
    own = np.diag(covariance)
    variance = np.maximum(own[:, np.newaxis] + own - 2 * covariance, 0.0)
    return {(a, b): float(np.sqrt(variance[at[a], at[b]])) for a, b in pairs}
