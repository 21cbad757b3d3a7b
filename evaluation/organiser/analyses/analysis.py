"""A further analysis: measures of cases, their objects or pairs of cases, and figures with intervals."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose, isnan
from typing import Any

import numpy as np

from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable, Row
from evaluation.core.challenge import fields_of
from evaluation.core.intervals import intervals
from evaluation.core.metric import Metric
from evaluation.core.resampling import Resampling
from evaluation.organiser.leaves import found_leaf
from evaluation.organiser.report.case_views import OpenCase
from evaluation.phase.phase import Phase


@dataclass(frozen=True)
class Measured:
    """The values of a case, of an object in it or of a pair of cases, in a part of an analysis.

    All rows of a part have the same columns; NaN where a value does not exist. Instead of values,
    ``left_out`` is the reason why the case has none.
    """

    analysis: str
    case: str
    part: str = ""
    values: Row | None = None
    left_out: str = ""


@dataclass(frozen=True)
class FurtherAnalysis:
    """A further analysis of a challenge.

    ``texts``: title, note (method and sources), and the titles of the parts by key, in their order.
    ``fields``: those that a phase must have for it. ``measure`` yields the rows of one case, for all analyses
    that have it. ``joined`` makes the rows of pairs of cases from those of all cases, given the cluster of
    every case (empty: the case alone). Every metric is computed of the rows of each part. ``charted``: the
    words for the metrics of each chart, by the title of its axis.
    """

    name: str
    texts: Mapping[str, Any]
    fields: frozenset[str]
    metrics: tuple[Metric, ...]
    charted: Mapping[str, Mapping[str, str]]
    measure: Callable[[OpenCase], Iterable[Measured]]
    joined: Callable[[Sequence[Measured], Mapping[str, str]], Sequence[Measured]] | None = None


@dataclass(frozen=True)
class AnalysisFigure:
    """A metric of a part with its 95 % interval, over ``rows`` rows of ``cases`` cases.

    ``part`` and ``metric`` are titles. ``interval``: its method, or the reason why there is none.
    """

    part: str
    metric: str
    cases: int
    rows: int
    value: float
    lower: float | None = None
    upper: float | None = None
    interval: str = ""


@dataclass(frozen=True)
class AnalysisResult:
    """An analysis of a submission: its figures, and its rows with those of the cases left out."""

    phase: str
    analysis: FurtherAnalysis
    figures: tuple[AnalysisFigure, ...]
    rows: tuple[Measured, ...]


def analyses_of(phase: Phase) -> tuple[FurtherAnalysis, ...]:
    """Return the further analyses of a phase's challenge for which the phase has the fields."""
    if (module := found_leaf(f"analyses.{phase.challenge.name}")) is None:
        return ()
    known: tuple[FurtherAnalysis, ...] = module.ANALYSES
    fields = {field.name for field in fields_of(phase.tasks)}
    return tuple(one for one in known if one.fields <= fields)


def measures_of(phase: Phase) -> tuple[Callable[[OpenCase], Iterable[Measured]], ...]:
    """Return what measures a case of a phase for its further analyses, each function once."""
    return tuple(dict.fromkeys(one.measure for one in analyses_of(phase)))


def results_of(
    phase: Phase, rows: Sequence[Measured], resampling: Resampling, tables: Mapping[str, CaseTable]
) -> Iterator[AnalysisResult]:
    """Yield the results of the analyses that have any row, from the rows of all cases of a submission.

    tables: the results per case by task. A figure that is a metric of the phase, too, has the interval of the
    metric.
    """
    known = {
        f"{task.name}.{metric.name}": (metric, tables[task.name])
        for task in phase.tasks
        if task.name in tables
        for metric in task.metrics
        if metric.estimator.mean_column
    }
    for analysis in analyses_of(phase):
        own = [row for row in rows if row.analysis == analysis.name]
        kept = [row for row in own if not row.left_out]
        if analysis.joined:
            kept = list(analysis.joined(kept, resampling.clusters or {}))
        if kept:
            lost = (row for row in own if row.left_out)
            yield AnalysisResult(
                phase.config.name,
                analysis,
                tuple(_figures(analysis, kept, resampling, known)),
                (*kept, *lost),
            )


def _figures(
    analysis: FurtherAnalysis,
    rows: Sequence[Measured],
    given: Resampling,
    of_phase: Mapping[str, tuple[Metric, CaseTable]],
) -> Iterator[AnalysisFigure]:
    """Yield the metrics of every part that exist; rows of one case or cluster are resampled together."""
    resampling = given
    if given.clusters is None and len({(row.part, row.case) for row in rows}) < len(rows):
        resampling = replace(given, clusters={row.case: row.case for row in rows})
    for part, title in analysis.texts["parts"].items():
        of_part = [row for row in rows if row.part == part]
        names = [row.case for row in of_part]
        if not names:
            continue
        table = CaseTable(names, [row.values or {} for row in of_part])
        values = metric_values(analysis.metrics, table)
        metrics = {one.name: one for one in analysis.metrics if not isnan(values[one.name])}
        found = intervals(metrics, [table], resampling)
        for name, metric in metrics.items():
            entering = np.flatnonzero(metric.estimator.strata(table) >= 0).tolist()
            known = (title, metric.title, len({names[row] for row in entering}), len(entering), values[name])
            own, called = found, name
            for other, (same, of_task) in of_phase.items():
                if len(entering) == known[2] and _is_same_mean(metric, table, same, of_task):
                    own, called = intervals({other: same}, [of_task], given), other
            if called in own.missing:
                yield AnalysisFigure(*known, None, None, own.missing[called])
            else:
                (one,) = own.found[called]
                yield AnalysisFigure(*known, one.lower, one.upper, one.method or one.reason or "")


def _is_same_mean(metric: Metric, table: CaseTable, other: Metric, of_other: CaseTable) -> bool:
    """Return whether two metrics are the mean of the same values of the same cases."""
    found: list[dict[str, float]] = []
    for one, rows in ((metric, table), (other, of_other)):
        if (column := one.estimator.mean_column) is None:
            return False
        given = zip(rows.names, rows[column].tolist(), strict=True)
        found.append({name: value for name, value in given if not isnan(value)})
    first, second = found
    return first.keys() == second.keys() and all(isclose(first[name], second[name]) for name in first)
