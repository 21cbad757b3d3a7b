"""From the tables of `phase.toml` to the challenge that they declare."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Annotated, Any, ClassVar

import pydantic
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import PydanticCustomError

from evaluation.challenges.declared.declarable import FIELDS, METRICS, Name, beside, metrics_for, names_of
from evaluation.challenges.declared.names import READING
from evaluation.challenges.declared.tables import (
    FieldComparison,
    FieldTable,
    Measure,
    MetricTable,
    title_of,
)
from evaluation.core.case_table import Row
from evaluation.core.challenge import Challenge, Composite, Options, Reading, Task, Values, metrics_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import HiddenField
from evaluation.core.form import CaseForm
from evaluation.core.keys import Key, KeyTable, Weight
from evaluation.core.metric import Metric
from evaluation.core.scheme import Board, Method, MethodName, Scheme, Term, Ties
from evaluation.phase.config import DECLARED
from evaluation.phase.registry import RUN_TIME


class RankingTable(KeyTable):
    """How teams are ranked: by the mean of their ranks in some metrics, or by leaderboards of one's own."""

    metrics: list[str] = Key(default=[])
    weights: dict[str, Weight] = Key(default={}, strict=False)
    boards: tuple[Board, ...] = Key(default=(), strict=False)
    overall: str | None = None
    method: MethodName = "mean-then-rank"
    ties: Ties = "min"

    @pydantic.model_validator(mode="after")
    def _metrics_or_boards(self) -> RankingTable:
        if self.boards and (self.metrics or self.weights):
            raise ValueError("expected metrics with weights, or boards, found both")
        if self.overall is not None and not self.boards:
            raise ValueError("overall: expected boards")
        if unknown := [name for name in self.weights if name not in self.metrics]:
            raise ValueError(f"weights: {', '.join(unknown)} is not among the metrics")
        return self

    def scheme(self, default: tuple[str, ...]) -> Scheme:
        """Return the scheme; ``default`` are the metrics where the table has none. Raises ValueError."""
        boards = self.boards
        if not boards:
            terms = tuple(
                Term(rank=name, weight=self.weights.get(name, Decimal(1))) for name in self.metrics or default
            )
            boards = (Board("overall", terms, combination="sum" if self.weights else "mean"),)
        overall = self.overall or boards[-1].name
        return Scheme(boards, overall, method=Method(self.method), ties=self.ties)


class CompositeTable(KeyTable):
    """One figure that is the weighted sum of several metrics."""

    title: str | None = None
    weights: dict[str, float] = Key(min_length=1)
    constant: float = 0.0

    def composite(self, name: str, metrics: Mapping[str, Metric]) -> Composite:
        """Return the composite. Raises ValueError where its best and worst values are not finite."""
        names, weights = tuple(self.weights), tuple(self.weights.values())

        def combine(*values: float) -> float:
            return self.constant + sum(weight * value for weight, value in zip(weights, values, strict=True))

        best = combine(*(metrics[metric].best for metric in names))
        worst = combine(*(metrics[metric].worst for metric in names))
        return Composite(name, self.title or title_of(name), names, combine, best, worst)

    def problems(self, metrics: Mapping[str, Metric]) -> list[str]:
        """Return faults of the weights: unknown metrics, and those that pull in both directions."""
        unknown = [name for name in self.weights if name not in metrics]
        if unknown:
            return [f"{name!r} is not a metric of this phase" for name in unknown]
        directions: set[Any] = {
            (weight > 0) == (metrics[name].better == "higher")
            for name, weight in self.weights.items()
            if weight
        }
        if len(directions) != 1:
            return ["expected weights under which one direction is better for all metrics"]
        return []


def prepare(names: Sequence[str]) -> None:
    """Import and build the tables of some kinds and metrics, for all processes forked from this one."""
    FIELDS.prepare(names)
    METRICS.prepare(names)


# --- From the tables of `phase.toml` to the challenge that they declare ---

_RECORD = "declaration"


class TaskTable(KeyTable):
    """A part of the challenge that is scored by itself."""

    title: str | None = None
    optional: bool = False
    metrics: dict[Name, Annotated[MetricTable, METRICS]] = Key(min_length=1)

    @pydantic.field_validator("metrics", mode="before")
    @classmethod
    def _named(cls, metrics: object) -> object:
        """Return a table for each metric, from a list of names or tables without ``metric``."""
        if isinstance(metrics, list) and all(isinstance(name, str) for name in metrics):
            metrics = {name: {} for name in metrics}
        if not isinstance(metrics, dict):
            return metrics
        return {
            name: {"metric": name, **options} if isinstance(options, dict) else options
            for name, options in metrics.items()
        }


