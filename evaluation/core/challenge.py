"""A challenge: its tasks, its options and the components of its ranking."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isinf
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from evaluation.core.case_table import CaseTable, Row, ScoredCases
from evaluation.core.field import AnyField, Field, HiddenField
from evaluation.core.form import CaseForm
from evaluation.core.keys import IN_FORM, KeyTable
from evaluation.core.metric import Metric
from evaluation.core.scheme import Scheme

if TYPE_CHECKING:
    from evaluation.core.operating_rule import OperatingRule

Values = Mapping[str, Any]


# Its reader is built with the class, once for all processes that are forked from this one.
class Options(KeyTable, strict=False, defer_build=False):
    """Typed options of a challenge, the table ``[options]`` of a phase; unknown keys are errors.

    ``key_prefix`` precedes a key of the options where a message names it as a key of `phase.toml`.
    """

    key_prefix: ClassVar[str] = "options."

    def as_values(self) -> dict[str, Any]:
        """Return the options as values of JSON, from which they are read again."""
        return self.model_dump(mode="json")

    def form_options(self) -> dict[str, object]:
        """Return the options that decide the format of a submission; only these enter the form."""
        values = self.as_values()
        fields = type(self).model_fields
        return {name: value for name, value in values.items() if IN_FORM in fields[name].metadata}

    def recorded(self) -> dict[str, Any]:
        """Return the options as `metrics.json` holds them, from which they are read again."""
        return self.as_values()


@dataclass(frozen=True)
class Task:
    """A part of a challenge that is scored by itself.

    The task's cases have at least one of its fields. ``score`` takes the values of the fields by name,
    submitted and reference, and returns the case's row of columns. It is called if at least one of the case's
    fields was submitted; columns that it does not return take their worst values. ``worst`` returns the worst
    columns that do not follow from the metrics (see `worst_row`); by default all do.

    ``hidden`` are further labels that scoring needs; they are not fields, since they are not submitted. A
    submission may leave out an ``optional`` task.

    ``operating_point``: the threshold of its likelihood that is reported to the organiser; no metric need use
    it. A task without fields scores how long the algorithm ran for a case, its ``run_seconds``.

    ``undefined`` returns from the references the columns that may be undefined though the case enters the
    metric in another submission, such as a label that counts only where it is predicted. With
    ``undefined_by_reference`` the arithmetic of ``score`` leaves columns undefined for the reference alone,
    and no reference is looked at twice to make sure.

    ``details`` returns further content of the organiser's per-case file, for example the points of a curve.
    ``notices`` returns warnings about a reference for its organiser, one sentence each, for example that a
    mean over classes lacks a class. Metrics that do not exist are reported without a notice.

    ``classifiers`` names columns that score the label of another task, such as the cup-to-disc ratio for
    glaucoma; `rank` compares them with the submitted likelihood. ``unpublished`` names columns that only the
    organiser's file holds, even if a phase publishes its cases.
    """

    name: str
    title: str
    fields: tuple[Field, ...]
    score: Callable[[Values, Values], Row]
    metrics: tuple[Metric, ...]
    worst: Callable[[CaseForm, Values], Row] = lambda case, reference: {}
    hidden: tuple[HiddenField, ...] = ()
    optional: bool = False
    operating_point: OperatingRule | None = None
    undefined: Callable[[Values], Collection[str]] = lambda reference: ()
    undefined_by_reference: bool = False
    details: Callable[[CaseTable], Mapping[str, Any]] = lambda table: {}
    notices: Callable[[CaseTable], Sequence[str]] = lambda table: ()
    classifiers: tuple[str, ...] = ()
    unpublished: frozenset[str] = frozenset()

    @cached_property
    def number_columns(self) -> frozenset[str]:
        """The columns that are a number for each case, as far as the metrics tell."""
        columns: set[str | None] = set()
        for estimator in (metric.estimator for metric in self.metrics):
            columns.add(estimator.case_column)
            if estimator.curve:
                columns |= {estimator.curve.score, estimator.curve.label}
        return frozenset(column for column in columns if column is not None)

    @cached_property
    def text_columns(self) -> frozenset[str]:
        """The columns of texts, which name the groups of cases."""
        named = (metric.estimator.group_column for metric in self.metrics)
        return frozenset(column for column in named if column is not None)

    def fields_for(self, case: CaseForm) -> tuple[Field, ...]:
        """Return the fields that a case has; none where the case is not of this task."""
        return tuple(field for field in self.fields if field.cases(case))

    def unannounced(self, undefined: Sequence[str], case: CaseForm, reference: Values) -> Row:
        """Return the worst values of those of the undefined columns that are so because of the prediction.

        Whether a case enters a metric follows from its reference alone, which announces a NaN in the row of a
        case without a result.
        """
        if self.undefined_by_reference:
            return {}
        known = self.worst(case, reference)  # all that is undefined by the reference
        if all(name in known and known[name] != known[name] for name in undefined):
            return {}
        worst, free = self.worst_row(case, reference), self.undefined(reference)
        return {
            name: worst[name]
            for name in undefined
            if name in worst and worst[name] == worst[name] and name not in free
        }

    def worst_row(self, case: CaseForm, reference: Values) -> Row:
        """Return all columns of a case whose result is missing or failed, see `worst_row`."""
        return worst_row(self.metrics, self.worst(case, reference))


@dataclass(frozen=True)
class FormColumn:
    """A column of the case table that participants know.

    With ``values`` a cell holds one of these; an empty cell or a missing column means the first. Without
    ``values`` the column is required and its cells hold any text, or so many ``lengths`` above 0, separated
    by spaces. A column can be of algorithm phases only.
    """

    name: str
    values: tuple[str, ...] = ()
    algorithm_only: bool = False
    lengths: int = 0


@dataclass(frozen=True)
class DerivedColumn:
    """A column for subgroups of cases that follows from labels in other columns of the case table.

    ``cell`` returns the value of a case from its row, empty where the case is in no subgroup.
    """

    needs: tuple[str, ...]
    cell: Callable[[Mapping[str, str]], str]


@dataclass(frozen=True)
class Composite:
    """One figure made of several metrics ("task.metric"), which ``combine`` takes in their order.

    It exists if all of them exist, and is written to the section ``ranking`` of metrics.json.
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
class Reading:
    """A challenge and options in place of another's, for readers of submissions: the same fields, no metric.

    ``modules`` are those of its kinds, imported once for all readers.
    """

    challenge: str
    options: Mapping[str, Any]
    modules: tuple[str, ...]


