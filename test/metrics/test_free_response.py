import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.metrics import free_response, froc
from evaluation.metrics.free_response import Candidates, FrocTable

# Three scans, the last without anything. Nodules of radius 2 at 0 and 10 in scan a, at 0 in scan b.
REFERENCE = {
    "reference_points": [[0, 0, 0], [10, 0, 0], [0, 0, 0]],
    "reference_images": ["a", "a", "b"],
    "radius": [2, 2, 3],
    "all_images": ["a", "b", "c"],
}

POINTS = [[0, 0, 1], [0, 1, 0], [50, 0, 0], [10, 0, 0], [0, 0, 2.9], [9, 9, 9]]

CONFIDENCES = [0.6, 0.9, 0.8, 0.5, 0.5, 0.4]

IMAGES = ["a", "a", "a", "a", "b", "c"]


def test_sensitivity_by_hand():
    # The second candidate on the first nodule, of 0.6, is neither a hit nor false.
    found = froc(POINTS, CONFIDENCES, IMAGES, **REFERENCE)
    # An eighth and a quarter lie on the level part, everything above on the last point.
    np.testing.assert_allclose(found, [1 / 3, 1 / 3, 1, 1, 1, 1, 1])
    # Where a second prediction beside a nodule is false, there is one more false positive of 0.6.
    found = froc(
        POINTS,
        CONFIDENCES,
        IMAGES,
        **REFERENCE,
        matching="by_confidence",
        false_positives_per_case=(0.5, 0.7),
    )
    np.testing.assert_allclose(found, [1 / 3, 1])


def test_between_two_points_the_curve_is_a_line_or_a_step():
    """A hit and a false positive of one confidence: the curve goes from (0, 0) to (1/3, 1/3) at once."""
    found = ([[0, 0, 0], [50, 0, 0]], [0.5, 0.5], ["a", "a"])
    rates = {"false_positives_per_case": (1 / 6, 1 / 3)}
    assert froc(*found, **REFERENCE, **rates).tolist() == pytest.approx([1 / 6, 1 / 3])
    assert froc(*found, **REFERENCE, **rates, reading="step").tolist() == pytest.approx([0, 1 / 3])


def test_nothing_found_and_nothing_to_find():
    nothing = ([], [], [])
    assert froc(*nothing, [[0, 0]], ["a"], radius=1, all_images=["a"]).tolist() == [0] * 7
    assert np.isnan(froc(*nothing, [], [], radius=1, all_images=["a"])).all()


def table(case, confidence, hit, references):
    return FrocTable(
        Candidates(
            np.array(case, int), np.array(confidence, float), np.array(hit, bool), np.array(references)
        )
    )


def test_false_positives_by_the_size_of_cases_and_no_threshold_at_the_lowest_confidence():
    """The example's scans of 3 and 5 ml: at 0.8 one false positive in 8 ml, at 0.4 two, at 0.1 three."""
    parts = [0, 0, 1, 1, 1], [0.9, 0.8, 0.4, 0.4, 0.1], [True, False, True, False, False], [1, 2]
    case, confidence, hit, references = map(np.array, parts)
    sizes = np.array([3.0, 5.0])
    curve = FrocTable(Candidates(case, confidence, hit, references, sizes)).curve(np.ones(2))
    np.testing.assert_allclose(curve.false_positives_per_case, [0, 0, 1 / 8, 2 / 8, 3 / 8])
    shorter = FrocTable(Candidates(case, confidence, hit, references, without_lowest=True)).curve(np.ones(2))
    np.testing.assert_allclose(shorter.threshold, [np.inf, 0.9, 0.8, 0.4])
    np.testing.assert_allclose(shorter.false_positives_per_case, [0, 0, 0.5, 1])


def test_no_candidate_has_no_sensitivity():
    nothing = table([], [], [], [1, 0])
    assert nothing.sensitivity_at(np.ones((1, 2)), [1.0])[0, 0] == 0.0
    assert nothing.average_precision(np.ones((1, 2)))[0] == 0.0


def test_cases_without_a_score_are_above_a_threshold_together():
    """A report takes missing scores of negative cases for infinite ones."""
    found = table([0, 1, 2], [np.inf, np.inf, 0.5], [False, False, True], [0, 0, 1])
    precision, recall = found.precision_recall(np.ones((1, 3)))
    assert (precision.tolist(), recall.tolist()) == ([[0, 1 / 3]], [[0, 1]])


CANDIDATES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6), st.booleans()), min_size=1, max_size=20)


@given(
    CANDIDATES,
    st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=1, max_size=5),
    st.lists(st.sampled_from([0.25, 0.5, 1.0, 2.0, 4.0]), min_size=1, max_size=3),
    st.integers(1, 5),
)
def test_portions_of_any_size_give_the_same(candidates, weights, rates, size):
    case, confidence, hit = zip(*candidates, strict=True)
    references = np.bincount(np.array(case)[np.array(hit)], minlength=4) + 1
    whole = table(case, confidence, hit, references)
    expected = whole.sensitivity_at(weights, rates), whole.average_precision(weights)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(free_response, "_CANDIDATES_AT_ONCE", size)
        patch.setattr(free_response, "_ROWS_AT_ONCE", 2)
        patch.setattr(free_response, "_ENTRIES_AT_ONCE", 2 * size)
        found = whole.sensitivity_at(weights, rates), whole.average_precision(weights)
    for of_portions, of_all in zip(found, expected, strict=True):
        np.testing.assert_array_equal(of_portions, of_all)
