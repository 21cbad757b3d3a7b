"""Probability maps, against SimpleITK and tifffile."""

import io

import numpy as np
import pytest
import tifffile

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.field import Variant
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.io.kinds.probability_map import ProbabilityMap
from evaluation.io.kinds.volume import Volume
from evaluation.io.volume_header import DEPTH, UPRIGHT, Geometry, geometry_columns
from evaluation.metrics.crops import VolumeCrop
from test.io.memory import InMemory
from test.io.volumes.files import written_by_simpleitk

GEOMETRY = Geometry((3, 4, 5), (0.5, 0.25, 2.0), (1.5, -2.0, 3.25), UPRIGHT)
CASE = CaseForm("V1", 5, 4, geometry_columns(GEOMETRY, DEPTH))
IMAGE_CASE = CaseForm("V1", 5, 4)
VOLUMES, IMAGES = ProbabilityMap(), ProbabilityMap(dimensions=2)

VALUES = np.zeros((3, 4, 5))
VALUES[1, 1:3, 2:4] = [[0.25, 0], [1, 0.1]]


def read(data, extension, kind=VOLUMES, case=None):
    path = f"V1{extension}"
    case = case or (CASE if kind.dimensions == 3 else IMAGE_CASE)
    return kind.read(FileSource(path), case, InMemory({path: data}))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("extension", [".mha", ".nii.gz", ".nii"])
def test_a_volume_is_read_cropped_with_single_precision(tmp_path, extension, dtype):
    data = written_by_simpleitk(tmp_path / f"V1{extension}", VALUES.astype(dtype), geometry=GEOMETRY)
    found = read(data, extension)
    assert found.probabilities.dtype == np.float32
    np.testing.assert_array_equal(found.probabilities, VALUES[1:2, 1:3, 2:4].astype(np.float32))
    assert (found.corner, found.shape, found.spacing_mm) == ((1, 1, 2), (3, 4, 5), (2.0, 0.25, 0.5))
    np.testing.assert_array_equal(found.whole, VALUES.astype(np.float32))


@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}, {"tile": (16, 16)}])
def test_an_image_of_floating_point_numbers(options):
    file = io.BytesIO()
    tifffile.imwrite(file, VALUES[1].astype(np.float32), photometric="minisblack", **options)
    found = read(file.getvalue(), ".tif", IMAGES)
    assert (found.corner, found.shape, found.spacing_mm) == ((0, 1, 2), (1, 4, 5), None)
    np.testing.assert_array_equal(found.whole[0], VALUES[1].astype(np.float32))


def test_a_mask_is_a_map_of_0_and_1():
    found = read(VOLUMES.write_file(Volume((VALUES > 0).astype(np.uint8), GEOMETRY), ".mha"), ".mha")
    np.testing.assert_array_equal(found.whole, VALUES > 0)


@pytest.mark.parametrize("tiny", [-0.0, 1e-300])
def test_what_is_0_as_float32_is_cropped(tiny):
    values = np.full((3, 4, 5), tiny)
    values[2, 3, 4] = 0.5
    found = read(VOLUMES.write_file(Volume(values, GEOMETRY), ".mha"), ".mha")
    assert (found.corner, found.probabilities.tolist()) == ((2, 3, 4), [[[0.5]]])
    assert not np.signbit(found.whole).any()


@pytest.mark.parametrize("value", [1.5, -0.25, np.nan, np.inf, 1 + 1e-9])
@pytest.mark.parametrize(("kind", "place"), [(VOLUMES, " in plane 3"), (IMAGES, "")])
def test_other_values_are_faults(kind, place, value):
    values = VALUES.copy() if kind is VOLUMES else VALUES[1:2].copy()
    values[-1, 0, 0] = value
    with pytest.raises(FormFault) as error:
        read(kind.write_file(Volume(values, GEOMETRY), ".mha"), ".mha", kind)
    (fault,) = error.value.faults
    assert (fault.kind, fault.file, fault.expected) == (FaultKind.WRONG_VALUE, "V1.mha", "values from 0 to 1")
    digits = 10 if value == 1 + 1e-9 else 6  # as many as show that it is not 1
    assert fault.found == f"{value:.{digits}g}{place}"


def test_variants_for_a_rehearsal():
    positions = np.array([[[1, 2], [3, 1]]], np.uint8)
    reference = LabelMapValue(VolumeCrop(positions, (1, 1, 2)), (3, 4, 5), (2.0, 0.25, 0.5))
    kind = ProbabilityMap(foreground=2)
    mask = np.zeros((3, 4, 5))
    mask[1, 1:3, 2:4] = [[1, 1], [0, 1]]
    derived = {variant: kind.rehearse(reference, CASE, variant) for variant in Variant}
    np.testing.assert_array_equal(derived[Variant.PERFECT].whole, mask)
    np.testing.assert_array_equal(derived[Variant.INVERTED].whole, 1 - mask)
    assert derived[Variant.EMPTY].probabilities.size == 0
    assert np.argwhere(derived[Variant.NEAR].whole != mask).tolist() == [[1, 1, 4]]
    assert {value.shape for value in derived.values()} == {(3, 4, 5)}
    assert {value.spacing_mm for value in derived.values()} == {(2.0, 0.25, 0.5)}