class DeclaredOptions(Options):
    """A challenge that is declared in `phase.toml`: what is submitted, and how it is scored.

    These tables are written without `[options]`, and without the key `challenge`.
    """

    key_prefix: ClassVar[str] = ""

    fields: dict[Name, Annotated[FieldTable, FIELDS]] = Key(min_length=1)
    tasks: dict[Name, TaskTable] = Key(min_length=1)
    ranking: RankingTable = RankingTable()
    composites: dict[Name, CompositeTable] = Key(default={})
    own_metrics: SkipJsonSchema[dict[str, Any] | None] = Key(
        default=None, description="The functions of `metrics.py`; it stands in no file."
    )

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _metrics_of_the_kind(
        cls, options: object, handler: pydantic.ModelWrapValidatorHandler[DeclaredOptions]
    ) -> DeclaredOptions:
        """Answer an unknown metric with the one that is meant, or with all of its field's kind.

        A metric without a field gets the only one that it scores. Metrics of the phase's own are known.
        """
        if isinstance(options, dict) and options.keys() == {_RECORD} and isinstance(options[_RECORD], str):
            options = json.loads(options[_RECORD])  # of `recorded`
        own = options.get("own_metrics") if isinstance(options, dict) else None
        tables: Mapping[str, type[MetricTable]] = {}
        if own is not None:
            from evaluation.challenges.declared.own import own_tables  # most phases have no function

            tables = own_tables(own)
        with beside(tables):
            return cls._read(options, handler, list(tables))

    @classmethod
    def _read(
        cls,
        options: object,
        handler: pydantic.ModelWrapValidatorHandler[DeclaredOptions],
        own: Sequence[str],
    ) -> DeclaredOptions:
        try:
            return handler(options)._with_fields()._with_used()
        except pydantic.ValidationError as error:
            faults: list[Any] = error.errors(include_url=False)
            meant = set()
            for fault in faults:
                if fault["type"] == "union_tag_invalid" and fault["loc"][:1] == ("tasks",):
                    fields = options.get("fields") if isinstance(options, dict) else None
                    kind = _kind_of(fields, fault["input"].get("field"))
                    if answer := _usual_name(fault["ctx"]["tag"], kind):
                        fault["type"] = PydanticCustomError("usual_name", "{answer}", {"answer": answer})
                        meant.add((*fault["loc"], "[key]"))
                    elif known := metrics_for(kind):
                        fault["ctx"]["expected_tags"] = ", ".join(map(repr, [*own, *known]))
            faults = [fault for fault in faults if fault["loc"] not in meant]
            raise pydantic.ValidationError.from_exception_data(error.title, faults) from None

    def _with_used(self) -> DeclaredOptions:
        """Return the options without the functions that no metric names."""
        if self.own_metrics is None:
            return self
        named = {table.metric for task in self.tasks.values() for table in task.metrics.values()}
        functions = {name: of for name, of in self.own_metrics["functions"].items() if name in named}
        used = {**self.own_metrics, "functions": functions} if functions else None
        return self.model_copy(update={"own_metrics": used})

    def _with_fields(self) -> DeclaredOptions:
        if len(self.fields) == 1:
            return self

        def scored(table: MetricTable) -> MetricTable:
            fitting = [name for name, field in self.fields.items() if isinstance(field, table.kinds)]
            return table.model_copy(update={"field": fitting[0]}) if len(fitting) == 1 else table

        tasks = {
            name: task.model_copy(
                update={
                    "metrics": {
                        figure: scored(table) if table.field is None else table
                        for figure, table in task.metrics.items()
                    }
                }
            )
            for name, task in self.tasks.items()
        }
        return self.model_copy(update={"tasks": tasks})

    def as_values(self) -> dict[str, Any]:
        values = self.model_dump(mode="json", exclude_defaults=True)
        return {name: tables for name, tables in values.items() if tables}

    def form_options(self) -> dict[str, object]:
        """Return the declaration, which decides the form of a submission."""
        return self.as_values()

    def recorded(self) -> dict[str, Any]:
        """Return the declaration as one text: its keys, such as names of metrics, are no keys of a result."""
        return {_RECORD: json.dumps(self.as_values())}


