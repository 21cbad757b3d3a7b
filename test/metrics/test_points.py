import math
import tracemalloc

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from evaluation.metrics import match_points, mean_radial_error, success_detection_rate
from evaluation.metrics.near_pairs import NearPairs
from evaluation.metrics.points import euclidean_distance, match_within


@pytest.mark.parametrize("rule", ["nearest", "by_confidence", "optimal", "any"])
def test_without_points_there_is_nothing_to_match(rule):
    nothing = match_points([], [[0, 0, 0.0]], 1.0, matching=rule, confidences=[])
    assert (nothing.true_positives, nothing.false_positives, nothing.false_negatives) == (0, 0, 1)
    assert match_points([], [[0, 0.0]], 1.0, matching=rule, confidences=[]).false_negatives == 1
    alone = match_points([[0, 0, 0.0]], [], 1.0, matching=rule, confidences=[0.5])
    assert (alone.true_positives, alone.false_positives, alone.false_negatives) == (0, 1, 0)


def test_without_landmarks_there_is_no_value():
    assert math.isnan(mean_radial_error([], []))
    assert math.isnan(success_detection_rate([[0, 0]], [[np.nan, 0]], 1.0))


def test_landmarks_by_hand():
    predicted, reference = [[0, 0, 0], [1, 1, 1], [0, 0, 0]], [[0, 3, 4], [1, 1, 1], [np.nan] * 3]
    assert mean_radial_error(predicted, reference) == 2.5
    assert success_detection_rate(predicted, reference, 5.0) == 1.0
    assert success_detection_rate(predicted, reference, 4.9) == 0.5
    predicted[0][1] = np.nan
    assert success_detection_rate(predicted, reference, 5.0) == 0.5


@pytest.mark.parametrize(("strict", "hits"), [(False, 2), (True, 1)])
def test_radii_of_each_reference_point(strict, hits):
    found = match_within(
        [[0.0, 1.0], [5.0, 0.0]], [[0.0, 0.0], [5.0, 2.0]], [1.0, 2.5], "nearest", strict=strict
    )
    assert found.true_positives == hits
    # A radius of zero takes equal points alone.
    found = match_points([[1, 1], [2, 2.5]], [[1, 1], [2, 2]], radius=0)
    assert (found.true_positives, found.false_positives, found.false_negatives) == (1, 1, 1)


def test_of_equal_confidences_the_nearer_point_takes_the_reference():
    predicted, reference = [[0, 0, 2.0], [0, 0, 1.0], [0, 0, 9.0]], [[0, 0, 0.0]]
    found = match_within(predicted, reference, 3.0, "by_confidence", confidence=[0.5, 0.5, 0.5])
    assert (found.hit.tolist(), found.false.tolist()) == ([1], [True, False, True])
    # One that is near to nothing comes last, however near it is to what it does not match.
    radii = [1.0, 9.0]
    found = match_within(
        [[0, 0, 2.0], [0, 0, 5.0]], [[0, 0, 0.0], [0, 0, 9.0]], radii, "by_confidence", confidence=[1, 1]
    )
    assert found.hit.tolist() == [-1, 1]


def test_small_unsigned_coordinates_do_not_wrap():
    assert euclidean_distance(np.array([0, 0], np.uint8), np.array([3, 4], np.uint8)) == 5


RULES = ("nearest", "by_confidence", "any", "nearest_only", "most_confident")


def by_loops(near, distance, rule, confidence):
    """Match by the words of each rule, one prediction and one reference after the other."""
    hit, taken = [-1] * near.shape[1], set()
    made, true = range(near.shape[0]), range(near.shape[1])
    if rule == "by_confidence":
        for p in sorted(made, key=lambda p: (-confidence[p], min(distance[p], default=0), list(distance[p]))):
            if free := [r for r in true if near[p, r] and hit[r] < 0]:
                hit[min(free, key=lambda r: distance[p, r])] = p
        return hit
    for r in true:
        of = [p for p in made if near[p, r] and (p not in taken or rule in ("any", "nearest_only"))]
        if not of:
            continue
        falling = rule in ("any", "most_confident")
        best = min(of, key=lambda p, r=r: (-confidence[p] * falling, distance[p, r] if rule != "any" else 0))
        if best not in taken or rule == "any":
            hit[r] = best
            taken.add(best)
    return hit


def on_a_grid(axes, count):
    """Return points of both sides and confidences, of which many are equal, as many distances are."""
    rng = np.random.default_rng(7)
    predicted, reference = (rng.integers(0, 30, (count, axes)).astype(float) for _ in range(2))
    distance = np.sqrt(((predicted[:, None] - reference) ** 2).sum(axis=2))
    return predicted, reference, rng.integers(0, 5, count) / 4, distance, distance <= 3


SIZES = [(2, 200), (3, 150), (2, 5)]  # more than are looked at at once


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(("axes", "count"), SIZES)
def test_rules_of_many_points_with_ties(rule, axes, count):
    predicted, reference, confidence, distance, near = on_a_grid(axes, count)
    found = match_within(predicted, reference, 3.0, rule, confidence)
    expected = by_loops(near, np.where(near, distance, np.inf), rule, confidence)
    assert found.hit.tolist() == expected
    false = ~near.any(axis=1) if rule == "any" else ~np.isin(np.arange(count), found.hit)
    assert found.false.tolist() == false.tolist()


@pytest.mark.parametrize(("axes", "count"), SIZES)
def test_optimal_pairs_of_many_points(axes, count):
    _, _, _, distance, near = on_a_grid(axes, count)
    rows, columns = linear_sum_assignment(np.where(near, distance, 1e6))
    matched = near[rows, columns]
    hit = NearPairs.of_table(distance, near).optimal()
    hits = np.flatnonzero(hit >= 0)
    assert len(set(hit[hits])) == len(hits) == matched.sum()
    assert distance[hit[hits], hits].sum() == pytest.approx(distance[rows, columns][matched].sum())


def test_memory_grows_with_the_pairs_that_are_near():
    rng = np.random.default_rng(1)
    reference = rng.random((20_000, 2)) * 3000
    predicted = reference + rng.normal(0, 1, reference.shape)
    tracemalloc.start()
    try:
        found = match_within(predicted, reference, 5.0, "nearest")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.true_positives > 19_000
    assert peak < 50_000_000  # a table of all pairs takes 3.2 GB
