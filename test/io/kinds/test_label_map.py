"""Label maps, against SimpleITK, Pillow and tifffile."""

import io
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from evaluation.challenges.declared.label_maps import Dice
from evaluation.challenges.declared.maps import LabelMapField
from evaluation.challenges.declared.tables import FieldComparison
from evaluation.core.fault import FaultKind, FormFault, ReadError
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.instance_map import InstanceMap
from evaluation.io.kinds.label_map import LabelMap, ListedLabels
from evaluation.io.oddities import oddities
from evaluation.io.volume_header import DEPTH, Geometry, geometry_columns
from evaluation.metrics.crops import PackedVolume
from test.faults import faulted
from test.io.images import tiff
from test.io.memory import InMemory
from test.io.volumes.files import TILTED, written_by_simpleitk

GEOMETRY = Geometry((3, 4, 5), (0.5, 0.25, 2.0), (1.5, -2.0, 3.25), TILTED)
CASE = CaseForm("V1", 5, 4, geometry_columns(GEOMETRY, DEPTH))
IMAGE_CASE = CaseForm("V1", 5, 4, {"spacing_mm": "0.5 0.25"})
ORGANS = LabelMap({1: "liver", 2: "spleen", 3: "aorta"})
REGIONS = LabelMap({1: "cup", 2: "disc", 3: "vessel"}, dimensions=2)

EXCHANGED = "the axes are exchanged"
VALUES = np.zeros((3, 4, 5), np.uint8)
VALUES[1, 1:3, 2:4] = [[3, 0], [1, 2]]
PLANE = VALUES[1]


def written(values, extension, geometry=GEOMETRY):
    """Return what SimpleITK writes."""
    with tempfile.TemporaryDirectory() as folder:
        return written_by_simpleitk(Path(folder, f"V1{extension}"), values, geometry=geometry)


def read(data, extension, kind=ORGANS, case=None):
    path = f"V1{extension}"
    case = case or (CASE if kind.dimensions == 3 else IMAGE_CASE)
    return kind.read(FileSource(path), case, InMemory({path: data}))


def faults_of(data, extension, kind=ORGANS, case=None):
    with pytest.raises(FormFault) as error:
        read(data, extension, kind, case)
    return error.value.faults


@pytest.mark.parametrize(("extension", "dtype"), [(".mha", "u1"), (".nii.gz", "f8"), (".nii", "i2")])
def test_a_volume_is_read_cropped(extension, dtype):
    found = read(written(VALUES.astype(dtype), extension), extension)
    assert found.positions.tolist() == [[[3, 0], [1, 2]]]
    assert found.positions.dtype == np.uint8
    assert (found.corner, found.shape) == ((1, 1, 2), (3, 4, 5))
    assert found.spacing_mm == (2.0, 0.25, 0.5)
    np.testing.assert_array_equal(found.whole, VALUES)


def pillow(values, kind):
    file = io.BytesIO()
    Image.fromarray(values).save(file, kind)
    return file.getvalue()


def test_positions_are_packed_and_people_see_numbers():
    kind = LabelMap({600: "a", 0: "b"}, background=255, dimensions=2)
    values = np.full((4, 5), 255, np.uint16)
    values[2, 1:4] = [0, 600, 255]
    found = read(pillow(values, "PNG"), ".png", kind)
    assert found.positions.tolist() == [[[2, 1]]]
    assert found.corner == (0, 2, 1)
    assert found.whole.tolist() == [values.tolist()]
    assert kind.unpack(kind.pack(found), IMAGE_CASE).whole.tolist() == [values.tolist()]
    assert kind.writable(found, IMAGE_CASE).values.tolist() == [values.tolist()]


def test_negative_zeros_are_background():
    values = np.full((3, 4, 5), -0.0, np.float32)
    values[2, 3, 4] = 1
    found = read(written(values, ".mha"), ".mha")
    assert (found.corner, found.positions.tolist()) == ((2, 3, 4), [[[1]]])


@pytest.mark.parametrize(
    ("values", "geometry", "expected"),
    [
        (VALUES.transpose(2, 1, 0).copy(), {}, [("5 planes of 3 × 4 pixels", EXCHANGED)]),
        (
            VALUES,
            {"spacing_mm": (2.0, 0.25, 0.5), "origin_mm": (1.5, -2.0, 3.5)},
            [("2, 0.25, 0.5 mm", EXCHANGED), ("1.5, -2, 3.5 mm", None)],
        ),
        (VALUES, {"direction": (1, 0, 0, 0, 1, 0, 0, 0, 1)}, [("1, 0, 0, 0, 1, 0, 0, 0, 1", None)]),
    ],
)
def test_another_geometry_is_named_before_any_value(values, geometry, expected):
    found = faults_of(written(values + np.uint8(99), ".mha", replace(GEOMETRY, **geometry)), ".mha")
    assert [(fault.found, fault.hint) for fault in found] == expected


TISSUE = np.random.default_rng(3).integers(0, 4, (60, 50)).astype(np.uint8)
TISSUE[:20, 10:] = TISSUE[33:50, :40] = 0


