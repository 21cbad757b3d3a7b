"""Eq. 4 by hand, and what holds for any annotators."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.organiser.cyst_benchmark.accuracy import SimilarityByConfidence
from evaluation.organiser.cyst_benchmark.combination import (
    AnnotatorMarks,
    combine,
    mean_levels,
    nearest_level,
)

LEVELS = {1: 0.2, 2: 0.4, 3: 0.6, 4: 0.8, 5: 1.0}
VALUES = np.array([0.0, *LEVELS.values()])
weights = st.floats(0.01, 1)
accuracies = st.builds(SimilarityByConfidence, weights, st.fixed_dictionaries(dict.fromkeys(LEVELS, weights)))
marks = st.builds(
    lambda levels, accuracy: AnnotatorMarks(levels, VALUES[levels], accuracy),
    arrays(np.uint8, (3, 3), elements=st.integers(0, 5)),
    accuracies,
)


def annotator(levels, overall, **by_confidence):
    levels = np.array([levels], dtype=np.uint8)
    accuracy = SimilarityByConfidence(
        overall, {int(name[1:]): value for name, value in by_confidence.items()}
    )
    return AnnotatorMarks(levels, VALUES[levels], accuracy)


def test_by_hand():
    first = annotator([4, 4, 1, 0], 0.5, c4=0.9, c1=0.3)
    second = annotator([0, 2, 1, 0], 0.6, c2=0.3, c1=0.7)
    expected = [
        (0.9 * 0.8 + 0.6 * 0.0) / (0.9 + 0.6),
        (0.9 * 0.8 + 0.3 * 0.4) / (0.9 + 0.3),
        0.2,
        0.0,
    ]
    assert combine([first, second])[0].tolist() == pytest.approx(expected)


def test_no_weight_gives_zero():
    assert combine([annotator([3], 0.0, c3=0.0), annotator([0], 0.0)]).tolist() == [[0.0]]


def test_a_marked_voxel_stays_apart_from_an_unmarked_one():
    # 0.01 · 0.2 / (0.01 + 1) is below the least value of a marked voxel.
    assert combine([annotator([1], 1.0, c1=0.01), annotator([0], 1.0)]).tolist() == [[0.01]]


@pytest.mark.parametrize(
    ("confidence", "level"), [(0.01, 1), (0.29, 1), (0.31, 2), (0.8, 4), (0.95, 5), (1.0, 5), (0.0, 1)]
)
def test_nearest_level(confidence, level):
    # Where every level has a value of its own, the annotators' own levels do not matter.
    for own in (0.0, 2.0, 5.0):
        found = nearest_level(np.array([confidence]), np.array([own]), np.array([True]), LEVELS)
        assert found.tolist() == [level]


TIED = {1: 0.25, 2: 0.75, 3: 0.75, 4: 0.75, 5: 1.0}


@pytest.mark.parametrize(
    ("confidence", "own", "level"),
    [
        (0.5, 4.0, 1),  # 0.25 and 0.75 are as near: the lower value
        (0.75, 0.0, 2),
        (0.75, 2.9, 3),
        (0.75, 3.5, 3),  # 3 and 4 are as near: the lower one
        (0.75, 3.6, 4),
        (0.75, 5.0, 4),  # 5 has another value
        (0.9, 2.0, 5),
    ],
)
def test_levels_of_one_value_are_told_apart_by_the_annotators_own(confidence, own, level):
    found = nearest_level(np.array([confidence, 0.0]), np.array([own, 0.0]), np.array([True, False]), TIED)
    assert found.tolist() == [level, 0]


def test_mean_levels_by_hand():
    first = annotator([4, 4, 0], 0.5, c4=0.9)
    second = annotator([0, 2, 0], 0.6, c2=0.3)
    expected = [0.9 * 4 / (0.9 + 0.6), (0.9 * 4 + 0.3 * 2) / (0.9 + 0.3), 0.0]
    assert mean_levels([first, second])[0].tolist() == pytest.approx(expected)


@settings(max_examples=60)
@given(
    arrays(np.uint8, (2, 5), elements=st.integers(0, 5)),
    st.lists(accuracies, min_size=1, max_size=3),
    st.lists(st.sampled_from([0.3, 0.5, 0.8]), min_size=5, max_size=5).map(sorted),
)
def test_no_level_is_lost_that_all_annotators_gave(levels, of_annotators, values):
    """However many levels isotonic regression has tied."""
    by_level = dict(zip(LEVELS, values, strict=True))
    table = np.array([0.0, *values])
    marks = [AnnotatorMarks(levels, table[levels], accuracy) for accuracy in of_annotators]
    found = nearest_level(combine(marks), mean_levels(marks), levels > 0, by_level)
    np.testing.assert_array_equal(found, levels)
