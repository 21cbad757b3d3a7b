"""The description of a data set: counts, sizes and distributions, by groups and with tests."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from evaluation.core.challenge import references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import CaseColumns
from evaluation.core.outcome import Progress, no_progress
from evaluation.core.resampling import CLUSTER_COLUMN
from evaluation.io.tables import is_number, parse_number
from evaluation.metrics.arrays import Floats
from evaluation.organiser import describe_data
from evaluation.phase.cases import FILE_NAME, label_of
from evaluation.phase.config import Subgroup
from evaluation.phase.phase import Phase

# --- Groups of cases within which data are described and between which they are compared ---

PHASE, SET, _NAME = "phase", "set", "name"


@dataclass(frozen=True)
class Grouping:
    """A division of the cases: the group of every case, "" for none, and the groups in order."""

    name: str
    of_case: tuple[str, ...]
    groups: tuple[str, ...]

    @property
    def members(self) -> dict[str, NDArray[np.bool_]]:
        """Whether each case belongs to a group, by group."""
        of_case = np.array(self.of_case, dtype=np.str_)
        return {group: of_case == group for group in self.groups}


def groupings_of(phases: Sequence[Phase], data: describe_data.Data, by: Sequence[str]) -> list[Grouping]:
    """Return the groupings that data are described by: at least two groups each, at most ten.

    These are the phases, where there are several; the column ``set``; the subgroups of `phase.toml`; the
    columns that hold a class as reference; and the columns in ``by``.
    Raises `PhaseError` for an unknown column in ``by``, and for one of more than ten values.
    """
    PhaseError.raise_all(list(_problems(phases, data, by)))
    bins = {group.column: group for phase in phases for group in phase.config.subgroups}
    references = [field.reference.location for phase in phases for field in references_of(phase.tasks)]
    single = (place for place in references if isinstance(place, CaseColumns) and len(place.columns) == 1)
    given = (column for column in (SET, *bins) if column in data.columns)
    columns = dict.fromkeys((*given, *(place.columns[0] for place in single), *by))
    found = [Grouping(PHASE, data.phases, tuple(dict.fromkeys(data.phases)))]
    found += [_grouping(data, bins.get(column, Subgroup(column=column))) for column in columns]
    return [one for one in found if 2 <= len(one.groups) <= describe_data.MOST_CLASSES]


def _grouping(data: describe_data.Data, subgroup: Subgroup) -> Grouping:
    cells = data.columns.get(subgroup.column, ())
    labels = {cell: label_of(subgroup, cell) for cell in dict.fromkeys(cells)}
    ordered = sorted(filter(None, labels), key=_order)
    groups = tuple(dict.fromkeys(labels[cell] for cell in ordered))
    return Grouping(subgroup.column, tuple(labels[cell] for cell in cells), groups)


def _order(cell: str) -> tuple[bool, float, str]:
    """Return a key that sorts numbers by size, then texts by letters."""
    return (False, parse_number(cell), "") if is_number(cell) else (True, 0.0, cell)


def _problems(phases: Sequence[Phase], data: describe_data.Data, by: Sequence[str]) -> Iterator[str]:
    binned = {group.column for phase in phases for group in phase.config.subgroups if group.bins}
    for column in by:
        if column not in data.columns:
            known = ", ".join(data.columns)
            yield f"--by {column}: is not a column of {FILE_NAME}; its columns are {known}"
            continue
        different = len({cell for cell in data.columns[column] if cell})
        if column not in binned and different > describe_data.MOST_CLASSES:
            numbers = describe_data.are_numbers(data.columns[column])
            remedy = "; bins of [[subgroups]] in phase.toml group numbers" if numbers else ""
            expected = f"at most {describe_data.MOST_CLASSES} different values"
            yield f"--by {column}: expected {expected}, found {different}{remedy}"


# --- Tests of a quantity between groups: Kruskal–Wallis over all, rank-sum between two ---

KRUSKAL_WALLIS, RANK_SUM = "Kruskal–Wallis", "rank-sum"
_FEWEST = 5
"""Fewest values in a group for a good approximation of the Kruskal–Wallis statistic."""


@dataclass(frozen=True)
class TestOfGroups:
    """A test of one quantity between groups: all of them, or the first against the second.

    ``statistic``: H of Kruskal–Wallis, or U of the first group. ``p_bonferroni``: p times the number of
    rank-sum tests of this quantity between these groups, at most 1; for Kruskal–Wallis p itself. ``note``:
    why there is no p, or why it is rough.
    """

    __test__ = False

    method: str
    first: str
    second: str
    statistic: float | None
    p_value: float | None
    p_bonferroni: float | None
    note: str = ""


def compare_groups(values: Mapping[str, Floats], against: str | None = None) -> list[TestOfGroups]:
    """Return the tests between groups of independent values, without the groups that have no value.

    More than two groups: the Kruskal–Wallis test over all of them, then Wilcoxon's two-sided rank-sum test
    (Mann–Whitney U) of every pair, or with ``against`` only of that group and each other one, with
    Bonferroni's correction for these pairs. Two groups: the rank-sum test alone. It is exact for up to eight
    values in the smaller group where no values are tied, as SciPy chooses, else by the normal approximation
    with corrections for ties and continuity. Where ``against`` has no value, no pair is tested. Source:
    Orlando et al. 2020, Med. Image Anal. 59:101570 (REFUGE), section 3.1.
    """
    given = {group: numbers for group, numbers in values.items() if len(numbers)}
    if len(given) < 2:
        return []
    pairs = list(combinations(given, 2))
    if against is not None:
        pairs = [(against, group) for group in given if group != against] if against in given else []
    found = [_test(RANK_SUM, a, b, (given[a], given[b]), len(pairs)) for a, b in pairs]
    return [_test(KRUSKAL_WALLIS, "", "", tuple(given.values()), 1), *found] if len(given) > 2 else found


def _test(
    method: str, first: str, second: str, groups: Sequence[Floats], number_of_tests: int
) -> TestOfGroups:
    pooled = np.concatenate(groups)
    if (pooled == pooled[0]).all():
        return TestOfGroups(method, first, second, None, None, None, "all values are equal")
    note = ""
    if method == RANK_SUM:
        found = stats.mannwhitneyu(*groups, alternative="two-sided")
    else:
        found = stats.kruskal(*groups)
        if min(map(len, groups)) < _FEWEST:
            note = f"rough: a group has fewer than {_FEWEST} values"
    p_value = float(found.pvalue)
    corrected = min(1.0, p_value * number_of_tests)
    return TestOfGroups(method, first, second, float(found.statistic), p_value, corrected, note)


# --- The parts of a description of data; it is for the organiser alone ---

FORMAT: Literal["description/1"] = "description/1"
ALL = ""
"""The name of the grouping, and of the group, of all cases."""


@dataclass(frozen=True)
class CaseGroup:
    """A group of cases and its share; ``clusters``: how many clusters (such as patients) they come from."""

    grouping: str
    group: str
    cases: int
    share: float
    clusters: int | None = None


@dataclass(frozen=True)
class NumberRow:
    """The distribution of a quantity in a group.

    cases: with a value. of: for which the quantity could be measured. values: their number, more than cases
    for objects. total: their sum. Standard deviation: ddof = 1, None for a single value. Quartiles: linear.
    """

    quantity: describe_data.Quantity
    grouping: str
    group: str
    cases: int
    of: int
    values: int
    total: float
    mean: float
    standard_deviation: float | None
    minimum: float
    lower_quartile: float
    median: float
    upper_quartile: float
    maximum: float


@dataclass(frozen=True)
class ClassRow:
    """How many cases of a group are of a class; ``of``: how many have any class."""

    quantity: describe_data.Quantity
    value: str
    grouping: str
    group: str
    cases: int
    of: int
    share: float


@dataclass(frozen=True)
class TestRow:
    """A test of a quantity between the groups of a grouping; ``significant`` at the level of the description.

    Significance is by the corrected p, see `TestOfGroups`.
    """

    __test__ = False

    quantity: describe_data.Quantity
    grouping: str
    test: TestOfGroups
    significant: bool | None


@dataclass(frozen=True)
class QuantityValues:
    """Every value of a quantity, for figures: the case of each, by its position among the cases."""

    quantity: describe_data.Quantity
    cases: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True)
class Description:
    """The output of `describe`. It holds the labels of single cases and is for the organiser alone.

    ``cases`` are the names of the cases, phase by phase; ``groupings`` give the group of each.
    """

    format: Literal["description/1"]
    challenge: str
    phases: tuple[str, ...]
    alpha: float
    cases: tuple[str, ...]
    groupings: tuple[Grouping, ...]
    groups: tuple[CaseGroup, ...]
    numbers: tuple[NumberRow, ...]
    classes: tuple[ClassRow, ...]
    tests: tuple[TestRow, ...]
    columns: tuple[QuantityValues, ...]
    notices: tuple[str, ...] = ()


# --- The description of a data set: counts, sizes and distributions, by groups and with tests ---


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
    objects of one case are not independent. Raises `PhaseError` for phases of different challenges,
    for an unknown column or group, and with every fault of the references.
    """
    challenges = {phase.challenge.name for phase in phases}
    if len(challenges) > 1:
        raise PhaseError(f"expected phases of one challenge, found {', '.join(sorted(challenges))}")
    names = Counter(phase.config.name for phase in phases)
    if repeated := [name for name, count in names.items() if count > 1]:
        raise PhaseError(f"expected each phase once, found {', '.join(repeated)} again")
    data = describe_data.data_of(phases, progress)
    groupings = groupings_of(phases, data, by)
    if against is not None and not any(against in one.groups for one in groupings):
        known = ", ".join(group for one in groupings for group in one.groups)
        raise PhaseError(f"--against {against}: is no group; the groups are {known or 'none'}")
    every = (Grouping(ALL, (ALL,) * len(data.cases), (ALL,)), *groupings)
    return Description(
        FORMAT,
        phases[0].challenge.name,
        tuple(names),
        alpha,
        data.cases,
        tuple(groupings),
        tuple(row for one in every for row in _groups(data, one)),
        tuple(row for column in data.numbers for one in every for row in _number_rows(column, one)),
        tuple(row for column in data.classes for one in every for row in _class_rows(column, one)),
        tuple(
            TestRow(column.quantity, one.name, test, None if (p := test.p_bonferroni) is None else p < alpha)
            for column in data.numbers
            if column.quantity.per == "case"
            for one in groupings
            for test in _tests(column, one, against)
        ),
        tuple(
            QuantityValues(column.quantity, tuple(column.cases.tolist()), tuple(map(float, column.values)))
            for column in data.numbers
        ),
        (*data.notices, *_notices(data)),
    )


