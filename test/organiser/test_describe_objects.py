"""What is measured of boxes, points and flags, counted by hand."""

from dataclasses import replace

import numpy as np

from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.classes import FlagSet
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import Keypoints, Points, point_set
from evaluation.organiser.describe_data import flags_of, measurements_of

CASE = CaseForm("A", 10, 8)
BOXES = Boxes(np.array([[0, 1, 2, 3, 6, 5], [0, 1, 0, 0, 1, 4], [2, 1, 0, 0, 0, 0]], dtype=np.float64))


def measured(kind, value):
    return {one.quantity("field").title: one.number for one in measurements_of(kind, value, CASE)}


def test_boxes_of_classes():
    """Two polyps of 4 × 2 and 1 × 4 pixels, no cancer, and a box without area."""
    kind = BoxList(("polyp", "cancer", "other"), with_confidence=False, inclusive_corners=False)
    assert measured(kind, BOXES) == {
        "number of boxes of polyp": 2.0,
        "area of a box of polyp (pixels)": (8.0, 4.0),
        "width to height of a box of polyp": (2.0, 0.25),
        "number of boxes of cancer": None,
        "area of a box of cancer (pixels)": (),
        "width to height of a box of cancer": (),
        "number of boxes of other": 1.0,
        "area of a box of other (pixels)": (0.0,),
        "width to height of a box of other": (),
        "number of boxes of any class": 3.0,
    }
    inclusive = measured(replace(kind, inclusive_corners=True), BOXES)
    assert inclusive["area of a box of polyp (pixels)"] == (15.0, 10.0)
    assert inclusive["area of a box of other (pixels)"] == (1.0,)


def test_boxes_without_classes_in_space():
    value = Boxes(np.array([[0, 1, 0, 0, 0, 1, 2, 3]], dtype=np.float64))
    assert measured(BoxesInSpace(Space(3, "mm")), value) == {
        "number of boxes": 1.0,
        "volume of a box (mm³)": (6.0,),
    }


def test_points_with_diameters():
    kind = Points(Space(2, "mm"), Attributes(("nodule", "cyst")), with_diameter=True)
    value = point_set([(1, 2, 0, 1, 4.0), (3, 4, 0, 1, np.nan)], 2)
    assert measured(kind, value) == {
        "number of points of nodule": 2.0,
        "diameter of a point of nodule (mm)": (4.0,),
        "number of points of cyst": None,
        "diameter of a point of cyst (mm)": (),
        "number of points of any class": 2.0,
    }


def test_named_points_have_positions():
    kind = Keypoints(("left", "right"), Space(2, "pixels"))
    assert measured(kind, point_set([(1, 2, 1, 1, np.nan), (3, 4, 0, 1, np.nan)], 2)) == {
        "x of right (pixels)": 1.0,
        "y of right (pixels)": 2.0,
        "x of left (pixels)": 3.0,
        "y of left (pixels)": 4.0,
    }


def test_flags_by_name():
    kind = FlagSet(("rim", "cup", "dots"))
    assert flags_of(kind, (True, False, None)) == {"rim": "yes", "cup": "no", "dots": "undecided"}
    assert flags_of(kind, None) == {}
    assert flags_of(None, (True,)) == {}
