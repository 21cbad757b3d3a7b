import io
from dataclasses import replace

import numpy as np
import pytest
import SimpleITK
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.volume_header import UPRIGHT, Geometry, check_geometry
from evaluation.io.volumes import write_volume
from test.faults import faulted
from test.io.volumes.files import EXTENSIONS, GEOMETRY, TILTED, VALUES, read, written_by_simpleitk

MHA = write_volume(VALUES, GEOMETRY, ".mha")
TIFF = write_volume(VALUES, GEOMETRY, ".tif")


@pytest.mark.parametrize("direction", [UPRIGHT, TILTED, (0, 0, 1, -1, 0, 0, 0, -1, 0)], ids=str)
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
@pytest.mark.parametrize(
    ("extension", "compress"), [(".mha", True), (".mha", False), (".nii.gz", True), (".nii", False)]
)
def test_what_simpleitk_writes_is_read(tmp_path, extension, compress, dtype, direction):
    values = (VALUES * 100).astype(dtype)
    geometry = Geometry(GEOMETRY.shape, GEOMETRY.spacing_mm, GEOMETRY.origin_mm, direction)
    header, found = read(
        written_by_simpleitk(tmp_path / f"V{extension}", values, compress, geometry), extension
    )
    np.testing.assert_array_equal(found, values)
    assert check_geometry(header.geometry, geometry) == []
    assert header.geometry.direction == pytest.approx(direction, abs=1e-6)


@pytest.mark.parametrize("extension", EXTENSIONS)
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4"])
def test_what_is_written_simpleitk_reads(tmp_path, extension, dtype):
    values = (VALUES * 100).astype(dtype)
    path = tmp_path / f"V{extension}"
    path.write_bytes(write_volume(values, GEOMETRY, extension))
    image = SimpleITK.ReadImage(str(path))
    np.testing.assert_array_equal(SimpleITK.GetArrayFromImage(image), values)
    if extension != ".tif":
        assert image.GetSpacing() == pytest.approx(GEOMETRY.spacing_mm)
        assert image.GetOrigin() == pytest.approx(GEOMETRY.origin_mm)
        assert image.GetDirection() == pytest.approx(GEOMETRY.direction, abs=1e-6)


@pytest.mark.parametrize("extension", EXTENSIONS)
def test_the_same_volume_gives_the_same_bytes(extension):
    assert write_volume(VALUES, GEOMETRY, extension) == write_volume(VALUES.copy(), GEOMETRY, extension)


@pytest.mark.parametrize("extension", EXTENSIONS)
@given(slab_bytes=st.integers(1, 500))
@settings(max_examples=15)
def test_the_size_of_slabs_changes_nothing(extension, slab_bytes):
    _, found = read(write_volume(VALUES, GEOMETRY, extension), extension, slab_bytes)
    np.testing.assert_array_equal(found, VALUES)


@pytest.mark.parametrize(
    ("data", "extension", "kind", "found"),
    [
        (TIFF[: len(TIFF) // 2], ".tif", FaultKind.UNREADABLE, "an incomplete header"),
        (MHA, ".tif", FaultKind.UNREADABLE, "a MetaImage"),
    ],
)
def test_faults_of_a_file(data, extension, kind, found):
    with faulted(ReadError, found, kind=kind):
        read(data, extension)


def test_pages_must_be_alike():
    data = io.BytesIO()
    with tifffile.TiffWriter(data) as file:
        file.write(np.zeros((4, 5), np.uint8), photometric="minisblack")
        file.write(np.zeros((4, 6), np.uint8), photometric="minisblack")
    with faulted(ReadError, "another at page 2", kind=FaultKind.WRONG_VALUE):
        read(data.getvalue(), ".tif")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (Geometry((3, 4, 5)), []),
        (replace(GEOMETRY, shape=(3, 5, 4)), ["3 planes of 4 × 5 pixels"]),
        (replace(GEOMETRY, spacing_mm=(0.5, 0.25002, 0.125)), []),
        (replace(GEOMETRY, spacing_mm=(0.5, 0.25003, 0.125)), ["0.5, 0.25003, 0.125 mm"]),
        (Geometry((3, 4, 5), None, (1.5049, -2.0, 3.25)), []),
        (Geometry((3, 4, 5), None, (1.5051, -2.0, 3.25)), ["1.5051, -2, 3.25 mm"]),
        (Geometry((3, 4, 5), None, None, UPRIGHT), ["1, 0, 0, 0, 1, 0, 0, 0, 1"]),
        (
            replace(GEOMETRY, shape=(9, 4, 5), spacing_mm=(1, 1, 1)),
            ["9 planes of 5 × 4 pixels", "1, 1, 1 mm"],
        ),
    ],
)
def test_tolerances_of_the_geometry(other, expected):
    assert [problem.found for problem in check_geometry(other, GEOMETRY)] == expected
