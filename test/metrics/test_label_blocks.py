import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from evaluation.metrics.label_blocks import (
    CroppedLabels,
    around,
    cropped_labels,
    label_regions,
    positions_within,
    region_of,
)

SHAPES = st.sampled_from([(4, 5, 6), (1, 5, 4), (7, 6)])


def sparse_map(seed, shape):
    generator = np.random.default_rng(seed)
    values = generator.integers(1, 4, shape) * (generator.random(shape) < generator.choice([0, 0.05, 0.5]))
    return values.astype(np.uint8)


@given(st.integers(0, 2**32 - 1), SHAPES)
def test_a_block_holds_all_labels_at_their_place(seed, shape):
    values = sparse_map(seed, shape)
    block = cropped_labels(values)
    everything = ndimage.find_objects(values > 0, max_label=1)[0]
    if everything is None:
        assert block.positions.size == 0
    else:
        assert region_of(block) == everything
    whole = tuple(slice(0, size) for size in shape)
    np.testing.assert_array_equal(positions_within(block, whole), values)


@given(st.integers(0, 2**32 - 1), SHAPES)
def test_regions_are_those_of_the_whole_volume(seed, shape):
    values = sparse_map(seed, shape)
    assert label_regions(cropped_labels(values), 4) == ndimage.find_objects(values, max_label=4)


@pytest.mark.parametrize(
    ("region", "expected"),
    [
        ((slice(0, 2), slice(0, 2)), [[0, 0], [0, 1]]),
        ((slice(1, 3), slice(1, 3)), [[1, 2], [3, 4]]),
        ((slice(2, 3), slice(0, 4)), [[0, 3, 4, 0]]),
        ((slice(5, 6), slice(5, 7)), [[0, 0]]),
    ],
)
def test_values_in_a_region_by_hand(region, expected):
    block = CroppedLabels(np.array([[1, 2], [3, 4]], dtype=np.uint8), (1, 1))
    assert positions_within(block, region).tolist() == expected


def test_around_two_regions():
    assert around((slice(1, 3), slice(5, 6)), (slice(2, 4), slice(0, 1))) == (slice(1, 4), slice(0, 6))
