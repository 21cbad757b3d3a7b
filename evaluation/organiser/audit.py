"""An upper bound on what the published figures of a phase reveal of its labels over many submissions.

Each submission is a question about the labels, and each published number an answer. A number with n possible
values gives at most log2(n) bits, so k bits of labels need at least k / log2(n) submissions. This is a bound,
not an attack: fewer submissions are never enough, and more may not be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from evaluation.core.aggregation import Estimate, estimate
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task
from evaluation.core.metric import Metric, Resolution
from evaluation.evaluate import scores_of_nothing
from evaluation.phase.phase import Phase
from evaluation.phase.subgroups import subgroup_masks
from evaluation.platform.result_file import SIGNIFICANT_DIGITS
from evaluation.summary import resampling_of

VALUE = "value"
_FULL: int = 10**SIGNIFICANT_DIGITS


@dataclass(frozen=True)
class Figure:
    """One or more published numbers of a metric of a task.

    ``extent`` is the width of the range of each; ``resolution`` is given for figures of 0/1 labels.
    """

    task: str
    metric: str
    what: str
    numbers: int
    extent: float
    resolution: Resolution | None = None

    def values(self, digits: int | None) -> int:
        """Return how many values each number can take, with all digits or with that many decimals."""
        steps: int = _FULL
        if digits is not None and math.isfinite(self.extent):
            steps = min(steps, round(self.extent * 10**digits) + 1)
        exact = self.resolution.values if self.resolution else None
        return steps if exact is None else min(steps, exact)

    def bits(self, digits: int | None) -> float:
        """Return the bits that these numbers give to one submission, at most."""
        return self.numbers * math.log2(self.values(digits))


@dataclass(frozen=True)
class Labels:
    """The hidden 0/1 labels behind figures of a task; the numbers of both are assumed to be known."""

    task: str
    positives: int
    negatives: int

    @property
    def bits(self) -> float:
        """Return log2 of the number of ways to assign these labels to the cases."""
        counts = (self.positives + self.negatives, self.positives, self.negatives)
        total, positives, negatives = (math.lgamma(count + 1) for count in counts)
        return (total - positives - negatives) / math.log(2)


@dataclass(frozen=True)
class Disclosure:
    """The published figures of a phase, and the labels that some of them depend on."""

    figures: tuple[Figure, ...]
    labels: tuple[Labels, ...]
    digits: Mapping[str, int]

    def telling_of(self, labels: Labels) -> list[Figure]:
        """Return the figures that depend on these labels."""
        return [
            figure
            for figure in self.figures
            if figure.resolution is not None
            and labels == Labels(figure.task, figure.resolution.positives, figure.resolution.negatives)
        ]

    def bits(self, figures: Iterable[Figure], digits: int | None = None) -> float:
        """Return the bits that these figures together give to one submission, at most.

        ``digits`` replaces the phase's own rounding if that is finer or absent.
        """
        return sum(self._bits_of(figure, digits) for figure in figures)

    def _bits_of(self, figure: Figure, digits: int | None) -> float:
        own = self.digits.get(f"{figure.task}.{figure.metric}")
        given = [number for number in (own, digits) if number is not None]
        return figure.bits(min(given, default=None))


def audit(phase: Phase, workers: int) -> Disclosure:
    """Return what the results of a phase disclose. Raises `PhaseError` if its reference cannot be read."""
    tables = scores_of_nothing(phase, phase.tasks, workers).tables
    figures = tuple(figure for task in phase.tasks for figure in _figures(phase, task, tables[task.name]))
    labels = dict.fromkeys(
        Labels(figure.task, figure.resolution.positives, figure.resolution.negatives)
        for figure in figures
        if figure.resolution
    )
    return Disclosure(figures, tuple(labels), phase.config.digits)


def _figures(phase: Phase, task: Task, table: CaseTable) -> Iterator[Figure]:
    """Yield all figures of a task, without numbers that follow from others, such as a half-width."""
    config = phase.config
    estimates = estimate(task, table, resampling_of(phase), config.public_detail == "full")
    groups = sum(len(subgroup_masks(subgroup, phase.cases, table.names)) for subgroup in config.subgroups)
    for metric in task.metrics:
        if metric.name not in estimates:
            continue
        metric_estimate = estimates[metric.name]
        resolution = metric.aggregate.resolution
        found = resolution(table) if resolution else None
        extent = _extent(metric, metric_estimate.value)
        spread = None if found is None else Resolution(found.positives, found.negatives, None)
        yield Figure(task.name, metric.name, VALUE, 1, extent, found)
        for what, numbers in _further(metric_estimate, groups).items():
            yield Figure(task.name, metric.name, what, numbers, extent, spread)
        if config.publish_cases:
            yield Figure(task.name, metric.name, "per case", len(table), extent, spread)


def _further(estimate: Estimate, groups: int) -> dict[str, int]:
    """Return the further published numbers of a metric: their kind and how many they are."""
    quartiles = (estimate.median, estimate.first_quartile, estimate.third_quartile)
    further = {
        "interval": 2 if estimate.confidence_interval else 0,
        "standard deviation": int(estimate.standard_deviation is not None),
        "quartiles": sum(quartile is not None for quartile in quartiles),
        "subgroups": groups,
    }
    return {what: numbers for what, numbers in further.items() if numbers}


def _extent(metric: Metric, worst: float) -> float:
    """Return the width of a metric's range; an unbounded one ends at the worst submission's value."""
    return abs(metric.best - (metric.worst if math.isfinite(metric.worst) else worst)) or math.inf
