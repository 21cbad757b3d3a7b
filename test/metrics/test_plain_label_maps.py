"""What the functions on label maps refuse, and that any type of numbers gives the same."""

import math

import numpy as np
import pytest

from evaluation.metrics import label_average_surface_distance as distance
from evaluation.metrics import label_hausdorff_distance, label_surface_dice
from evaluation.metrics import surface_dice as dice

MAPS = np.array([[0, 2, 2, 7], [0, 2, 7, 7]])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int64, np.float32])
def test_labels_of_any_type(dtype):
    maps = MAPS.astype(dtype)
    found = label_hausdorff_distance(maps, np.roll(maps, 1, axis=0), [2, 7], (3.0, 0.5))
    expected = [
        label_hausdorff_distance(label == MAPS, np.roll(MAPS, 1, axis=0) == label, [1], (3.0, 0.5))[0]
        for label in (2, 7)
    ]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dice([1], [1], 1), r"expected arrays of shape \(y, x\) or \(z, y, x\), found \(1,\)"),
        (lambda: dice([[1]], [[1, 1]], 1), "expected arrays of one shape"),
        (lambda: dice([[2]], [[1]], 1), "prediction: expected 0 and 1 only"),
        (lambda: dice([[1]], [[1]], -1), "tolerance_mm: expected a number of at least 0"),
        (lambda: dice([[1]], [[1]], math.nan), "tolerance_mm: expected a number of at least 0"),
        (lambda: dice([[1]], [[1]], 1, (1, 0)), "spacing_mm: expected 2 numbers above 0"),
        (lambda: dice([[1]], [[1]], 1, surface="pixels"), "'elements' or 'voxels', found 'pixels'"),
        (lambda: label_surface_dice([[1]], [[1]], [1, 2], [1, 2, 3]), "or one for each label"),
        (lambda: distance([[1]], [[1]], [1, 1]), r"expected up to 255 different ones, found \[1, 1\]"),
        (lambda: distance([[1]], [[1]], range(256)), "expected up to 255 different ones"),
        (lambda: distance([[1]], [[1]], [1], (1, 1, 1)), "spacing_mm: expected 2 numbers above 0"),
        (lambda: label_hausdorff_distance([[1]], [[1]], [1], percentile=101), "from 0 to 100, found 101"),
        (lambda: label_hausdorff_distance([[1]], [[1]], [1], method="linear"), "expected 'index'"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
