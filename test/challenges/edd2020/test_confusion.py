import numpy as np

from evaluation.challenges.edd2020.confusion import LabelledBoxes, confuse_boxes

CANCER, POLYP, BE = range(3)

ONE, LOW, OTHER = (0, 0, 9, 9), (0, 0, 9, 7), (50, 50, 69, 69)


def labelled(*rows):
    """Return boxes of rows (image, class, confidence, corners)."""
    table = np.array([(image, label, sure, *corners) for image, label, sure, corners in rows], dtype=float)
    table = table.reshape(-1, 7)
    return LabelledBoxes(table[:, 3:], table[:, 0].astype(int), table[:, 1].astype(int), table[:, 2])


def confused(detections, references, threshold=0.5):
    found = confuse_boxes(labelled(*detections), labelled(*references), threshold, inclusive_corners=True)
    return found.hit.tolist(), found.found.tolist(), found.called.tolist()


def test_a_cancer_that_is_called_a_polyp():
    detections = [(0, POLYP, 0.9, LOW), (0, POLYP, 0.8, OTHER), (1, POLYP, 0.7, ONE)]
    references = [(0, CANCER, 1, ONE), (0, POLYP, 1, OTHER), (1, BE, 1, OTHER)]
    assert confused(detections, references) == (
        [False, True, False],
        [False, True, False],
        [POLYP, -1, -1],  # in the second image nothing overlaps
    )
    # 80 of 100 pixels.
    assert confused(detections, references, threshold=0.81)[2] == [-1, -1, -1]
    found = confuse_boxes(labelled(*detections), labelled(*references), 0.5, inclusive_corners=True)
    expected = [[0, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert found.counts(np.array([CANCER, POLYP, BE]), 3).tolist() == expected


def test_of_two_boxes_that_reach_a_threshold_exactly_the_first_one_counts():
    """LOW and ONE have 80 of 100 pixels in common with inclusive corners, and 63 of 81 without."""
    detections, reference = [(0, POLYP, 0.9, LOW), (0, POLYP, 0.5, ONE)], [(0, POLYP, 1, ONE)]
    assert confused(detections, reference, threshold=0.8) == ([True, False], [True], [-1])
    others = [(0, POLYP, 0.9, LOW), (0, BE, 0.5, ONE)]
    assert confused(others, [(0, CANCER, 1, ONE)], threshold=0.8)[2] == [POLYP]
    for true, threshold, hit, called in (
        (POLYP, 0.77, True, -1),
        (POLYP, 0.8, False, -1),
        (CANCER, 0.77, False, POLYP),
        (CANCER, 0.8, False, -1),
    ):
        found = confuse_boxes(labelled((0, POLYP, 0.9, LOW)), labelled((0, true, 1, ONE)), threshold, False)
        assert (found.hit.tolist(), found.called.tolist()) == ([hit], [called])


def test_a_box_in_another_image_is_no_hit_whatever_its_class():
    for detection, reference in (((2, 0), (0, 1)), ((0, 1), (2, 0))):
        found = confuse_boxes(labelled((*detection, 0.9, ONE)), labelled((*reference, 1, ONE)), 0.5, True)
        assert (found.hit.tolist(), found.called.tolist()) == ([False], [-1])


def test_the_right_class_comes_first():
    """A cancer within Barrett's oesophagus: both are right, whatever the more confident one overlaps most."""
    detections = [(0, BE, 0.9, ONE), (0, CANCER, 0.5, LOW)]
    references = [(0, CANCER, 1, ONE), (0, BE, 1, LOW)]
    assert confused(detections, references) == ([True, True], [True, True], [-1, -1])


def test_the_most_confident_one_is_what_a_box_is_called():
    detections = [(0, POLYP, 0.5, ONE), (0, BE, 0.9, LOW)]
    assert confused(detections, [(0, CANCER, 1, ONE)])[2] == [BE]


def test_a_second_box_of_the_right_class_is_false_and_no_confusion():
    """It looks at the box that is taken; the free one of its class, which it also overlaps, is missed."""
    detections = [(0, POLYP, 0.9, ONE), (0, POLYP, 0.5, ONE)]
    references = [(0, POLYP, 1, ONE), (0, POLYP, 1, LOW)]
    assert confused(detections, references) == ([True, False], [True, False], [-1, -1])


def test_nothing():
    assert confused([], []) == ([], [], [])
    assert confused([(0, BE, 1, ONE)], []) == ([False], [], [])
    assert confused([], [(0, BE, 1, ONE)]) == ([], [False], [-1])
