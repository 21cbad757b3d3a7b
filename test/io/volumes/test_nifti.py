import bz2
import gzip
import lzma
import math
import struct

import numpy as np
import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.volume_header import Geometry, check_geometry
from evaluation.io.volumes import write_volume
from test.faults import faulted
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
    assert geometry == Geometry((3, 4, 5), (0.5, 0.25, 0.125))


def test_a_gzip_file_of_several_members_is_one_volume():
    plain = gzip.decompress(write_volume(VALUES, GEOMETRY, ".nii.gz"))
    data = gzip.compress(plain[:400], mtime=0) + gzip.compress(plain[400:], mtime=0)
    np.testing.assert_array_equal(read(data, ".nii.gz")[1], VALUES)


REFUSED = [
    (gzip.compress(NIFTI, mtime=0)[:-20], FaultKind.UNREADABLE, "ends before its voxels"),
    (gzip.compress(NIFTI + b"x", mtime=0), FaultKind.UNREADABLE, "more voxels"),
    (gzip.compress(b"x" * 400, mtime=0), FaultKind.UNREADABLE, "another header"),
    (b"\x89PNG\r\n\x1a\n", FaultKind.UNREADABLE, "a PNG image"),
    (nifti(40, "<h", 2), FaultKind.WRONG_SIZE, "2 axes"),
    (nifti(70, "<h", 128), FaultKind.WRONG_VALUE, "another type of values"),
    (nifti(112, "<2f", 2.0, 0.0), FaultKind.WRONG_VALUE, "value × 2"),
    (nifti(112, "<2f", 0.0, 3.0), FaultKind.WRONG_VALUE, "value + 3"),
    (nifti(112, "<2f", math.nan, 3.0), FaultKind.WRONG_VALUE, "value + 3"),
    (nifti(72, "<h", 16), FaultKind.UNREADABLE, "16 bits of a type of 32"),
    (nifti(123, "B", 1), FaultKind.WRONG_VALUE, "the unit 1"),
    (nifti(123, "B", 3), FaultKind.WRONG_VALUE, "the unit 3"),
    (nifti(76, "<f", 0.5), FaultKind.UNREADABLE, "pixdim"),
    (nifti(80, "<f", -0.5), FaultKind.UNREADABLE, "contradictory"),
    (without_place(-0.5), FaultKind.UNREADABLE, "not above 0"),
    (nifti(256, "<f", 0.1), FaultKind.UNREADABLE, "contradictory"),
    (nifti(256, "<f", 1.1), FaultKind.UNREADABLE, "an invalid rotation"),
    (nifti(268, "<f", 9.0), FaultKind.UNREADABLE, "contradictory"),
    (nifti(280, "<f", 9.0), FaultKind.WRONG_VALUE, "axes x and y at 51.22°"),
    (nifti(280, "<f", math.nan), FaultKind.UNREADABLE, "contradictory"),
    (nifti(108, "<f", 352.9), FaultKind.UNREADABLE, "offset"),
    (nifti(108, "<f", 348.0), FaultKind.UNREADABLE, "offset"),
    (nifti(108, "<f", math.nan), FaultKind.UNREADABLE, "offset"),
    (nifti(108, "<f", 1e9), FaultKind.UNREADABLE, "offset"),
]


@pytest.mark.parametrize(("data", "kind", "found"), REFUSED)
def test_faults_of_a_file(data, kind, found):
    with faulted(ReadError, found, kind=kind):
        read(data, ".nii.gz")


def second(order="<", **changes):
    """Return the volume as NIfTI-2, made of the NIfTI-1 header field by field."""
    old = {
        "dim": struct.unpack_from("<8h", NIFTI, 40),
        "pixdim": struct.unpack_from("<8f", NIFTI, 76),
        "rotation": struct.unpack_from("<6f", NIFTI, 256),
        "matrix": struct.unpack_from("<12f", NIFTI, 280),
        "kind": struct.unpack_from("<2h", NIFTI, 70),
        "codes": struct.unpack_from("<2h", NIFTI, 252),
    } | changes
    data = bytearray(544)
    for layout, offset, values in (
        ("i", 0, (540,)),
        ("2h", 12, old["kind"]),
        ("8q", 16, old["dim"]),
        ("8d", 104, old["pixdim"]),
        ("q", 168, (544,)),
        ("2d", 176, changes.get("scale", (1, 0))),
        ("2i", 344, old["codes"]),
        ("6d", 352, old["rotation"]),
        ("12d", 400, old["matrix"]),
        ("i", 500, (2,)),
    ):
        struct.pack_into(f"{order}{layout}", data, offset, *values)
    data[4:12] = b"n+2\0\r\n\x1a\n"
    return bytes(data) + VALUES.astype(f"{order}f4").tobytes()


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("compressed", [False, True])
def test_nifti_2_is_read(order, compressed):
    data = gzip.compress(second(order), mtime=0) if compressed else second(order)
    header, values = read(data, ".nii.gz" if compressed else ".nii")
    np.testing.assert_array_equal(values, VALUES)
    assert check_geometry(header.geometry, GEOMETRY) == []


