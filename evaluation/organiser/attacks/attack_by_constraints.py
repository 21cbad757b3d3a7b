"""An attack on labels of any classes by constraint solving, from all published figures at once.

Each submission is random. Under a labelling, every case has one of as many rows as there are classes, so
that means, shares, counts and areas under ROC curves are sums over cases and classes: each published value
is two linear inequalities for the labels, as wide as its rounding. Standard deviations are sums of squares,
quartiles count the values below them, a rank in a public leaderboard says between which teams a value lies.
A solver of mixed-integer programs (HiGHS, by SciPy) finds labellings, of which those stay under which every
figure comes out as it was published, intervals included. The attack is done when no other can exist.

The attacker knows the leaderboard, how many cases are of each class, and the rules of the challenge.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.core.case_table import CaseTable, WeightedCases
from evaluation.core.challenge import Task
from evaluation.core.metric import Metric
from evaluation.metrics.arrays import Floats
from evaluation.organiser.attacks.attack_tools import Oracle, OutOfSubmissionsError, Recovered, published_of
from evaluation.organiser.audit import Labels
from evaluation.phase.leaderboard import digits_of
from evaluation.phase.phase import Phase

_SEED = 2011
_TRIES = 100
_MOST_NODES = 5_000  # of one search, so that its result is the same on every machine
_MOST_CANDIDATES = 40
_EXACT = 1e-9
_CHECKED = 40
_QUARTILES = {"first_quartile": 0.25, "median": 0.5, "third_quartile": 0.75}


@dataclass(frozen=True)
class Constraint:
    """Bounds of a sum over cases and classes; ``weights`` has the shape (cases, classes)."""

    weights: Floats
    lower: float
    upper: float


@dataclass(frozen=True)
class _Answer:
    """The published figures of a submission, and by task the rows of all cases for each class in turn."""

    published: Mapping[str, Any]
    tables: Mapping[str, CaseTable]


def tasks_of_label(tasks: Sequence[Task], label: Labels, oracle: Oracle) -> tuple[Task, ...]:
    """Return the tasks whose references follow from a label, so that one case of a class shows the rule."""
    names = {case.name for case in oracle.cases}
    return tuple(
        task
        for task in tasks
        if task.fields and names == label.classes.keys() and _follows(task, label, oracle)
    )


def _follows(task: Task, label: Labels, oracle: Oracle) -> bool:
    fields = [field.name for field in task.fields]
    for members in label.members.values():
        seen = set()
        for name in members:
            values = [oracle.reference(name)[field] for field in fields]
            if not all(isinstance(value, int | float | str | None) for value in values):
                return False
            seen.add(repr(values))
        if len(seen) > 1:
            return False
    return True


def labels_by_constraints(phase: Phase, label: Labels, tasks: Sequence[Task], oracle: Oracle) -> Recovered:
    """Return the labels that follow from all figures of some tasks, whose references they determine."""
    search = _Search(phase, label, tasks, oracle)
    found = search.labels()
    figures = tuple(f"{task.name}.{metric.name}" for task in tasks for metric in task.metrics)
    return Recovered("all figures, constraint solving", figures, oracle.submissions, found)


class _Search:
    def __init__(self, phase: Phase, label: Labels, tasks: Sequence[Task], oracle: Oracle) -> None:
        self._phase, self._tasks, self._oracle = phase, tuple(tasks), oracle
        self._random = np.random.Generator(np.random.PCG64(_SEED))
        self._names = [case.name for case in oracle.cases]
        self._classes = sorted(label.counts)
        self._counts = np.array([label.counts[each] for each in self._classes])
        examples = [sorted(label.members[each])[0] for each in self._classes]
        self._references = [oracle.reference(name) for name in examples]
        self._answers: list[_Answer] = []
        self._constraints: list[Constraint] = []
        self._excluded: list[Floats] = []

    def labels(self) -> dict[str, str]:
        """Submit until only one labelling fits, and return the labels that are certain then, by case."""
        fitting: list[Floats] = []
        try:
            for _ in range(_TRIES):
                self._ask()
                fitting = [one for one in fitting if self._fits(one, self._answers[-1:])]
                proven, fitting = self._narrowed(fitting)
                if proven and len(fitting) == 1:
                    return self._named(fitting[0], range(len(self._names)))
        except OutOfSubmissionsError:
            pass
        if not fitting:
            return {}
        return self._named(fitting[0], self._certain(fitting[0]))

    def _named(self, labelling: Floats, cases: Sequence[int]) -> dict[str, str]:
        classes = labelling.argmax(axis=1)
        return {self._names[case]: self._classes[classes[case]] for case in cases}

    def _ask(self) -> None:
        """Make a random submission and keep what its figures say."""
        predictions = [
            {
                field.name: field.kind.example(case, self._random)
                for task in self._tasks
                for field in task.fields_for(case)
            }
            for case in self._oracle.cases
        ]
        content = self._oracle.submit(predictions)
        tables = {
            task.name: CaseTable(
                self._names * len(self._references),
                [task.score(one, reference) for reference in self._references for one in predictions],
            )
            for task in self._tasks
        }
        self._answers.append(_Answer(content["aggregates"], tables))
        for task in self._tasks:
            table = tables[task.name]
            for metric in task.metrics:
                published = content["aggregates"].get(task.name, {}).get(metric.name, {})
                name = f"{task.name}.{metric.name}"
                rank = content["ranking"].get("ranks", {}).get(task.name, {}).get(metric.name)
                bounds = self._bounds(metric, name, published.get("value"), rank)
                self._constraints += self._of_value(metric, table, *bounds)
                self._constraints += self._of_spread(metric, name, table, published)

    # --- What figures say ---

    def _bounds(
        self, metric: Metric, name: str, value: float | None, rank: int | None
    ) -> tuple[float, float]:
        """Return the bounds of an exact value, from the published one and from its rank among other teams."""
        off = self._oracle.half_step(name) + _EXACT
        lower, upper = (-math.inf, math.inf) if value is None else (value - off, value + off)
        if rank is not None:
            teams = [
                team.values[name] for team in self._phase.leaderboard if name in team.values and team.eligible
            ]
            sign = 1 if metric.better == "higher" else -1
            others = sorted((sign * each for each in teams), reverse=True)
            above, below = [math.inf, *others][rank - 1], [*others, -math.inf][rank - 1]
            ends = sorted((sign * above, sign * below))
            lower, upper = max(lower, ends[0] - off), min(upper, ends[1] + off)
        return lower, upper

    def _column(self, table: CaseTable, column: str) -> Floats:
        """Return a column as (cases, classes)."""
        return table[column].reshape(len(self._classes), len(self._names)).T

    def _of_value(self, metric: Metric, table: CaseTable, lower: float, upper: float) -> Iterator[Constraint]:
        if lower == -math.inf and upper == math.inf:
            return
        if (weights := self._linear(metric, table)) is not None:
            yield Constraint(weights, lower - _EXACT, upper + _EXACT)
        elif metric.estimator.curve and metric.estimator.curve.is_area:
            yield from self._of_area(table, metric, lower, upper)

    def _linear(self, metric: Metric, table: CaseTable) -> Floats | None:
        """Return the weights with which a value is a sum for all labellings, None where it is none.

        Means, shares, counts, rates, areas and, with known numbers of each class, the F1 of a decision are.
        Weights that explain as many random labellings as there are weights explain others too, or it is none.
        """
        cases, classes = len(self._names), len(self._classes)
        given = np.repeat(np.arange(classes), self._counts)
        drawn = np.array([self._random.permutation(given) for _ in range(cases * classes + _CHECKED)])
        design = np.eye(classes)[drawn]
        chosen = design.transpose(0, 2, 1).reshape(len(drawn), -1).astype(np.int64)
        values = metric.estimator.values(WeightedCases(table, chosen))
        if not np.isfinite(values).all():
            return None
        design = design.reshape(len(drawn), -1)
        weights = np.linalg.lstsq(design[_CHECKED:], values[_CHECKED:], rcond=None)[0]
        off = np.abs(design @ weights - values).max()
        return weights.reshape(cases, classes) if off <= _EXACT * max(1.0, np.abs(values).max()) else None

    def _of_area(self, table: CaseTable, metric: Metric, lower: float, upper: float) -> Iterator[Constraint]:
        """Where cases have no label: the area is a sum of the positives' ranks up to those of such cases."""
        assert metric.estimator.curve is not None
        scores = self._column(table, metric.estimator.curve.score)[:, 0]
        labels = self._column(table, metric.estimator.curve.label)[0]
        positives, negatives = (int(self._counts[labels == each].sum()) for each in (1, 0))
        others = len(scores) - positives - negatives
        ordered = np.sort(scores)
        ranks = np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right") - 1.0
        own, pairs = positives * (positives - 1), 2 * positives * negatives
        weights = ranks[:, np.newaxis] * (labels == 1)
        # The sum is a whole number.
        least, most = math.ceil(pairs * lower + own - _EXACT), math.floor(pairs * upper + own + _EXACT)
        yield Constraint(weights, least, most + 2 * positives * others)

    def _of_spread(
        self, metric: Metric, name: str, table: CaseTable, published: Mapping[str, Any]
    ) -> Iterator[Constraint]:
        column = metric.estimator.mean_column
        if column is None or "value" not in published:
            return
        values = self._column(table, column)
        enters = ~np.isnan(values)
        if not (enters == enters[0]).all():
            return  # how many cases enter depends on the labelling
        cases = int(self._counts[enters[0]].sum())
        step = 0.5 * 10.0 ** -digits_of(self._phase.config, name).spread + _EXACT
        deviation, value = published.get("standard_deviation"), float(published["value"])
        if deviation is not None and cases > 1:
            off = self._oracle.half_step(name) + _EXACT
            least = (cases - 1) * max(0.0, deviation - step) ** 2 + cases * max(0.0, abs(value) - off) ** 2
            most = (cases - 1) * (deviation + step) ** 2 + cases * (abs(value) + off) ** 2
            yield Constraint(np.where(enters, values, 0.0) ** 2, least - _EXACT, most + _EXACT)
        for part, level in _QUARTILES.items():
            if (quartile := published.get(part)) is None:
                continue
            place = level * (cases - 1)
            below = enters & (values <= quartile + step)
            above = enters & (values >= quartile - step)
            yield Constraint(below.astype(float), math.floor(place) + 1, math.inf)
            yield Constraint(above.astype(float), cases - math.ceil(place), math.inf)

    def _fits(self, labelling: Floats, answers: Sequence[_Answer]) -> bool:
        """Return whether all figures of some answers come out as they were published."""
        chosen = labelling.argmax(axis=1) * len(self._names) + np.arange(len(self._names))
        for answer in answers:
            tables = {name: table.take(chosen) for name, table in answer.tables.items()}
            found = published_of(self._phase, self._tasks, tables)
            if any(found[task.name] != answer.published.get(task.name, {}) for task in self._tasks):
                return False
        return True

    # --- The search for labellings ---

    def _narrowed(self, fitting: list[Floats]) -> tuple[bool, list[Floats]]:
        """Return whether it is proven that no further labelling fits, and one or two that fit."""
        fitting = fitting[:2]
        for _ in range(_MOST_CANDIDATES):
            if len(fitting) == 2:
                return False, fitting
            proven, found = self._solved([*self._excluded, *fitting])
            if found is None:
                return proven, fitting
            if self._fits(found, self._answers):
                fitting.append(found)
            else:
                self._excluded.append(found)
        return False, fitting

    def _certain(self, labelling: Floats) -> list[int]:
        """Return the cases that have the same class in every labelling that the constraints allow."""
        certain = []
        for case in range(len(labelling)):
            proven, found = self._solved([], (case, int(labelling[case].argmax())))
            if proven and found is None:
                certain.append(case)
        return certain

    def _solved(
        self, excluded: Sequence[Floats], forbidden: tuple[int, int] | None = None
    ) -> tuple[bool, Floats | None]:
        """Return a labelling within all constraints, or whether it is proven that there is none."""
        from scipy.optimize import Bounds, LinearConstraint, milp  # only this attack needs them

        cases, classes = len(self._names), len(self._classes)
        each_once = np.kron(np.eye(cases), np.ones(classes))
        of_class = np.tile(np.eye(classes), cases)
        rows = [each_once, of_class]
        lower, upper = [np.ones(cases), self._counts], [np.ones(cases), self._counts]
        if self._constraints:
            rows.append(np.array([one.weights.reshape(-1) for one in self._constraints]))
            lower.append(np.array([one.lower for one in self._constraints]))
            upper.append(np.array([one.upper for one in self._constraints]))
        if excluded:
            rows.append(np.array([one.reshape(-1) for one in excluded]))
            lower.append(np.full(len(excluded), -np.inf))
            upper.append(np.full(len(excluded), cases - 1.0))
        most = np.ones((cases, classes))
        if forbidden is not None:
            most[forbidden] = 0
        found = milp(
            self._random.random(cases * classes),
            integrality=np.ones(cases * classes),
            bounds=Bounds(0, most.reshape(-1)),
            constraints=LinearConstraint(np.vstack(rows), np.concatenate(lower), np.concatenate(upper)),
            options={"node_limit": _MOST_NODES, "mip_rel_gap": 1.0},
        )
        if found.x is None:
            return found.status == _INFEASIBLE, None
        return False, np.round(found.x).reshape(cases, classes)


_INFEASIBLE = 2
