"""Examples of instances from their folders alone, against independent computations."""

import numpy as np
import pytest
from scipy import ndimage
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import r2_score

from test.examples.test_segmentation import compare


def ious(true, found):
    """Return the IoU of each object of the reference (row) and each predicted one (column)."""
    rows = [true == number for number in np.unique(true[true > 0])]
    columns = [found == number for number in np.unique(found[found > 0])]
    table = [[(one & other).sum() / (one | other).sum() for other in columns] for one in rows]
    return np.array(table).reshape(len(rows), len(columns))


TYPES = ("neutrophil", "epithelial", "lymphocyte", "plasma", "eosinophil", "connective")


def conic(images):
    figures, totals, counts, plain = {}, np.zeros((6, 4)), [], []
    for true, found, _ in images:
        counts.append([])
        for of in range(6):
            table = ious(true[0] * (true[1] == of + 1), found[0] * (found[1] == of + 1))
            hits = table[table > 0.5]
            totals[of] += len(hits), table.shape[1] - len(hits), table.shape[0] - len(hits), hits.sum()
            counts[-1].append(table.shape)
        table = ious(true[0], found[0])
        plain.append(2 * table[table > 0.5].sum() / sum(table.shape))
    hits, false, missed, total = totals.T
    quality = hits / (hits + false / 2 + missed / 2) * total / hits
    numbers = np.array(counts)
    determined = [r2_score(*numbers[:, of].T) for of in range(6)]
    for name, one, other in zip(TYPES, quality, determined, strict=True):
        figures |= {f"panoptic_quality_{name}": one, f"count_determination_{name}": other}
    return figures | {
        "panoptic_quality": quality.mean(),
        "panoptic_quality_of_images": np.mean(plain),
        "count_determination": np.mean(determined),
    }


def inner(numbers):
    """Return a map without the cells that touch the outer two pixels."""
    edge = np.ones(numbers.shape, bool)
    edge[2:-2, 2:-2] = False
    return np.where(np.isin(numbers, numbers[edge]), 0, numbers)


def cellseg(images):
    scores = []
    for true, found, _ in images:
        table = ious(inner(true), inner(found))
        cost = -1.0 * (table >= 0.5) - table / (2 * max(1, min(table.shape)))
        hits = (table[linear_sum_assignment(cost)] >= 0.5).sum()
        scores.append(2 * hits / sum(table.shape) if sum(table.shape) else 1.0)  # there 0
    return {"f1": np.median(scores), "f1_mean": np.mean(scores)}


def isles2024(images):
    rows = []
    for true, found, spacing_mm in images:
        labelled = [ndimage.label(mask, np.ones((3, 3, 3))) for mask in (true, found)]
        table = ious(labelled[0][0], labelled[1][0])
        hits = (table[linear_sum_assignment(-1.0 * (table >= 0.2))] >= 0.2).sum()
        voxels = true.sum(dtype=int), found.sum(dtype=int)
        rows.append(
            {
                "dice": 2 * (true & found).sum() / sum(voxels),
                "volume_difference": abs(voxels[0] - voxels[1]) * np.prod(spacing_mm) / 1000,
                "lesion_count_difference": abs(labelled[0][1] - labelled[1][1]),
                "lesion_f1": 2 * hits / sum(table.shape),
            }
        )
    return {key: np.mean([row[key] for row in rows]) for key in rows[0]}


EXPECTED = {"conic": conic, "cellseg": cellseg, "isles2024": isles2024}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_figures_are_those_of_an_independent_computation(name, tmp_path):
    compare(tmp_path, name, EXPECTED[name])
