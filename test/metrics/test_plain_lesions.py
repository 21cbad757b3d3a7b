"""Detected and false components against SciPy's labels."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import ndimage

from evaluation.metrics import detection_ratio, false_components

MASKS = st.sampled_from([(6, 7), (3, 4, 5), (1, 1)]).flatmap(
    lambda shape: st.tuples(*[arrays(np.bool_, shape)] * 2)
)


def touched_labels(mask, other):
    """Return how many components a mask has and how many of them the other one touches."""
    labels, number = ndimage.label(mask, np.ones((3,) * mask.ndim))
    return number, len(set(labels[mask & other].tolist()))


@settings(max_examples=200, deadline=None)
@given(MASKS)
def test_components_are_those_of_scipy(masks):
    prediction, reference = masks
    number, touched = touched_labels(reference, prediction)
    expected = touched / number if number else math.nan
    assert detection_ratio(prediction, reference) == pytest.approx(expected, nan_ok=True)
    number, touched = touched_labels(prediction, reference)
    assert false_components(prediction, reference) == number - touched


def test_an_array_without_pixels_has_no_component():
    nothing = np.zeros((0, 4, 4))
    assert math.isnan(detection_ratio(nothing, nothing))
    assert false_components(nothing, nothing) == 0


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        (([1], [1]), r"one shape \(y, x\) or \(z, y, x\)"),
        (([[3]], [[1]]), "expected 0 and 1 only"),
        (([[1]], [[1, 1]]), "one shape"),
    ],
)
def test_wrong_arguments(masks, message):
    for function in (detection_ratio, false_components):
        with pytest.raises(ValueError, match=message):
            function(*masks)