def field_tables(options: Options) -> Mapping[str, FieldTable]:
    """Return the tables of declared fields by name; none of a challenge that is programmed."""
    return options.fields if isinstance(options, DeclaredOptions) else {}


def metric_tables(options: Options, task: str) -> Mapping[str, MetricTable]:
    """Return the tables of a task's declared metrics by name; none of a task that is programmed."""
    if isinstance(options, DeclaredOptions) and task in options.tasks:
        return options.tasks[task].metrics
    return {}


def table_of_figure(tables: Mapping[str, MetricTable], figure: str) -> MetricTable | None:
    """Return the table whose metric yields a figure: "name", or of one of several labels "name_label"."""
    known = [name for name in tables if figure == name or figure.startswith(f"{name}_")]
    return tables[max(known, key=len)] if known else None


def _kind_of(fields: object, name: object) -> str | None:
    """Return the kind of the named field or the only one, as a file has it; None where it is not known."""
    declared = fields if isinstance(fields, dict) else {}
    field = declared.get(
        name if name in declared else next(iter(declared), None) if len(declared) == 1 else None
    )
    kind = field.get("kind") if isinstance(field, dict) else None
    return kind if isinstance(kind, str) and FIELDS.named(kind) is not None else None


def _usual_name(name: str, kind: str | None) -> str:
    """Return the words for a metric by a usual name, nothing for a name that is none."""
    from evaluation.challenges.declared.aliases import meant_by  # read where a name is unknown

    meant = meant_by(name, kind)
    return f"{name!r} is {' or '.join(map(str, meant))} here" if meant else ""


@dataclass(frozen=True)
class _Scored:
    """A measure, the fields that it scores (its own first), and the further labels that it needs."""

    fields: tuple[str, ...]
    measure: Measure
    labels: tuple[HiddenField, ...]


def declared_tasks(options: DeclaredOptions) -> tuple[Task, ...]:
    """Return the declared tasks. Raises `PhaseError` listing every fault."""
    problems: list[str] = []
    used = {name: set[str]() for name in options.fields}
    tasks = []
    for name, table in options.tasks.items():
        if name == RUN_TIME:
            problems.append(f"tasks.{name}: expected another name, since {RUN_TIME!r} is a task of its own")
        scored = list(_measures(f"tasks.{name}", table, options.fields, used, problems))
        tasks.append(_task(name, table, options.fields, scored))
        figures = [metric.name for metric in tasks[-1].metrics]
        twice = sorted({figure for figure in figures if figures.count(figure) > 1})
        problems += [f"tasks.{name}: several metrics yield a figure {figure!r}" for figure in twice]
    problems += [
        f"fields.{name}: no metric uses this field"
        for name, users in used.items()
        if not users and not problems
    ]
    PhaseError.raise_all(problems)
    return tuple(tasks)


def declare(options: DeclaredOptions) -> Challenge:
    """Return the declared challenge. Raises `PhaseError` listing every fault."""
    tasks = declared_tasks(options)  # what follows names metrics, which are known of tasks without a fault
    metrics = metrics_of(tasks)
    problems = [
        f"composites.{name}: {problem}"
        for name, composite in options.composites.items()
        for problem in composite.problems(metrics)
    ]
    first = tuple(f"{task.name}.{task.metrics[0].name}" for task in tasks if task.metrics[0].ordered)
    try:
        scheme = options.ranking.scheme(first)
    except ValueError as error:
        raise PhaseError(*problems, f"ranking: {error}") from None
    known = [*metrics, *options.composites]
    problems += [
        f"ranking: {name!r} is not a metric of this phase; known are {', '.join(known)}"
        for name in scheme.metrics
        if name not in known
    ]
    PhaseError.raise_all(problems)
    composites = tuple(table.composite(name, metrics) for name, table in options.composites.items())
    columns = {column.name: column for table in options.fields.values() for column in table.form_columns()}
    return Challenge(
        name=DECLARED,
        title=" and ".join(task.title for task in tasks),
        options=DeclaredOptions,
        tasks=lambda options: tasks,
        components=scheme.metrics,
        form_columns=tuple(columns.values()),
        composites=composites,
        ranking=lambda options: scheme,
        reading=partial(_reading, tasks=tasks),
    )


