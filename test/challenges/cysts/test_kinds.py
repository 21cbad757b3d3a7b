import numpy as np
import pytest

from evaluation.challenges.cysts.kinds import Confidences, Levels, ReferenceConfidences
from evaluation.core.fault import FaultKind, FormFault
from evaluation.core.form import CaseForm
from evaluation.core.sources import FileSource
from evaluation.io.kinds.volume import Volume
from evaluation.io.volume_header import UPRIGHT, Geometry, geometry_columns
from evaluation.workers.submission_reader import SubmissionFiles
from test.faults import faulted

GEOMETRY = Geometry((2, 3, 4), (0.5, 0.25, 0.125), (1.0, 2.0, 3.0), UPRIGHT)
COLUMNS = geometry_columns(GEOMETRY)
CASE = CaseForm("V1", 4, 3, COLUMNS)


def values(at=None, value=0.0, dtype=np.float32):
    array = np.zeros((2, 3, 4), dtype=dtype)
    if at is not None:
        array[at] = value
    return array


def read(tmp_path, array, kind=None, geometry=GEOMETRY, extension=".mha", case=CASE):
    kind = kind or Confidences()
    path = f"V1{extension}"
    (tmp_path / path).write_bytes(Confidences().write_file(Volume(array, geometry), extension))
    return kind.read(FileSource(path), case, SubmissionFiles(str(tmp_path)))


@pytest.mark.parametrize(
    ("extension", "dtype"),
    [
        *((extension, dtype) for extension in (".mha", ".nii.gz", ".tif") for dtype in ("f4", "u1")),
        *((extension, "f8") for extension in (".mha", ".nii.gz")),
    ],
)
def test_a_volume_is_kept_cut_to_its_content(tmp_path, extension, dtype):
    array = values((1, 2, slice(1, 3)), 1, dtype)
    found = read(tmp_path, array, extension=extension)
    assert (found.corner, found.probabilities.shape, found.probabilities.dtype) == (
        (1, 2, 1),
        (1, 1, 2),
        "f4",
    )
    np.testing.assert_array_equal(found.whole, array)


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
        Confidences().read(FileSource("V1.mha"), CASE, SubmissionFiles(str(tmp_path)))
    assert error.value.faults[0].kind == FaultKind.TOO_LARGE


LEVELS, CONFIDENCES = Levels({level: str(level) for level in range(1, 6)}), ReferenceConfidences()


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
