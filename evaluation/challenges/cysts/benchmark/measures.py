"""The three steps of the cyst benchmark that measure the annotators; each reads and writes tables.

    distinction   → distinctions.csv                  every cyst of the evaluation set, Eq. 1
    transform     → transforms.csv, levels.csv        from distinctions.csv, Eq. 2
    accuracy      → accuracy.csv                      from the files above, Eq. 3

An organiser can inspect and change the tables before the next step reads them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.accuracy import Accuracy, Similarity, marked_by_either
from evaluation.challenges.cysts.benchmark.distinction import (
    CONFIDENCES,
    AnnotatedCyst,
    cysts_of,
    distinctions,
)
from evaluation.challenges.cysts.benchmark.evaluation_set import (
    RUNS,
    SUPERVISOR,
    AnnotatedBScan,
    EvaluationSet,
)
from evaluation.challenges.cysts.benchmark.transform import Transform, fit, moments_of, supervisor_of
from evaluation.core.fault import PhaseError
from evaluation.phase.organiser_tables import organiser_table
from evaluation.phase.output import write_rows

DISTINCTIONS, TRANSFORMS, LEVELS, ACCURACY = (
    "distinctions.csv",
    "transforms.csv",
    "levels.csv",
    "accuracy.csv",
)
Interval = Literal["level", "cyst"]
_OF_CYST = ("reader", "run", "volume", "b_scan", "cyst", "confidence", "pixels", "distinction")
_OF_TRANSFORM = ("reader", "confidence", "cysts", "mean", "variance", "a", "b")
_OF_LEVEL = ("confidence", "cysts", "mean", "variance", "pooled_with", "value")
_OF_ACCURACY = ("reader", "measure", "overall", *(f"confidence_{c}" for c in CONFIDENCES))
_MOST = 10**9


@dataclass(frozen=True)
class Scale:
    """The interval scale: the value of every level, and every annotator's transform of distinctions.

    ``interval`` "level": a confidence has the supervisor's mean distinction as its value; "cyst": every cyst
    has its own distinction, transformed for its annotator.
    """

    interval: Interval
    levels: Mapping[int, float]
    transforms: Mapping[tuple[str, int], Transform]

    def values(
        self,
        annotator: str,
        levels: NDArray[np.uint8],
        cysts: Sequence[AnnotatedCyst],
        cyst_distinctions: Sequence[float],
    ) -> NDArray[np.float64]:
        """Return the value of every voxel of a B-scan (y, x), 0 where nothing is marked.

        A cyst whose distinction is undefined (NaN in ``cyst_distinctions``) has the value of its level.
        """
        table = np.array([0.0, *(self.levels[c] for c in CONFIDENCES)])
        values: NDArray[np.float64] = table[levels]
        if self.interval == "cyst":
            for cyst, distinction in zip(cysts, cyst_distinctions, strict=True):
                if not isnan(distinction):
                    values[cyst.box][cyst.pixels] = self._transform(annotator, cyst.confidence)(distinction)
        return values

    def _transform(self, annotator: str, confidence: int) -> Transform:
        if (annotator, confidence) not in self.transforms:
            raise PhaseError(
                f"{TRANSFORMS}: expected a row of {annotator}, confidence {confidence}, found none"
            )
        return self.transforms[annotator, confidence]


def write_distinctions(evaluation_set: EvaluationSet, work: Path) -> dict[str, object]:
    """Measure every cyst of every annotator and run; return the report's section."""
    rows: list[tuple[object, ...]] = []
    undefined = 0
    for b_scan in evaluation_set:
        for (annotator, run), levels in b_scan.levels.items():
            cysts = cysts_of(levels)
            measured = distinctions(b_scan.image, levels, cysts, b_scan.intensities)
            undefined += sum(map(isnan, measured))
            for number, (cyst, value) in enumerate(zip(cysts, measured, strict=True), start=1):
                pixels = int(np.count_nonzero(cyst.pixels))
                rows.append(
                    (annotator, run, b_scan.volume, b_scan.b_scan, number, cyst.confidence, pixels, value)
                )
    write_rows(work / DISTINCTIONS, _OF_CYST, sorted(rows, key=lambda row: tuple(map(str, row[:3]))))
    return {"cysts": len(rows), "without_a_ring": undefined}


def write_transforms(work: Path) -> dict[str, object]:
    """Fit every annotator's transform to the supervisor's distinctions; return the report's section."""
    by_annotator: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    with organiser_table(work / DISTINCTIONS, _OF_CYST) as table:
        for row in table.rows:
            confidence = row.whole("confidence", 1, CONFIDENCES[-1])
            by_annotator[row.cells["reader"]][confidence].append(row.number("distinction"))
    if SUPERVISOR not in by_annotator:
        raise PhaseError(f"{work / DISTINCTIONS}: expected cysts of the supervisor, found none")
    supervisor = supervisor_of(by_annotator[SUPERVISOR])
    rows = []
    for annotator in sorted(by_annotator):
        for c in CONFIDENCES:
            moments = moments_of(by_annotator[annotator][c])
            # The others are mapped to the supervisor, whose own map is the identity.
            map_to = Transform(1.0, 0.0) if annotator == SUPERVISOR else fit(moments, supervisor.moments[c])
            rows.append((annotator, c, moments.count, moments.mean, moments.variance, map_to.a, map_to.b))
    write_rows(work / TRANSFORMS, _OF_TRANSFORM, rows)
    write_rows(
        work / LEVELS,
        _OF_LEVEL,
        [
            (c, m.count, m.mean, m.variance, supervisor.pooled_with.get(c), supervisor.levels[c])
            for c, m in supervisor.moments.items()
        ],
    )
    return {
        "levels": dict(supervisor.levels),
        "pooled_confidences_of_the_supervisor": dict(supervisor.pooled_with),
        "transforms": [dict(zip(_OF_TRANSFORM, row, strict=True)) for row in rows],
    }


