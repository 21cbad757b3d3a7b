"""The parts of a description of data; it is for the organiser alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evaluation.organiser.describe_comparisons import TestOfGroups
from evaluation.organiser.describe_groups import Grouping
from evaluation.organiser.describe_quantities import Quantity

FORMAT: Literal["description/1"] = "description/1"
ALL = ""
"""The name of the grouping, and of the group, of all cases."""


@dataclass(frozen=True)
class Group:
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

    quantity: Quantity
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

    quantity: Quantity
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

    quantity: Quantity
    grouping: str
    test: TestOfGroups
    significant: bool | None


@dataclass(frozen=True)
class Column:
    """Every value of a quantity, for figures: the case of each, by its position among the cases."""

    quantity: Quantity
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
    groups: tuple[Group, ...]
    numbers: tuple[NumberRow, ...]
    classes: tuple[ClassRow, ...]
    tests: tuple[TestRow, ...]
    columns: tuple[Column, ...]
    notices: tuple[str, ...] = ()
