"""Attacks on the hidden labels of a phase, each against a bound on the submissions that it needs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import Task
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.metric import Metric
from evaluation.evaluate import scores_of_nothing
from evaluation.io.kinds.number import Number
from evaluation.organiser.attack_tools import (
    Oracle,
    OutOfSubmissionsError,
    Recovered,
    Spoiler,
    Sums,
    contribution,
    only_labels,
    spoilers,
    subsets_of_sum,
    value_of,
)
from evaluation.organiser.audit import Disclosure, audit, bits_of
from evaluation.organiser.labels import Labels, bits_of_counts, hidden_labels, told_label
from evaluation.phase.cases import key_of, subgroup_masks
from evaluation.phase.leaderboard import digits_of
from evaluation.phase.phase import Phase
from evaluation.phase.scores import Scores
from evaluation.platform.result_file import SIGNIFICANT_DIGITS

# --- Labels from areas under ROC curves, by integer programming ---

_GROUP = 20
_MIXED_GROUP = 12
_TRIES = 100
_SECONDS = 5.0
_SEED = 1947
_NO_LABEL = -1


def labels_from_areas(
    task: Task, metric: str, oracle: Oracle, counts: tuple[int, int], half_step: float
) -> Recovered:
    """Return the 0/1 labels that follow from the published AUC of a likelihood.

    ``counts`` are the numbers of positives and negatives; if they are fewer than the cases, unknown cases
    have no label. ``half_step`` is the largest rounding error of a published value.
    """
    attack = _Areas(task, metric, oracle, counts, half_step)
    attack.find()
    labels = {
        oracle.cases[position].name: "" if label == _NO_LABEL else str(label)
        for position, label in attack.known.items()
    }
    return Recovered("AUC, integer programming", (f"{task.name}.{metric}",), oracle.submissions, labels)


class _Areas:
    """The search for labels by ranks.

    With P positives and N negatives, AUC · P · N + P (P + 1) / 2 is the sum of the positives' ranks (Mann and
    Whitney 1947): a weighted sum of the labels. Cases are tested in groups, with all others tied below. Known
    labels lie between the cases of a group to spread its ranks.
    """

    def __init__(
        self, task: Task, metric: str, oracle: Oracle, counts: tuple[int, int], half_step: float
    ) -> None:
        self._task, self._metric, self._oracle = task, metric, oracle
        self._positives, self._negatives = counts
        self._half_step = half_step
        self._random = np.random.Generator(np.random.PCG64(_SEED))
        self.known: dict[int, int] = {}

    def find(self) -> None:
        """Find the labels group by group; where some cases have none, by sets of cases above all others."""
        unlabelled = len(self._oracle.cases) - self._positives - self._negatives
        try:
            while unknown := self._unknown():
                if unlabelled:
                    found = self._group_by_two_levels(unknown[:_MIXED_GROUP], unlabelled)
                else:
                    found = self._group_by_ranks(unknown[:_GROUP])
                if not found:
                    return
        except OutOfSubmissionsError:
            return

    def _unknown(self) -> list[int]:
        return [position for position in range(len(self._oracle.cases)) if position not in self.known]

    def _group_by_ranks(self, group: list[int]) -> bool:
        pairs = self._positives * self._negatives
        left = self._positives - sum(self.known.values())
        sums = Sums(len(group))
        others = len(self._unknown()) - len(group)
        sums.add(np.ones(len(group)), max(0, left - others), min(len(group), left))
        for _ in range(_TRIES):
            upper = self._random.permutation([*group, *self.known]).tolist()
            scores = np.zeros(len(self._oracle.cases))
            scores[upper] = np.arange(1, len(upper) + 1) / len(upper)
            below = (len(scores) - len(upper) + 1) / 2  # the rank of all tied cases
            ranks = dict(zip(upper, range(len(scores) - len(upper) + 1, len(scores) + 1), strict=True))
            area = self._submit(scores)
            total = area * pairs + self._positives * (self._positives + 1) / 2 - self._positives * below
            total -= sum(label * (ranks[position] - below) for position, label in self.known.items())
            weights = np.array([ranks[position] - below for position in group])
            off = self._half_step * pairs + 1e-6
            sums.add(weights, total - off, total + off)
            labels = only_labels(sums, _SECONDS)
            if labels is not None:
                self.known |= dict(zip(group, labels.tolist(), strict=True))
                return True
        return False

    def _group_by_two_levels(self, group: list[int], unlabelled: int) -> bool:
        """AUC = ½ + ½ (x / P − z / N) where x positives and z negatives are above all others."""
        size = len(group)
        sums = Sums(2 * size)  # for each case whether it is positive, then whether it is negative
        for position in range(size):
            row = np.zeros(2 * size)
            row[[position, position + size]] = 1
            sums.add(row, 0, 1)
        sums.add(np.ones(2 * size), max(0, size - unlabelled), size)
        for _ in range(_TRIES):
            above = (self._random.random(size) < 0.5).astype(np.float64)
            scores = np.zeros(len(self._oracle.cases))
            scores[np.array(group)[above > 0]] = 1
            share = 2 * self._submit(scores) - 1
            weights = np.concatenate([above / self._positives, -above / self._negatives])
            scale = self._positives * self._negatives
            off = 2 * self._half_step + 1e-12
            sums.add(weights * scale, (share - off) * scale, (share + off) * scale)
            labels = only_labels(sums, _SECONDS)
            if labels is not None:
                found = np.where(labels[:size] == 1, 1, np.where(labels[size:] == 1, 0, _NO_LABEL))
                self.known |= dict(zip(group, found.tolist(), strict=True))
                return True
        return False

    def _submit(self, scores: NDArray[np.float64]) -> float:
        content = self._oracle.submit(
            {
                case.name: {
                    field.name: score if isinstance(field.kind, Number) else self._oracle.empty(field, case)
                    for field in self._task.fields_for(case)
                }
                for case, score in zip(self._oracle.cases, scores.tolist(), strict=True)
            }
        )
        return value_of(content, self._task.name, self._metric) or 0.0


# --- Labels from the F1 of a detection: every value is a count of the images that have the structure ---

_DETECTION_GROUP = 16
_DETECTION_TRIES = 40
_DETECTION_SEED = 1963


def labels_from_detections(
    task: Task, positives: Mapping[str, int], oracle: Oracle, half_steps: Mapping[str, float]
) -> Mapping[str, Recovered]:
    """Return by metric the 0/1 labels that follow from the published F1 of each structure of a task.

    ``positives`` are the numbers of images with the structure, by metric; ``half_steps`` the largest rounding
    errors of published values. A metric with equal values for empty and full predictions is left out.
    """
    attack = _Detections(task, oracle)
    known: dict[str, dict[int, int]] = {metric: {} for metric in positives}
    try:
        everywhere = attack.submit(range(len(oracle.cases)))
        nowhere = attack.submit(())
        usable = [
            metric
            for metric in positives
            if (value_of(everywhere, task.name, metric) or 0) > (value_of(nowhere, task.name, metric) or 0)
        ]
        known = {metric: {} for metric in usable}
        cases = range(len(oracle.cases))
        for start in cases[::_DETECTION_GROUP] if usable else ():
            group = cases[start : start + _DETECTION_GROUP]
            attack.find(group, {metric: positives[metric] for metric in usable}, half_steps, known)
    except OutOfSubmissionsError:
        pass
    return {
        metric: Recovered(
            "F1 of detection, integer programming",
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
        self._random = np.random.Generator(np.random.PCG64(_DETECTION_SEED))
        self._empty = [
            {field.name: oracle.empty(field, case) for field in task.fields_for(case)}
            for case in oracle.cases
        ]

    def submit(self, detected: Sequence[int]) -> Mapping[str, object]:
        """Return the metrics.json of finding every structure in these images and none elsewhere."""
        return self._oracle.submit(_Detected(self._oracle.cases, self._empty, self._task, set(detected)))

    def find(
        self,
        group: Sequence[int],
        positives: Mapping[str, int],
        half_steps: Mapping[str, float],
        known: Mapping[str, dict[int, int]],
    ) -> None:
        """Find the labels of a group of images, of all structures with the same submissions."""
        sums = {metric: Sums(len(group)) for metric in positives}
        pending = set(positives)
        for _ in range(_DETECTION_TRIES):
            chosen = self._random.random(len(group)) < 0.5
            content = self.submit([case for case, is_in in zip(group, chosen, strict=True) if is_in])
            for metric in sorted(pending):
                value = value_of(content, self._task.name, metric) or 0.0
                scale = (int(chosen.sum()) + positives[metric]) / 2
                off = half_steps[metric] * scale + 1e-6
                sums[metric].add(chosen.astype(np.float64), value * scale - off, value * scale + off)
                labels = only_labels(sums[metric], _SECONDS)
                if labels is not None:
                    known[metric].update(zip(group, labels.tolist(), strict=True))
                    pending.discard(metric)
            if not pending:
                return


class _Detected(Mapping[str, Mapping[str, Any]]):
    """Predictions that find every structure in some images; full ones are made when they are scored."""

    def __init__(
        self, cases: Sequence[CaseForm], empty: Sequence[Mapping[str, Any]], task: Task, detected: set[int]
    ) -> None:
        self._cases, self._empty, self._task, self._detected = cases, empty, task, detected
        self._positions = {case.name: position for position, case in enumerate(cases)}

    def __len__(self) -> int:
        return len(self._cases)

    def __iter__(self) -> Iterator[str]:
        return iter(self._positions)

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        position = self._positions[name]
        case, empty = self._cases[position], self._empty[position]
        if position not in self._detected:
            return empty
        return {
            field.name: field.kind.rehearse(empty[field.name], case, Variant.INVERTED)
            for field in self._task.fields_for(case)
        }


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


def members_from_means(
    task: Task, metric: str, spoiler: Spoiler, split: Split, oracle: Oracle, half_step: float
) -> Recovered:
    """Return the cases that a subgroup's published mean reveals as members ("1") or not ("0").

    A submission is spoilt in a few cases, in each by a different amount. The change of a subgroup's mean,
    times the number of its members, is the sum of its members' amounts; meeting in the middle finds them.
    ``half_step`` is the largest rounding error of a published mean.
    """
    attack = _Means(task, metric, spoiler, split, oracle, half_step)
    known: dict[int, int] = {}
    cases = range(len(oracle.cases))
    try:
        if size := attack.block_size():
            attack.start()
            for start in range(0, len(cases), size):
                known |= attack.find(cases[start : start + size])
    except OutOfSubmissionsError:
        pass
    method = f"means of {split.column} = {split.value}, meet in the middle"
    labels = {oracle.cases[position].name: str(label) for position, label in known.items()}
    return Recovered(method, (f"{task.name}.{metric}",), oracle.submissions, labels)


class _Means:
    def __init__(
        self, task: Task, metric: str, spoiler: Spoiler, split: Split, oracle: Oracle, half_step: float
    ) -> None:
        self._task, self._metric, self._spoiler = task, metric, spoiler
        self._split, self._oracle, self._half_step = split, oracle, half_step
        self._random = np.random.Generator(np.random.PCG64(_SPLIT_SEED))
        self._opinions = [
            {field.name: oracle.skilled(field, case) for field in task.fields} for case in oracle.cases
        ]
        nothing = np.zeros(2)
        self._whole = [self._spoilt(position, nothing) for position in range(len(oracle.cases))]
        self._base = 0.0

    def start(self) -> None:
        self._base = self._mean(self._whole)

    def block_size(self) -> int:
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

    def find(self, block: Sequence[int]) -> Mapping[int, int]:
        """Return the cases of a block by membership; nothing where it stays open."""
        fitting: NDArray[np.int64] | None = None
        for _ in range(_SPLIT_TRIES):
            amounts = self._random.random((len(block), 2))
            found = [self._contribution(case, amount) for case, amount in zip(block, amounts, strict=True)]
            predictions = list(self._whole)
            for case, amount in zip(block, amounts, strict=True):
                predictions[case] = self._spoilt(case, amount)
            change = (self._mean(predictions) - self._base) * self._split.members
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
        second = {**opinion, name: self._oracle.skilled_again(self._spoiler.field, case, opinion[name])}
        changes = [
            contribution(self._task, self._whole[position], spoilt, each)[self._metric]
            for each in (opinion, second)
        ]
        return changes[0], 2 * abs(changes[1] - changes[0])

    def _mean(self, predictions: Sequence[Mapping[str, Any]]) -> float:
        content = self._oracle.submit(
            {case.name: values for case, values in zip(self._oracle.cases, predictions, strict=True)}
        )
        of_group = content["subgroups"][self._split.column][self._split.value]
        return float(of_group[self._task.name][self._metric])


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


def attack(phase: Phase, workers: int, allowed: int) -> list[Attacked]:
    """Return the results of attacks of at most ``allowed`` submissions each.

    Each submits to only one task and sees only its metrics.json. Raises `PhaseError` where the reference
    cannot be read.
    """
    scores = scores_of_nothing(phase, phase.tasks, workers)
    labels = {name: label for label in hidden_labels(phase, scores.tables) for name in label.names}
    disclosure = audit(phase, workers)
    results: list[Attacked] = []
    for task in scores.tasks:
        results += _on_likelihoods(scores, task, labels, disclosure, allowed)
        results += _on_detections(scores, task, labels, disclosure, allowed)
        results += _on_splits(scores, task, disclosure, allowed)
    return results


def _on_likelihoods(
    scores: Scores, task: Task, labels: Mapping[str, Labels], disclosure: Disclosure, allowed: int
) -> Iterator[Attacked]:
    for metric in task.metrics:
        curve = metric.aggregate.curve
        if curve and curve.is_area and (label := labels.get(f"{task.name}.{curve.label}")):
            oracle = Oracle(scores.phase, task, allowed)
            counts = (label.counts.get("1", 0), label.counts.get("0", 0))
            half_step = _half_step(scores, task, metric)
            found = labels_from_areas(task, metric.name, oracle, counts, half_step)
            yield _against(found, label, disclosure)


def _on_detections(
    scores: Scores, task: Task, labels: Mapping[str, Labels], disclosure: Disclosure, allowed: int
) -> Iterator[Attacked]:
    of_metric = {
        metric.name: label
        for metric in task.metrics
        if (decision := metric.aggregate.decision)
        and (label := labels.get(f"{task.name}.{decision.present}"))
    }
    if not of_metric:
        return
    positives = {metric: label.counts.get("1", 0) for metric, label in of_metric.items()}
    steps = {metric.name: _half_step(scores, task, metric) for metric in task.metrics}
    found = labels_from_detections(task, positives, Oracle(scores.phase, task, allowed), steps)
    for metric_name, recovered in found.items():
        yield _against(recovered, of_metric[metric_name], disclosure)


def _on_splits(scores: Scores, task: Task, disclosure: Disclosure, allowed: int) -> Iterator[Attacked]:
    phase, names = scores.phase, scores.tables[task.name].names
    for subgroup in phase.config.subgroups:
        if subgroup.compare != "cases" or not told_label(phase, subgroup, scores.tables):
            continue
        for value, members in subgroup_masks(subgroup, phase.cases, names).items():
            split = Split(key_of(subgroup.column), value, int(members.sum()))
            if not phase.config.subgroup_minimum <= split.members < len(names):
                continue
            classes = {name: str(int(member)) for name, member in zip(names, members.tolist(), strict=True)}
            membership = Labels((f"{subgroup.column} = {value}",), classes)
            for metric in task.metrics:
                if metric.aggregate.spread_column != metric.name:
                    continue
                step = _half_step(scores, task, metric)
                tried = [
                    members_from_means(task, metric.name, spoiler, split, Oracle(phase, task, allowed), step)
                    for spoiler in spoilers(task, Oracle(phase, task, allowed))
                ]
                if tried:
                    best = max(tried, key=lambda found: (len(found.labels), -found.submissions))
                    yield _against(best, membership, disclosure)


def _half_step(scores: Scores, task: Task, metric: Metric) -> float:
    digits = digits_of(scores.phase.config, f"{task.name}.{metric.name}").value
    return float(0.5 * 10**-digits) if digits < SIGNIFICANT_DIGITS else 1e-12


def _against(found: Recovered, labels: Labels, disclosure: Disclosure) -> Attacked:
    bits = bits_of_counts(list(labels.counts.values()))
    used = [figure for figure in disclosure.figures if figure.metric in found.figures]
    by_split = [figure for figure in used if figure.what == "subgroups"]
    values = [figure for figure in used if figure.what == "value"]

    def bound(told: float) -> float:
        return math.ceil(bits / told) if told else math.inf

    return Attacked(
        labels=labels.name,
        method=f"{found.figures[0]}: {found.method}",
        submissions=found.submissions,
        recovered=len(found.labels),
        correct=sum(labels.classes.get(name) == label for name, label in found.labels.items()),
        cases=len(labels.classes),
        bound=bound(bits_of(disclosure.figures)),
        bound_of_used=bound(bits_of(by_split if " = " in labels.name else values)),
    )