def read_scale(work: Path, interval: Interval) -> Scale:
    """Read the tables of the transform step. Raises `PhaseError`."""
    with organiser_table(work / LEVELS, ("confidence", "value")) as table:
        levels = {row.whole("confidence", 1, CONFIDENCES[-1]): row.number("value") for row in table.rows}
    if missing := [c for c in CONFIDENCES if isnan(levels.get(c, nan))]:
        raise PhaseError(f"{work / LEVELS}: expected a value of confidence {missing[0]}, found none")
    with organiser_table(work / TRANSFORMS, _OF_TRANSFORM) as table:
        transforms = {
            (row.cells["reader"], row.whole("confidence", 1, CONFIDENCES[-1])): Transform(
                row.number("a"), row.number("b")
            )
            for row in table.rows
        }
    return Scale(interval, levels, transforms)


def write_accuracy(evaluation_set: EvaluationSet, work: Path, interval: Interval) -> dict[str, object]:
    """Measure reproducibility and accuracy of every annotator; return the report's section."""
    scale = read_scale(work, interval)
    measured = _read_distinctions(work)
    annotators = (*evaluation_set.annotators, SUPERVISOR)
    reproducibility = {annotator: Similarity() for annotator in annotators}
    accuracy = {annotator: Similarity() for annotator in evaluation_set.annotators}
    for b_scan in evaluation_set:
        runs = {
            annotator: [_values(b_scan, annotator, run, scale, measured) for run in RUNS]
            for annotator in annotators
        }
        supervisor_levels = [b_scan.levels[SUPERVISOR, run] for run in RUNS]
        for annotator, (first, second) in runs.items():
            levels = [b_scan.levels[annotator, run] for run in RUNS]
            reproducibility[annotator].add(first, second, marked_by_either(*levels))
            if annotator != SUPERVISOR:
                marked = marked_by_either(*levels, *supervisor_levels)
                true_first, true_second = runs[SUPERVISOR]
                accuracy[annotator].add((first + second) / 2, (true_first + true_second) / 2, marked)
    rows = [
        (annotator, measure, found.overall, *(found.by_confidence[c] for c in CONFIDENCES))
        for measure, annotator_values in (("reproducibility", reproducibility), ("accuracy", accuracy))
        for annotator, found in (
            (annotator, similarity.result()) for annotator, similarity in annotator_values.items()
        )
    ]
    write_rows(work / ACCURACY, _OF_ACCURACY, rows)
    return {"interval": interval, "annotators": [dict(zip(_OF_ACCURACY, row, strict=True)) for row in rows]}


def read_accuracy(work: Path) -> dict[str, Accuracy]:
    """Return every annotator's accuracy, without the supervisor's. Raises `PhaseError`."""
    accuracies = {}
    with organiser_table(work / ACCURACY, _OF_ACCURACY) as table:
        for row in table.rows:
            if row.cells["measure"] != "accuracy":
                continue
            weights = [row.number("overall"), *(row.number(f"confidence_{c}") for c in CONFIDENCES)]
            if isnan(weights[0]) or any(weight < 0 for weight in weights):
                row.fault("overall", f"expected accuracies of at least 0, found {weights}")
            by_confidence = dict(zip(CONFIDENCES, weights[1:], strict=True))
            accuracies[row.cells["reader"]] = Accuracy(weights[0], by_confidence)
    return accuracies


_Measured = Mapping[tuple[str, str, str, int], Mapping[int, float]]


def _read_distinctions(work: Path) -> _Measured:
    found: dict[tuple[str, str, str, int], dict[int, float]] = defaultdict(dict)
    with organiser_table(work / DISTINCTIONS, _OF_CYST) as table:
        for row in table.rows:
            key = (row.cells["reader"], row.cells["run"], row.cells["volume"], row.whole("b_scan", 1, _MOST))
            found[key][row.whole("cyst", 1, _MOST)] = row.number("distinction")
    return found


def _values(
    b_scan: AnnotatedBScan, annotator: str, run: str, scale: Scale, measured: _Measured
) -> NDArray[np.float64]:
    levels = b_scan.levels[annotator, run]
    cysts = cysts_of(levels)
    b_scan_distinctions = measured.get((annotator, run, b_scan.volume, b_scan.b_scan), {})
    if len(b_scan_distinctions) != len(cysts):
        where = f"{annotator}, {run}, {b_scan.volume}, B-scan {b_scan.b_scan}"
        raise PhaseError(
            f"{DISTINCTIONS}: {where}: expected {len(cysts)} cysts, found {len(b_scan_distinctions)}; "
            "the annotations changed: repeat the distinction step"
        )
    return scale.values(annotator, levels, cysts, [b_scan_distinctions[n] for n in range(1, len(cysts) + 1)])
