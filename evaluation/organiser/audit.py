"""How many bits of a phase's labels the published figures reveal to repeated submissions.

Every submission asks a question about the labels, which the published numbers answer. A number with n
possible values gives at most log2(n) bits, so that k bits of labels need at least k / log2(n) submissions.
All published numbers count against every label, also those of other tasks. That is a bound;
`evaluation.organiser.attack` tries real attacks.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.charts.published import CURVE_NUMBERS, has_curve
from evaluation.core.aggregation import ConfidenceInterval
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.metric import Metric
from evaluation.evaluate import scores_of_nothing
from evaluation.organiser.labels import Labels, bits_of_counts, hidden_labels, label_column
from evaluation.phase.leaderboard import Digits, digits_of
from evaluation.phase.phase import Phase
from evaluation.phase.scores import Scores
from evaluation.platform.result_file import SIGNIFICANT_DIGITS
from evaluation.summary import figures_of, public_subgroups

VALUE = "value"
_FULL: int = 10**SIGNIFICANT_DIGITS


@dataclass(frozen=True)
class LabelCountError:
    """A number of 0/1 labels in place of the phase's own."""

    positives: int
    cases: int


@dataclass(frozen=True)
class PublishedFigure:
    """The published numbers of a metric ("task.metric"), one or more.

    ``extent`` is the width of each number's range, ``digits`` the number of decimals. ``labels`` names the
    labels that enter the metric, ``exact`` is how many values it can take before rounding.
    """

    metric: str
    what: str
    numbers: int
    extent: float
    digits: int
    labels: str | None = None
    exact: int | None = None

    def values(self, digits: int | None = None) -> int:
        """Return how many values each number can take, as published or with at most the given decimals."""
        decimals = self.digits if digits is None else min(self.digits, digits)
        steps = round(self.extent * 10**decimals) + 1 if math.isfinite(self.extent) else _FULL
        return min(steps, _FULL, _FULL if self.exact is None else self.exact)

    def bits(self, digits: int | None = None) -> float:
        """Return the most bits that one submission learns from these numbers."""
        return self.numbers * math.log2(self.values(digits))


@dataclass(frozen=True)
class HiddenLabels:
    """Hidden labels: the number of cases of each class, which is assumed known."""

    name: str
    counts: tuple[int, ...]

    @property
    def bits(self) -> float:
        """The logarithm of the number of ways to assign these labels to the cases."""
        return bits_of_counts(self.counts)

    def submissions(self, bits_of_one: float) -> float:
        """Return the fewest submissions needed if each learns the given bits."""
        return math.ceil(self.bits / bits_of_one) if bits_of_one else math.inf


@dataclass(frozen=True)
class Disclosure:
    """All published figures of a phase and all its hidden labels."""

    figures: tuple[PublishedFigure, ...]
    labels: tuple[HiddenLabels, ...]

    def made_of(self, labels: HiddenLabels) -> tuple[PublishedFigure, ...]:
        """Return the values of the metrics that use these labels."""
        return tuple(
            figure for figure in self.figures if figure.labels == labels.name and figure.what == VALUE
        )


def bits_of(figures: Iterable[PublishedFigure], digits: int | None = None) -> float:
    """Return the most bits that one submission learns from all these figures."""
    return sum(figure.bits(digits) for figure in figures)


def audit(phase: Phase, workers: int, sizes: Mapping[str, LabelCountError] | None = None) -> Disclosure:
    """Return the bits that the results of a phase disclose.

    ``sizes``: other numbers of 0/1 labels, by name of the task. Raises `PhaseError` where the reference
    cannot be read.
    """
    scores = scores_of_nothing(phase, phase.tasks, workers)
    labels = hidden_labels(phase, scores.tables)
    sizes = sizes or {}
    hidden = []
    for label in labels:
        task, _, column = label.name.partition(".")
        counts = tuple(label.counts.values())
        if column and task in sizes:
            counts = (sizes[task].positives, sizes[task].cases - sizes[task].positives)
        hidden.append(HiddenLabels(label.name, counts))
    return Disclosure(tuple(_figures(scores, labels, sizes)), tuple(hidden))


