import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage
from sklearn.metrics import confusion_matrix

from evaluation.metrics.segmentation import (
    around,
    content_region,
    count_label_overlap,
    label_regions,
)


@given(st.sampled_from([1, 5, 20]), st.integers(0, 2**32 - 1), st.sampled_from([(7,), (5, 6), (3, 4, 5)]))
def test_counts_as_the_confusion_matrix(labels, seed, shape):
    generator = np.random.default_rng(seed)
    prediction, reference = generator.integers(0, labels + 1, (2, *shape)).astype(np.uint8)
    table = confusion_matrix(prediction.ravel(), reference.ravel(), labels=range(labels + 1))
    counts = count_label_overlap(prediction, reference, labels)
    np.testing.assert_array_equal(counts.intersection, np.diagonal(table)[1:])
    np.testing.assert_array_equal(counts.prediction, table.sum(axis=1)[1:])
    np.testing.assert_array_equal(counts.reference, table.sum(axis=0)[1:])


@given(st.integers(0, 2**32 - 1), st.lists(st.sets(st.integers(1, 5), min_size=1), min_size=1, max_size=4))
def test_a_region_is_counted_as_the_mask_of_its_labels(seed, regions):
    prediction, reference = np.random.default_rng(seed).integers(0, 6, (2, 3, 4, 5)).astype(np.uint8)
    counts = count_label_overlap(prediction, reference, 5, [sorted(region) for region in regions])
    masks = [[np.isin(each, sorted(region)) for each in (prediction, reference)] for region in regions]
    assert counts.intersection.tolist() == [(one & other).sum() for one, other in masks]
    assert counts.prediction.tolist() == [one.sum() for one, _ in masks]
    assert counts.reference.tolist() == [other.sum() for _, other in masks]


@pytest.mark.parametrize(
    ("prediction", "reference", "message"),
    [
        (np.zeros((2, 2), np.uint8), np.zeros((2, 3), np.uint8), "^prediction:"),
        (np.zeros((2, 2), np.int64), np.zeros((2, 2), np.uint8), "^label maps:"),
        (np.full((2, 2), 3, np.uint8), np.zeros((2, 2), np.uint8), "^label maps:"),
    ],
)
def test_refuses(prediction, reference, message):
    with pytest.raises(ValueError, match=message):
        count_label_overlap(prediction, reference, 2)


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 0.05, 0.5]), st.sampled_from([(4, 5, 6), (1, 5), (9,)]))
def test_regions_are_what_scipy_finds_in_the_whole_map(seed, share, shape):
    generator = np.random.default_rng(seed)
    values = (generator.integers(1, 4, shape) * (generator.random(shape) < share)).astype(np.uint8)
    assert label_regions(values, 4) == ndimage.find_objects(values, max_label=4)
    (content,) = ndimage.find_objects(values > 0, max_label=1)
    assert content_region(values) == (content or tuple(slice(0, 0) for _ in shape))


def test_around_two_regions():
    regions = (slice(1, 3), slice(5, 6)), (slice(2, 4), slice(0, 1))
    assert around(regions) == (slice(1, 4), slice(0, 6))
