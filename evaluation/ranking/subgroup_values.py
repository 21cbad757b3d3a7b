"""Every team's metrics in the subgroups of a column: for organisers only, since these may be labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.core.aggregation import Subset, subgroup_values
from evaluation.core.case_table import CaseTable
from evaluation.core.metric import Metric
from evaluation.phase.scores import RecordedColumns
from evaluation.ranking.resampling import TeamCases


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
    positives: int | None
    value: float


def values_by_subgroup(
    metrics: Mapping[str, Metric], cases: TeamCases, columns: RecordedColumns, chosen: Sequence[str]
) -> tuple[SubgroupValue, ...]:
    """Return every metric of every team in each subgroup of the chosen columns, where it exists.

    A column is divided, and its positives compared with all negatives, as the phase says; else it is divided
    by its values. Rows are ordered by metric, column, subgroup and team. Raises `RankingError` where the
    teams' cases differ.
    """
    found = []
    for name, metric in metrics.items():
        task, _, short = name.partition(".")
        tables = cases.task_tables(task)
        for column in chosen if tables else ():
            positives_alone = (
                columns.subgroup(column).compare == "positives" and metric.aggregate.curve is not None
            )
            labels = dict(zip(columns.names, columns.labels(column), strict=True))
            of_case = np.array([labels[case] for case in next(iter(tables.values())).names])
            for value in columns.values(column):
                subset = Subset(of_case == value, positives_alone)
                for team, table in tables.items():
                    values = subgroup_values([metric], table, subset, min_cases=1)
                    if short in values:
                        found.append(
                            SubgroupValue(
                                name,
                                column,
                                value,
                                "positives" if positives_alone else "cases",
                                cases.teams[team],
                                *_counts(metric, table, subset),
                                values[short],
                            )
                        )
    return tuple(found)


def _counts(metric: Metric, table: CaseTable, subset: Subset) -> tuple[int, int | None]:
    """Return the numbers of cases and of positives that enter."""
    strata = metric.aggregate.strata(table)
    members: NDArray[np.bool_] = subset.members & (strata >= 0)
    if subset.against_all_negatives:
        members = (members & (strata == 1)) | (strata == 0)
    if metric.aggregate.curve is None:
        return int(np.count_nonzero(members)), None
    return int(np.count_nonzero(members)), int(np.count_nonzero(members & (strata == 1)))
