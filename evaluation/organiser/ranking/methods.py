"""Ranking methods on the values of the cases: rank then aggregate, quantiles, test then rank."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.core.case_table import CaseTable
from evaluation.core.metric import Metric
from evaluation.core.scheme import Method, MethodName, Ties
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.rank_tests import surplus_deviation
from evaluation.phase.places import Better, competition_ranks, shared_ranks
from evaluation.platform.result_file import as_written_values
from evaluation.stats.columns import weighted_means, weighted_quantile

# --- Scores of teams from their values in every case: ranks by case, and quantiles ---


def case_ranks(values: ArrayLike, better: Better, ties: Ties) -> Floats:
    """Return the rank of every team in every case, 1 = best; a team without a value comes last.

    values: shape (teams, cases), NaN for a missing value. Equal floats share a rank by the rule for ties.
    Returns shape (teams, cases); NaN in a case in which no team has a value.
    """
    given = np.asarray(values, dtype=np.float64).T
    missing = np.isnan(given)
    last = -np.inf if better == "higher" else np.inf
    # Infinite values come before missing ones, so they are replaced by finite ones.
    largest = np.finfo(np.float64).max
    known = np.where(missing, last, np.clip(given, -largest, largest))
    numerators, denominator = shared_ranks(competition_ranks(known, better), ties)
    ranks = numerators / denominator
    ranks[missing.all(axis=1)] = np.nan
    return np.asarray(ranks.T)


def weighted_quantiles(values: ArrayLike, weights: ArrayLike, level: float) -> Floats:
    """Return `weighted_quantile` of every team, shape (rows, teams); values: shape (teams, cases)."""
    return np.stack([weighted_quantile(column, weights, level) for column in np.asarray(values)], axis=1)


# --- One-sided signed-rank tests of a pair of teams on weighted cases ---

# Equal decimals may differ as floats: 0.3 − 0.1 and 0.4 − 0.2.
_DECIMALS = 12
_ERFC = np.frompyfunc(math.erfc, 1, 1)  # scipy.special, which is faster, takes 0.2 s to import


def one_sided_p_values(differences: ArrayLike, weights: ArrayLike) -> Floats:
    """Return the p-values of "differences are positive" and of "are negative", shape (rows, 2).

    differences: shape (cases,), NaN where a case does not enter. weights: shape (rows, cases), whole numbers;
    a case is repeated by its weight.
    Wilcoxon's signed-rank test by the normal approximation, with corrections for ties and continuity; zeros
    are left out. p = 1 where nothing is left.
    Source: Wilcoxon 1945, Biometrics Bulletin 1:80; Hollander and Wolfe 1973, section 3.1.
    """
    given, rows = np.asarray(differences, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    given = np.round(given, _DECIMALS)
    entering = np.flatnonzero(np.nan_to_num(given) != 0)
    if not entering.size:
        return np.ones((len(rows), 2))
    # The order of equal magnitudes does not matter: only whole numbers are summed over them.
    order = entering[np.argsort(np.abs(given[entering]))]
    magnitudes = np.abs(given[order])
    starts = np.flatnonzero(np.r_[True, magnitudes[1:] != magnitudes[:-1]])
    chosen = rows[:, order]
    counts = np.add.reduceat(chosen, starts, axis=1)
    positives = np.add.reduceat(chosen * (given[order] > 0), starts, axis=1)
    total = counts.sum(axis=1)
    mid_ranks = np.cumsum(counts, axis=1) - (counts - 1) / 2
    statistic = (positives * mid_ranks).sum(axis=1) - total * (total + 1) / 4
    deviation = surplus_deviation(total, (counts**3 - counts).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.stack([(statistic - 0.5) / deviation, (-statistic - 0.5) / deviation], axis=1)
    tails = np.asarray(_ERFC(both * math.sqrt(0.5)), dtype=np.float64) / 2
    return np.where(deviation[:, np.newaxis] > 0, tails, 1.0)


# --- Test then rank: a team's score is the number of teams that it beats significantly ---


def significant_wins(
    values: ArrayLike, weights: ArrayLike, better: Better, alpha: float, adjust: Literal["holm", "none"]
) -> Floats:
    """Return how many teams each team beats in a one-sided paired signed-rank test, shape (rows, teams).

    values: shape (teams, cases), to the digits in which differences are compared; a case enters a pair where
    both teams have a value. weights: shape (rows, cases), whole numbers; a case is repeated by its weight.
    All ordered pairs are one family of tests, see `one_sided_p_values`; a team wins where p ≤ alpha.
    Source: Wiesenfarth et al. 2021, Sci. Rep. 11:2369.
    """
    columns, rows = np.asarray(values, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    columns = columns if better == "higher" else -columns
    first, second = np.triu_indices(len(columns), 1)
    if not first.size:
        return np.zeros((len(rows), len(columns)))
    pairs = zip(first, second, strict=True)
    p_values = np.stack([one_sided_p_values(columns[a] - columns[b], rows) for a, b in pairs], axis=1)
    flat = p_values.reshape(len(rows), -1)
    wins = flat <= alpha if adjust == "none" else _rejected_by_holm(flat, alpha)
    beats = np.zeros((len(rows), len(columns), len(columns)), dtype=np.bool_)
    beats[:, first, second], beats[:, second, first] = wins[:, ::2], wins[:, 1::2]
    return np.asarray(beats.sum(axis=2), dtype=np.float64)


def _rejected_by_holm(p_values: Floats, alpha: float) -> NDArray[np.bool_]:
    """Return which tests of each row (rows, tests) Holm's procedure rejects."""
    tests = p_values.shape[1]
    order = np.argsort(p_values, axis=1, kind="stable")
    adjusted = np.take_along_axis(p_values, order, axis=1) * (tests - np.arange(tests))
    kept = np.maximum.accumulate(adjusted, axis=1) <= alpha
    rejected = np.empty(p_values.shape, dtype=bool)
    np.put_along_axis(rejected, order, kept, axis=1)
    return rejected


