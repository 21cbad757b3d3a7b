"""Labels from areas under ROC curves, by integer programming.

With P positives and N negatives, AUC · P · N + P (P + 1) / 2 is the sum of the positives' ranks (Mann and
Whitney 1947): a weighted sum of the labels. Cases are tested in groups, with all others tied below. Known
labels lie between the cases of a group to spread its ranks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import Task
from evaluation.core.metric import Curve
from evaluation.io.kinds.number import Number
from evaluation.organiser.attack.oracle import Oracle, OutOfSubmissionsError, Recovered, value_of
from evaluation.organiser.attack.solver import Sums, only_labels

_GROUP = 20
_MIXED_GROUP = 12
_TRIES = 100
_SECONDS = 5.0
_SEED = 1947
_NO_LABEL = -1


def labels_from_areas(
    task: Task, metric: str, curve: Curve, oracle: Oracle, counts: tuple[int, int], half_step: float
) -> Recovered:
    """Return the 0/1 labels that follow from the published AUC of a likelihood.

    ``counts`` are the numbers of positives and negatives; if they are fewer than the cases, unknown cases
    have no label. ``half_step`` is the largest rounding error of a published value.
    """
    attack = _Areas(task, metric, oracle, counts, half_step)
    if len(oracle.cases) == sum(counts):
        attack.by_ranks()
    else:
        attack.by_two_levels()
    labels = {
        oracle.cases[position].name: "" if label == _NO_LABEL else str(label)
        for position, label in attack.known.items()
    }
    return Recovered("AUC, integer programming", (f"{task.name}.{metric}",), oracle.submissions, labels)


class _Areas:
    def __init__(
        self, task: Task, metric: str, oracle: Oracle, counts: tuple[int, int], half_step: float
    ) -> None:
        self._task, self._metric, self._oracle = task, metric, oracle
        self._positives, self._negatives = counts
        self._half_step = half_step
        self._random = np.random.Generator(np.random.PCG64(_SEED))
        self.known: dict[int, int] = {}

    def by_ranks(self) -> None:
        """Find the labels where every case has one."""
        try:
            while len(self.known) < len(self._oracle.cases):
                if not self._group_by_ranks(self._unknown()[:_GROUP]):
                    return
        except OutOfSubmissionsError:
            return

    def by_two_levels(self) -> None:
        """Find the labels where some cases have none, by sets of cases above all others."""
        unlabelled = len(self._oracle.cases) - self._positives - self._negatives
        try:
            while len(self.known) < len(self._oracle.cases):
                if not self._group_by_two_levels(self._unknown()[:_MIXED_GROUP], unlabelled):
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
