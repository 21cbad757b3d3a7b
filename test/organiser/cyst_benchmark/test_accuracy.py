"""Eq. 3 by hand on three voxels, and what holds for any annotations."""

import math

import numpy as np
import pytest

from evaluation.organiser.cyst_benchmark.accuracy import (
    SimilarityByConfidence,
    similarity_of,
    similarity_sums,
)


def similarity(first, second, *levels):
    return similarity_of(similarity_sums(np.asarray(first), np.asarray(second), *levels))


def test_by_hand():
    first, second = np.array([[0.5, 1.0, 0.0]]), np.array([[1.0, 0.5, 0.5]])
    levels = [np.array([[1, 5, 0]]), np.array([[5, 1, 1]])]
    found = similarity(first, second, *levels)
    # 2 (0.5 + 0.5 + 0) / (0.25 + 1 + 0 + 1 + 0.25 + 0.25)
    assert found.overall == pytest.approx(2 / 2.75)
    # Confidence 5: voxels 0 and 1, marked by one side each; confidence 1: all three.
    assert found.by_confidence[5] == pytest.approx(2 / 2.5)
    assert found.by_confidence[1] == pytest.approx(2 / 2.75)
    assert math.isnan(found.by_confidence[3])


def test_planes_are_pooled_not_averaged():
    one, zero, marked = np.array([[1.0]]), np.array([[0.0]]), np.array([[1]])
    found = similarity_of(similarity_sums(one, one, marked) + similarity_sums(one, zero, marked))
    assert found.overall == pytest.approx(2 * 1 / (2 + 1))
    assert found.by_confidence[1] == pytest.approx(2 / 3)


def test_nothing_marked_by_anybody_is_alike():
    empty = np.zeros((2, 2))
    assert similarity(empty, empty, empty).overall == 1.0


@pytest.mark.parametrize(("confidence", "weight"), [(4, 0.9), (3, 0.6), (0, 0.6)])
def test_an_unknown_accuracy_is_the_overall_one(confidence, weight):
    assert SimilarityByConfidence(0.6, {3: math.nan, 4: 0.9}).weight(confidence) == weight
