from contextlib import contextmanager

import numpy as np
import pytest

from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.volume import (
    ConfidenceVolume,
    ReferenceVolume,
    Volume,
)
from evaluation.io.volume_header import UPRIGHT, Geometry, geometry_columns
from evaluation.metrics.crops import Box
from evaluation.workers.submission_reader import SubmissionFiles
from test.faults import faulted

GEOMETRY = Geometry((2, 3, 4), (0.5, 0.25, 0.125), (1.0, 2.0, 3.0), UPRIGHT)
COLUMNS = geometry_columns(GEOMETRY)
CASE = CaseForm("V1", 4, 3, COLUMNS)
WHOLE = Box((0, 0), (3, 4))


def values(at=None, value=0.0, dtype=np.float32):
    array = np.zeros((2, 3, 4), dtype=dtype)
    if at is not None:
        array[at] = value
    return array


def read(tmp_path, array, kind=None, geometry=GEOMETRY, extension=".mha", case=CASE):
    kind = kind or ConfidenceVolume()
    path = f"V1{extension}"
    (tmp_path / path).write_bytes(ConfidenceVolume().write_file(Volume(array, geometry), extension))
    value = kind.read(FileSource(path), case, SubmissionFiles(str(tmp_path)))
    return [plane.copy() for plane in value.planes()] if isinstance(kind, ReferenceVolume) else value


@pytest.mark.parametrize(
    ("extension", "dtype", "kept"),
    [
        *((extension, "f4", np.float32) for extension in (".mha", ".nii.gz", ".tif")),
        *((extension, "u1", np.uint8) for extension in (".mha", ".nii.gz", ".tif")),
        *((extension, "f8", np.float32) for extension in (".mha", ".nii.gz")),
    ],
)
def test_a_volume_is_kept_cut_to_its_content(tmp_path, extension, dtype, kept):
    array = values((1, 2, slice(1, 3)), 1, dtype)
    empty, plane = read(tmp_path, array, extension=extension)
    assert empty.box.is_empty
    assert plane.box == Box((2, 1), (3, 3))
    assert plane.values.dtype == kept
    np.testing.assert_array_equal(plane.within(WHOLE), array[1])


def test_a_stack_has_a_size_only(tmp_path):
    assert read(tmp_path, values(), geometry=Geometry((2, 3, 4)), extension=".tif")
    with faulted(FormFault, "V1.tif", "3 B-scans of 4 × 3 pixels", kind=FaultKind.WRONG_SIZE):
        read(tmp_path, np.zeros((3, 3, 4), np.uint8), extension=".tif")


def test_an_empty_cell_is_not_compared(tmp_path):
    case = CaseForm("V1", 4, 3, {**COLUMNS, "origin_mm": "", "direction": ""})
    assert read(tmp_path, values(), geometry=Geometry((2, 3, 4), GEOMETRY.spacing_mm, (9, 9, 9)), case=case)


def test_a_file_larger_than_any_such_volume_is_not_read(tmp_path):
    (tmp_path / "V1.mha").write_bytes(bytes((1 << 20) + 8 * 24 + 1))
    with faulted(FormFault, "V1.mha", "1048769 bytes", kind=FaultKind.TOO_LARGE) as error:
        ConfidenceVolume().read(FileSource("V1.mha"), CASE, SubmissionFiles(str(tmp_path)))
    assert error.value.faults[0].kind == FaultKind.TOO_LARGE


LEVELS, CONFIDENCES = ReferenceVolume(0, 5, whole=True), ReferenceVolume(0.01, 1, whole=False)


@pytest.mark.parametrize(
    ("kind", "value", "dtype", "found"),
    [
        (LEVELS, 5, "u1", None),
        (LEVELS, 5, "f4", None),
        (LEVELS, 6, "u1", "6 in B-scan 2"),
        (LEVELS, 2.5, "f4", "2.5 in B-scan 2"),
        (CONFIDENCES, 0.01, "f4", None),
        (CONFIDENCES, 0.005, "f4", "0.005 in B-scan 2"),
        (CONFIDENCES, np.nan, "f4", "nan in B-scan 2"),
        (CONFIDENCES, 2, "u1", "2 in B-scan 2"),
    ],
)
def test_values_of_a_reference(tmp_path, kind, value, dtype, found):
    array = values((1, 1, 1), value, dtype)
    if found is None:
        read(tmp_path, array, kind)
    else:
        with faulted(FormFault, "V1.mha", found, kind=FaultKind.WRONG_VALUE):
            read(tmp_path, array, kind)


@pytest.mark.parametrize(("value", "hinted"), [(2, True), (5, True), (6, False), (1.5, False)])
def test_levels_in_place_of_confidences_are_told_how_to_be_divided(tmp_path, value, hinted):
    with pytest.raises(FormFault) as caught:
        read(tmp_path, values((1, 1, 1), value))
    assert (caught.value.faults[0].hint is not None) == hinted


def test_a_reference_is_not_opened_before_its_planes_are_asked_for():
    class Closed:
        def read(self, path, limit_bytes):
            raise AssertionError

        @contextmanager
        def open(self, path, limit_bytes):
            raise AssertionError

    assert LEVELS.read(FileSource("V1.mha"), CASE, Closed()).path == "V1.mha"
