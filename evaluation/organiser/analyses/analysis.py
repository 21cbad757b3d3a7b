"""A further analysis: measures of cases, their objects or pairs of cases, and figures with intervals."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
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


def results_of(phase: Phase, rows: Sequence[Measured], resampling: Resampling) -> Iterator[AnalysisResult]:
    """Yield the results of the analyses that have any row, from the rows of all cases of a submission."""
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
                tuple(_figures(analysis, kept, resampling)),
                (*kept, *lost),
            )


def _figures(
    analysis: FurtherAnalysis,
    rows: Sequence[Measured],
    resampling: Resampling,
) -> Iterator[AnalysisFigure]:
    """Yield the metrics of every part that exist; rows of one case or cluster are resampled together."""
    if resampling.clusters is None and len({(row.part, row.case) for row in rows}) < len(rows):
        resampling = replace(resampling, clusters={row.case: row.case for row in rows})
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
            if name in found.missing:
                yield AnalysisFigure(*known, None, None, found.missing[name])
            else:
                (one,) = found.found[name]
                yield AnalysisFigure(*known, one.lower, one.upper, one.method or one.reason or "")
