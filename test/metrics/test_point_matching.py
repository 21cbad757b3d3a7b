import itertools

import numpy as np
import pytest
from grand_challenge_metrics.scorers import score_detection
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics.point_matching import match_points, radial_errors

POINTS = st.lists(st.tuples(*[st.integers(0, 8)] * 2), max_size=7).map(
    lambda points: np.array(points, dtype=float).reshape(-1, 2)
)


@given(POINTS, POINTS)
def test_nearest_as_the_platforms_package(predicted, reference):
    # Ties of distances are resolved by a tree there, so points are moved apart a little.
    predicted = predicted + np.linspace(0.001, 0.002, len(predicted))[:, None] * [1, 1.7]
    if not len(predicted) or not len(reference):
        expected = (0, len(predicted), len(reference))
    else:
        theirs = score_detection(ground_truth=reference, predictions=predicted, radius=3.0)
        expected = (theirs.true_positives, theirs.false_positives, theirs.false_negatives)
    found = match_points(predicted, reference, 3.0, "nearest")
    assert (found.true_positives, found.false_positives, found.false_negatives) == expected


@given(POINTS.filter(lambda points: len(points) < 5), POINTS.filter(lambda points: 0 < len(points) < 5))
def test_optimal_as_all_assignments(predicted, reference):
    near = np.linalg.norm(predicted[:, None] - reference, axis=2) if len(predicted) else np.zeros((0, 1))
    best = (0, 0.0)
    for assignment in itertools.product([-1, *range(len(predicted))], repeat=len(reference)):
        used = [index for index in assignment if index >= 0]
        if len(set(used)) == len(used) and all(near[p, r] <= 3 for r, p in enumerate(assignment) if p >= 0):
            total = sum(near[p, r] for r, p in enumerate(assignment) if p >= 0)
            best = max(best, (len(used), -total))
    found = match_points(predicted, reference, 3.0, "optimal")
    total = sum(near[p, r] for r, p in enumerate(found.hit) if p >= 0)
    assert (found.true_positives, -total) == pytest.approx(best)


@pytest.mark.parametrize(
    ("rule", "hit", "false"),
    [
        # Reference 0 takes its nearest, prediction 1; nothing is left for reference 1.
        ("nearest", [1, -1], [True, False, True]),
        # Prediction 0 comes first and takes reference 0, then prediction 1 takes reference 1.
        ("by_confidence", [0, 1], [False, False, True]),
        ("optimal", [0, 1], [False, False, True]),
        # The most confident of those near; prediction 1 is near both and no false positive.
        ("any", [0, 1], [False, False, True]),
    ],
)
def test_rules_by_hand(rule, hit, false):
    predicted = [[0, 0, -2.0], [0, 0, 1.0], [0, 0, 40.0]]
    reference = [[0, 0, 0.0], [0, 0, 3.0]]
    found = match_points(predicted, reference, 2.0, rule, confidence=[0.9, 0.5, 0.8])
    assert found.hit.tolist() == hit
    assert found.false.tolist() == false


@pytest.mark.parametrize(("strict", "hits"), [(False, 2), (True, 1)])
def test_radii_of_each_reference_point(strict, hits):
    found = match_points(
        [[0.0, 1.0], [5.0, 0.0]], [[0.0, 0.0], [5.0, 2.0]], [1.0, 2.5], "nearest", strict=strict
    )
    assert found.true_positives == hits


@pytest.mark.parametrize("rule", ["nearest", "by_confidence", "optimal", "any"])
def test_nothing_to_match(rule):
    nothing = match_points([], [[0, 0, 0.0]], 1.0, rule, confidence=[])
    assert (nothing.true_positives, nothing.false_positives, nothing.false_negatives) == (0, 0, 1)
    alone = match_points([[0, 0, 0.0]], [], 1.0, rule, confidence=[0.5])
    assert (alone.true_positives, alone.false_positives, alone.false_negatives) == (0, 1, 0)


@pytest.mark.parametrize("rule", ["by_confidence", "any"])
def test_rules_that_need_confidences(rule):
    with pytest.raises(ValueError, match="expected one per prediction"):
        match_points([[0.0, 0.0]], [[0.0, 0.0]], 1.0, rule)


def test_radial_errors_by_hand():
    errors = radial_errors([[0, 3.0], [1, 1.0], [np.nan, 0]], [[4, 0.0], [1, 1.0], [0, 0]])
    np.testing.assert_allclose(errors, [5, 0, np.nan])
