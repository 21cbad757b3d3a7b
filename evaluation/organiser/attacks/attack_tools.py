"""Tools of attacks: submissions with their published figures, spoilt predictions, meeting in the middle."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.aggregation import estimates
from evaluation.core.case_table import CaseTable
from evaluation.core.challenge import Task, references_of
from evaluation.core.field import Field, Variant
from evaluation.core.form import CaseForm
from evaluation.core.outcome import CaseJob
from evaluation.core.views import Numbers, Objects, Regions
from evaluation.evaluate import tables_of
from evaluation.metrics.arrays import Floats
from evaluation.metrics.crops import VolumeCrop, around, together
from evaluation.phase.leaderboard import digits_of, public_estimates
from evaluation.phase.phase import Phase
from evaluation.phase.reference import OpenReference, ReferenceValues
from evaluation.phase.scores import Scores
from evaluation.platform.result_file import SIGNIFICANT_DIGITS, render
from evaluation.summary import resampling_of, summarise
from evaluation.workers.scorer import CaseScorer


class OutOfSubmissionsError(Exception):
    """The attacker may make no further submission."""


@dataclass(frozen=True)
class Recovered:
    """The labels that an attack recovered with a number of submissions.

    ``figures``: the published numbers that it uses. ``labels``: by name of the case, without uncertain ones.
    """

    method: str
    figures: tuple[str, ...]
    submissions: int
    labels: Mapping[str, str]


class Oracle:
    """Scores submissions to some tasks of a phase, up to the allowed number."""

    def __init__(self, phase: Phase, tasks: Sequence[Task], allowed: int) -> None:
        self._phase, self._tasks, self._allowed = phase, tuple(tasks), allowed
        self._scorer = CaseScorer(phase.reference, tasks)
        self._reference = OpenReference(phase.reference, references_of(tasks))
        cases = zip(phase.cases.forms, phase.rows, strict=True)
        self._jobs = {case.name: CaseJob(case, row) for case, row in cases}
        self.submissions = 0
        self.cases: Sequence[CaseForm] = list(filter(self._has_fields, phase.cases.forms))

    def submit(self, predictions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the `metrics.json` of predictions by field, in the order of the cases, one at a time.

        Raises `OutOfSubmissionsError`.
        """
        if self.submissions >= self._allowed:
            raise OutOfSubmissionsError
        self.submissions += 1
        given = iter(predictions)
        outcomes = []
        for name, job in self._jobs.items():
            values = next(given) if self._has_fields(job.case) else {}
            outcomes.append(self._scorer.score(job, values, self.reference(name)))
        tables = tables_of(self._tasks, self._phase.cases.forms, outcomes)
        metrics = summarise(Scores(self._phase, self._tasks, tables, tuple(outcomes)))
        content: dict[str, Any] = json.loads(render(metrics))
        return content

    def _has_fields(self, case: CaseForm) -> bool:
        return any(task.fields_for(case) for task in self._tasks)

    def reference(self, name: str) -> ReferenceValues:
        """Return the reference of a case; an attacker may use what it shows of the rules, not of the case."""
        job = self._jobs[name]
        return ReferenceValues(self._reference, job.case, job.reference)

    def half_step(self, name: str) -> float:
        """Return the largest rounding error of a metric's published value ("task.metric")."""
        digits = digits_of(self._phase.config, name).value
        return float(0.5 * 10**-digits) if digits < SIGNIFICANT_DIGITS else 1e-12

    def empty(self, field: Field, case: CaseForm) -> Any:
        """Return a prediction that finds nothing and uses nothing of the reference."""
        return field.kind.rehearse(self.reference(case.name)[field.name], case, Variant.EMPTY)

    def skilled(self, field: Field, case: CaseForm) -> Any:
        """Return a skilled participant's prediction: the near-perfect one of the rehearsal."""
        return field.kind.rehearse(self.reference(case.name)[field.name], case, Variant.NEAR)


def published_of(phase: Phase, tasks: Sequence[Task], tables: Mapping[str, CaseTable]) -> dict[str, Any]:
    """Return the aggregates of case tables as `metrics.json` has them."""
    full = phase.config.public_detail == "full"
    exact = estimates(tasks, tables, resampling_of(phase), full)
    content: dict[str, Any] = json.loads(render(public_estimates(exact, phase.config)))
    return content


def value_of(content: Mapping[str, Any], task: str, metric: str) -> float | None:
    """Return a published value, None where there is none."""
    estimate = content["aggregates"].get(task, {}).get(metric)
    return None if estimate is None else float(estimate["value"])


LabelArray = NDArray[np.int64]
Labellings = NDArray[np.int8]


@dataclass(frozen=True)
class Side:
    """The subsets of some cases, by their size: sums of weights modulo 2^64, and subsets as bits."""

    sums: tuple[NDArray[np.uint64], ...]
    subsets: tuple[NDArray[np.uint64], ...]


def side_of(weights: NDArray[np.uint64], cases: range, absent: Sequence[int], most: int) -> Side:
    """Return the subsets of up to ``most`` cases without the absent ones; bit i of a subset is case i."""
    sums = [np.zeros(1 if size == 0 else 0, np.uint64) for size in range(most + 1)]
    subsets = list(sums)
    for case in cases:
        if case not in absent:
            for size in range(most, 0, -1):
                sums[size] = np.concatenate([sums[size], sums[size - 1] + weights[case]])
                subsets[size] = np.concatenate([subsets[size], subsets[size - 1] | np.uint64(1 << case)])
    return Side(tuple(sums), tuple(subsets))


def rows_of_subsets(subsets: NDArray[np.uint64], cases: int) -> Labellings:
    """Return subsets as rows of 0 and 1, shape (subsets, cases)."""
    positions = np.arange(cases, dtype=np.uint64)
    return (subsets[:, np.newaxis] >> positions & np.uint64(1)).astype(np.int8)


