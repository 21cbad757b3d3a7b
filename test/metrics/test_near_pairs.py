"""Pairs that are searched nearby, against a table of all pairs."""

import numpy as np
import pytest
from pycocotools import mask as coco_mask

from evaluation.metrics.boxes import match_boxes, overlapping_boxes


def boxes_of(generator, count):
    """Return boxes with whole coordinates, some without area, of which many overlap and some are the same."""
    lower = generator.integers(0, 120, (count, 2))
    return np.hstack((lower, lower + generator.integers(0, 14, (count, 2)))).astype(float)


def all_overlaps(found, true, inclusive):
    """Return the intersections over union of all pairs by pycocotools, which has no inclusive corners."""
    sizes = [np.column_stack((of[:, :2], of[:, 2:] - of[:, :2] + inclusive)) for of in (found, true)]
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(coco_mask.iou(*sizes, [0] * len(true)))


@pytest.mark.parametrize("inclusive", [False, True])
@pytest.mark.parametrize("counts", [(300, 200), (5000, 1), (1, 5000), (0, 9), (9, 0)])
def test_pairs_are_those_of_the_table(counts, inclusive):
    generator = np.random.default_rng(sum(counts))
    found, true = (boxes_of(generator, count) for count in counts)
    table = all_overlaps(found, true, inclusive) if min(counts) else np.zeros(counts)
    for least in (0.0, 0.5):
        pairs = overlapping_boxes(found, true, inclusive, least)
        expected = np.nonzero((table > 0) & (table >= least))
        np.testing.assert_array_equal((pairs.prediction, pairs.reference), expected)
        np.testing.assert_allclose(-pairs.distance, table[expected], rtol=1e-12)


@pytest.mark.parametrize("inclusive", [False, True])
def test_boxes_of_many_references_match_as_in_a_loop(inclusive):
    generator = np.random.default_rng(3)
    found, true = boxes_of(generator, 260), boxes_of(generator, 150)
    confidence = generator.integers(0, 9, 260) / 8
    table = all_overlaps(found, true, inclusive)
    expected, taken = {}, {}
    for detection in np.argsort(-confidence, kind="stable").tolist():
        box = int(table[detection].argmax())
        iou = table[detection, box]
        expected[detection] = (iou, taken.get(box, 0.0) if iou else 0.0)
        taken[box] = max(taken.get(box, 0.0), iou)
    matches = match_boxes(found, np.zeros(260, int), confidence, true, np.zeros(150, int), inclusive)
    rows = [expected[detection] for detection in range(260)]
    np.testing.assert_allclose(np.column_stack((matches.iou, matches.claimed)), rows, rtol=1e-12)
