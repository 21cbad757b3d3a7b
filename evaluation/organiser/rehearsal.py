"""The rehearsal of a phase: scores submissions derived from its own reference.

Every figure is checked against the rules below before an image is built.
"""

import math
import traceback
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.core.aggregation import metric_values
from evaluation.core.challenge import Task, fields_of, references_of
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Variant
from evaluation.core.form import INPUT_VALUE, STACK_INDEX, STACK_NAME, CaseForm
from evaluation.core.outcome import CaseJob, Progress, Scored, no_progress
from evaluation.evaluate import tables_of
from evaluation.phase.phase import Phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.workers.scorer import CaseScorer

SHUFFLED = "shuffled"
"""Perfect predictions, each of another case of the same size."""
MISSING = "missing"
"""No prediction at all."""
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
            yield f"{name}: the {submission} submission gets {value:.6g}, outside {low:.6g} to {high:.6g}"
    if not scale.ordered:
        return
    better_is = "higher" if scale.best > scale.worst else "lower"
    sign = 1.0 if better_is == "higher" else -1.0
    if scale.reached and abs(perfect - scale.best) > _TOLERANCE:
        yield f"{name}: the perfect submission gets {perfect:.6g}, not the best value {scale.best:.6g}"
    for better, worse in _ORDER:
        # What is derived from one of several references is not ordered by the others.
        if not scale.reached and worse != MISSING:
            continue
        if better in present and worse in present and sign * (present[worse] - present[better]) > _TOLERANCE:
            yield (
                f"{name}: the {worse} submission gets {present[worse]:.6g} and beats the {better} one with "
                f"{present[better]:.6g}, though {better_is} is better"
            )
    if MISSING in present and abs(present[MISSING] - perfect) <= _TOLERANCE:
        yield f"{name}: the missing submission gets the same as the perfect one, {perfect:.6g}"


MOST_CASES = 400
MOST_PIXELS = 100_000_000

Predictions = Mapping[str, Any]


@dataclass(frozen=True)
class Rehearsal:
    """The number of cases, figures by metric ("task.metric") or composite and submission, broken rules."""

    cases: int
    figures: Mapping[str, Figures]
    problems: tuple[str, ...]

    @property
    def untried(self) -> tuple[str, ...]:
        """The metrics that are undefined for all of these cases."""
        perfect = {name: found.get(Variant.PERFECT, math.nan) for name, found in self.figures.items()}
        return tuple(name for name, value in perfect.items() if math.isnan(value))


def rehearse(phase: Phase, progress: Progress = no_progress) -> Rehearsal:
    """Return the rehearsal of a phase; of a large phase, cases spread over the table are used.

    Raises `PhaseError` if the reference cannot be read or a submission cannot be scored.
    """
    chosen = _choose(phase.cases.forms, fields_of(phase.tasks))
    jobs = [CaseJob(phase.cases.forms[i], phase.rows[i]) for i in chosen]
    outcomes = _play(phase, jobs, progress)
    cases = [job.case for job in jobs]
    figures: dict[str, dict[str, float]] = defaultdict(dict)
    for submission, scored in outcomes.items():
        tasks = [task for task in phase.tasks if task.fields and _is_derived(task, submission, outcomes)]
        tables = tables_of(tasks, cases, scored)
        for task in (task for task in tasks if len(tables[task.name])):
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
    return Rehearsal(len(jobs), figures, tuple(problems))


def _choose(cases: Sequence[CaseForm], fields: Sequence[Field]) -> list[int]:
    """Return evenly spaced positions within the limits of cases and pixels."""
    pixels = sum(field.kind.pixels(case) for case in cases for field in fields if field.cases(case))
    count = min(len(cases), max(2, min(MOST_CASES, len(cases) * MOST_PIXELS // max(1, pixels))))
    return [position * len(cases) // count for position in range(count)]


def _play(phase: Phase, jobs: Sequence[CaseJob], progress: Progress) -> dict[str, list[Scored]]:
    """Derive the submissions from the reference and score them, in this process."""
    # A run time cannot be derived from a reference.
    scorer = CaseScorer(phase.reference, [task for task in phase.tasks if task.fields])
    opened = OpenReference(phase.reference, references_of(phase.tasks))
    fields = fields_of(phase.tasks)
    scored: dict[str, list[Scored]] = defaultdict(list)

    def score(submission: str, job: CaseJob, predictions: Predictions, reference: ReferenceValues) -> None:
        try:
            scored[submission].append(scorer.score(job, predictions, reference))
        except PhaseError:
            raise
        except Exception:
            where = f"case {job.case.name} of the {submission} submission cannot be scored"
            raise PhaseError(f"{where}: {traceback.format_exc(limit=-4)}") from None

    perfect: list[Predictions] = []
    for done, job in enumerate(jobs, start=1):
        reference = ReferenceValues(opened, job.case, job.reference)
        for variant in Variant:
            derived = {
                field.name: field.kind.rehearse(reference[field.name], job.case, variant)
                for field in fields
                if field.cases(job.case)
            }
            predictions = {name: value for name, value in derived.items() if value is not None}
            if variant is Variant.PERFECT:
                perfect.append(predictions)
            score(variant, job, predictions, reference)
        score(MISSING, job, {}, reference)
        progress(done)
    partners = _partners([job.case for job in jobs])
    if partners != list(range(len(jobs))):
        for job, partner in zip(jobs, partners, strict=True):
            score(SHUFFLED, job, perfect[partner], ReferenceValues(opened, job.case, job.reference))
    for variant in Variant:
        pairs = zip(scored[variant], scored[MISSING], strict=True)
        scored[HALF_MISSING[variant]] = [pair[position % 2] for position, pair in enumerate(pairs)]
    return scored


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


def _is_derived(task: Task, submission: str, outcomes: Mapping[str, Sequence[Scored]]) -> bool:
    """Return whether a submission is complete in a task; it is not if a kind of value lacks the variant."""
    whole = next((variant for variant, half in HALF_MISSING.items() if half == submission), submission)
    return whole == MISSING or all(task.name not in outcome.worst for outcome in outcomes[whole])
