"""The description of a data set: counts, sizes and distributions, by groups and with tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import PhaseError
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.organiser.describe_columns import Classes, Numbers
from evaluation.organiser.describe_comparisons import TestOfGroups, compare_groups
from evaluation.organiser.describe_data import Data, data_of
from evaluation.organiser.describe_groups import Grouping, groupings_of
from evaluation.organiser.describe_rows import (
    ALL,
    FORMAT,
    ClassRow,
    Column,
    Description,
    Group,
    NumberRow,
    TestRow,
)
from evaluation.phase.phase import Phase
from evaluation.workers.progress import Progress, no_progress


def describe(
    phases: Sequence[Phase],
    by: Sequence[str] = (),
    against: str | None = None,
    alpha: float = 0.05,
    progress: Progress = no_progress,
) -> Description:
    """Return the description of the data of one phase, or of several as sets of one challenge.

    by: further columns of `cases.csv` to group by. against: the group that each other one of its grouping is
    compared with; by default all pairs are. Numbers of cases are tested; numbers of objects are not, since
    objects of one case are not independent. Raises `PhaseError` for phases of different challenges, for an
    unknown column or group, and with every fault of the references.
    """
    challenges = {phase.challenge.name for phase in phases}
    if len(challenges) > 1:
        raise PhaseError(f"expected phases of one challenge, found {', '.join(sorted(challenges))}")
    names = Counter(phase.config.name for phase in phases)
    if repeated := [name for name, count in names.items() if count > 1]:
        raise PhaseError(f"expected each phase once, found {', '.join(repeated)} again")
    data = data_of(phases, progress)
    groupings = groupings_of(phases, data, by)
    if against is not None and not any(against in one.groups for one in groupings):
        known = ", ".join(group for one in groupings for group in one.groups)
        raise PhaseError(f"--against {against}: is no group; the groups are {known or 'none'}")
    whole = Grouping(ALL, (ALL,) * len(data.cases), (ALL,))
    return Description(
        FORMAT,
        phases[0].challenge.name,
        tuple(names),
        alpha,
        data.cases,
        tuple(groupings),
        tuple(row for one in (whole, *groupings) for row in _groups(data, one)),
        tuple(
            row for column in data.numbers for one in (whole, *groupings) for row in _number_rows(column, one)
        ),
        tuple(
            row
            for column in data.classes
            for one in (whole, *groupings)
            if column.quantity.name != one.name
            for row in _class_rows(column, one)
        ),
        tuple(
            TestRow(column.quantity, one.name, test, _is_significant(test, alpha))
            for column in data.numbers
            if column.quantity.per == "case"
            for one in groupings
            for test in _tests(column, one, against)
        ),
        tuple(
            Column(column.quantity, tuple(column.cases.tolist()), tuple(map(float, column.values)))
            for column in data.numbers
        ),
        (*data.notices, *_notices(data)),
    )


def _groups(data: Data, grouping: Grouping) -> list[Group]:
    members = _members(grouping)
    clusters = data.columns.get(CLUSTER_COLUMN)
    return [
        Group(
            grouping.name,
            group,
            int(chosen.sum()),
            float(chosen.mean()),
            _clusters(clusters, chosen) if clusters and any(clusters) else None,
        )
        for group, chosen in members.items()
    ]


def _members(grouping: Grouping) -> dict[str, NDArray[np.bool_]]:
    of_case = np.array(grouping.of_case, dtype=np.str_)
    return {group: of_case == group for group in grouping.groups}


def _clusters(clusters: Sequence[str], chosen: NDArray[np.bool_]) -> int:
    """Return the number of clusters of the chosen cases; a case without one counts as a cluster."""
    cells = [cluster for cluster, is_chosen in zip(clusters, chosen.tolist(), strict=True) if is_chosen]
    return len({cell for cell in cells if cell}) + cells.count("")


def _number_rows(column: Numbers, grouping: Grouping) -> list[NumberRow]:
    rows = []
    for group, chosen in _members(grouping).items():
        inside = chosen[column.cases]
        values = column.values[inside]
        if not values.size:
            continue
        low, first, median, third, high = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
        rows.append(
            NumberRow(
                column.quantity,
                grouping.name,
                group,
                int(np.unique(column.cases[inside]).size),
                int(np.count_nonzero(chosen & column.could_have)),
                int(values.size),
                float(values.sum()),
                float(values.mean()),
                float(values.std(ddof=1)) if values.size > 1 else None,
                low,
                first,
                median,
                third,
                high,
            )
        )
    return rows


def _class_rows(column: Classes, grouping: Grouping) -> list[ClassRow]:
    rows = []
    cells = np.array(column.cells, dtype=np.str_)
    for group, chosen in _members(grouping).items():
        counts = Counter(cells[chosen & (cells != "")].tolist())
        of = sum(counts.values())
        rows += [
            ClassRow(column.quantity, value, grouping.name, group, counts[value], of, counts[value] / of)
            for value in column.values
            if of
        ]
    return rows


def _tests(column: Numbers, grouping: Grouping, against: str | None) -> list[TestOfGroups]:
    members = _members(grouping)
    values = {group: column.values[chosen[column.cases]] for group, chosen in members.items()}
    return compare_groups(values, against if against in grouping.groups else None)


def _is_significant(test: TestOfGroups, alpha: float) -> bool | None:
    return None if test.p_bonferroni is None else test.p_bonferroni < alpha


def _notices(data: Data) -> list[str]:
    clusters = data.columns.get(CLUSTER_COLUMN, ())
    count = len({cell for cell in clusters if cell})
    if count and count + clusters.count("") < len(clusters):
        return [
            f"the tests treat the {len(clusters)} cases as independent, though they come from "
            f"{count + clusters.count('')} clusters"
        ]
    return []
