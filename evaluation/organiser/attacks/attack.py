"""Attacks on the hidden labels of a phase, each against a bound on the submissions that it needs.

`attack_on_classes` attacks the labels of likelihoods and decisions, this module the
structures that a submission detects, and the members of published subgroups.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.cli.console import TableConsole, one_line, text_table
from evaluation.core.challenge import Task
from evaluation.core.field import Variant
from evaluation.evaluate import scores_of_nothing
from evaluation.organiser import audit
from evaluation.organiser.attacks import attack_tools
from evaluation.organiser.attacks.attack_by_constraints import labels_by_constraints, tasks_of_label
from evaluation.organiser.attacks.attack_on_classes import Search, labels_of_classes, targets
from evaluation.organiser.attacks.attack_tools import Oracle, Recovered, Spoiler, subsets_of_sum, value_of
from evaluation.organiser.audit import Disclosure, Labels
from evaluation.organiser.views import left_out
from evaluation.phase.cases import key_of, subgroup_masks
from evaluation.phase.phase import Phase
from evaluation.phase.scores import Scores
from evaluation.platform import machine

# --- Labels from the F1 of a detection or a number of images: every value is a count of chosen images ---

_DETECTION_GROUP = 16
_DETECTION_TRIES = 40
_DETECTION_SEED = 1963


def labels_from_detections(
    task: Task, positives: Mapping[str, int | None], oracle: Oracle
) -> Mapping[str, Recovered]:
    """Return by metric the 0/1 labels that follow from the published F1 of each structure of a task.

    ``positives`` are the numbers of images with the structure, by metric, None where the metric itself counts
    images in which a prediction is right, or wrong. A metric with equal values for empty and full predictions
    is left out.
    """
    attack = _Detections(task, oracle)
    known: dict[str, dict[int, int]] = {metric: {} for metric in positives}
    try:
        everywhere = attack.submit(range(len(oracle.cases)))
        nowhere = attack.submit(())
        usable = {
            metric: whole
            for metric, whole in positives.items()
            if (value_of(everywhere, task.name, metric) or 0) > (value_of(nowhere, task.name, metric) or 0)
        }
        known = {metric: {} for metric in usable}
        cases = range(len(oracle.cases))
        for start in cases[::_DETECTION_GROUP] if usable else ():
            attack.find(cases[start : start + _DETECTION_GROUP], usable, known)
    except attack_tools.OutOfSubmissionsError:
        pass
    return {
        metric: Recovered(
            f"{'number of images' if positives[metric] is None else 'F1 of detection'}, all labels that fit",
            (f"{task.name}.{metric}",),
            oracle.submissions,
            {oracle.cases[position].name: str(label) for position, label in labels.items()},
        )
        for metric, labels in known.items()
    }


class _Detections:
    """F1 = 2 TP / (k + P) with k predicted and P true images, so that a submission gives a count."""

    def __init__(self, task: Task, oracle: Oracle) -> None:
        self._task, self._oracle = task, oracle
        self._kinds = {field.name: field.kind for field in task.fields}
        self._random = np.random.Generator(np.random.PCG64(_DETECTION_SEED))
        self._empty = [
            {field.name: oracle.empty(field, case) for field in task.fields_for(case)}
            for case in oracle.cases
        ]

    def submit(self, detected: Collection[int]) -> Mapping[str, object]:
        """Return the metrics.json of finding every structure in these images and none elsewhere."""
        # Full predictions are made when they are scored: those of all images would not fit into memory.
        return self._oracle.submit(
            {name: self._kinds[name].rehearse(value, case, Variant.INVERTED) for name, value in empty.items()}
            if position in detected
            else empty
            for position, (case, empty) in enumerate(zip(self._oracle.cases, self._empty, strict=True))
        )

    def find(
        self, group: Sequence[int], positives: Mapping[str, int | None], known: Mapping[str, dict[int, int]]
    ) -> None:
        """Find the labels of a group of images, of all structures with the same submissions."""
        every = attack_tools.rows_of_subsets(np.arange(1 << len(group), dtype=np.uint64), len(group))
        fitting = dict.fromkeys(positives, every)
        for _ in range(_DETECTION_TRIES):
            chosen = self._random.random(len(group)) < 0.5
            content = self.submit([case for case, is_in in zip(group, chosen, strict=True) if is_in])
            for metric, labels in fitting.items():
                value = value_of(content, self._task.name, metric) or 0.0
                whole = positives[metric]
                scale = 1.0 if whole is None else (int(chosen.sum()) + whole) / 2
                off = self._oracle.half_step(f"{self._task.name}.{metric}") * scale + 1e-6
                detected = labels[:, chosen].sum(axis=1)
                fitting[metric] = labels[np.abs(detected - value * scale) <= off]
            if all(len(labels) <= 1 for labels in fitting.values()):
                break
        for metric, labels in fitting.items():
            if len(labels) == 1:
                known[metric].update(zip(group, labels[0].tolist(), strict=True))


# --- Members of published subgroups, from the difference of a subgroup's mean between two submissions ---

_SPLIT_TRIES = 6
_MOST_CASES = 40
_MOST_SUBSETS = 100_000
_USED_BITS = 0.7
_TRIALS = 20
_SPLIT_SEED = 1974


@dataclass(frozen=True)
class Split:
    """A published subgroup of a column, and the number of its members, assumed known."""

    column: str
    value: str
    members: int


class AttackOnMeans:
    """An attack that finds the members of a subgroup from its published means.

    A submission is spoilt in a few cases, in each by a different amount. The change of a subgroup's mean,
    times the number of its members, is the sum of its members' amounts; meeting in the middle finds them.
    """

    def __init__(self, task: Task, metric: str, spoiler: Spoiler, split: Split, oracle: Oracle) -> None:
        self._task, self._metric, self._spoiler = task, metric, spoiler
        self._split, self._oracle = split, oracle
        self._half_step = oracle.half_step(f"{task.name}.{metric}")
        self._random = np.random.Generator(np.random.PCG64(_SPLIT_SEED))
        self._opinions = [
            {field.name: oracle.skilled(field, case) for field in task.fields} for case in oracle.cases
        ]
        self._whole = [self._spoilt(position, np.zeros(2)) for position in range(len(oracle.cases))]

    def recovered(self) -> Recovered:
        """Return the cases that the means reveal as members ("1") or not ("0")."""
        cases, known = self._oracle.cases, dict[int, int]()
        try:
            if size := self._block_size():
                base = self._mean(self._whole)
                for start in range(0, len(cases), size):
                    known |= self._members(range(len(cases))[start : start + size], base)
        except attack_tools.OutOfSubmissionsError:
            pass
        method = f"means of {self._split.column} = {self._split.value}, meet in the middle"
        labels = {cases[position].name: str(label) for position, label in known.items()}
        return Recovered(method, (f"{self._task.name}.{self._metric}",), self._oracle.submissions, labels)

    def _block_size(self) -> int:
        """Return how many cases the published digits distinguish at once, on average."""
        trials = [
            self._contribution(position % len(self._whole), self._random.random(2))
            for position in range(_TRIALS)
        ]
        largest = max(abs(amount) for amount, _ in trials)
        doubt = float(np.mean([doubt for _, doubt in trials]))
        size = 0
        for cases in range(1, min(_MOST_CASES, len(self._whole)) + 1):
            off = 2 * self._split.members * self._half_step + cases * doubt
            if off > 0 and np.log2(max(1.0, largest * cases / 2 / off)) * _USED_BITS >= cases:
                size = cases
        return size

    def _members(self, block: Sequence[int], base: float) -> Mapping[int, int]:
        """Return the cases of a block by membership; nothing where it stays open."""
        fitting: attack_tools.Labellings | None = None
        for _ in range(_SPLIT_TRIES):
            amounts = self._random.random((len(block), 2))
            found = [self._contribution(case, amount) for case, amount in zip(block, amounts, strict=True)]
            predictions = list(self._whole)
            for case, amount in zip(block, amounts, strict=True):
                predictions[case] = self._spoilt(case, amount)
            change = (self._mean(predictions) - base) * self._split.members
            off = 2 * self._split.members * self._half_step + sum(doubt for _, doubt in found) + 1e-9
            weights = np.array([amount for amount, _ in found])
            if fitting is None:
                fitting = subsets_of_sum(weights.tolist(), change - off, change + off, _MOST_SUBSETS)
                if len(fitting) > _MOST_SUBSETS:
                    return {}
            else:
                fitting = fitting[np.abs(fitting @ weights - change) <= off]
            if len(fitting) <= 1:
                return dict(zip(block, fitting[0].tolist(), strict=True)) if len(fitting) else {}
        return {}

    def _spoilt(self, position: int, amounts: NDArray[np.float64]) -> dict[str, Any]:
        case = self._oracle.cases[position]
        return {**self._opinions[position], self._spoiler.field.name: self._spoiler.spoil(case, amounts)}

    def _contribution(self, position: int, amounts: NDArray[np.float64]) -> tuple[float, float]:
        """Return the change of the sum by spoiling a case, and the doubt: how far two opinions differ."""
        case, name = self._oracle.cases[position], self._spoiler.field.name
        opinion, spoilt = self._opinions[position], self._spoilt(position, amounts)
        # A second opinion, as far from the first as the first from the reference.
        again = self._spoiler.field.kind.rehearse(opinion[name], case, Variant.NEAR)
        changes = [
            attack_tools.contribution(self._task, self._whole[position], spoilt, each)[self._metric]
            for each in (opinion, {**opinion, name: again})
        ]
        return changes[0], 2 * abs(changes[1] - changes[0])

    def _mean(self, predictions: Sequence[Mapping[str, Any]]) -> float:
        subgroups = self._oracle.submit(predictions)["subgroups"]
        return float(subgroups[self._split.column][self._split.value][self._task.name][self._metric])


# --- All possible attacks on a phase, each with a bound on the submissions that it needs ---


@dataclass(frozen=True)
class Attacked:
    """The labels that an attack recovered, and the fewest submissions that could reveal all of them.

    ``recovered`` of ``cases`` labels were recovered, ``correct`` of them rightly. ``bound`` counts all
    published numbers, ``bound_of_used`` only the ones that the attack uses; both are averages over all
    assignments of labels.
    """

    labels: str
    method: str
    submissions: int
    recovered: int
    correct: int
    cases: int
    bound: float
    bound_of_used: float


def attack(
    phase: Phase,
    workers: int,
    allowed: int,
    solver: bool = False,
    search: Search = Search(),  # noqa: B008 - frozen
) -> list[Attacked]:
    """Return the results of attacks of at most ``allowed`` submissions each; with a ``solver`` too.

    Each sees only metrics.json. Raises `PhaseError` where the reference cannot be read.
    """
    scores = scores_of_nothing(phase, phase.tasks, workers)
    found = audit.hidden_labels(phase, scores.tables)
    labels = {name: label for label in found for name in label.names}
    disclosure = audit.disclosure_of(scores)
    published = {figure.metric for figure in disclosure.figures}
    tasks = [
        replace(task, metrics=tuple(one for one in task.metrics if f"{task.name}.{one.name}" in published))
        for task in scores.tasks
    ]
    results: list[Attacked] = []
    for label in found:
        for target in targets(tasks, scores.tables, label):
            recovered = labels_of_classes(phase, target, Oracle(phase, target.tasks, allowed), search)
            results.append(_against(recovered, label, disclosure))
        if solver and (solved := tasks_of_label(tasks, label, Oracle(phase, tasks, 0))):
            recovered = labels_by_constraints(phase, label, solved, Oracle(phase, solved, allowed))
            results.append(_against(recovered, label, disclosure))
    for task in tasks:
        results += _on_detections(scores, task, labels, disclosure, allowed)
        results += _on_splits(scores, task, disclosure, allowed)
    return results


def _on_detections(
    scores: Scores, task: Task, labels: Mapping[str, Labels], disclosure: Disclosure, allowed: int
) -> Iterator[Attacked]:
    of_metric = {
        metric.name: label
        for metric in task.metrics
        if (decision := metric.estimator.decision)
        and (label := labels.get(f"{task.name}.{decision.present}"))
    }
    positives: dict[str, int | None] = {
        metric: label.counts.get("1", 0) for metric, label in of_metric.items()
    }
    table = scores.tables[task.name]
    for metric in task.metrics:
        if column := metric.estimator.count_column:
            enters = (~np.isnan(table[column])).astype(int).astype(str).tolist()
            name = f"cases of {task.name}.{metric.name}"
            of_metric[metric.name] = Labels((name,), dict(zip(table.names, enters, strict=True)))
            positives[metric.name] = None
    if not of_metric:
        return
    found = labels_from_detections(task, positives, Oracle(scores.phase, [task], allowed))
    for metric_name, recovered in found.items():
        yield _against(recovered, of_metric[metric_name], disclosure)


def _on_splits(scores: Scores, task: Task, disclosure: Disclosure, allowed: int) -> Iterator[Attacked]:
    phase, names = scores.phase, scores.tables[task.name].names
    split_by = {figure.metric for figure in disclosure.figures if figure.what == "subgroups"}
    for subgroup in phase.config.subgroups:
        if subgroup.compare != "cases" or not audit.told_label(phase, subgroup, scores.tables):
            continue
        for value, members in subgroup_masks(subgroup, phase.cases, names).items():
            split = Split(key_of(subgroup.column), value, int(members.sum()))
            if not phase.config.subgroup_minimum <= split.members < len(names):
                continue
            classes = {name: str(int(member)) for name, member in zip(names, members.tolist(), strict=True)}
            membership = Labels((f"{subgroup.column} = {value}",), classes)
            for metric in task.metrics:
                name = f"{task.name}.{metric.name}"
                if metric.estimator.mean_column != metric.name or name not in split_by:
                    continue
                tried = []
                for spoiler in attack_tools.spoilers(task, Oracle(phase, [task], allowed)):
                    oracle = Oracle(phase, [task], allowed)
                    means = AttackOnMeans(task, metric.name, spoiler, split, oracle)
                    tried.append(means.recovered())
                if tried:
                    best = max(tried, key=lambda found: (len(found.labels), -found.submissions))
                    yield _against(best, membership, disclosure)


def _against(found: Recovered, labels: Labels, disclosure: Disclosure) -> Attacked:
    hidden = audit.HiddenLabels(labels.name, tuple(labels.counts.values()))
    by_split = " = " in labels.name
    used = [
        figure
        for figure in disclosure.figures
        if figure.metric in found.figures and (figure.what == "subgroups") == by_split
    ]
    return Attacked(
        labels=labels.name,
        method=f"{found.figures[0]}: {found.method}",
        submissions=found.submissions,
        recovered=len(found.labels),
        correct=sum(labels.classes.get(name) == label for name, label in found.labels.items()),
        cases=len(labels.classes),
        bound=hidden.submissions(audit.bits_of(disclosure.figures)),
        bound_of_used=hidden.submissions(audit.bits_of(used)),
    )


def print_attacks(phase: Phase, allowed: int, solver: bool) -> None:
    """Print how many labels each attack recovers from a phase with the allowed number of submissions."""
    console, name = TableConsole(120), phase.config.name
    rows = []
    for found in attack(phase, machine.worker_count(), allowed, solver):
        bounds = ("–" if math.isinf(one) else f"{one:g}" for one in (found.bound, found.bound_of_used))
        share = f"{found.recovered} of {found.cases}"
        rows.append((found.labels, found.method, str(found.submissions), share, str(found.correct), *bounds))
    for task in phase.tasks if phase.config.subgroups else ():
        spoilt = {spoiler.field.name for spoiler in attack_tools.spoilers(task, Oracle(phase, [task], 0))}
        for field in (field for field in task.fields if field.name not in spoilt):
            lacks = "regions, objects or numbers of which a value can be made"
            console.print(one_line(left_out(field.name, field.kind, "attacks on subgroups", lacks)))
    if not rows:
        console.print(one_line(f"{name}: none of the attacks applies to what this phase publishes.\n"))
        return
    title = f"{name}: labels that attacks recover from metrics.json, {allowed} submissions at most"
    numbers = "submissions", "recovered", "right", "bound", "by what it uses"
    console.print(text_table(title, ("labels", "attack"), numbers, rows))
