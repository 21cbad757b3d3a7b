"""What is measured of masks, maps, volumes, boxes, points and flags, counted by hand."""

from dataclasses import replace

import numpy as np

from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.boxes import Boxes, BoxesInSpace, BoxList
from evaluation.io.kinds.classes import FlagSet
from evaluation.io.kinds.instance_map import InstanceMap
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.objects import Attributes, Space
from evaluation.io.kinds.points import Keypoints, Points, point_set
from evaluation.io.kinds.probability_map import DetectionMap
from evaluation.io.kinds.volume import MultilabelMask, ReferenceVolume, Volume
from evaluation.io.volume_header import Geometry
from evaluation.metrics.crops import Crop
from evaluation.organiser.describe_data import flags_of, is_measured, measurements_of
from test.io.memory import InMemory, read_image

CASE = CaseForm("A", 10, 8)


SCAN = CaseForm("A", 5, 2, {"depth": "2", "spacing_mm": "0.5 0.5 2"})


def measured(kind, value, submitted=None, case=CASE):
    return {one.quantity("field").title: one.number for one in measurements_of(kind, value, case, submitted)}


def test_nested_mask():
    """A disc of 4 × 5 pixels with a cup of 2 × 2 in it, in an image of 80 pixels."""
    image = np.full((8, 10), 255, np.uint8)
    image[1:5, 2:7] = 128
    image[2:4, 3:5] = 0
    kind = LabelMap({0: "cup", 128: "disc"}, 255, dimensions=2, nested="column_count")
    assert measured(kind, read_image(kind, image)) == {
        "area of cup (pixels)": 4.0,
        "share of the image that is cup (%)": 5.0,
        "area of disc (pixels)": 20.0,
        "share of the image that is disc (%)": 25.0,
        "vertical ratio of cup to disc": 0.5,
        "ratio of the areas of cup and disc": 0.2,
    }
    without = measured(kind, read_image(kind, np.full_like(image, 255)))
    assert set(without.values()) == {None}
    assert len(without) == 6


def test_labels_side_by_side_have_no_ratios_and_no_millimetres_without_a_spacing():
    image = np.zeros((8, 10), np.uint8)
    image[0, :3], image[1, :2] = 1, 2
    value = LabelMapValue(Crop(image[np.newaxis], (0, 0, 0)), (1, 8, 10), None)
    found = measured(LabelMap({1: "a", 2: "b"}, dimensions=2), value)
    assert list(found.values()) == [3.0, 3.75, 2.0, 2.5]


def test_channels_that_may_overlap():
    full, none = Crop(np.ones((8, 10), np.bool_), (0, 0)), Crop(np.zeros((0, 0), np.bool_), (0, 0))
    found = measured(MultilabelMask(("all", "none")), (full, none))
    assert list(found.values()) == [80.0, 100.0, None, None]


def label_map(positions):
    return LabelMapValue(Crop(np.array(positions, np.uint8), (0, 0, 0)), (2, 2, 5), (2.0, 0.5, 0.5))


POSITIONS = [[[1, 0, 1, 0, 0], [0, 0, 0, 0, 0]], [[1, 0, 0, 0, 2], [0, 0, 0, 0, 2]]]


def test_volume_of_labels_in_cubic_millimetres():
    kind = LabelMap({7: "liver", 9: "spleen", 11: "pancreas"})
    assert measured(kind, label_map(POSITIONS), case=SCAN) == {
        "volume of liver (mm³)": 1.5,
        "share of the image that is liver (%)": 15.0,
        "volume of spleen (mm³)": 1.0,
        "share of the image that is spleen (%)": 10.0,
        "volume of pancreas (mm³)": None,
        "share of the image that is pancreas (%)": None,
    }


def test_lesions_are_the_components_of_the_foreground():
    """Two lesions: a column of two voxels and one voxel apart; the second label is no lesion."""
    kind, submitted = LabelMap({1: "lesion", 2: "ignored"}), DetectionMap(3, 1)
    found = measured(kind, label_map(POSITIONS), submitted, SCAN)
    assert found["number of lesions"] == 2.0
    assert sorted(found["volume of a lesion (mm³)"]) == [0.5, 1.0]
    none = measured(kind, label_map(np.zeros((2, 2, 5))), submitted, SCAN)
    assert (none["number of lesions"], none["volume of a lesion (mm³)"]) == (None, ())


def test_an_image_without_any_instance_has_no_lesions():
    kind = InstanceMap({1: "cell"}, dimensions=2)
    found = measured(kind, read_image(kind, np.zeros((8, 10), np.uint8)), kind)
    assert found["number of lesions"] is None
    assert not any(found.values())


def stored(values, kind):
    """Return what is measured of a stored volume of these voxels."""
    case = CaseForm("A", 3, 2, {"depth": "2", "spacing_mm": "0.5 1 2"})
    volume = Volume(np.array(values), Geometry((2, 2, 3), (0.5, 1.0, 2.0)))
    files = InMemory({"a.mha": kind.write_file(volume, ".mha")})
    assert is_measured(kind)
    return measured(kind, kind.read(FileSource("a.mha"), case, files), case=case)


def test_levels_of_a_volume():
    levels = np.array([[[1, 1, 0], [0, 0, 3]], [[1, 0, 0], [0, 0, 0]]], np.uint8)
    assert stored(levels, ReferenceVolume(0, 3, whole=True)) == {
        "volume of level 1 (mm³)": 3.0,
        "volume of level 2 (mm³)": None,
        "volume of level 3 (mm³)": 1.0,
    }


def test_confidences_of_a_volume():
    confidences = np.zeros((2, 2, 3), np.float32)
    confidences[0, 0] = 0.25, 0.5, 0.75
    kind = ReferenceVolume(0.01, 1, whole=False)
    assert stored(confidences, kind) == {"volume above 0 (mm³)": 3.0, "mean value above 0": 0.5}
    assert set(stored(np.zeros((2, 2, 3), np.float32), kind).values()) == {None}


BOXES = Boxes(np.array([[0, 1, 2, 3, 6, 5], [0, 1, 0, 0, 1, 4], [2, 1, 0, 0, 0, 0]], dtype=np.float64))


def test_boxes_of_classes():
    """Two polyps of 4 × 2 and 1 × 4 pixels, no cancer, and a box without area."""
    kind = BoxList(attributes=Attributes(("polyp", "cancer", "other")), inclusive_corners=False)
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
