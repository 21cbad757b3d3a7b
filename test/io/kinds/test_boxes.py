import numpy as np
import pytest

from evaluation.core.fault import FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource, JsonSource
from evaluation.io.kinds.boxes import Boxes, BoxList
from test.io.memory import InMemory

CLASSES = ("BE", "HGD")
CASE = CaseForm("E1", 100, 50)


def read(text, case=CASE, **arguments):
    kind = BoxList(CLASSES, **{"with_confidence": True, **arguments})
    return kind.read(
        FileSource("detection_bbox/E1.txt"), case, InMemory({"detection_bbox/E1.txt": text.encode()})
    )


def faults(text, case=CASE, **arguments):
    with pytest.raises(FormFault) as caught:
        read(text, case, **arguments)
    return list(map(str, caught.value.faults))


def test_rows_hold_class_confidence_and_corners():
    boxes = read("HGD 0.5 1 2 3 4\nBE 0.25 5 6 7 8\n")
    assert boxes.rows.tolist() == [[1, 0.5, 1, 2, 3, 4], [0, 0.25, 5, 6, 7, 8]]


def test_an_empty_file_is_an_image_without_objects():
    assert read("").rows.shape == (0, 6)


def test_faults_name_file_and_line():
    assert faults("BE 0.5 1 2 3 4\nBE 0.5 1 2\npolyp 0.5 1 2 3 4\n") == [
        "detection_bbox/E1.txt, line 2: expected 6 fields (class confidence x1 y1 x2 y2), found 4",
        'detection_bbox/E1.txt, line 3: expected a class (BE, HGD), found "polyp"',
    ]


def test_without_a_size_coordinates_are_bounded_all_the_same():
    case = CaseForm("E1")
    assert read("BE 0.5 1 2 5000 4", case).rows[0, 4] == 5000
    assert len(faults("BE 0.5 1 2 1e300 4", case)) == 1


@pytest.mark.parametrize(
    ("with_confidence", "text"),
    [(True, b"HGD 0.5 1 2 3.25 4\nBE 1 0 0 0 0\n"), (False, b"HGD 1 2 3.25 4\nBE 0 0 0 0\n")],
)
def test_written_text(with_confidence, text):
    rows = np.array([[1, 0.5, 1, 2, 3.25, 4], [0, 1, 0, 0, 0, 0]])
    assert BoxList(CLASSES, with_confidence).write_file(Boxes(rows), ".txt") == text


def test_variants_for_a_rehearsal():
    reference = Boxes(np.array([[0, 1, 10, 5, 20, 15], [1, 1, 60, 30, 60.5, 40]], float))
    kind = BoxList(CLASSES, with_confidence=True)
    derived = {variant: kind.rehearse(reference, CASE, variant).rows.tolist() for variant in Variant}
    assert derived == {
        Variant.PERFECT: reference.rows.tolist(),
        Variant.NEAR: [[0, 1, 10, 5, 19, 15], [1, 1, 60, 30, 60.25, 40]],
        Variant.EMPTY: [],
        Variant.INVERTED: [[0, 1, 100, 50, 100, 50], [1, 1, 0, 0, 0, 0]],
    }


BOX = {"corners": [[1, 1, 0], [9, 1, 0], [9, 5, 0], [1, 5, 0]], "name": "BE", "probability": 0.5}
OUTSIDE = {**BOX, "corners": [[-1, 1, 0], [9, 1, 0], [9, 60, 0], [-1, 60, 0]]}


def in_json(boxes):
    version = {"major": 1, "minor": 0}
    return JsonSource({"type": "Multiple 2D bounding boxes", "boxes": boxes, "version": version}, "b.json")


@pytest.mark.parametrize(("outside", "corners"), [("clip", [0, 1, 9, 50]), ("keep", [-1, 1, 9, 60])])
def test_boxes_of_the_platform(outside, corners):
    kind = BoxList(CLASSES, with_confidence=True, outside=outside)
    found = kind.read(in_json([OUTSIDE, BOX]), CASE, None)
    assert found.rows.tolist() == [[0, 0.5, *corners], [0, 0.5, 1, 1, 9, 5]]
    assert found.outside == 1
    again = kind.read(JsonSource(kind.write_json(found), "b.json"), CASE, None)
    assert again.rows.tolist() == found.rows.tolist()


def test_faults_of_boxes_of_the_platform():
    kind = BoxList(CLASSES, with_confidence=True, remedy=" (or else)")
    with pytest.raises(FormFault) as caught:
        kind.read(in_json([OUTSIDE, {**BOX, "name": "polyp"}]), CASE, None)
    assert list(map(str, caught.value.faults)) == [
        "b.json, boxes[0]: expected x1 from 0 to 100 (or else), found -1",
        "b.json, boxes[0]: expected y2 from 0 to 50 (or else), found 60",
        "b.json, boxes[1]: expected as name a class (BE, HGD), found the text 'polyp'",
    ]
    assert "the type `Multiple 2D bounding boxes`" in kind.describe_json()
