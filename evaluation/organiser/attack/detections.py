"""Labels from the F1 of a detection: every value is a count of the images that have the structure.

F1 = 2 TP / (k + P) with k predicted and P true images, so that each submission gives the count in any set of
images (coin weighing); integer programming finds the labels from the counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evaluation.core.challenge import Task
from evaluation.core.form import CaseForm
from evaluation.core.variant import Variant
from evaluation.organiser.attack.oracle import Oracle, OutOfSubmissionsError, Recovered, value_of
from evaluation.organiser.attack.solver import Sums, only_labels

_GROUP = 16
_TRIES = 40
_SECONDS = 5.0
_SEED = 1963


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
        for start in range(0, len(oracle.cases) if usable else 0, _GROUP):
            group = list(range(start, min(start + _GROUP, len(oracle.cases))))
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
    def __init__(self, task: Task, oracle: Oracle) -> None:
        self._task, self._oracle = task, oracle
        self._random = np.random.Generator(np.random.PCG64(_SEED))
        self._empty = [
            {field.name: oracle.empty(field, case) for field in task.fields_for(case)}
            for case in oracle.cases
        ]

    def submit(self, detected: Sequence[int]) -> Mapping[str, object]:
        """Return the metrics.json of finding every structure in these images and none elsewhere."""
        return self._oracle.submit(_Detected(self._oracle.cases, self._empty, self._task, set(detected)))

    def find(
        self,
        group: list[int],
        positives: Mapping[str, int],
        half_steps: Mapping[str, float],
        known: Mapping[str, dict[int, int]],
    ) -> None:
        """Find the labels of a group of images, of all structures with the same submissions."""
        sums = {metric: Sums(len(group)) for metric in positives}
        pending = set(positives)
        for _ in range(_TRIES):
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
    """Predictions that find every structure in some images; full ones are made when they are scored.

    Full masks of all images of a large phase would take many gigabytes.
    """

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
