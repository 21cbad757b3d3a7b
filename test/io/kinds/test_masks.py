"""Masks of grey values and of channels."""

import numpy as np
import pytest

from evaluation.core.fault import FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.kinds.volume import MultilabelMask, Volume
from evaluation.io.tiff import write
from test.io.memory import InMemory

CASE = CaseForm("V0001", width=5, height=4)
STRICT = LabelMap({0: "cup", 128: "disc"}, 255, dimensions=2)
LENIENT = LabelMap({0: "cup", 128: "disc"}, 255, dimensions=2, unlisted_as=128)


def image(*rows):
    return np.array(rows, np.uint8)


MASK = image(
    [255, 255, 255, 255, 255],
    [255, 128, 0, 128, 255],
    [255, 128, 128, 128, 255],
    [255, 255, 255, 255, 255],
)


def read(kind, pixels, extension=".bmp", case=CASE):
    path = f"mask{extension}"
    data = kind.write_file(Volume.of_image(pixels), extension)
    return kind.read(FileSource(path), case, InMemory({path: data}))


def test_unlisted_values_can_be_read_as_a_label():
    pixels = MASK.copy()
    pixels[0, :] = [7, 127, 1, 254, 255]
    mask = read(LENIENT, pixels)
    assert mask.positions.tolist() == [[[2, 2, 2, 2], [0, 2, 1, 2], [0, 2, 2, 2]]]
    assert mask.corner == (0, 0, 0)


NUMBERS = "numbers of classes? Write the grey values of the format"


@pytest.mark.parametrize(
    ("kind", "values", "hint"),
    [
        (LabelMap({0: "lesion"}, 255, dimensions=2), [0, 1], NUMBERS),
        (STRICT, [0, 1, 2], NUMBERS),
        (STRICT, [7, 255], None),
        (STRICT, [1, 200], None),
        # Here numbers of classes are what the format asks for.
        (LabelMap({1: "liver"}, 0, dimensions=2), [0, 2], None),
    ],
)
def test_a_mask_of_class_numbers_is_recognised(kind, values, hint):
    pixels = np.resize(np.array(values, np.uint8), (4, 5))
    with pytest.raises(FormFault) as raised:
        read(kind, pixels, ".png")
    assert [fault.hint for fault in raised.value.faults] == [hint]


KIND = MultilabelMask(("BE", "HGD", "polyp"))
PATH = "semantic_masks/E1_mask.tif"


def read_channels(values):
    return KIND.read(FileSource(PATH), CaseForm("E1", 5, 4), InMemory({PATH: write(values, None, ".tif")}))


def test_each_class_is_a_region_of_its_own():
    mask = np.zeros((3, 4, 5), bool)
    mask[0, 1:3, 2:5] = True
    mask[2, 2, 2] = True
    files = InMemory({PATH: KIND.write_file(mask, ".tif")})
    regions = KIND.read(FileSource(PATH), CaseForm("E1", 5, 4), files)
    assert [(region.values.shape, region.corner) for region in regions] == [
        ((2, 3), (1, 2)),
        ((0, 0), (0, 0)),
        ((1, 1), (2, 2)),
    ]
    assert all(region.values.all() for region in regions)


def test_other_values_are_faults_of_their_channels():
    values = np.zeros((3, 4, 5), np.uint8)
    values[0, 0, 0], values[0, 1, 1], values[2, 3, 4] = 1, 255, 128
    with pytest.raises(FormFault) as caught:
        read_channels(values)
    assert list(map(str, caught.value.faults)) == [
        "semantic_masks/E1_mask.tif, channel BE: expected values 0 or 255 only, found 1 "
        "(a 0/1 mask? Write 255 for 1)",
        "semantic_masks/E1_mask.tif, channel polyp: expected values 0 or 255 only, found 128",
    ]