# --- The methods by name ---

Scores = Callable[[Floats, Floats, Better, Method], Floats]


@dataclass(frozen=True)
class MethodRule:
    """A ranking method: how the teams' values in the cases become their scores.

    ``scores`` takes values of shape (teams, cases), NaN for a missing one, weights of shape (rows, cases),
    the better direction of the metric, and the method with its options; it returns shape (rows, teams).
    ``sentence`` describes it in a report, with places for the options. ``of_ranks``: the values are the
    ranks of the teams in each case. ``better``: the direction of the scores, None for that of the values.
    """

    scores: Scores
    sentence: str
    of_ranks: bool = False
    better: Better | None = None


def _mean(values: Floats, weights: Floats, better: Better, method: Method) -> Floats:
    return weighted_means(values, weights)


def _median(values: Floats, weights: Floats, better: Better, method: Method) -> Floats:
    return weighted_quantiles(values, weights, 0.5)


def _quantile(values: Floats, weights: Floats, better: Better, method: Method) -> Floats:
    from_below = method.quantile if better == "higher" else 1 - method.quantile
    return weighted_quantiles(values, weights, from_below)


def _wins(values: Floats, weights: Floats, better: Better, method: Method) -> Floats:
    return significant_wins(values, weights, better, method.alpha, method.adjust)


METHODS: Mapping[MethodName, MethodRule] = {
    "median-then-rank": MethodRule(_median, "Teams were ranked by the median of each metric over the cases"),
    "quantile-then-rank": MethodRule(
        _quantile,
        "Teams were ranked by the {quantile:g} quantile, from the worse end, of each metric over the cases",
    ),
    "rank-then-mean": MethodRule(
        _mean, "Teams were ranked in every case, and then by the mean of these ranks", of_ranks=True
    ),
    "rank-then-median": MethodRule(
        _median, "Teams were ranked in every case, and then by the median of these ranks", of_ranks=True
    ),
    "test-then-rank": MethodRule(
        _wins,
        "Teams were ranked by the number of teams that they beat in one-sided signed-rank tests at the "
        "level {alpha:g} ({adjust})",
        better="higher",
    ),
}
"""The methods that rank values of the cases; the others take the metric's own value."""

SCALED = {"min-max": ", scaled from 0 for the best team to 1 for the worst"}
"""What follows the value of a metric in a sentence on a method that takes it, where anything does."""


# --- The scores of all teams in a metric by a ranking method, under any weights of the cases ---


@dataclass(frozen=True)
class TeamScores:
    """The scores of several teams in one metric, from their values in its cases.

    values: shape (teams, cases), NaN for a missing one. ``better``: the direction of the scores; for ranks
    and wins it differs from the metric's.
    """

    teams: tuple[str, ...]
    cases: tuple[str, ...]
    values: Floats
    metric: Metric
    method: Method
    better: Better

    def under(self, weights: Floats) -> Floats:
        """Return the scores under weights of shape (rows, cases), shape (rows, teams)."""
        scores = METHODS[self.method.name].scores
        return as_written_values(scores(self.values, weights, self.metric.better, self.method))

    def resampled(self, blocks: Iterable[Floats]) -> Floats:
        """Return the scores under blocks of bootstrap weights, shape (resamples, teams)."""
        return np.concatenate([self.under(weights) for weights in blocks])


def is_by_method(metric: Metric, method: Method) -> bool:
    """Return whether a method ranks other scores than the metric's own values, as those of `METHODS` do.

    A metric that is not a mean over cases, such as the area under a curve, keeps its own value.
    """
    return method.name in METHODS and metric.estimator.mean_column is not None


def team_scores(
    metric: Metric, tables: Mapping[str, CaseTable], method: Method, ties: Ties
) -> TeamScores | None:
    """Return the scores of the teams in ``tables``, which have the same cases.

    None without any team, and where the metric's own value is ranked, see `is_by_method`.
    """
    column = metric.estimator.mean_column
    if column is None or not is_by_method(metric, method) or not tables:
        return None
    values = as_written_values(np.stack([table[column] for table in tables.values()]))
    rule = METHODS[method.name]
    better: Better = rule.better or metric.better
    if rule.of_ranks:
        values, better = case_ranks(values, metric.better, ties), "lower"
    return TeamScores(tuple(tables), next(iter(tables.values())).names, values, metric, method, better)
