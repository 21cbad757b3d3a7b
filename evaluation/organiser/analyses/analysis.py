"""A further analysis: measures of cases, their objects or pairs of cases, and figures with intervals."""

from __future__ import annotations

import importlib
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.case_table import CaseTable, Row
from evaluation.core.challenge import fields_of
from evaluation.core.intervals import intervals_of, value_of
from evaluation.core.metric import Metric, mean_of
from evaluation.core.outcome import Progress
from evaluation.core.resampling import Resampling
from evaluation.organiser.analyses.reading import OpenCase, OpenSubmission, visit_cases
from evaluation.phase.phase import Phase, load_phase
from evaluation.workers.unpacking import unpacked


@dataclass(frozen=True)
class Measured:
    """The values of a case, of an object in it or of a pair of cases, in a part of an analysis, by column.

    Every row of an analysis has the same columns; NaN where a value does not exist. ``left_out``: the reason
    why a case has no values.
    """

    analysis: str
    case: str
    part: str = ""
    values: Row | None = None
    left_out: str = ""


@dataclass(frozen=True)
class Analysis:
    """A further analysis of a challenge; its texts are in `templates`, in the file of the challenge.

    ``fields``: those that a phase must have for it. ``measure`` yields the rows of one case. ``joined`` makes
    the rows of pairs of cases from those of all cases, given the cluster of every case (empty: the case
    alone). Every metric is computed of the rows of each part. ``charted``: the metrics of each figure, by the
    title of its axis.
    """

    challenge: str
    name: str
    fields: frozenset[str]
    metrics: tuple[Metric, ...]
    charted: Mapping[str, tuple[str, ...]]
    measure: Callable[[OpenCase], Iterable[Measured]]
    joined: Callable[[Sequence[Measured], Mapping[str, str]], Sequence[Measured]] | None = None

    @cached_property
    def _texts(self) -> Mapping[str, Any]:
        file = resources.files(__package__) / "templates" / f"{self.challenge}.toml"
        texts: Mapping[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))[self.name]
        return texts

    @property
    def title(self) -> str:
        """The title."""
        return str(self._texts["title"])

    @property
    def note(self) -> str:
        """Method and sources, in sentences."""
        return str(self._texts["note"])

    @property
    def parts(self) -> Mapping[str, str]:
        """The titles of the parts by key, in their order."""
        parts: Mapping[str, str] = self._texts["parts"]
        return parts


@dataclass(frozen=True)
class Figure:
    """A metric of a part with its 95 % interval, over ``rows`` rows of ``cases`` cases.

    ``part`` and ``metric`` are titles. ``interval``: its method, or the reason why there is none.
    """

    part: str
    metric: str
    cases: int
    rows: int
    value: float
    lower: float | None
    upper: float | None
    interval: str


@dataclass(frozen=True)
class Result:
    """An analysis of a submission: figures, the rows that they are made of, and the cases left out."""

    analysis: Analysis
    figures: tuple[Figure, ...]
    rows: tuple[Measured, ...]
    left_out: tuple[Measured, ...]


def plain_mean(name: str, title: str, low: float = -inf, high: float = inf) -> Metric:
    """Return the mean of a column with values from ``low`` to ``high``.

    Unlike that of a metric, its interval allows for no failed case: an analysis leaves these out.
    """
    return Metric(name, title, replace(mean_of(name), rare_failures=False), low, high, ordered=False)


def analyses_of(phase: Phase) -> tuple[Analysis, ...]:
    """Return the further analyses of a phase's challenge for which the phase has the fields."""
    name = f"evaluation.organiser.analyses.{phase.challenge.name}"
    try:
        known: tuple[Analysis, ...] = importlib.import_module(name).ANALYSES
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return ()
    fields = {field.name for field in fields_of(phase.tasks)}
    return tuple(one for one in known if one.fields <= fields)


def measured(analyses: Iterable[Analysis], case: OpenCase) -> tuple[Measured, ...]:
    """Return the rows of a case in all analyses."""
    return tuple(row for analysis in analyses for row in analysis.measure(case))


def measure_submission(
    phase: Path, submission: Path, workers: int, progress: Progress
) -> tuple[Measured, ...]:
    """Return the rows of all cases of a submission. Raises `PhaseError` where it cannot be read."""
    opened = load_phase(phase)
    analyses = analyses_of(opened)
    needed = {name for analysis in analyses for name in analysis.fields}
    with unpacked(submission, workers=workers) as folder:
        reader = OpenSubmission(opened, folder, lambda field: field.name in needed)
        positions = range(len(opened.rows))
        found = visit_cases(positions, lambda one: measured(analyses, reader.case(one)), workers, progress)
    return tuple(row for of_case in found for row in of_case)


def results_of(phase: Phase, rows: Sequence[Measured], resampling: Resampling) -> tuple[Result, ...]:
    """Return the results of the analyses that have any row, from the rows of all cases of a submission."""
    found = []
    for analysis in analyses_of(phase):
        own = [row for row in rows if row.analysis == analysis.name]
        kept = [row for row in own if not row.left_out]
        if analysis.joined:
            kept = list(analysis.joined(kept, resampling.clusters or {}))
        if kept:
            lost = tuple(row for row in own if row.left_out)
            found.append(Result(analysis, tuple(_figures(analysis, kept, resampling)), tuple(kept), lost))
    return tuple(found)


def _figures(analysis: Analysis, rows: Sequence[Measured], resampling: Resampling) -> Iterable[Figure]:
    """Yield the metrics of every part that exist; rows of one case or cluster are resampled together."""
    for part, title in analysis.parts.items():
        of_part = [row for row in rows if row.part == part]
        names = [row.case for row in of_part]
        table = CaseTable(names, [row.values or {} for row in of_part])
        if resampling.clusters is None and len(set(names)) < len(names):
            resampling = replace(resampling, clusters={row.case: row.case for row in rows})
        values = {one.name: value_of(one, table) for one in analysis.metrics} if of_part else {}
        metrics = {one.name: one for one in analysis.metrics if not isnan(values.get(one.name, nan))}
        found = intervals_of([(metrics, [table])], resampling)[0]
        for name, metric in metrics.items():
            entering = np.flatnonzero(metric.aggregate.strata(table) >= 0).tolist()
            known = (title, metric.title, len({names[row] for row in entering}), len(entering), values[name])
            if name in found.missing:
                yield Figure(*known, None, None, found.missing[name])
            else:
                one = found.found[name][0]
                yield Figure(*known, one.interval.lower, one.interval.upper, one.method)
