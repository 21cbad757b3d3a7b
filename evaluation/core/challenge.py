"""A challenge: its tasks, its options and the components of its ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pydantic
from pydantic import BaseModel, ConfigDict

from evaluation.core.case_table import CaseTable, Row
from evaluation.core.field import AnyField, Field, HiddenField
from evaluation.core.form import CaseForm
from evaluation.core.metric import Metric
from evaluation.core.scheme import Scheme
from evaluation.core.worst import worst_row

Values = Mapping[str, Any]


class Options(BaseModel):
    """Typed options of a challenge, the table ``[options]`` of a phase; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def form_options(self) -> dict[str, object]:
        """Return the options that decide what a submission looks like; only these enter the form."""
        dumped: dict[str, object] = self.model_dump(mode="json")
        return {
            name: dumped[name]
            for name, field in type(self).model_fields.items()
            if isinstance(field.json_schema_extra, dict) and field.json_schema_extra.get("in_form")
        }


def form_option(default: Any) -> Any:
    """Declare an option of `Options` on which the form of a submission depends."""
    return pydantic.Field(default=default, json_schema_extra={"in_form": True})


@dataclass(frozen=True)
class Task:
    """A part of a challenge that is scored by itself.

    Its cases are those that have at least one of its fields. ``score`` takes the values of the fields by
    name, submitted and reference, and returns the case's row of columns. It is called where any of the case's
    fields was submitted; of several, it returns the columns that follow from those that were, and the others
    take their worst values. ``worst`` returns the columns of a case whose result is missing or failed that do
    not follow from the metrics, see `worst_row`; by default all do.

    ``hidden`` are labels that scoring needs beside those of the fields; they are no fields, since nothing of
    them is submitted. A submission may hold nothing at all of an ``optional`` task.

    A task without fields scores how long the algorithm ran for a case: the values are its ``run_seconds``.

    ``details`` returns what the organiser's per-case file holds beside the columns, the points of a curve for
    example, or counts that only the reference knows. ``notices`` returns what an organiser should know of a
    reference before hosting it, one sentence each: where metrics exist and yet do not mean what their titles
    say, as a mean over classes of which the reference lacks one. Of metrics that do not exist, it is known.
    """

    name: str
    title: str
    fields: tuple[Field, ...]
    score: Callable[[Values, Values], Row]
    metrics: tuple[Metric, ...]
    worst: Callable[[CaseForm, Values], Row] = lambda case, reference: {}
    hidden: tuple[HiddenField, ...] = ()
    optional: bool = False
    details: Callable[[CaseTable], Mapping[str, Any]] = lambda table: {}
    notices: Callable[[CaseTable], Sequence[str]] = lambda table: ()

    def fields_for(self, case: CaseForm) -> tuple[Field, ...]:
        """Return the fields that a case has; none where the case is not of this task."""
        return tuple(field for field in self.fields if field.cases(case))

    def worst_row(self, case: CaseForm, reference: Values) -> Row:
        """Return all columns of a case whose result is missing or failed, see `evaluation.core.worst`."""
        return worst_row(self.metrics, self.worst(case, reference))


@dataclass(frozen=True)
class FormColumn:
    """A column of the case table that participants know.

    With ``values`` a cell holds one of these, and the first where it is empty or the table has no such
    column; without, a phase needs the column and its cells hold any text.
    """

    name: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Composite:
    """One figure made of several metrics ("task.metric"), which ``combine`` takes in their order.

    It exists where all of them do, and is written to the section ``ranking`` of metrics.json.
    """

    name: str
    title: str
    metrics: tuple[str, ...]
    combine: Callable[..., float]
    best: float
    worst: float

    @property
    def better(self) -> Literal["higher", "lower"]:
        """Which direction is better."""
        return "higher" if self.best > self.worst else "lower"


@dataclass(frozen=True)
class Challenge:
    """The rules of a challenge; one module of `evaluation.challenges` holds each.

    ``components`` names the metrics ("task.metric") that its ranking uses. ``score`` names the metric or
    composite that is the default score of the platform's leaderboard, else it is the first component.
    ``ranking`` makes its scheme of the options; without one, the mean of the components' ranks decides.
    ``form_columns`` are the columns of the case table that participants know, beside name and size.
    """

    name: str
    title: str
    options: type[Options]
    tasks: Callable[[Any], tuple[Task, ...]]
    components: tuple[str, ...]
    missing: Literal["reject", "worst"] = "reject"
    form_columns: tuple[FormColumn, ...] = ()
    composites: tuple[Composite, ...] = ()
    score: str | None = None
    ranking: Callable[[Any], Scheme] | None = None

    def composites_of(self, tasks: Iterable[Task]) -> tuple[Composite, ...]:
        """Return the composites all of whose metrics belong to the given tasks."""
        known = {f"{task.name}.{metric.name}" for task in tasks for metric in task.metrics}
        return tuple(composite for composite in self.composites if known.issuperset(composite.metrics))


def metrics_of(tasks: Iterable[Task]) -> dict[str, Metric]:
    """Return the metrics of the given tasks by the names under which rankings and settings know them."""
    return {f"{task.name}.{metric.name}": metric for task in tasks for metric in task.metrics}


def fields_of(tasks: Iterable[Task]) -> tuple[Field, ...]:
    """Return the fields of the given tasks, each once, in their order."""
    return tuple({field.name: field for task in tasks for field in task.fields}.values())


def references_of(tasks: Iterable[Task]) -> tuple[AnyField, ...]:
    """Return everything of the given tasks that has a reference: their fields, then their hidden fields."""
    tasks = tuple(tasks)
    hidden = {field.name: field for task in tasks for field in task.hidden}
    return (*fields_of(tasks), *hidden.values())