@dataclass(frozen=True)
class Challenge:
    """The rules of a challenge; one module of `evaluation.challenges` holds each.

    ``components`` names the metrics ("task.metric") that its ranking uses. ``score`` names the metric or
    composite that is the default score of the platform's leaderboard, else it is the first component.
    ``ranking`` returns the ranking scheme for the options; the default is the mean of the components' ranks.
    ``form_columns`` are the columns of the case table that participants know, beside name and size.
    ``counts`` says which of a team's submissions is ranked. ``provided`` names in words the data given with
    each image. ``analyses`` returns, from the options and all cases, further content of the organiser's
    per-case file that a single task's ``details`` cannot have. ``derived_columns`` returns, for the options,
    columns by name that `[[subgroups]]` can use beside those of the case table, for the organiser alone.

    With ``declare`` this is not a challenge of its own: the options of each phase declare one, which
    ``declare`` returns. It raises `PhaseError` listing every fault. Readers of submissions have what
    ``reading`` returns for the options, by default the challenge itself.
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
    counts: Literal["best", "last"] = "best"
    provided: tuple[str, ...] = ()
    analyses: Callable[[Any, ScoredCases], Mapping[str, Any]] = lambda options, cases: {}
    derived_columns: Callable[[Any], Mapping[str, DerivedColumn]] = lambda options: {}
    declare: Callable[[Any], Challenge] | None = None
    reading: Callable[[Any], Reading] | None = None

    def form_columns_of(self, submission: Literal["archive", "algorithm"]) -> tuple[FormColumn, ...]:
        """Return the columns that participants know of a phase with this kind of submission."""
        return tuple(
            column for column in self.form_columns if submission == "algorithm" or not column.algorithm_only
        )

    def composites_of(self, tasks: Iterable[Task]) -> tuple[Composite, ...]:
        """Return the composites made only of metrics of the given tasks."""
        known = metrics_of(tasks).keys()
        return tuple(composite for composite in self.composites if known >= set(composite.metrics))

    def figures_of(self, tasks: Iterable[Task]) -> dict[str, Metric | Composite]:
        """Return metrics by "task.metric" and composites by name: all that can be ranked."""
        tasks = tuple(tasks)
        return {**metrics_of(tasks), **{composite.name: composite for composite in self.composites_of(tasks)}}

    def parts_of(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return names of figures, each once, with each composite replaced by its metrics."""
        parts = {composite.name: composite.metrics for composite in self.composites}
        return tuple(dict.fromkeys(metric for name in names for metric in parts.get(name, (name,))))

    def titled(self, titles: Mapping[str, str]) -> Challenge:
        """Return the challenge whose composites have the titles that a phase gives them by name."""
        composites = (replace(one, title=titles.get(one.name, one.title)) for one in self.composites)
        return replace(self, composites=tuple(composites))


