"""Eq. 4 by hand, and what holds for any annotators."""

import math
from collections import Counter

import numpy as np
import pytest

from evaluation.organiser.cyst_benchmark.accuracy import (
    similarities_of,
    similarity_sums,
    weights_of,
)
from evaluation.organiser.cyst_benchmark.combination import (
    combine,
    lost_levels,
    nearest_level,
    weighted_mean,
    weights_at,
)

LEVELS = {1: 0.2, 2: 0.4, 3: 0.6, 4: 0.8, 5: 1.0}
VALUES = np.array([0.0, *LEVELS.values()])


def accuracies(overall, **by_confidence):
    return np.array([overall, *(by_confidence.get(f"c{c}", math.nan) for c in LEVELS)])


def combined(levels, *accuracies):
    levels = np.array(levels)
    return combine(levels, VALUES[levels], weights_at(levels, accuracies)).tolist()


def test_no_weight_gives_zero():
    assert combined([[3], [0]], accuracies(0.0, c3=0.0), accuracies(0.0)) == [0.0]


def test_a_marked_voxel_stays_apart_from_an_unmarked_one():
    # 0.01 · 0.2 / (0.01 + 1) is below the least value of a marked voxel.
    assert combined([[1], [0]], accuracies(1.0, c1=0.01), accuracies(1.0)) == [0.01]


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
        # No level is lost that all annotators gave.
        *((TIED[level], float(level), level) for level in TIED),
    ],
)
def test_levels_of_one_value_are_told_apart_by_the_annotators_own(confidence, own, level):
    found = nearest_level(np.array([confidence, 0.0]), np.array([own, 0.0]), np.array([True, False]), TIED)
    assert found.tolist() == [level, 0]


def test_mean_levels_by_hand():
    levels = np.array([[4, 4, 0], [0, 2, 0]])
    weights = weights_at(levels, [accuracies(0.5, c4=0.9), accuracies(0.6, c2=0.3)])
    expected = [0.9 * 4 / (0.9 + 0.6), (0.9 * 4 + 0.3 * 2) / (0.9 + 0.3), 0.0]
    assert weighted_mean(weights, levels).tolist() == pytest.approx(expected)


def test_levels_that_are_lost_are_counted():
    lost = lost_levels(Counter({1: 2, 3: 1}), {"a": Counter({1: 1, 2: 2}), "b": Counter({1: 1, 4: 1})})
    assert [line.split(":")[0] for line in lost] == ["level 2 is lost", "level 4 is lost"]
    assert "2 voxels" in lost[0]
    assert "1 voxels" in lost[1]


# --- Eq. 3 by hand on three voxels ---


def similarity(first, second, *levels):
    return similarities_of(similarity_sums(np.asarray(first), np.asarray(second), *levels))


def test_nothing_marked_by_anybody_is_alike():
    empty = np.zeros((2, 2))
    assert similarity(empty, empty, empty)[0] == 1.0


@pytest.mark.parametrize(("confidence", "weight"), [(4, 0.9), (3, 0.6), (0, 0.6)])
def test_an_unknown_accuracy_is_the_overall_one(confidence, weight):
    assert weights_of(np.array([0.6, 0.1, 0.2, math.nan, 0.9, 0.3]))[confidence] == weight
