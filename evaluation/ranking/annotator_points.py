"""The sensitivity of every team at every annotator's specificity (REFUGE, sections 4.1, 5.3 and 6)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.metrics.bootstrap import bootstrap_weights
from evaluation.metrics.intervals import Interval, percentile_interval
from evaluation.ranking.annotators import ReadColumns, curve_of, is_decision
from evaluation.ranking.pair_tests import TestChoice
from evaluation.ranking.resampling import TeamCases
from evaluation.ranking.statistics.means import mean_tests
from evaluation.ranking.statistics.pairwise import PairTest, holm_of_families, sign

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class AnnotatorPoint:
    """A team at the operating point of an annotator, on the cases that the annotator read.

    ``team_sensitivity`` is the highest over thresholds that reach the annotator's specificity;
    ``difference``: the team's minus the annotator's, with an interval over resampled cases, each with its own
    threshold and annotator's figures. ``only_team``, ``only_annotator``: the positives that only one of them
    detects. ``p_holm`` is corrected for all ranked teams and annotators; unranked teams are a separate
    family.
    """

    annotator: str
    team: str
    positives: int
    negatives: int
    specificity: float
    annotator_sensitivity: float
    team_sensitivity: float
    difference: float
    lower: float | None
    upper: float | None
    only_team: int
    only_annotator: int
    method: str
    p_value: float | None
    p_holm: float | None
    note: str | None


def annotator_points(
    read: ReadColumns | None,
    metrics: Mapping[str, Metric],
    cases: TeamCases,
    ranked: Collection[str],
    resampling: Resampling,
    choice: TestChoice,
) -> tuple[AnnotatorPoint, ...]:
    """Return every team's point at every annotator's specificity; nothing without annotators.

    read: columns by annotator; columns other than decisions are left out. An annotator without a positive or
    without a negative has no operating point.
    """
    if read is None:
        return ()
    task, curve = curve_of(metrics)
    tables = cases.task_tables(task)
    found: list[AnnotatorPoint] = []
    if not tables:
        return ()
    names = next(iter(tables.values())).names
    decisions = {name: column for name, column in read(names).items() if is_decision(column)}
    for annotator, decision in decisions.items():
        for position, table in tables.items():
            kept = np.flatnonzero(~np.isnan(decision) & ~np.isnan(table[curve.label]))
            entering = table.take(kept)
            one = _Compared(
                entering[curve.score], entering[curve.label] > 0, decision[kept] > 0, cases.units(entering)
            )
            if one.positive.any() and not one.positive.all():
                found.append(_point(annotator, cases.teams[position], one, resampling, choice))
    return tuple(_corrected(found, ranked))


@dataclass(frozen=True)
class _Compared:
    """Scores of a team and decisions of an annotator on the same labelled cases; arrays of shape (cases,)."""

    score: FloatArray
    positive: NDArray[np.bool_]
    decided: NDArray[np.bool_]
    units: NDArray[np.int64] | None

    def detected(self, weights: FloatArray) -> NDArray[np.bool_]:
        """Return which positives the team detects, shape (rows, positives).

        weights: of cases, shape (rows, cases). A positive is detected where the negatives that score less
        weigh at least as much as the annotator's true negatives, so that the specificity is reached.
        """
        negative = np.flatnonzero(~self.positive)
        order = negative[np.argsort(self.score[negative], kind="stable")]
        below = np.concatenate([np.zeros((len(weights), 1)), np.cumsum(weights[:, order], axis=1)], axis=1)
        scores = self.score[self.positive]
        left = below[:, np.searchsorted(self.score[order], scores, side="left")]
        rejected = weights[:, ~self.positive & ~self.decided].sum(axis=1, keepdims=True)
        # A missing positive is below every threshold.
        return np.asarray((left >= rejected) & (scores > -math.inf))

    def difference(self, weights: FloatArray) -> FloatArray:
        """Return the team's sensitivity minus the annotator's, shape (rows,)."""
        of_positives = weights[:, self.positive]
        by_annotator = self.decided[self.positive]
        gained = self.detected(weights).astype(np.float64) - by_annotator
        return np.asarray((of_positives * gained).sum(axis=1) / of_positives.sum(axis=1))


def _point(
    annotator: str, team: str, one: _Compared, resampling: Resampling, choice: TestChoice
) -> AnnotatorPoint:
    ones = np.ones((1, one.score.size))
    by_team, by_annotator = one.detected(ones)[0], one.decided[one.positive]
    positives, negatives = int(one.positive.sum()), int((~one.positive).sum())
    test = _test(by_team, by_annotator, None if one.units is None else one.units[one.positive], choice)
    interval = _interval(one, resampling)
    hits, others = int(by_team.sum()), int(by_annotator.sum())
    return AnnotatorPoint(
        annotator,
        team,
        positives,
        negatives,
        int((~one.positive & ~one.decided).sum()) / negatives,
        others / positives,
        hits / positives,
        (hits - others) / positives,
        interval.lower if interval else None,
        interval.upper if interval else None,
        int((by_team & ~by_annotator).sum()),
        int((by_annotator & ~by_team).sum()),
        test.method,
        test.p_value,
        None,
        test.note,
    )


def _test(
    by_team: NDArray[np.bool_],
    by_annotator: NDArray[np.bool_],
    units: NDArray[np.int64] | None,
    choice: TestChoice,
) -> PairTest:
    """Return the paired test of two detections of the same positives, at the team's threshold.

    McNemar's exact test of the positives, since the threshold depends on the negatives alone. Where positives
    belong together, units are exchanged as a whole.
    """
    if units is not None:
        columns = np.stack([by_team, by_annotator]).astype(np.float64)
        return mean_tests(columns, [(0, 1)], units, choice.seed, choice.permutations)[0]
    more, fewer = int((by_team & ~by_annotator).sum()), int((by_annotator & ~by_team).sum())
    return PairTest("McNemar, exact", mcnemar_p(more, fewer), None, sign(more - fewer))


def mcnemar_p(first_alone: int, second_alone: int) -> float:
    """Return the two-sided exact p of McNemar's test: twice the smaller tail of the binomial law, at most 1.

    first_alone, second_alone: the cases that only the first or only the second detects; 1.0 without any.
    Source: McNemar 1947, Psychometrika 12:153.
    """
    total = first_alone + second_alone
    return min(1.0, 2 * float(bdtr(min(first_alone, second_alone), total, 0.5))) if total else 1.0


def _interval(one: _Compared, resampling: Resampling) -> Interval | None:
    """Return the percentile interval of the difference, None with fewer units of a class than are needed."""
    labels = one.positive.astype(np.int64)
    of_class = np.arange(labels.size) if one.units is None else one.units
    fewest = min(np.unique(of_class[labels == label]).size for label in (0, 1))
    if not resampling.resamples or fewest < resampling.interval_minimum:
        return None
    blocks = bootstrap_weights(labels, one.units, resampling.seed, resampling.resamples)
    return percentile_interval(np.concatenate(list(_differences(one, blocks))))


def _differences(one: _Compared, blocks: Iterator[FloatArray]) -> Iterator[FloatArray]:
    for block in blocks:
        weights = np.asarray(block, dtype=np.float64)
        drawn = weights[:, one.positive].any(axis=1) & weights[:, ~one.positive].any(axis=1)
        yield one.difference(weights[drawn])


def _corrected(points: list[AnnotatorPoint], ranked: Collection[str]) -> list[AnnotatorPoint]:
    families = [point.team in ranked for point in points]
    adjusted = holm_of_families([point.p_value for point in points], families)
    return [replace(point, p_holm=p_holm) for point, p_holm in zip(points, adjusted, strict=True)]
