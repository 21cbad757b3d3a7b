"""Boxes of several submissions and annotators combined: by hand, and whatever the order."""

import numpy as np
import pytest

from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.organiser.annotators.combine import CombinationRules, combine

CASE = CaseForm("E1", 100, 100)
CLASSES = ("BE", "polyp")
DETECTED = BoxList(CLASSES, with_confidence=True, inclusive_corners=False)
ANNOTATED = BoxList(CLASSES, with_confidence=False, inclusive_corners=False)


def boxes(*rows):
    return Boxes(np.array(rows, dtype=np.float64).reshape(-1, 6))


def combined(kind, *given, **rules):
    return combine(kind, [boxes(*rows) for rows in given], CASE, CombinationRules(**rules)).rows.tolist()


def test_submissions_are_fused_class_by_class():
    found = combined(
        DETECTED,
        [(0, 0.9, 0, 0, 10, 10), (1, 0.6, 0, 0, 10, 10)],
        [(0, 0.3, 0, 0, 10, 14)],
        [(0, 0.6, 50, 50, 60, 60)],
    )
    assert found == [
        # 0.6 · 2 of 3, height (0.9 · 10 + 0.3 · 14) / 1.2; then 0.6 · 1 of 3 twice, by class.
        [0, pytest.approx(0.4), 0, 0, 10, 11],
        [0, pytest.approx(0.2), 50, 50, 60, 60],
        [1, pytest.approx(0.2), 0, 0, 10, 10],
    ]
    assert combined(DETECTED, [], []) == []
    assert combined(ANNOTATED, [], []) == []


def test_suppression_keeps_confidences_and_the_box_on_which_most_agree():
    found = combined(
        DETECTED, [(0, 0.9, 0, 0, 10, 10)], [(0, 0.3, 0, 0, 10, 14), (1, 0.2, 0, 0, 10, 14)], boxes="nms"
    )
    assert found == [[0, 0.9, 0, 0, 10, 10], [1, 0.2, 0, 0, 10, 14]]
    both = combined(DETECTED, [(0, 0.9, 0, 0, 10, 10)], [(0, 0.3, 0, 0, 10, 14)], boxes="nms", box_iou=0.8)
    assert len(both) == 2
    narrow, middle, wide = ((0, 1, 0, 0, 10, height) for height in (10, 12, 15))
    # Overlaps: narrow and middle 10/12, middle and wide 12/15, narrow and wide 10/15.
    assert combined(ANNOTATED, [wide], [narrow], [middle], boxes="nms") == [list(middle)]


def test_both_corners_count_where_the_phase_says_so():
    given = [(0, 0.5, 0, 0, 1, 0)], [(0, 0.5, 1, 0, 2, 0)]  # 1 pixel of 3
    both = BoxList(CLASSES, with_confidence=True, inclusive_corners=True)
    assert len(combined(both, *given, box_iou=0.3)) == 1
    assert len(combined(DETECTED, *given, box_iou=0.3)) == 2


def test_annotators_vote_on_a_box():
    three = [
        [(0, 1, 0, 0, 10, 10), (1, 1, 40, 40, 50, 50)],
        [(0, 1, 0, 0, 10, 13)],
        [(0, 1, 50, 50, 60, 60)],
    ]
    assert combined(ANNOTATED, *three) == [[0, 1, 0, 0, 10, 11.5]]
    # One of two is no majority, unless ties are foreground.
    assert combined(ANNOTATED, *three[::2]) == []
    assert len(combined(ANNOTATED, *three[::2], tie="foreground")) == 3
    # They overlap by 10/14, and each is closest to that of the others.
    small, large = (0, 1, 0, 0, 10, 10), (0, 1, 0, 0, 10, 14)
    larger = (0, 1, 0, 0, 10, 15)
    found = combined(ANNOTATED, [small, large], [larger, small], [small])
    assert sorted(found) == [list(small), [0, 1, 0, 0, 10, 14.5]]
    # One annotator is no majority of three, however often the object was drawn.
    assert combined(ANNOTATED, [small, large, larger], [], []) == []


def test_no_more_boxes_than_a_submission_may_have():
    kind = BoxList(CLASSES, with_confidence=True, max_boxes=2)
    rows = [(0, confidence, place, 0, place + 5, 5) for confidence, place in ((0.1, 0), (0.9, 20), (0.5, 40))]
    assert [row[1] for row in combined(kind, rows, rows)] == [0.9, 0.5]


def test_boxes_with_three_axes_and_single_boxes():
    space = Space(axes=3, unit="pixels")
    given = [np.array([[0, 0.5, 0, 0, 0, 2, 2, height]], dtype=np.float64) for height in (2, 3)]
    with_probability = BoxesInSpace(space, Attributes(with_probability=True))
    found = combine(with_probability, [Boxes(rows) for rows in given], CASE, CombinationRules())
    assert found.rows.tolist() == [[0, 0.5, 0, 0, 0, 2, 2, 2.5]]
    # Far apart, but there is exactly one box in every case.
    single = BoxesInSpace(Space(axes=2, unit="pixels"), single=True)
    apart = [boxes((0, 1, 0, 0, 10, 10)), boxes((0, 1, 40, 50, 60, 70))]
    assert combine(single, apart, CASE, CombinationRules()).rows.tolist() == [[0, 1, 20, 25, 35, 40]]


@pytest.mark.parametrize("method", ["wbf", "nms"])
@pytest.mark.parametrize("kind", [DETECTED, ANNOTATED], ids=["detected", "annotated"])
def test_the_order_does_not_matter_and_the_result_is_read_back(kind, method):
    rng = np.random.default_rng(3)

    def row():
        x, y = (np.sort(rng.integers(0, 20, 2)) for _ in range(2))
        confidence = rng.choice([0.3, 0.7]) if kind is DETECTED else 1.0
        return [rng.integers(0, 2), confidence, x[0], y[0], x[1], y[1]]

    class Files:
        def read(self, path, limit_bytes, may_be_empty=False):
            return memoryview(text)

    for _ in range(10):
        given = [[row() for _ in range(4)] for _ in range(3)]
        found = combined(kind, *given, boxes=method)
        assert combined(kind, *given[::-1], boxes=method) == found
        text = kind.write_file(boxes(*found), ".txt")
        assert kind.read(FileSource("e.txt"), CASE, Files()).rows.tolist() == found