@pytest.mark.parametrize("background", [0, 3])
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8"])
@pytest.mark.parametrize("is_large", [False, True])
def test_a_slide_is_read_tile_by_tile(background, dtype, is_large, counts_as_large):
    counts_as_large("io.tiff.LARGE_PIXELS", *["io.kinds.label_map.LARGE_VOXELS"][:is_large])
    names = {0: "fat", 1: "tumour", 2: "stroma", 3: "necrosis"}
    del names[background]
    kind, case = LabelMap(names, background, dimensions=2), CaseForm("V1", 50, 60)
    found = read(tiff(TISSUE.astype(dtype), tile=(16, 16)), ".tif", kind, case)
    assert isinstance(found.crop, PackedVolume) == is_large
    assert kind.writable(found, case).values.tolist() == [TISSUE.tolist()]
    received = kind.unpack(kind.pack(found), case)
    np.testing.assert_array_equal(received.positions, found.positions)
    whole = [(mask.corner, mask.values.sum()) for mask in kind.regions.of(received)]
    assert [count for _, count in whole] == [(label == TISSUE).sum() for label in names]


@pytest.mark.parametrize("dtype", ["u2", "u4", "f4"])
def test_instances_of_a_slide_are_read_tile_by_tile(dtype, counts_as_large):
    counts_as_large("io.tiff.LARGE_PIXELS")
    cells = np.where(TISSUE > 0, np.arange(3000).reshape(60, 50) // 7 * 100, 0).astype(dtype)
    cells[:, 40:] = cells[:5] = 0
    kind, case = InstanceMap({1: "cell"}, dimensions=2), CaseForm("V1", 50, 60)
    found = read(tiff(cells, tile=(16, 16)), ".tif", kind, case)
    assert found.numbers.tolist() == np.unique(cells[cells > 0]).tolist()
    assert found.corner == (0, 5, 0)
    assert kind.writable(found, case).values.tolist() == [cells.tolist()]
    with faulted(FormFault, "V1.tif", "-1", kind=FaultKind.WRONG_VALUE):
        read(tiff(np.where(cells > 2000, -1, cells.astype("i4")), tile=(16, 16)), ".tif", kind, case)


@pytest.mark.parametrize("labels", [{1: "liver"}, {1: "liver", 2: "spleen"}])
@pytest.mark.parametrize("fill", ["all", "none", "inside"])
def test_a_large_volume_is_read_and_counted_as_any_other(labels, fill, counts_as_large):
    volume = np.full(VALUES.shape, fill == "all", np.uint8)
    volume[1, 1:3, 2:4] = fill == "inside"
    data = written(volume, ".nii.gz")
    kind, other = LabelMap(labels), written(np.roll(volume, 1, axis=1), ".nii.gz")

    def scored():
        values = [kind.unpack(kind.pack(read(one, ".nii.gz", kind)), CASE) for one in (data, other)]
        field = LabelMapField(kind="label_map", labels={str(number): name for number, name in labels.items()})
        row = (
            Dice(metric="dice")
            .measure("dice", "map", field)
            .row(FieldComparison("map", values[0], {"map": values[1]}))
        )
        return dict(row), [list(oddities(kind, value, CASE)) for value in values]

    expected = scored()
    noted = {
        "all": ["all corners of the image are labelled (inverted?)"],
        "none": ["nothing is labelled"],
        "inside": ["no label but liver occurs"] if len(labels) > 1 else [],
    }
    assert expected[1][0][:1] == noted[fill]
    counts_as_large("io.kinds.label_map.LARGE_VOXELS")
    np.testing.assert_equal(scored(), expected)


ORGANS_LISTED = ListedLabels((1, 2, 3), 0)
CODES = ListedLabels((500, 7), 255)


@pytest.mark.parametrize(
    ("values", "labels", "found"),
    [
        (np.array([0, 4, 3], "u1"), ORGANS_LISTED, "expected whole numbers from 0 to 3 only, found 4"),
        (np.array([9, 4, -1, 9], "i2"), ORGANS_LISTED, "found -1, 4, 9"),
        (np.arange(11, dtype="u1"), ORGANS_LISTED, "found 4, 5, 6, 7, 8 and 2 more"),
        (np.array([0, 1.5], "f4"), ORGANS_LISTED, "found 1.5"),
        (np.array([0, np.nan, 7], "f4"), ORGANS_LISTED, "found 7, nan"),
        (np.array([np.inf], "f8"), ORGANS_LISTED, "found inf"),
        (np.array([1 << 62], "i8"), ORGANS_LISTED, f"found {1 << 62}"),
        (np.array([65536 + 1], "u4"), ORGANS_LISTED, "found 65537"),
        (np.array([256], "u2"), ORGANS_LISTED, "found 256"),
        (np.array([7, 0], "u2"), CODES, "expected values 7, 255 or 500 only, found 0"),
        (np.array([0, 255], "u1"), ORGANS_LISTED, "found 255 (grey values? Write the numbers of the labels)"),
        (np.array([2], "u1"), ListedLabels((1,), 0), "expected values 0 or 1 only, found 2"),
    ],
)
def test_unlisted_values_are_named(values, labels, found):
    with pytest.raises(ReadError) as error:
        labels.positions(values)
    assert str(error.value.fault("a.mha")).endswith(found)


def test_254_labels_are_distinct_from_what_is_unlisted():
    labels = ListedLabels(range(1000, 1254), 0)
    assert labels.positions(np.array([1253, 1000], np.uint16)).tolist() == [254, 1]
    with faulted(ReadError, "999", kind=FaultKind.WRONG_VALUE):
        labels.positions(np.array([999], np.uint16))


@pytest.mark.parametrize(
    ("labels", "background"),
    [((), 0), ((1, 1), 0), ((1, 0), 0), (range(1, 256), 0), ((65536,), 0), ((-1,), 0)],
)
def test_lists_that_are_refused(labels, background):
    with pytest.raises(ValueError, match="labels"):
        ListedLabels(labels, background)
