import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from evaluation.metrics.crop import crop
from evaluation.metrics.volume_crop import VolumeCrop, stack_of, together

# Mostly zeros, so that boxes are smaller than their volumes.
VOLUMES = arrays(
    np.uint8, array_shapes(min_dims=3, max_dims=3, max_side=5), elements=st.sampled_from([0, 0, 0, 0, 1, 2])
)


def cropped(volume):
    return stack_of((crop(plane, 0) for plane in volume), np.uint8)


@given(VOLUMES)
def test_a_stack_is_the_smallest_box_of_the_volume(volume):
    found = cropped(volume)
    filled = np.argwhere(volume)
    if len(filled):
        assert found.corner == tuple(filled.min(axis=0))
        assert found.end == tuple(filled.max(axis=0) + 1)
    else:
        assert (found.values.shape, found.corner) == ((0, 0, 0), (0, 0, 0))
    np.testing.assert_array_equal(found.within((0, 0, 0), volume.shape), volume)


@given(VOLUMES, st.randoms(use_true_random=False))
def test_two_crops_in_one_box(volume, random):
    other = volume[::-1, :, ::-1] * random.randrange(2)
    boxes = together(cropped(volume), cropped(other))
    filled = np.argwhere(volume | other)
    start, end = (filled.min(axis=0), filled.max(axis=0) + 1) if len(filled) else ((0, 0, 0), (0, 0, 0))
    box = tuple(slice(first, last) for first, last in zip(start, end, strict=True))
    for found, whole in zip(boxes, (volume, other), strict=True):
        np.testing.assert_array_equal(found, whole[box])


def test_a_stack_keeps_its_type():
    assert stack_of((), np.float32).values.dtype == np.float32
    plane = crop(np.ones((1, 1), np.uint8), 0)
    assert stack_of([plane], np.float32).values.dtype == np.float32


@pytest.mark.parametrize("corner", [(0, 0, 0), (1, 2, 3)])
def test_the_own_box_is_not_copied(corner):
    volume = VolumeCrop(np.ones((2, 3, 4)), corner)
    assert volume.within(corner, volume.end) is volume.values
