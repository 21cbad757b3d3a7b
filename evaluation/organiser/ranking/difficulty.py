"""Difficulty of cases, and teams' metrics in subgroups. For organisers only, since both reveal labels."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from evaluation.core.aggregation import Subset, subgroup_values
from evaluation.core.case_table import CaseTable
from evaluation.core.fault import PhaseError
from evaluation.core.metric import Metric
from evaluation.io.tables import DECIMAL
from evaluation.metrics.arrays import Floats
from evaluation.organiser.ranking.rank_tests import published, rank_sum
from evaluation.organiser.ranking.resampling import TeamCases
from evaluation.phase.scores import RecordedColumns


@dataclass(frozen=True)
class CaseDifficulty:
    """The average result of the teams on one case; ``place`` 1 is the hardest case of its metric.

    ``value``: the mean of the metric's column over the teams; for decisions, the share of wrong teams; for
    likelihoods, the mean share of cases of the other class that are ordered wrongly against this case; for a
    metric without values per case, the mean of its substitute (`CaseFigure`).
    """

    metric: str
    measure: str
    place: int
    case: str
    value: float
    teams: int


@dataclass(frozen=True)
class SubgroupTest:
    """The rank-sum test of one team's per-case metric between two subgroups.

    ``higher`` is the subgroup with the higher ranks, which need not have the higher mean.
    """

    metric: str
    team: str
    column: str
    first: str
    second: str
    first_mean: float
    second_mean: float
    p_value: float | None = None
    higher: str | None = None


def case_difficulties(metrics: Mapping[str, Metric], cases: TeamCases) -> list[CaseDifficulty]:
    """Return the cases of every metric that has a value per case, hardest first."""
    found: list[CaseDifficulty] = []
    seen: set[tuple[str, object]] = set()
    for name, metric in metrics.items():
        estimator, task = metric.estimator, name.partition(".")[0]
        column = estimator.case_column
        measured = column or estimator.curve or estimator.decision or estimator.case_figure
        tables = list(cases.task_tables(task).values())
        is_point = estimator.curve is not None and not estimator.curve.is_area
        if measured is None or (task, measured) in seen or not tables or is_point:
            continue
        seen.add((task, measured))
        measure, harder, values_of = _measure(metric)
        columns = np.stack([values_of(table) for table in tables])
        defined = ~np.isnan(columns)
        entering = np.flatnonzero(defined.any(axis=0))
        teams = defined[:, entering].sum(axis=0)
        means = (np.nansum(columns[:, entering], axis=0) / teams).tolist()
        names = [tables[0].names[case] for case in entering.tolist()]
        ordered = sorted(
            zip(names, means, teams.tolist(), strict=True), key=lambda case: (harder * case[1], case[0])
        )
        found += [CaseDifficulty(name, measure, place, *case) for place, case in enumerate(ordered, 1)]
    return found


def subgroup_tests(
    metrics: Mapping[str, Metric], cases: TeamCases, columns: RecordedColumns, chosen: tuple[str, ...]
) -> list[SubgroupTest]:
    """Return, for every team and mean over cases, the rank-sum tests between all values of a column."""
    found: list[SubgroupTest] = []
    for name, metric, team, table in cases.each_table(metrics):
        spread = metric.estimator.mean_column
        for column in chosen if spread else ():
            labels = _labels(columns, column, table.names)
            values = table[spread or ""]
            kept = ~np.isnan(values) & (labels != "")
            occurring = set(labels[kept].tolist())
            groups = [group for group in columns.values(column) if group in occurring]
            for first, second in combinations(groups, 2):
                samples = values[kept & (labels == first)], values[kept & (labels == second)]
                means = float(samples[0].mean()), float(samples[1].mean())
                surplus, p_value = rank_sum(*map(published, samples))
                higher = first if surplus > 0 else second if surplus < 0 else None
                found.append(SubgroupTest(name, team, column, first, second, *means, p_value, higher))
    return found


_MOST_NUMBERS = 10


def require_subgroups(columns: RecordedColumns | None, chosen: Sequence[str]) -> None:
    """Raise `PhaseError` for columns that the case table lacks, and for many numbers without bins."""
    if columns is None:
        raise PhaseError("subgroups need results per case (evaluate --cases)")
    if unknown := [column for column in chosen if column not in columns.columns]:
        known = ", ".join(columns.columns)
        raise PhaseError(f"{', '.join(unknown)}: no column of the case table; it has {known}")
    for column in chosen:
        values = {*filter(None, columns.labels(column))}
        if len(values) > _MOST_NUMBERS and all(map(DECIMAL.fullmatch, values)):
            where = "bins of [[subgroups]] in phase.toml, or words in place of numbers"
            raise PhaseError(f"{column}: expected {where}, found {len(values)} different numbers")


def _labels(columns: RecordedColumns, column: str, cases: Sequence[str]) -> NDArray[np.str_]:
    """Return the subgroups of cases by a column."""
    labels = dict(zip(columns.names, columns.labels(column), strict=True))
    return np.array([labels[case] for case in cases])


def _measure(metric: Metric) -> tuple[str, int, Callable[[CaseTable], Floats]]:
    """Return the name of a measure, the sign that sorts the hardest case first, and a team's values by case.

    Values: as `CaseDifficulty` averages them, shape (cases,), NaN if undefined. The metric must have a value
    per case: a column, a decision, a substitute, or the area under a curve.
    """
    estimator = metric.estimator
    column, decision, curve = estimator.case_column, estimator.decision, estimator.curve
    if column:
        return "mean over teams", 1 if metric.better == "higher" else -1, itemgetter(column)
    if decision:

        def wrong(table: CaseTable) -> Floats:
            present = table[decision.present]
            differs = (table[decision.predicted] > 0) != (present > 0)
            return np.where(np.isnan(present), np.nan, differs)

        return "share of teams wrong", -1, wrong
    if estimator.case_figure:
        return f"{estimator.case_figure.name}, mean over teams", 1, estimator.case_figure.values
    assert curve is not None
    return "share of pairs wrong", -1, lambda table: _pairs_wrong(table[curve.score], table[curve.label])


def _pairs_wrong(score: Floats, label: Floats) -> Floats:
    """Return for every case the share of cases of the other class on its wrong side, ties ½."""
    wrong = np.full(score.shape, np.nan)
    for class_members, other, direction in ((label > 0, label == 0, 1), (label == 0, label > 0, -1)):
        opposite = np.sort(direction * score[other])
        own = direction * score[class_members]
        if opposite.size:
            # An opposite score above counts as one pair in the wrong order, a tie as half.
            ahead = np.searchsorted(opposite, own, side="left") + np.searchsorted(opposite, own, side="right")
            wrong[class_members] = (opposite.size - ahead / 2) / opposite.size
    return wrong


@dataclass(frozen=True)
class SubgroupValue:
    """A team's metric in one subgroup.

    ``compare``: "positives" sets the positives of the subgroup against all negatives of the phase, which only
    a metric of two classes has; "cases" takes only its own cases. ``cases`` is the number of cases that
    enter, ``positives`` how many of them are positive, for a metric with two classes.
    """

    metric: str
    column: str
    subgroup: str
    compare: str
    team: str
    cases: int
    positives: int | None = field(default=None, kw_only=True)
    value: float


def values_by_subgroup(
    metrics: Mapping[str, Metric], cases: TeamCases, columns: RecordedColumns, chosen: Sequence[str]
) -> tuple[SubgroupValue, ...]:
    """Return every metric of every team in each subgroup of the chosen columns, where it exists.

    A column is divided, and its positives compared with all negatives, as the phase says; else it is divided
    by its values. Rows are ordered by metric, column, subgroup and team. Raises `PhaseError` where the
    teams' cases differ.
    """
    found = []
    for name, metric in metrics.items():
        task, _, short = name.partition(".")
        tables = cases.task_tables(task)
        for column in chosen if tables else ():
            has_classes = metric.estimator.curve is not None
            compare = columns.subgroup(column).compare if has_classes else "cases"
            labels = _labels(columns, column, next(iter(tables.values())).names)
            for group in columns.values(column):
                subset = Subset(labels == group, compare == "positives")
                for team, table in tables.items():
                    values = subgroup_values([metric], table, subset, min_cases=1)
                    if short not in values:
                        continue
                    strata = metric.estimator.strata(table)
                    members: NDArray[np.bool_] = subset.members & (strata >= 0)
                    if subset.against_all_negatives:
                        members = (members & (strata == 1)) | (strata == 0)
                    positives = int(np.count_nonzero(members & (strata == 1))) if has_classes else None
                    found.append(
                        SubgroupValue(
                            *(name, column, group, compare, team, int(np.count_nonzero(members))),
                            value=values[short],
                            positives=positives,
                        )
                    )
    return tuple(found)
