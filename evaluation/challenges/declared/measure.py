"""A declared metric: its columns of a case, and its aggregation over cases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.table import DeclaredTable, key, title_of
from evaluation.core.case_table import CaseTable, Row
from evaluation.core.challenge import Values
from evaluation.core.form import CaseForm
from evaluation.core.metric import Metric

Derived = TypeVar("Derived")


class Comparison:
    """The submitted value of one field of one case, with its reference.

    ``references`` holds the reference values of all fields and hidden fields by name. Metrics of one field
    share intermediate results (see `derive`).
    """

    def __init__(self, field: str, submitted: Any, references: Values) -> None:
        self.field = field
        self.submitted = submitted
        self.references = references
        self._derived: dict[Hashable, Any] = {}

    @property
    def reference(self) -> Any:
        """The reference value of the field, read when it is first needed."""
        return self.references[self.field]

    def derive(self, key: Hashable, function: Callable[[Comparison], Derived]) -> Derived:
        """Return ``function(self)``, computed at the first call with this key and kept."""
        if key not in self._derived:
            self._derived[key] = function(self)
        derived: Derived = self._derived[key]
        return derived


def no_columns(case: CaseForm, references: Values) -> Row:
    """Return no column: the worst values follow from the metrics."""
    return {}


def no_details(table: CaseTable) -> Mapping[str, Any]:
    """Return nothing further for the organiser."""
    return {}


@dataclass(frozen=True)
class Measure:
    """The figures of one declared metric.

    ``row`` returns the columns of a case; columns that several metrics share have one name and one content.
    ``worst`` returns the columns of a case without a result that do not follow from the metrics, as
    `core.challenge.Task.worst` does. ``details`` returns further content of the organiser's per-case file by
    key; metrics that share a key give it the same content.
    """

    metrics: tuple[Metric, ...]
    row: Callable[[Comparison], Row]
    worst: Callable[[CaseForm, Values], Row] = no_columns
    details: Callable[[CaseTable], Mapping[str, Any]] = no_details


class MetricTable(DeclaredTable, ABC):
    """One metric of a task; a subclass for each, told apart by ``metric``.

    A subclass sets ``metric: Literal["..."]`` and ``kinds``, and its docstring is the metric's card.
    """

    metric: str
    field: str | None = key("The field that is scored. Default: the only field of the phase.", None)
    title: str | None = key("Title of the figure. Default: the metric's name in words.", None)

    kinds: ClassVar[tuple[type[FieldTable], ...]] = ()
    own_title: ClassVar[str] = ""
    """Title of a figure that has the metric's own name, where that is not its words."""

    @abstractmethod
    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the figures of this metric under a name, for a field of one of its ``kinds``.

        Raises ValueError for options that do not fit the field, for example a label that it does not have.
        """

    def title_of(self, name: str) -> str:
        """Return the title of the figure of that name."""
        own_title = self.own_title if name == self.metric else ""
        return self.title or own_title or title_of(name)
