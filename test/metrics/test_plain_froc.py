import numpy as np
import pytest

from evaluation.metrics import froc_curve, froc_sensitivity

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


def test_curve_by_hand():
    # The second candidate on the first nodule, of 0.6, is neither a hit nor false.
    curve = froc_curve(POINTS, CONFIDENCES, IMAGES, **REFERENCE)
    np.testing.assert_allclose(curve.threshold, [np.inf, 0.9, 0.8, 0.5, 0.4])
    np.testing.assert_allclose(curve.false_positives_per_case, [0, 0, 1 / 3, 1 / 3, 2 / 3])
    np.testing.assert_allclose(curve.sensitivity, [0, 1 / 3, 1 / 3, 1, 1])


def test_sensitivity_by_hand():
    found = froc_sensitivity(POINTS, CONFIDENCES, IMAGES, **REFERENCE)
    # An eighth and a quarter lie on the level part, everything above on the last point.
    np.testing.assert_allclose(found, [1 / 3, 1 / 3, 1, 1, 1, 1, 1])
    # Where a second prediction beside a nodule is false, there is one more false positive of 0.6.
    found = froc_sensitivity(
        POINTS, CONFIDENCES, IMAGES, **REFERENCE, rule="by_confidence", false_positives_per_image=(0.5, 0.7)
    )
    np.testing.assert_allclose(found, [1 / 3, 1])


def test_a_strict_radius():
    options = {"radius": 1, "all_images": [1], "false_positives_per_image": (1,)}
    arguments = ([[0, 1]], [0.5], [1], [[0, 0]], [1])
    assert froc_sensitivity(*arguments, **options)[0] == 1
    assert froc_sensitivity(*arguments, **options, strict=True)[0] == 0


def test_nothing_found_and_nothing_to_find():
    nothing = ([], [], [])
    assert froc_sensitivity(*nothing, [[0, 0]], ["a"], radius=1, all_images=["a"]).tolist() == [0] * 7
    assert np.isnan(froc_sensitivity(*nothing, [], [], radius=1, all_images=["a"])).all()


def test_arguments_that_do_not_fit():
    with pytest.raises(ValueError, match="images: expected images of all_images, found 'z'"):
        froc_sensitivity([[0, 0, 0]], [1], ["z"], **REFERENCE)
    with pytest.raises(ValueError, match="found 1 points, 2 confidences, 1 images, 3 reference points and 3"):
        froc_sensitivity([[0, 0, 0]], [1, 2], ["a"], **REFERENCE)
