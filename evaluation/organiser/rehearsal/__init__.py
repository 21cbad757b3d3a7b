"""The rehearsal of a phase: scores submissions derived from its own reference.

Every figure is checked against the rules below before an image is built.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluation.core.aggregation import metric_values
from evaluation.core.challenge import Task, fields_of
from evaluation.core.fault import apart, in_digits
from evaluation.core.field import Field, Variant
from evaluation.core.form import INPUT_VALUE, STACK_INDEX, STACK_NAME, CaseForm
from evaluation.core.metric import Metric
from evaluation.core.outcome import Progress, no_progress
from evaluation.evaluate import tables_of
from evaluation.organiser.rehearsal.from_views import BLIND, SMALLEST, can_be_made, wins_of
from evaluation.organiser.rehearsal.submissions import (
    MISSING,
    SHUFFLED,
    Played,
    part_of,
    play,
    unwritten_fields,
)
from evaluation.phase.phase import Phase
from evaluation.platform import machine

HALF_MISSING = {variant: f"{variant}, half missing" for variant in Variant}
"""Every second prediction of a variant is missing."""

_TOLERANCE = 1e-9

Figures = Mapping[str, float]

# (at least as good, not better). Empty and shuffled are compared with perfect only: an empty prediction is
# right for metrics of false alarms, and a shuffled one if cases are alike.
_ORDER = (
    (Variant.PERFECT, Variant.NEAR),
    (Variant.PERFECT, Variant.EMPTY),
    (Variant.PERFECT, Variant.INVERTED),
    (Variant.PERFECT, SHUFFLED),
    (Variant.PERFECT, SMALLEST),
    (Variant.NEAR, Variant.INVERTED),
    # Missing is never better than present. Shuffled predictions are exempt: they may have more false objects
    # than a case has true ones.
    *((variant, MISSING) for variant in Variant),
    *((variant, HALF_MISSING[variant]) for variant in Variant),
)


@dataclass(frozen=True)
class MetricBounds:
    """The bounds of a metric or composite, and whether a better value means a better submission."""

    best: float
    worst: float
    ordered: bool = True
    reached: bool = True


def problems_of(name: str, scale: MetricBounds, figures: Figures) -> Iterator[str]:
    """Yield the rules that a metric's figures (by submission) break; none if no case enters the metric.

    A submission that could not be derived has no figure.
    """
    perfect = figures.get(Variant.PERFECT, math.nan)
    if math.isnan(perfect):
        return
    present = {submission: value for submission, value in figures.items() if not math.isnan(value)}
    for submission in [other for other in figures if other not in present]:
        yield f"{name}: exists for the perfect submission and not for the {submission} one"
    low, high = sorted((scale.best, scale.worst))
    for submission, value in present.items():
        if not low - _TOLERANCE <= value <= high + _TOLERANCE:
            gets = in_digits(value, low, high)
            yield f"{name}: the {submission} submission gets {gets}, outside {low:.6g} to {high:.6g}"
    if not scale.ordered:
        return
    better_is = "higher" if scale.best > scale.worst else "lower"
    sign = 1.0 if better_is == "higher" else -1.0
    if scale.reached and abs(perfect - scale.best) > _TOLERANCE:
        gets = in_digits(perfect, scale.best)
        yield f"{name}: the perfect submission gets {gets}, not the best value {scale.best:.6g}"
    for better, worse in _ORDER:
        # What is derived from one of several references is not ordered by the others.
        if not scale.reached and worse != MISSING:
            continue
        if better in present and worse in present and sign * (present[worse] - present[better]) > _TOLERANCE:
            more, less = apart([present[worse]], [present[better]])
            yield (
                f"{name}: the {worse} submission gets {more} and beats the {better} one with {less}, "
                f"though {better_is} is better"
            )
    if scale.reached and MISSING in present and abs(present[MISSING] - perfect) <= _TOLERANCE:
        yield f"{name}: the missing submission gets the same as the perfect one, {perfect:.6g}"


MOST_CASES = 400
MOST_PIXELS = 100_000_000


@dataclass(frozen=True)
class Rehearsal:
    """The number of cases, figures by metric ("task.metric") or composite and submission, broken rules.

    ``notes``: sentences about what could not be tried as participants do it. ``wins``: of submissions that
    tell nothing, or more than was asked, the metrics that do not count it.
    """

    cases: int
    figures: Mapping[str, Figures]
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    wins: tuple[str, ...] = ()

    @property
    def untried(self) -> tuple[str, ...]:
        """The metrics that are undefined for all of these cases."""
        return tuple(
            name
            for name, found in self.figures.items()
            if Variant.PERFECT in found and math.isnan(found[Variant.PERFECT])
        )

    @property
    def without_perfect(self) -> tuple[str, ...]:
        """The metrics of fields that have no reference of their own, and so no perfect value."""
        return tuple(name for name, found in self.figures.items() if Variant.PERFECT not in found)


def rehearse(phase: Phase, workers: int | None = None, progress: Progress = no_progress) -> Rehearsal:
    """Return the rehearsal of a phase; of a large phase, cases spread over the table are used.

    ``workers``: by default one per processor; 0: in this process. Raises `PhaseError` if the reference cannot
    be read, or a submission is rejected or cannot be scored.
    """
    workers = machine.worker_count(workers)
    chosen = _choose(phase.cases.forms, fields_of(phase.tasks))
    part = part_of(phase, chosen)
    cases = part.cases.forms
    played = play(part, _partners(cases), workers, progress)
    played |= {half: _half_missing(played[whole], played[MISSING]) for whole, half in HALF_MISSING.items()}
    figures: dict[str, dict[str, float]] = defaultdict(dict)
    for submission, outcome in played.items():
        tables = tables_of(outcome.tasks, cases, outcome.scored)
        for task in (task for task in outcome.tasks if len(tables[task.name])):
            for metric, value in metric_values(task.metrics, tables[task.name]).items():
                figures[f"{task.name}.{metric}"][submission] = value
    scales = {
        f"{task.name}.{metric.name}": MetricBounds(metric.best, metric.worst, metric.ordered, metric.reached)
        for task in phase.tasks
        for metric in task.metrics
    }
    for composite in phase.challenge.composites_of(phase.tasks):
        reached = all(scales[name].reached for name in composite.metrics)
        scales[composite.name] = MetricBounds(composite.best, composite.worst, reached=reached)
        parts = [figures[name] for name in composite.metrics]
        for submission in parts[0]:
            if all(submission in part for part in parts):
                combined = composite.combine(*(part[submission] for part in parts))
                figures[composite.name][submission] = combined
    problems = [problem for name in figures for problem in problems_of(name, scales[name], figures[name])]
    problems += _undefined(cases, played)
    wins = [win for name in BLIND for win in wins_of(name, figures, _told_by(name, phase.tasks))]
    notes = (
        f"{field.name}: left out, since {type(field.kind).__name__} writes no values"
        for field in unwritten_fields(part)
    )
    return Rehearsal(len(cases), figures, tuple(problems), tuple(notes), tuple(wins))


def _told_by(submission: str, tasks: Sequence[Task]) -> Mapping[str, Metric]:
    """Return the ordered metrics of fields that a blind submission changes."""
    return {
        f"{task.name}.{metric.name}": metric
        for task in tasks
        for metric in task.metrics
        if metric.ordered
        and any(
            can_be_made(submission, field.kind) for field in task.fields if metric.field in ("", field.name)
        )
    }


def _undefined(cases: Sequence[CaseForm], played: Mapping[str, Played]) -> Iterator[str]:
    """Yield each column that a submission makes undefined though the reference does not, with a case."""
    for submission, outcome in played.items():
        found: dict[str, str] = {}
        for case, one in zip(cases, outcome.scored, strict=True):
            for column in one.undefined:
                found.setdefault(column, case.name)
        for column, case_name in found.items():
            yield f"{column}: the {submission} submission makes it undefined in case {case_name}"


def _half_missing(whole: Played, missing: Played) -> Played:
    """Return a submission with every second case of another."""
    pairs = zip(whole.scored, missing.scored, strict=True)
    return Played([pair[position % 2] for position, pair in enumerate(pairs)], whole.tasks)


def _choose(cases: Sequence[CaseForm], fields: Sequence[Field]) -> list[int]:
    """Return evenly spaced positions within the limits of cases and pixels."""
    pixels = sum(field.kind.pixels(case) for case in cases for field in fields if field.cases(case))
    count = min(len(cases), max(2, min(MOST_CASES, len(cases) * MOST_PIXELS // max(1, pixels))))
    return [position * len(cases) // count for position in range(count)]


def _partners(cases: Sequence[CaseForm]) -> list[int]:
    """Return for every case the next one of the same size and columns; the last one gets the first."""
    groups: dict[object, list[int]] = defaultdict(list)
    own = (STACK_NAME, STACK_INDEX, INPUT_VALUE)
    for position, case in enumerate(cases):
        columns = {name: cell for name, cell in case.columns.items() if name not in own}
        groups[case.width, case.height, tuple(sorted(columns.items()))].append(position)
    partners = list(range(len(cases)))
    for group in groups.values():
        for position, partner in zip(group, [*group[1:], group[0]], strict=True):
            partners[position] = partner
    return partners
