"""Randomisation tests between teams in any metric: their results are exchanged case by case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.metric import Curve, Metric
from evaluation.ranking.methods.tied_ranks import mid_ranks
from evaluation.ranking.statistics.decimals import published_difference
from evaluation.ranking.statistics.pairwise import PairTest
from evaluation.ranking.statistics.randomisation import Difference, randomisation_tests
from evaluation.ranking.statistics.sensitivities import ExchangedSensitivities

FloatArray = NDArray[np.float64]
Pair = tuple[int, int]
_PAIRS_AT_ONCE = 32  # their tables are held at once


def randomised(
    metric: Metric,
    tables: Mapping[int, CaseTable],
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
    curve = metric.aggregate.curve
    used = {team: tables[team] for team in sorted({team for pair in pairs for team in pair})}
    if curve:
        used = {team: _on_mid_ranks(table, curve) for team, table in used.items()}
    cases = np.arange(len(used[pairs[0][0]])) if units is None else units
    by_threshold = _by_threshold(curve, used) if curve else None
    found: dict[Pair, PairTest] = {}
    for start in range(0, len(pairs), _PAIRS_AT_ONCE):
        together = pairs[start : start + _PAIRS_AT_ONCE]
        differences = [
            by_threshold(pair) if by_threshold else _by_weights(metric, *(used[team] for team in pair))
            for pair in together
        ]
        errors = [standard_errors[pair] for pair in together]
        tests = randomisation_tests(differences, cases, seed, permutations, errors)
        found |= zip(together, tests, strict=True)
    return found


def _by_weights(metric: Metric, first: CaseTable, second: CaseTable) -> Difference:
    """Return the difference of any metric, from both teams' rows in one table.

    For each case a weight of 0 or 1 chooses the team whose result is scored.
    """
    joined = CaseTable((*first.names, *second.names), (*first.rows, *second.rows))

    def difference(exchanged: NDArray[np.bool_]) -> FloatArray:
        moved = exchanged.astype(np.float64)
        kept = 1 - moved
        as_first = WeightedCases(joined, np.concatenate([kept, moved], axis=1))
        as_second = WeightedCases(joined, np.concatenate([moved, kept], axis=1))
        return published_difference(metric.aggregate.values(as_first), metric.aggregate.values(as_second))

    return difference


def _by_threshold(curve: Curve, tables: Mapping[int, CaseTable]) -> Callable[[Pair], Difference] | None:
    """Return the differences of sensitivities by pair, None for other points of a curve and without a class.

    The result equals `_by_weights`, ten times as fast.
    """
    label = next(iter(tables.values()))[curve.label]
    if curve.specificity is None or not ((label == 0).any() and (label > 0).any()):
        return None
    labelled = np.flatnonzero(~np.isnan(label))
    at = {team: position for position, team in enumerate(tables)}
    scores = np.stack([table[curve.score][labelled] for table in tables.values()])
    sensitivities = ExchangedSensitivities(scores, label[labelled] > 0, curve.specificity)

    def of_pair(pair: Pair) -> Difference:
        after = sensitivities.between(at[pair[0]], at[pair[1]])
        return lambda exchanged: published_difference(
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
