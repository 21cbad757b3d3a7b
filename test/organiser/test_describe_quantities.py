"""What is measured of masks, maps and volumes, counted by hand."""

from contextlib import contextmanager

import numpy as np
import pytest

from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.masks import LabelMask, MultilabelMask
from evaluation.io.kinds.probability_map import DetectionMap
from evaluation.io.kinds.volume import ReferenceVolume, Volume
from evaluation.io.volume_header import Geometry
from evaluation.metrics.crops import EMPTY, Crop, VolumeCrop, crop
from evaluation.organiser.describe_data import is_measured, measurements_of

CASE = CaseForm("A", 10, 8)


SCAN = CaseForm("A", 5, 2, {"depth": "2", "spacing_mm": "0.5 0.5 2"})


def measured(kind, value, submitted=None, case=CASE):
    return {one.quantity("field").title: one.number for one in measurements_of(kind, value, case, submitted)}


def test_nested_mask():
    """A disc of 4 × 5 pixels with a cup of 2 × 2 in it, in an image of 80 pixels."""
    image = np.full((8, 10), 255, np.uint8)
    image[1:5, 2:7] = 128
    image[2:4, 3:5] = 0
    kind = LabelMask({0: "cup", 128: "disc"}, 255, nested="column_count")
    assert measured(kind, crop(image, 255)) == {
        "area of cup (pixels)": 4.0,
        "share of the image that is cup (%)": 5.0,
        "area of disc (pixels)": 20.0,
        "share of the image that is disc (%)": 25.0,
        "vertical ratio of cup to disc": 0.5,
        "ratio of the areas of cup and disc": 0.2,
    }
    without = measured(kind, EMPTY)
    assert set(without.values()) == {None}
    assert len(without) == 6


def test_labels_side_by_side_have_no_ratios():
    image = np.zeros((8, 10), np.uint8)
    image[0, :3], image[1, :2] = 1, 2
    found = measured(LabelMask({1: "a", 2: "b"}, 0), crop(image, 0))
    assert list(found.values()) == [3.0, 3.75, 2.0, 2.5]


def test_channels_that_may_overlap():
    full, none = Crop(np.ones((8, 10), dtype=np.bool_)), Crop(np.zeros((0, 0), dtype=np.bool_))
    found = measured(MultilabelMask(("all", "none")), (full, none))
    assert list(found.values()) == [80.0, 100.0, None, None]


def label_map(positions):
    return LabelMapValue(VolumeCrop(np.array(positions, np.uint8), (0, 0, 0)), (2, 2, 5), (2.0, 0.5, 0.5))


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


def test_area_of_labels_in_pixels_where_the_spacing_is_not_known():
    value = LabelMapValue(VolumeCrop(np.array(POSITIONS[:1], np.uint8), (0, 0, 0)), (1, 2, 5), None)
    found = measured(LabelMap({1: "liver"}, dimensions=2), value, case=CaseForm("A", 5, 2))
    assert found["area of liver (pixels)"] == 2.0


def test_lesions_are_the_components_of_the_foreground():
    """Two lesions: a column of two voxels and one voxel apart; the second label is no lesion."""
    kind, submitted = LabelMap({1: "lesion", 2: "ignored"}), DetectionMap(3, 1)
    found = measured(kind, label_map(POSITIONS), submitted, SCAN)
    assert found["number of lesions"] == 2.0
    assert sorted(found["volume of a lesion (mm³)"]) == [0.5, 1.0]
    none = measured(kind, label_map(np.zeros((2, 2, 5))), submitted, SCAN)
    assert (none["number of lesions"], none["volume of a lesion (mm³)"]) == (None, ())


class OneFile:
    """A folder of one file."""

    def __init__(self, folder):
        self._folder = folder

    @contextmanager
    def open(self, path, limit_bytes):
        from evaluation.io.files import FileStream

        with FileStream(str(self._folder), path, limit_bytes) as stream:
            yield stream


@pytest.fixture
def stored(tmp_path):
    """Return a function that gives a stored volume of one value in each of its voxels."""
    case = CaseForm("A", 3, 2, {"depth": "2", "spacing_mm": "0.5 1 2"})

    def store(values, kind):
        volume = Volume(np.array(values), Geometry((2, 2, 3), (0.5, 1.0, 2.0)))
        (tmp_path / "a.mha").write_bytes(kind.write_file(volume, ".mha"))
        value = kind.read(FileSource("a.mha"), case, OneFile(tmp_path))
        assert is_measured(kind)
        return measured(kind, value, case=case)

    return store


def test_levels_of_a_volume(stored):
    levels = np.array([[[1, 1, 0], [0, 0, 3]], [[1, 0, 0], [0, 0, 0]]], np.uint8)
    assert stored(levels, ReferenceVolume(0, 3, whole=True)) == {
        "volume of level 1 (mm³)": 3.0,
        "volume of level 2 (mm³)": None,
        "volume of level 3 (mm³)": 1.0,
    }


def test_confidences_of_a_volume(stored):
    confidences = np.zeros((2, 2, 3), np.float32)
    confidences[0, 0] = 0.25, 0.5, 0.75
    kind = ReferenceVolume(0.01, 1, whole=False)
    assert stored(confidences, kind) == {"volume above 0 (mm³)": 3.0, "mean value above 0": 0.5}
    assert set(stored(np.zeros((2, 2, 3), np.float32), kind).values()) == {None}
