"""Candidates and lesions, against all assignments that there are."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.metrics import jaccard_score

from evaluation.metrics.candidate_matching import match_candidates, overlap_of_components

NUMBERED = array_shapes(min_dims=1, max_dims=3, max_side=4).flatmap(
    lambda shape: st.tuples(*(arrays(np.uint16, shape, elements=st.integers(0, 3)) for _ in range(2)))
)


@given(NUMBERED)
def test_overlaps_of_all_pairs(maps):
    candidates, lesions = maps
    lesions = np.searchsorted(np.unique([0, *lesions.ravel()]), lesions)  # every number has a voxel
    found = overlap_of_components(candidates, lesions, 3)
    assert found.shape == (lesions.max(), 3)
    for lesion, candidate in np.ndindex(found.shape):
        pair = (lesions.ravel() == lesion + 1, candidates.ravel() == candidate + 1)
        assert found[lesion, candidate] == pytest.approx(jaccard_score(*pair))


def best_sum(overlap, least):
    """Return the largest sum of 1 + overlap over pairs, from all assignments."""
    lesions, candidates = overlap.shape
    best = 0.0
    for count in range(1, min(lesions, candidates) + 1):
        for rows in combinations(range(lesions), count):
            for columns in permutations(range(candidates), count):
                values = [overlap[pair] for pair in zip(rows, columns, strict=True)]
                if min(values) >= least:
                    best = max(best, count + sum(values))
    return best


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(0, 3), st.integers(0, 3)),
        elements=st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.4, 0.5]),
    )
)
def test_the_best_assignment_of_all(overlap):
    found = match_candidates(overlap, 0.1)
    assert found.lesions == overlap.shape[0]
    assert found.false.tolist() == [not (column >= 0.1).any() for column in overlap.T]
    assert not (found.hits & found.false).any()
    # The candidates that were hit can be assigned with the best sum.
    assert best_sum(overlap[:, found.hits], 0.1) == pytest.approx(best_sum(overlap, 0.1))
    assert np.count_nonzero(found.hits) <= overlap.shape[0]


@pytest.mark.parametrize(
    ("overlap", "hits", "false"),
    [
        # As in the tests of PI-CAI's evaluation: IoU 9/41 and 3/47, then 1/3 and 2/7.
        ([[9 / 41, 3 / 47]], [True, False], [False, True]),
        ([[1 / 3, 2 / 7]], [True, False], [False, False]),
        # Both lesions are hit, though the first candidate has the larger overlap with the second one.
        ([[0.2, 0.0], [0.4, 0.3]], [True, True], [False, False]),
        ([[0.1]], [True], [False]),
        ([[0.0999]], [False], [True]),
    ],
)
def test_by_hand(overlap, hits, false):
    found = match_candidates(np.array(overlap), 0.1)
    assert (found.hits.tolist(), found.false.tolist()) == (hits, false)