def metrics_of(tasks: Iterable[Task]) -> dict[str, Metric]:
    """Return the metrics of the given tasks by "task.metric"."""
    return {f"{task.name}.{metric.name}": metric for task in tasks for metric in task.metrics}


def with_titles(tasks: Iterable[Task], titles: Mapping[str, str]) -> tuple[Task, ...]:
    """Return tasks whose metrics have the titles that a phase gives them by "task.metric".

    Other titles take the words of the phase for what they measure: "Dice, disc" is "Dice, optic disc".
    """
    words = {name.replace("_", " "): word for name, word in titles.items()}

    def titled(task: Task, metric: Metric) -> Metric:
        what, comma, of = metric.title.rpartition(", ")
        default = f"{what}{comma}{words.get(of, of)}" if comma else metric.title
        return replace(metric, title=titles.get(f"{task.name}.{metric.name}", default))

    return tuple(replace(one, metrics=tuple(titled(one, metric) for metric in one.metrics)) for one in tasks)


def fields_of(tasks: Iterable[Task]) -> tuple[Field, ...]:
    """Return the fields of the given tasks, without duplicates, in their order."""
    return tuple({field.name: field for task in tasks for field in task.fields}.values())


def references_of(tasks: Iterable[Task]) -> tuple[AnyField, ...]:
    """Return the fields of the given tasks, then their hidden fields: everything that has a reference."""
    tasks = tuple(tasks)
    hidden = {field.name: field for task in tasks for field in task.hidden}
    return (*fields_of(tasks), *hidden.values())


def worst_row(metrics: Iterable[Metric], known: Row) -> Row:
    """Return the row of a case whose result is missing or failed; an empty prediction is scored differently.

    If a metric is the mean or share of a column, the column takes the metric's worst value. A likelihood is
    below every threshold for a positive and above every threshold for a negative. A decision is wrong.
    ``known`` holds the columns that do not follow from the metrics: the labels (NaN if the case does not
    enter a metric) and the columns of other aggregates. Raises ValueError if neither gives a finite value,
    as for a distance.
    """
    row: dict[str, object] = {}
    for metric in metrics:
        estimator = metric.estimator
        if isinf(metric.worst) and estimator.case_column not in {None, *known}:
            raise ValueError(
                f"{metric.name} has no finite worst value: its task must give {estimator.case_column!r}"
            )
        row |= estimator.missing(metric.worst, known)
    # A row that is completely known is not copied, since other cases may share it.
    return known if row.keys() <= known.keys() else {**row, **known}
