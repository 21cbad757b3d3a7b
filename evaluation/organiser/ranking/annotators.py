"""Annotators compared with the teams: operating points and agreement (REFUGE, section 4.1), and scores."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Literal

import numpy as np

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.estimator import Curve
from evaluation.core.fault import PhaseError
from evaluation.core.form import name_key
from evaluation.core.metric import Metric
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.resampling import TeamCases
from evaluation.organiser.reader_study import columns_of_study, read_study
from evaluation.phase.cases import OrganiserTable, TableRow, columns_of, organiser_table
from evaluation.phase.places import Better

NAME = "name"
ReadColumns = Callable[[tuple[str, ...]], Mapping[str, Floats]]
"""Returns columns in the order of the cases that are named."""


@dataclass(frozen=True)
class OperatingPoint:
    """Binary decisions against the label as counts and ratios; a ratio over no cases is None."""

    true_positives: int
    positives: int
    true_negatives: int
    negatives: int
    sensitivity: float | None = None
    specificity: float | None = None
    accuracy: float | None = None


@dataclass(frozen=True)
class AnnotatorAgreement:
    """The number of cases on which two annotators agree, and their figures on these cases."""

    first: str
    second: str
    agreed: int
    cases: int
    consensus: OperatingPoint


@dataclass(frozen=True)
class AnnotatorsSection:
    """Annotators with binary decisions as operating points; other columns as classifiers with metrics."""

    label: str
    points: dict[str, OperatingPoint]
    agreement: tuple[AnnotatorAgreement, ...]
    classifiers: dict[str, dict[str, float]]


def operating_point(decision: Floats, label: Floats) -> OperatingPoint:
    """Return the figures of decisions, 0 or 1; cases where the decision or the label is NaN are left out."""
    read = ~np.isnan(decision) & ~np.isnan(label)
    positive, decided = label[read] > 0, decision[read] > 0
    hits, rejections = int((positive & decided).sum()), int((~positive & ~decided).sum())
    positives, negatives = int(positive.sum()), int((~positive).sum())
    counts = hits, positives, rejections, negatives
    accuracy = _ratio(hits + rejections, positives + negatives)
    return OperatingPoint(*counts, _ratio(hits, positives), _ratio(rejections, negatives), accuracy)


def is_decision(values: Floats) -> bool:
    """Return whether a column holds decisions, 0 and 1 (NaN: not read); any other is a score."""
    return set(values[~np.isnan(values)].tolist()) <= {0.0, 1.0}


def _agreement(first: str, second: str, decisions: Mapping[str, Floats], label: Floats) -> AnnotatorAgreement:
    """Return the agreement of two annotators on the labelled cases that both annotated."""
    a, b = decisions[first], decisions[second]
    both = ~np.isnan(a) & ~np.isnan(b) & ~np.isnan(label)
    agreed = both & (a == b)
    consensus = operating_point(np.where(agreed, a, np.nan), label)
    return AnnotatorAgreement(first, second, int(agreed.sum()), int(both.sum()), consensus)


@dataclass(frozen=True)
class Readings:
    """The columns of annotators, and the first task with an area under a curve, whose cases they read.

    ``metrics``: those of the curve. ``tables``: of the task, by team; at least one. ``decisions``: columns of
    0 and 1 by annotator, in the order of the cases, NaN where a case was not read. ``scores``: all others.
    """

    curve: Curve
    metrics: Mapping[str, Metric]
    tables: Mapping[str, CaseTable]
    decisions: Mapping[str, Floats]
    scores: Mapping[str, Floats]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the cases."""
        return next(iter(self.tables.values())).names

    @property
    def label(self) -> Floats:
        """The label of every case, NaN without one."""
        return next(iter(self.tables.values()))[self.curve.label]

    def scored(self) -> dict[str, CaseTable]:
        """Return the cases that each annotator with scores read, with score and label alone."""
        found, label = {}, self.label.tolist()
        for name, scores in self.scores.items():
            read = np.flatnonzero(~np.isnan(scores)).tolist()
            rows = [{self.curve.score: float(scores[case]), self.curve.label: label[case]} for case in read]
            found[name] = CaseTable([self.names[case] for case in read], rows)
        return found