def _figures(
    scores: Scores, labels: Sequence[Labels], sizes: Mapping[str, LabelCountError]
) -> Iterator[PublishedFigure]:
    """Yield all published figures, without derived numbers such as half-widths."""
    phase = scores.phase
    figures = figures_of(scores)
    groups = public_subgroups(figures.subgroups, phase.config)
    for task in scores.tasks:
        table = scores.tables[task.name]
        for metric in task.metrics:
            estimate = figures.aggregates[task.name].get(metric.name)
            if estimate is None:
                continue
            name = f"{task.name}.{metric.name}"
            digits = digits_of(phase.config, name)
            extent = _extent(metric, estimate.value)
            label = _label_of(task, metric, table, labels)
            exact = _exact_values(metric, table, sizes.get(task.name))
            yield PublishedFigure(name, VALUE, 1, extent, digits.value, label, exact)
            for field in dataclasses.fields(estimate):
                if field.name != VALUE and (numbers := _numbers(getattr(estimate, field.name))):
                    what = field.name.replace("_", " ")
                    yield PublishedFigure(name, what, numbers, extent, digits.spread, label)
            if "chart-roc" in phase.config.all_outputs.values() and has_curve(metric):
                yield PublishedFigure(name, "curve of the chart", CURVE_NUMBERS, 1.0, digits.spread, label)
            of_groups = (of_group for column in groups.values() for of_group in column.values())
            members = sum(metric.name in of_group.get(task.name, {}) for of_group in of_groups)
            if members:
                yield PublishedFigure(name, "subgroups", members, extent, digits.value, label)
        if phase.config.publish_cases:
            yield _cases(task, table, Digits(phase.config.value_digits, phase.config.spread_digits))


def _label_of(task: Task, metric: Metric, table: CaseTable, labels: Sequence[Labels]) -> str | None:
    """Return the labels that a metric compares with, or that decide which cases enter it."""
    column = label_column(metric)
    if column is not None:
        return next((label.name for label in labels if f"{task.name}.{column}" in label.names), None)
    column = metric.aggregate.share_column or metric.aggregate.spread_column
    if column is None:
        return None
    enters = zip(table.names, table[column].tolist(), strict=True)
    entering = {name for name, value in enters if not math.isnan(value)}
    return next((label.name for label in labels if entering in label.members.values()), None)


def _numbers(figure: Any) -> int:
    """Return how many numbers a published figure holds; a half-width follows from the others."""
    if isinstance(figure, ConfidenceInterval):
        return 2
    if isinstance(figure, Mapping):
        return sum(map(_numbers, figure.values()))
    return int(isinstance(figure, float))


def _cases(task: Task, table: CaseTable, digits: Digits) -> PublishedFigure:
    published = [column for column in table.column_names if column not in task.unpublished]
    return PublishedFigure(task.name, "per case", len(table) * len(published), math.inf, digits.value)


def _exact_values(metric: Metric, table: CaseTable, size: LabelCountError | None) -> int | None:
    """Return how many values a metric can take for these labels, or for given numbers; None: not counted."""
    column = label_column(metric)
    if size is not None and column is not None:
        rows = [{column: float(number < size.positives)} for number in range(size.cases)]
        table = CaseTable([str(number) for number in range(size.cases)], rows)
    aggregate = metric.aggregate
    if aggregate.resolution:
        return aggregate.resolution(table).values
    if aggregate.share_column:
        return sum(not math.isnan(value) for value in table[aggregate.share_column].tolist()) + 1
    return None


def _extent(metric: Metric, worst: float) -> float:
    """Return the width of a metric's range; an unbounded one ends at the worst submission's value."""
    return abs(metric.best - (metric.worst if math.isfinite(metric.worst) else worst)) or math.inf