def _groups(data: describe_data.Data, grouping: Grouping) -> list[CaseGroup]:
    cells = np.array(data.columns.get(CLUSTER_COLUMN, ()), dtype=np.str_)
    return [
        CaseGroup(
            grouping=grouping.name,
            group=group,
            cases=int(chosen.sum()),
            share=float(chosen.mean()),
            clusters=_clusters(cells[chosen].tolist()) if (cells != "").any() else None,
        )
        for group, chosen in grouping.members.items()
    ]


def _clusters(cells: Sequence[str]) -> int:
    """Return the number of clusters of cases; a case without one counts as a cluster."""
    return len({cell for cell in cells if cell}) + cells.count("")


def _number_rows(column: describe_data.NumberColumn, grouping: Grouping) -> Iterator[NumberRow]:
    for group, chosen in grouping.members.items():
        inside = chosen[column.cases]
        values = column.values[inside]
        if not values.size:
            continue
        cases, of = np.unique(column.cases[inside]).size, np.count_nonzero(chosen & column.could_have)
        spread = float(values.std(ddof=1)) if values.size > 1 else None
        quantiles = np.quantile(values, (0, 0.25, 0.5, 0.75, 1)).tolist()
        place, sums = (column.quantity, grouping.name, group), (float(values.sum()), float(values.mean()))
        yield NumberRow(*place, int(cases), int(of), int(values.size), *sums, spread, *quantiles)


def _class_rows(column: describe_data.Classes, grouping: Grouping) -> Iterator[ClassRow]:
    """Yield the classes of each group; a column says nothing about its own groups."""
    if column.quantity.name == grouping.name:
        return
    cells = np.array(column.cells, dtype=np.str_)
    for group, chosen in grouping.members.items():
        counts = Counter(cells[chosen & (cells != "")].tolist())
        of = counts.total()
        for value in column.values if of else ():
            share = counts[value] / of
            yield ClassRow(column.quantity, value, grouping.name, group, counts[value], of, share)


def _tests(column: describe_data.NumberColumn, grouping: Grouping, against: str | None) -> list[TestOfGroups]:
    values = {group: column.values[chosen[column.cases]] for group, chosen in grouping.members.items()}
    return compare_groups(values, against if against in grouping.groups else None)


def _notices(data: describe_data.Data) -> Iterator[str]:
    clusters = data.columns.get(CLUSTER_COLUMN, ())
    number = _clusters(clusters)
    if any(clusters) and number < len(clusters):
        independent = f"the tests treat the {len(clusters)} cases as independent"
        yield f"{independent}, though they come from {number} clusters"
