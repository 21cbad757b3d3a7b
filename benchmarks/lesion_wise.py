"""BraTS' three regions lesion by lesion in 240 × 240 × 155, against the usual figures of three labels.

    python -m benchmarks.lesion_wise [--runs 5]

From label maps in memory, one process and one case, through the metrics that a phase declares: lesion-wise
Dice and Hausdorff distance (95 %) of three overlapping regions, against Dice, Hausdorff distance (95 %) and
surface Dice of the three labels. For one tumour, for one with 300 false components, and for 40 metastases.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.declared.label_maps import Dice, LabelMetricTable
from evaluation.challenges.declared.label_surfaces import HausdorffDistance, SurfaceDice
from evaluation.challenges.declared.lesions import LesionWiseDice, LesionWiseHausdorffDistance
from evaluation.challenges.declared.maps import LabelMapField
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics.crops import Crop

Positions = NDArray[np.uint8]

SHAPE = (155, 240, 240)
_LABELS = {"1": "ncr", "2": "ed", "3": "et"}
_PLAIN = LabelMapField(kind="label_map", labels=_LABELS)
_REGIONS = LabelMapField(kind="label_map", labels=_LABELS, regions={"wt": [1, 2, 3], "tc": [1, 3], "et": [3]})
_USUAL: Sequence[LabelMetricTable] = (
    Dice(metric="dice"),
    HausdorffDistance(metric="hausdorff_distance", percentile=95.0),
    SurfaceDice(metric="surface_dice", tolerance_mm=1.0),
)
_LESION_WISE: Sequence[LabelMetricTable] = (
    LesionWiseDice(metric="lesion_wise_dice"),
    LesionWiseHausdorffDistance(metric="lesion_wise_hausdorff_distance", worst=374.0),
)


def main() -> None:
    """Time both and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    tumour, near = _tumour(0), _tumour(1)
    metastases = _metastases(0)
    pairs = {
        "one tumour": (near, tumour),
        "and 300 false components": (_speckled(near), tumour),
        "40 metastases": (np.roll(metastases, 1, 2), metastases),
    }
    print(f"{'seconds, median':<28} {'usual':>8} {'lesion-wise':>12} {'ratio':>6}")
    for title, (prediction, reference) in pairs.items():
        usual = _time(_USUAL, _PLAIN, prediction, reference, runs)
        lesion_wise = _time(_LESION_WISE, _REGIONS, prediction, reference, runs)
        print(f"{title:<28} {usual:>8.2f} {lesion_wise:>12.2f} {lesion_wise / usual:>6.2f}")


def _time(
    metrics: Sequence[LabelMetricTable],
    table: LabelMapField,
    prediction: Positions,
    reference: Positions,
    runs: int,
) -> float:
    """Return the median of the seconds that the columns of a case take, after one round."""
    measures = [metric.measure(metric.metric, "map", table) for metric in metrics]
    values = [
        LabelMapValue(Crop(map_, (0, 0, 0)), SHAPE, (1.0, 1.0, 1.0)) for map_ in (prediction, reference)
    ]
    seconds = []
    for _ in range(runs + 1):
        started = time.perf_counter()
        comparison = FieldComparison("map", values[0], {"map": values[1]})
        for measure in measures:
            measure.row(comparison)
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds[1:])


def _tumour(seed: int) -> Positions:
    """Return three nested bodies with an uneven surface that depends on the seed."""
    from scipy.ndimage import zoom

    coarse = np.random.default_rng(seed).normal(size=(9, 13, 13))
    waves = zoom(coarse, np.divide(SHAPE, coarse.shape), order=1) * 0.1
    grid = np.ogrid[tuple(slice(0, size) for size in SHAPE)]
    radius = sum(
        ((axis - centre) / half) ** 2
        for axis, centre, half in zip(grid, (80, 110, 150), (30, 38, 34), strict=True)
    )
    values = np.zeros(SHAPE, dtype=np.uint8)
    for label, limit in ((2, 1.0), (3, 0.45), (1, 0.2)):
        values[radius + waves < limit] = label
    return values


def _speckled(values: Positions) -> Positions:
    speckled = values.copy()
    random = np.random.default_rng(2)
    for z, y, x in zip(*(random.integers(5, size - 5, 300) for size in SHAPE), strict=True):
        speckled[z : z + 2, y : y + 2, x : x + 2] = random.integers(1, 4)
    return speckled


def _metastases(seed: int) -> Positions:
    values = np.zeros(SHAPE, dtype=np.uint8)
    random = np.random.default_rng(seed)
    for z, y, x in zip(*(random.integers(12, size - 12, 40) for size in SHAPE), strict=True):
        side = int(random.integers(3, 9))
        values[z : z + side, y : y + side, x : x + side] = 2
        values[z + 1 : z + side - 1, y + 1 : y + side - 1, x + 1 : x + side - 1] = 3
    return values


if __name__ == "__main__":
    main()