def subsets_of_sum(weights: Sequence[float], lower: float, upper: float, most: int) -> Labellings:
    """Return the subsets with a sum of weights in lower … upper, as 0/1 rows, by meeting in the middle.

    Shape (subsets, n), at most ``most`` + 1 rows, for up to about 40 weights.
    """
    values = np.asarray(weights, dtype=np.float64)
    half = len(values) // 2
    left, right = _sums_of_subsets(values[:half]), _sums_of_subsets(values[half:])
    order = np.argsort(right, kind="stable")
    ordered = right[order]
    first = np.searchsorted(ordered, lower - left, side="left")
    last = np.searchsorted(ordered, upper - left, side="right")
    pairs = (
        subset | other << half
        for subset in np.flatnonzero(last > first).tolist()
        for other in order[first[subset] : last[subset]].tolist()
    )
    return rows_of_subsets(np.fromiter(islice(pairs, most + 1), np.uint64), len(values))


def _sums_of_subsets(weights: Floats) -> Floats:
    """Return the sums of all 2^n subsets; bit i of a subset's number says whether weight i is in it."""
    sums = np.zeros(1)
    for weight in weights.tolist():
        sums = np.concatenate([sums, sums + weight])
    return sums


@dataclass(frozen=True)
class Spoiler:
    """How predictions of a field are spoilt: by two amounts from 0 (whole) to 1."""

    field: Field
    spoil: Callable[[CaseForm, Floats], Any]


def spoilers(task: Task, oracle: Oracle) -> Iterator[Spoiler]:
    """Yield the ways in which predictions of a task can be spoilt, by the views of their kinds."""
    for field in task.fields:
        kind, skilled = field.kind, partial(oracle.skilled, field)
        if (regions := kind.regions) and regions.value:
            if regions.nested and len(regions.names) > 1:
                yield Spoiler(field, _nested(regions))
            yield Spoiler(field, partial(_erased, regions, skilled))
        if (objects := kind.objects) and objects.value and objects.number != "any":
            yield Spoiler(field, partial(_moved, objects, skilled))
        if numbers := kind.numbers:
            yield Spoiler(field, partial(_mistaken, numbers, skilled))


def contribution(
    task: Task, whole: Mapping[str, Any], spoilt: Mapping[str, Any], opinion: Mapping[str, Any]
) -> dict[str, float]:
    """Return by column how far spoiling changes a case's row, if the reference is the opinion."""
    before, after = task.score(whole, opinion), task.score(spoilt, opinion)
    return {
        column: float(after[column]) - float(before[column])
        for column in before
        if isinstance(before[column], int | float)
    }


def _nested(view: Regions) -> Callable[[CaseForm, Floats], Any]:
    """Return a function to images of rows; the innermost structure has 1 − amounts[0] of all rows."""

    @lru_cache(maxsize=8)  # images of one size share the whole prediction
    def of_rows(size: tuple[int, int], columns: tuple[tuple[str, str], ...], rows: int, inner: int) -> Any:
        width, height = size
        masks = [VolumeCrop(np.ones((1, inner, width), np.bool_), (0, 0, 0))]
        masks += [VolumeCrop(np.ones((1, rows, width), np.bool_), (0, 0, 0))] * (len(view.names) - 1)
        assert view.value is not None  # as the caller has found
        return view.value(masks, CaseForm("", width, height, dict(columns)))

    def spoilt(case: CaseForm, amounts: Floats) -> Any:
        rows = case.height - round(float(amounts[1]) * case.height / 2)
        inner = max(1, round((1 - float(amounts[0])) * rows))
        return of_rows((case.width, case.height), tuple(case.columns.items()), rows, inner)

    return spoilt


def _erased(view: Regions, skilled: Callable[[CaseForm], Any], case: CaseForm, amounts: Floats) -> Any:
    """Return a skilled mask without the first share of its labelled pixels, from top to bottom."""
    masks = list(view.of(skilled(case)))
    corner, _ = around(*masks)
    inside = together(*masks)
    kept = np.any(inside, axis=0)
    labelled = np.flatnonzero(kept)
    kept.flat[labelled[: round(float(amounts[0]) * len(labelled))]] = False
    assert view.value is not None  # as the caller has found
    return view.value([VolumeCrop(mask & kept, corner) for mask in inside], case)


_FAR = 100.0
"""How far an object is moved where its image has no size, in its unit."""


def _moved(view: Objects, skilled: Callable[[CaseForm], Any], case: CaseForm, amounts: Floats) -> Any:
    """Return skilled objects, moved towards the farthest corner of the image by a share of the way."""
    rows = view.of(skilled(case)).copy()
    lower, upper = np.split(rows[:, 2:], 2, axis=1)
    way = np.zeros_like(lower)
    way[:, 0] = _FAR
    if view.unit == "pixels" and case.width and case.height:
        size, at = np.array([case.width, case.height]), (lower + upper)[:, :2] / 2
        way[:, :2] = np.where(at > size / 2, 0, size) - at
    rows[:, 2:] += float(amounts[0]) * np.hstack([way, way])
    assert view.value is not None  # as the caller has found
    return view.value(rows, case)


def _mistaken(view: Numbers, skilled: Callable[[CaseForm], Any], case: CaseForm, amounts: Floats) -> Any:
    """Return skilled numbers, moved towards the bound that is farther away, or up, by a share of the way."""
    low, high = view.bounds
    numbers = []
    for number in view.of(skilled(case)):
        end = max((low, high), key=lambda end: abs(end - number))
        way = end - number if np.isfinite([low, high]).all() else 1.0
        numbers.append(min(max(number + float(amounts[0]) * way, low), high))
    return view.value(numbers)
