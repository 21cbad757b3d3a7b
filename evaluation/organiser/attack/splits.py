"""Members of published subgroups, from the difference of a subgroup's mean between two submissions.

One submission is spoilt in a few cases, in each by a different amount. The change of a subgroup's mean, times
the number of its members, is the sum of its members' amounts; meeting in the middle finds the members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.challenge import Task
from evaluation.organiser.attack.oracle import Oracle, OutOfSubmissionsError, Recovered
from evaluation.organiser.attack.solver import subsets_of_sum
from evaluation.organiser.attack.spoilt import Spoiler, contribution

_TRIES = 6
_MOST_CASES = 40
_MOST_SUBSETS = 100_000
_USED_BITS = 0.7
_TRIALS = 20
_SEED = 1974


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

    ``half_step`` is the largest rounding error of a published mean.
    """
    attack = _Means(task, metric, spoiler, split, oracle, half_step)
    known: dict[int, int] = {}
    cases = range(len(oracle.cases))
    try:
        size = attack.block_size()
        if size:
            attack.start()
        for start in range(0, len(cases) if size else 0, max(1, size)):
            block = list(cases[start : start + size])
            known |= attack.find(block)
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
        self._random = np.random.Generator(np.random.PCG64(_SEED))
        self._opinions = [
            {field.name: oracle.skilled(field, case) for field in task.fields} for case in oracle.cases
        ]
        nothing = np.zeros(2)
        self._whole = [self._spoilt(position, nothing) for position in range(len(oracle.cases))]
        self._base = 0.0

    def start(self) -> None:
        """Submit without spoiling any case."""
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
        for _ in range(_TRIES):
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
        """Return the change of the sum by spoiling a case, and its uncertainty.

        The attacker knows the reference as well as two skilled opinions of it agree.
        """
        case, name = self._oracle.cases[position], self._spoiler.field.name
        opinion, spoilt = self._opinions[position], self._spoilt(position, amounts)
        second = {**opinion, name: self._oracle.skilled_again(self._spoiler.field, case, opinion[name])}
        changes = [
            contribution(self._task, case, self._whole[position], spoilt, each)[self._metric]
            for each in (opinion, second)
        ]
        return changes[0], 2 * abs(changes[1] - changes[0])

    def _mean(self, predictions: Sequence[Mapping[str, Any]]) -> float:
        content = self._oracle.submit(
            {case.name: values for case, values in zip(self._oracle.cases, predictions, strict=True)}
        )
        of_group = content["subgroups"][self._split.column][self._split.value]
        return float(of_group[self._task.name][self._metric])
