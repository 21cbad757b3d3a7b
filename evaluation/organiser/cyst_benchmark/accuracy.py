"""The step `accuracy`: reproducibility and accuracy of every annotator (Eq. 3)."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.confidence import weighted_dice_of_sums
from evaluation.core.fault import PhaseError
from evaluation.metrics.arrays import Floats
from evaluation.metrics.crops import around, content_of
from evaluation.organiser.cyst_benchmark import data, transform
from evaluation.organiser.cyst_benchmark.transform import Interval, Scale
from evaluation.organiser.output import write_rows
from evaluation.phase.cases import organiser_table

SUMS = (1 + len(data.CONFIDENCES), 3)
"""The shape of `similarity_sums`."""


def similarity_sums(first: Floats, second: Floats, *levels: NDArray[Any]) -> Floats:
    """Return Σ AB, Σ A² and Σ B² of two annotations of a B-scan (y, x), shape (6, 3).

    The first row is over all voxels, the others are over the voxels that have confidence 1 to 5 in any of
    ``levels``. Sums of several B-scans are added.
    """
    marked = (np.logical_or.reduce([one == c for one in levels]) for c in data.CONFIDENCES)
    pairs = [(first.ravel(), second.ravel()), *((first[voxels], second[voxels]) for voxels in marked)]
    return np.array([(one @ other, one @ one, other @ other) for one, other in pairs])


def similarities_of(sums: Floats) -> Floats:
    """Return 2ΣAB / (ΣA² + ΣB²) of `similarity_sums` (Eq. 3), overall and of confidence 1 to 5, shape (6,).

    Overall 1 where both sides are empty; NaN for a confidence that nobody marked.
    """
    dice = weighted_dice_of_sums(sums)
    dice[1:][~sums[1:, 1:].any(axis=1)] = np.nan
    return dice


def weights_of(similarities: Floats) -> Floats:
    """Return the weight of a mark of confidence 0 to 5 by an annotator's accuracies, shape (6,).

    It is the overall accuracy for a confidence that does not occur in the evaluation set, and for 0.
    """
    return np.where(np.isnan(similarities), similarities[0], similarities)


@dataclass(frozen=True)
class ValuedBScan:
    """Confidences and values (y, x) by annotator and run, cropped to the box that holds all marks."""

    levels: Mapping[tuple[str, str], data.Levels]
    values: Mapping[tuple[str, str], Floats]

    def mean(self, annotator: str) -> Floats:
        """Return the mean of an annotator's two runs, the final annotation of the evaluation set."""
        first, second = (self.values[annotator, run] for run in data.RUNS)
        return (first + second) / 2

    def similarity_sums(self, first: Floats, second: Floats, *annotators: str) -> Floats:
        """Return `similarity_sums` of two annotations, by the confidences of some annotators in both runs."""
        levels = [self.levels[name, run] for name in annotators for run in data.RUNS]
        return similarity_sums(first, second, *levels)


def valued(
    b_scan: data.AnnotatedBScan, scale: Scale, measured: Mapping[transform.CystKey, Mapping[int, float]]
) -> ValuedBScan:
    """Return the values of a B-scan. Raises `PhaseError` where its cysts are not those that were measured."""
    box = around(*map(content_of, b_scan.levels.values()))
    values = {}
    for (annotator, run), levels in b_scan.levels.items():
        cysts = data.cysts_of(levels)
        found = measured.get((annotator, run, b_scan.volume, b_scan.b_scan), {})
        if len(found) != len(cysts):
            where = f"{annotator}, {run}, {b_scan.volume}, B-scan {b_scan.b_scan}"
            raise PhaseError(
                f"{transform.DISTINCTIONS}: {where}: expected {len(cysts)} cysts, found {len(found)}; "
                "the annotations changed: repeat the distinction step"
            )
        of_cysts = [found[number] for number in range(1, len(cysts) + 1)]
        values[annotator, run] = scale.values(annotator, levels, cysts, of_cysts)[box.slices]
    return ValuedBScan({key: levels[box.slices] for key, levels in b_scan.levels.items()}, values)


ACCURACY = "accuracy.csv"
BY_CONFIDENCE = tuple(f"confidence_{c}" for c in data.CONFIDENCES)
_OF_ACCURACY = ("reader", "measure", "overall", *BY_CONFIDENCE)


def write_accuracy(evaluation_set: data.EvaluationSet, work: Path, interval: Interval) -> dict[str, object]:
    """Measure reproducibility and accuracy of every annotator; return the report's section."""
    scale, measured = transform.read_scale(work, interval), transform.read_distinctions(work)
    reproducibility: dict[str, Floats] = defaultdict(lambda: np.zeros(SUMS))
    accuracy: dict[str, Floats] = defaultdict(lambda: np.zeros(SUMS))
    for annotated in evaluation_set:
        b_scan = valued(annotated, scale, measured)
        truth = b_scan.mean(data.SUPERVISOR)
        for name in (*evaluation_set.annotators, data.SUPERVISOR):
            first, second = (b_scan.values[name, run] for run in data.RUNS)
            reproducibility[name] += b_scan.similarity_sums(first, second, name)
            if name != data.SUPERVISOR:
                mean = b_scan.mean(name)
                accuracy[name] += b_scan.similarity_sums(mean, truth, name, data.SUPERVISOR)
    rows = [
        (name, measure, *similarities_of(sums))
        for measure, found in (("reproducibility", reproducibility), ("accuracy", accuracy))
        for name, sums in found.items()
    ]
    write_rows(work / ACCURACY, _OF_ACCURACY, rows)
    return {"interval": interval}


def read_accuracy(work: Path) -> dict[str, Floats]:
    """Return all accuracies (see `similarities_of`) but the supervisor's. Raises `PhaseError`."""
    accuracies = {}
    with organiser_table(work / ACCURACY, _OF_ACCURACY) as table:
        for row in table.rows:
            if row.cells["measure"] == "accuracy":
                found = np.array([row.number(name) for name in ("overall", *BY_CONFIDENCE)])
                if np.isnan(found[0]) or (found < 0).any():
                    row.fault("overall", f"expected accuracies of at least 0, found {found.tolist()}")
                accuracies[row.cells["reader"]] = found
    return accuracies