REFUSED_2 = [
    (second(dim=(4, 5, 4, 3, 2, 1, 1, 1)), FaultKind.WRONG_SIZE, "4 axes"),
    (second(dim=(3, 1 << 40, 1 << 20, 3, 1, 1, 1, 1)), FaultKind.TOO_LARGE, "1099511627776"),
    (second(dim=(3, -5, 4, 3, 1, 1, 1, 1)), FaultKind.WRONG_SIZE, "-5"),
    (second(scale=(3.05e-5, 0)), FaultKind.WRONG_VALUE, "value × 3.05e-05"),
    (second()[:400], FaultKind.UNREADABLE, "ends before"),
]


@pytest.mark.parametrize(("data", "kind", "found"), REFUSED_2)
def test_faults_of_nifti_2(data, kind, found):
    with faulted(ReadError, found, kind=kind):
        read(data, ".nii")


PAGE, POINTER = b"<!DOCTYPE html><html>", b"version https://git-lfs.github.com/spec/v1\n"


OTHERS = [
    (PAGE, ".nii.gz", "a web page"),
    (b"\n <html>", ".mha", "a web page"),
    (POINTER, ".nii", "a pointer of Git LFS"),
    (b"\0" * 128 + b"DICM", ".nii.gz", "a DICOM file"),
    (b"\x93NUMPY", ".mha", "an array of NumPy"),
    (b"\x89HDF\r\n\x1a\n", ".mha", "an HDF5 file"),
    (b"NRRD0004\n", ".nii.gz", "an NRRD volume"),
    (b"ObjectType = Image\n", ".nii.gz", "a MetaImage"),
    (NIFTI, ".mha", "a NIfTI volume"),
    (NIFTI, ".tif", "a NIfTI volume"),
    (
        gzip.compress(b"ObjectType = Image\n" + bytes(400), mtime=0),
        ".nii.gz",
        "a gzip archive of a MetaImage",
    ),
    (gzip.compress(PAGE, mtime=0), ".nii.gz", "a gzip archive of a web page"),
    (gzip.compress(POINTER, mtime=0), ".nii.gz", "a gzip archive of a pointer of Git LFS"),
    (
        gzip.compress(gzip.compress(NIFTI, mtime=0), mtime=0),
        ".nii.gz",
        "a gzip archive of a gzip archive",
    ),
    (gzip.compress(b"abc", mtime=0), ".nii.gz", "a file that ends before its voxels"),
    (bz2.compress(NIFTI), ".nii.gz", "a bzip2 archive"),
    (lzma.compress(NIFTI), ".nii", "an xz archive"),
    (b"a" * 257 + b"ustar\x0000", ".nii.gz", "a tar archive"),
    (b'\n{"message": "Not Found"}', ".mha", "a JSON file"),
    (b"[0.5, 1]", ".nii.gz", "a JSON file"),
    (nifti(344, "4s", b"ni1\0"), ".nii.gz", "a header of another file"),
]


@pytest.mark.parametrize(("data", "extension", "found"), OTHERS)
def test_a_file_of_another_content_is_named(data, extension, found):
    with pytest.raises(ReadError) as error:
        read(data, extension)
    assert found in error.value.found


@pytest.mark.parametrize("extension", [".nii", ".nii.gz"])
@pytest.mark.parametrize("data", [NIFTI, gzip.compress(NIFTI, mtime=0)], ids=["plain", "compressed"])
def test_compression_follows_the_content(data, extension):
    np.testing.assert_array_equal(read(data, extension)[1], VALUES)