def readings_of(read: ReadColumns, metrics: Mapping[str, Metric], cases: TeamCases) -> Readings:
    """Return the columns of annotators. Raises `PhaseError` without a task or results for them."""
    task, curve = curve_of(metrics)
    tables = cases.task_tables(task)
    if not tables:
        raise PhaseError("annotators need results per case (evaluate --cases)")
    columns = read(next(iter(tables.values())).names)
    decisions = {name: column for name, column in columns.items() if is_decision(column)}
    scores = {name: column for name, column in columns.items() if name not in decisions}
    return Readings(curve, metrics_of_curve(metrics, task, curve), tables, decisions, scores)


def describe_annotators(readings: Readings) -> AnnotatorsSection:
    """Return the figures of annotators; those with scores get the metrics of the curve."""
    decisions, label = readings.decisions, readings.label
    return AnnotatorsSection(
        label=readings.curve.label,
        points={name: operating_point(values, label) for name, values in decisions.items()},
        agreement=tuple(_agreement(*pair, decisions, label) for pair in combinations(decisions, 2)),
        classifiers={name: values_once(readings.metrics, table) for name, table in readings.scored().items()},
    )


def curve_of(metrics: Mapping[str, Metric]) -> tuple[str, Curve]:
    """Return the first task with an area under a curve, and that curve. Raises `PhaseError`."""
    for name, metric in metrics.items():
        if metric.estimator.curve and metric.estimator.curve.is_area:
            return name.partition(".")[0], metric.estimator.curve
    raise PhaseError("annotators need a task with an area under the ROC curve; this challenge has none")


def metrics_of_curve(metrics: Mapping[str, Metric], task: str, curve: Curve) -> dict[str, Metric]:
    """Return the metrics of a task that have the score and the label of a curve."""
    return {
        name: metric
        for name, metric in metrics.items()
        if name.partition(".")[0] == task
        and (own := metric.estimator.curve) is not None
        and (own.score, own.label) == (curve.score, curve.label)
    }


def values_once(metrics: Mapping[str, Metric], table: CaseTable) -> dict[str, float]:
    """Return the values of metrics over the cases of a table, each with the weight 1."""
    cases = WeightedCases(table, np.ones((1, len(table))))
    return {name: float(metric.estimator.values(cases)[0]) for name, metric in metrics.items()}


def read_annotators(path: Path, cases: tuple[str, ...]) -> dict[str, Floats]:
    """Read a table of annotators as columns in the order of the cases, NaN for empty cells.

    Instead of a table: a folder with the export of a reader study, all of its JSON and csv files; after "="
    the text of the question, where several have answers of yes, no or a number. The table has the column
    ``name`` and one column per annotator. Raises `PhaseError` listing every fault.
    """
    at = {name_key(case): position for position, case in enumerate(cases)}
    folder, _, question = str(path).partition("=")
    if Path(folder).is_dir():
        files = sorted(one for one in Path(folder).iterdir() if one.suffix in (".json", ".csv"))
        found = columns_of_study(read_study(files), at, question or None)
        return {reader: np.array(column, dtype=np.float64) for reader, column in found.items()}
    with organiser_table(path, (NAME,)) as table:
        columns = {name: np.full(len(cases), math.nan) for name in table.columns if name != NAME}
        if not columns:
            raise PhaseError(f"{path.name}: expected a column for each annotator, found {NAME!r} alone")
        seen: set[int] = set()
        for row in table.rows:
            position = at.get(name_key(row.cells[NAME]))
            if position is None:
                row.fault(NAME, f"{row.cells[NAME]!r} is not a case of this phase")
            elif position in seen:
                row.fault(NAME, f"{row.cells[NAME]!r} is also in an earlier row")
            else:
                seen.add(position)
                for name, column in columns.items():
                    column[position] = row.number(name)
    return columns


def _ratio(count: int, total: int) -> float | None:
    return count / total if total else None


# --- Annotators who were scored like teams, listed beside the teams (ADAM, Table 14) ---

