"""Published formulas of examples of instances, computed from arrays."""

import numpy as np
from scipy import ndimage
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import r2_score


def ious(true, found):
    """Return the IoU of each object of the reference (row) and each predicted one (column)."""
    rows = [true == number for number in np.unique(true[true > 0])]
    columns = [found == number for number in np.unique(found[found > 0])]
    table = [[(one & other).sum() / (one | other).sum() for other in columns] for one in rows]
    return np.array(table).reshape(len(rows), len(columns))


TYPES = ("neutrophil", "epithelial", "lymphocyte", "plasma", "eosinophil", "connective")


def conic(images, added=0.0, of_nothing=1.0):
    """Return the figures of CoNIC, and its R² of each type whose number differs between images.

    images: of both sides numbers and types, shape (2, y, x). added: what its program adds to denominators.
    of_nothing: the quality of a type or an image without a nucleus.
    """

    def quality(hits, objects, total):
        parts = total / (hits + added) if hits else 0, hits / (objects / 2 + added) if objects else 0
        return parts[0] * parts[1] if objects else of_nothing

    def counts(table):
        hits = table[table > 0.5]
        return np.array([len(hits), sum(table.shape), hits.sum(), *table.shape])

    by_type = np.array(
        [
            [counts(ious(true[0] * (true[1] == of), found[0] * (found[1] == of))) for of in range(1, 7)]
            for true, found in images
        ]
    )
    of_types = [quality(*of[:3]) for of in by_type.sum(axis=0)]
    numbers = by_type[:, :, 3:].transpose(1, 2, 0)
    of_images = [quality(*counts(ious(true[0], found[0]))[:3]) for true, found in images]
    return {
        "panoptic_quality": np.mean(of_types),
        "panoptic_quality_of_images": np.mean(of_images),
        **{f"panoptic_quality_{name}": of for name, of in zip(TYPES, of_types, strict=True)},
        **{
            f"count_determination_{name}": r2_score(*of)
            for name, of in zip(TYPES, numbers, strict=True)
            if of_nothing == 0 or len(set(of[0])) > 1
        },
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


def sts(scans):
    figures = []
    for true, found, _ in scans:
        table, total = ious(true, found), 0.0
        teeth, hits, objects = len(table), (table > 0.5).sum(), sum(table.shape)
        while table.size and table.max() >= 0.5:
            total += table.max()
            one, other = np.unravel_index(table.argmax(), table.shape)
            table = np.delete(np.delete(table, one, axis=0), other, axis=1)
        figures.append((total / teeth, 2 * hits / objects))
    return dict(zip(("instance_iou", "recognition_quality"), np.mean(figures, axis=0), strict=True))
