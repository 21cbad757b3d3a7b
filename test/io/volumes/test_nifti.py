import gzip
import math
import re
import struct

import numpy as np
import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.volume_header import UPRIGHT, Geometry, check_geometry
from evaluation.io.volumes import write_volume
from test.io.volumes.files import GEOMETRY, VALUES, read, written_by_simpleitk

NIFTI = gzip.decompress(write_volume(VALUES, GEOMETRY, ".nii.gz"))


def nifti(offset, layout, *values):
    data = bytearray(NIFTI)
    struct.pack_into(layout, data, offset, *values)
    return gzip.compress(bytes(data), mtime=0)


@pytest.mark.parametrize("angle", [1e-5, 3e-4, 1e-3, 0.2])
def test_small_rotations_are_read_exactly(tmp_path, angle):
    """As float32, the rotation that the header holds beside the matrix would be wrong by up to 5e-4."""
    cosine, sine = math.cos(angle), math.sin(angle)
    tilted = Geometry((3, 4, 5), (0.5, 0.25, 0.125), (0, 0, 0), (cosine, -sine, 0, sine, cosine, 0, 0, 0, 1))
    found = read(written_by_simpleitk(tmp_path / "V.nii.gz", VALUES, geometry=tilted), ".nii.gz")[0]
    np.testing.assert_allclose(found.geometry.direction, tilted.direction, atol=1e-6)


def without_place(x_spacing):
    data = bytearray(NIFTI)
    struct.pack_into("<2h", data, 252, 0, 0)
    struct.pack_into("<f", data, 80, x_spacing)
    return gzip.compress(bytes(data), mtime=0)


@pytest.mark.parametrize("kept", ["rotation", "matrix"])
def test_one_position_in_space_is_enough(kept):
    codes = (1, 0) if kept == "rotation" else (0, 1)
    assert check_geometry(read(nifti(252, "<2h", *codes), ".nii.gz")[0].geometry, GEOMETRY) == []


def test_without_a_position_there_is_a_spacing():
    geometry = read(without_place(0.5), ".nii.gz")[0].geometry
    assert geometry == Geometry((3, 4, 5), (0.5, 0.25, 0.125), (0.0, 0.0, 0.0), UPRIGHT)


def test_a_gzip_file_of_several_members_is_one_volume():
    plain = gzip.decompress(write_volume(VALUES, GEOMETRY, ".nii.gz"))
    data = gzip.compress(plain[:400], mtime=0) + gzip.compress(plain[400:], mtime=0)
    np.testing.assert_array_equal(read(data, ".nii.gz")[1], VALUES)


@pytest.mark.parametrize(
    ("data", "extension", "kind", "found"),
    [
        (gzip.compress(NIFTI, mtime=0)[:-20], ".nii.gz", FaultKind.UNREADABLE, "ends before its voxels"),
        (gzip.compress(NIFTI + b"x", mtime=0), ".nii.gz", FaultKind.UNREADABLE, "more voxels"),
        (gzip.compress(b"x" * 400, mtime=0), ".nii.gz", FaultKind.UNREADABLE, "another header"),
        (b"\x89PNG\r\n\x1a\n", ".nii.gz", FaultKind.UNREADABLE, "a PNG image"),
        (nifti(40, "<h", 2), ".nii.gz", FaultKind.WRONG_SIZE, "2 axes"),
        (nifti(70, "<h", 128), ".nii.gz", FaultKind.WRONG_VALUE, "another type of values"),
        (nifti(112, "<2f", 2.0, 0.0), ".nii.gz", FaultKind.WRONG_VALUE, "2 · value + 0"),
        (nifti(112, "<2f", 0.0, 3.0), ".nii.gz", FaultKind.WRONG_VALUE, "0 · value + 3"),
        (nifti(112, "<2f", math.nan, 3.0), ".nii.gz", FaultKind.WRONG_VALUE, "nan · value + 3"),
        (nifti(72, "<h", 16), ".nii.gz", FaultKind.UNREADABLE, "16 bits of a type of 32"),
        (nifti(123, "B", 1), ".nii.gz", FaultKind.WRONG_VALUE, "the unit 1"),
        (nifti(123, "B", 3), ".nii.gz", FaultKind.WRONG_VALUE, "the unit 3"),
        (nifti(76, "<f", 0.5), ".nii.gz", FaultKind.UNREADABLE, "pixdim"),
        (nifti(80, "<f", -0.5), ".nii.gz", FaultKind.UNREADABLE, "contradictory"),
        (without_place(-0.5), ".nii.gz", FaultKind.UNREADABLE, "not above 0"),
        (nifti(256, "<f", 0.1), ".nii.gz", FaultKind.UNREADABLE, "contradictory"),
        (nifti(256, "<f", 1.1), ".nii.gz", FaultKind.UNREADABLE, "an invalid rotation"),
        (nifti(268, "<f", 9.0), ".nii.gz", FaultKind.UNREADABLE, "contradictory"),
        (nifti(280, "<f", 9.0), ".nii.gz", FaultKind.WRONG_VALUE, "axes x and y at 51.22°"),
        (nifti(280, "<f", math.nan), ".nii.gz", FaultKind.UNREADABLE, "contradictory"),
        (nifti(108, "<f", 352.9), ".nii.gz", FaultKind.UNREADABLE, "offset"),
        (nifti(108, "<f", 348.0), ".nii.gz", FaultKind.UNREADABLE, "offset"),
        (nifti(108, "<f", math.nan), ".nii.gz", FaultKind.UNREADABLE, "offset"),
        (nifti(108, "<f", 1e9), ".nii.gz", FaultKind.UNREADABLE, "offset"),
    ],
)
def test_faults_of_a_file(data, extension, kind, found):
    with pytest.raises(ReadError, match=re.escape(found)) as error:
        read(data, extension)
    assert error.value.kind == kind