ANNOTATOR, TASK, METRIC, VALUE = "annotator", "task", "metric", "value"
Scores = Mapping[str, Mapping[str, float]]
"""Metrics ("task.metric") by annotator."""


@dataclass(frozen=True)
class Beside:
    """A team or an annotator in one metric; ``rank`` 1 is the best.

    ``teams_better`` and so on count ranked teams other than itself. An annotator or unranked team has the
    rank that it would take if it alone joined the ranked teams.
    """

    metric: str
    rank: int
    name: str
    kind: Literal["team", "unranked team", "annotator"]
    value: float
    teams_better: int
    teams_equal: int
    teams_worse: int


def is_scores(path: Path) -> bool:
    """Return whether a table has metrics of annotators, and not their readings of the cases."""
    return path.is_file() and ANNOTATOR in columns_of(path)


def read_annotator_scores(path: Path, metrics: Collection[str]) -> Scores:
    """Return the metrics of annotators in a csv file.

    The file is long, with the columns annotator, task, metric and value, as `fuse` writes it, or wide, with
    the column annotator and one for each "task.metric". Empty values are left out. Raises `PhaseError` with
    every fault, such as a metric that is not in ``metrics``.
    """
    with organiser_table(path, (ANNOTATOR,), holds=ANNOTATOR) as table:
        found: dict[str, dict[str, float]] = {}
        for row, metric, value in _values(table):
            if not row.cells[ANNOTATOR]:
                row.fault(ANNOTATOR, "expected the name of an annotator, found nothing")
            of_annotator = found.setdefault(row.cells[ANNOTATOR], {})
            if metric not in metrics:
                row.fault(METRIC, f"expected one of {', '.join(metrics)}, found {metric!r}")
            elif metric in of_annotator:
                row.fault(METRIC, f"{metric} of {row.cells[ANNOTATOR]!r} is also in an earlier row")
            elif not math.isnan(value):
                of_annotator[metric] = value
    return found


def _values(table: OrganiserTable) -> list[tuple[TableRow, str, float]]:
    """Return row, metric and value of a long or wide table. Raises `PhaseError` for another one."""
    if {TASK, METRIC, VALUE} <= set(table.columns):
        return [(row, f"{row.cells[TASK]}.{row.cells[METRIC]}", row.number(VALUE)) for row in table.rows]
    columns = [column for column in table.columns if "." in column and " " not in column]
    if not columns:
        expected = f"the columns {TASK!r}, {METRIC!r} and {VALUE!r}, or one for each metric"
        raise PhaseError(f"{table.file}: expected {expected}, found {', '.join(table.columns)}")
    return [(row, column, row.number(column)) for row in table.rows for column in columns]


def beside_teams(
    teams: Scores, ranked: Collection[str], scores: Scores, better: Mapping[str, Better]
) -> tuple[Beside, ...]:
    """Return teams and annotators in every metric that an annotator has, the best first.

    teams, scores: metrics by team and by annotator. ranked: the names of the ranked teams. better: by metric.
    """
    wanted = [name for name in better if any(name in of_annotator for of_annotator in scores.values())]
    found = []
    for metric in wanted:
        upwards = 1 if better[metric] == "higher" else -1
        given: list[tuple[str, Literal["team", "unranked team", "annotator"], float]] = [
            (team, "team" if team in ranked else "unranked team", values[metric])
            for team, values in teams.items()
            if metric in values
        ]
        of_teams = {name: value for name, kind, value in given if kind == "team"}
        given += [(name, "annotator", values[metric]) for name, values in scores.items() if metric in values]
        rows = []
        for name, kind, value in given:
            others = [other for team, other in of_teams.items() if kind != "team" or team != name]
            ahead = sum(upwards * other > upwards * value for other in others)
            equal = sum(other == value for other in others)
            worse = len(others) - ahead - equal
            rows.append(Beside(metric, ahead + 1, name, kind, value, ahead, equal, worse))
        found += sorted(rows, key=lambda row: (-upwards * row.value, row.kind != "team", row.name))
    return tuple(found)