def _measures(
    place: str,
    table: TaskTable,
    fields: Mapping[str, FieldTable],
    used: Mapping[str, set[str]],
    problems: list[str],
) -> Iterator[_Scored]:
    """Yield the measures of a task, and add their faults to ``problems``."""
    for name, metric in table.metrics.items():
        here = f"{place}.metrics.{name}"
        field_name = metric.field or (next(iter(fields)) if len(fields) == 1 else None)
        if field_name is None:
            fitting = [one for one, of in fields.items() if isinstance(of, metric.kinds)]
            if fitting:
                problems.append(f"{here}.field: expected one of {', '.join(fitting)}, found none")
            else:
                kinds = " or ".join(names_of(metric.kinds))
                problems.append(f"{here}: {metric.metric!r} scores kind {kinds}, which no field is of")
        elif field_name not in fields:
            problems.append(f"{here}.field: expected one of {', '.join(fields)}, found {field_name!r}")
        elif not isinstance(fields[field_name], metric.kinds):
            kinds = " or ".join(names_of(metric.kinds))
            found = fields[field_name].kind
            meant = _usual_name(metric.metric, found)
            problems.append(
                f"{here}: {metric.metric!r} scores kind {kinds}, field {field_name!r} is of kind {found}"
                f"{'; ' * bool(meant)}{meant}"
            )
        else:
            used[field_name].add(here)
            try:
                names = (field_name, *metric.further_fields(fields[field_name], fields))
                for further in names:
                    used[further].add(here)
                own = fields[field_name]
                yield _Scored(names, metric.measured(name, field_name, own), metric.further_labels(own))
            except ValueError as error:
                problems.append(f"{here}: {error}")


def _task(name: str, table: TaskTable, fields: Mapping[str, FieldTable], scored: Sequence[_Scored]) -> Task:
    names = tuple(dict.fromkeys(field for item in scored for field in item.fields))

    def score(submitted: Values, references: Values) -> Row:
        comparisons = {
            of: FieldComparison(of, submitted[of], references, submitted) for of in names if of in submitted
        }
        row: dict[str, Any] = {}
        for item in scored:
            if comparisons.keys() >= set(item.fields):
                row |= item.measure.row(comparisons[item.fields[0]])
        return row

    def worst(case: CaseForm, references: Values) -> Row:
        row: dict[str, Any] = {}
        for item in scored:
            row |= item.measure.worst(references)
        return row

    metrics = tuple(metric for item in scored for metric in item.measure.metrics)
    return Task(
        name=name,
        title=table.title or title_of(name),
        fields=tuple(fields[field].field(field) for field in names),
        score=score,
        metrics=metrics,
        worst=worst,
        hidden=(
            *(hidden for field in names for hidden in fields[field].hidden(field)),
            *{label.name: label for item in scored for label in item.labels}.values(),
        ),
        optional=table.optional,
        unpublished=frozenset(filter(None, (metric.estimator.group_column for metric in metrics))),
        undefined=lambda references: {
            column for item in scored for column in item.measure.undefined(references)
        },
        notices=lambda cases: [
            f"metrics.{key}: {metric.caution}" for key, metric in table.metrics.items() if metric.caution
        ],
        details=lambda table: {
            key: content for item in scored for key, content in item.measure.details(table).items()
        },
    )


def _reading(options: DeclaredOptions, tasks: Sequence[Task]) -> Reading:
    """Return what readers need: the tables of fields, and which of them each task has."""
    fields = options.model_dump(mode="json", exclude_defaults=True, include={"fields"})
    of_task = {
        task.name: {"title": task.title, "fields": [field.name for field in task.fields]} for task in tasks
    }
    modules = (type(table).__module__ for table in options.fields.values())
    return Reading(READING, {**fields, "tasks": of_task}, tuple(dict.fromkeys(modules)))


def _no_tasks(options: DeclaredOptions) -> tuple[Task, ...]:
    raise TypeError("a declared challenge has no tasks before `declare`")


CHALLENGE = Challenge(
    name=DECLARED,
    title="A challenge declared in phase.toml",
    options=DeclaredOptions,
    tasks=_no_tasks,
    components=(),
    declare=declare,
)
