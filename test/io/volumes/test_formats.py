"""Volumes as MetaImage, NIfTI and NRRD: what is read, against SimpleITK and nibabel, and what is refused."""

import bz2
import gzip
import lzma
import math
import re
import struct
import zlib

import nibabel
import numpy as np
import pytest
import SimpleITK

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.volume_header import Geometry, check_geometry
from evaluation.io.volumes import write_volume
from test.faults import faulted
from test.io.images import write_grey
from test.io.volumes.files import GEOMETRY, VALUES, read, written_by_simpleitk

MHA = write_volume(VALUES, GEOMETRY, ".mha")


def mha(old, new):
    assert old in MHA
    return MHA.replace(old, new, 1)


def mha_body(body):
    """Return the file with another zlib stream."""
    size = b"CompressedDataSize = %d" % len(body)
    head = MHA.partition(b"LOCAL\n")[0]
    return re.sub(b"CompressedDataSize = [0-9]+", size, head) + b"LOCAL\n" + body


PLAIN = VALUES.tobytes()
ROTATION, MSB = b"Rotation = 1 0 0 0 1 0 0 0 1", b"ElementByteOrderMSB = True"


def test_big_endian_values_are_read():
    data = write_volume(VALUES, GEOMETRY, ".mha")
    head, _, body = data.partition(b"LOCAL\n")
    swapped = np.frombuffer(zlib.decompress(body), "<f4").astype(">f4").tobytes()
    head = head.replace(b"ByteOrderMSB = False", b"ByteOrderMSB = True")
    head = re.sub(b"CompressedData = True\nCompressedDataSize = [0-9]+", b"CompressedData = False", head)
    np.testing.assert_array_equal(read(head + b"LOCAL\n" + swapped, ".mha")[1], VALUES)


def test_equal_keys_of_one_meaning_are_read():
    data = mha(b"Element", b"ElementSize = 0.5 0.25 0.125\nElement")
    assert read(data, ".mha")[0] == read(MHA, ".mha")[0]


REFUSED_META = [
    (mha(b"LOCAL", b"other.raw"), FaultKind.FORBIDDEN, "a reference to another file"),
    (mha(b"MET_FLOAT", b"MET_FLOAT_ARRAY"), FaultKind.WRONG_VALUE, "another type of values"),
    (mha(b"DimSize = 5 4 3", b"DimSize = 5 4"), FaultKind.UNREADABLE, "an invalid header"),
    (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 0"), FaultKind.WRONG_SIZE, "5 × 4 × 0"),
    (mha(b"0.5 0.25 0.125", b"0.5 x 0.125"), FaultKind.UNREADABLE, "invalid numbers"),
    (write_grey(np.zeros((4, 5), np.uint8), ".mha"), FaultKind.WRONG_SIZE, "5 × 4"),
    (
        mha(b"Element", b"ElementNumberOfChannels = 2\nElement"),
        FaultKind.WRONG_VALUE,
        "2 channels",
    ),
    (mha(b"DimSize = 5 4 3", b"DimSize = 99999 99999 9"), FaultKind.TOO_LARGE, "99999"),
    (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 4"), FaultKind.UNREADABLE, "ends before its voxels"),
    (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 2"), FaultKind.UNREADABLE, "more voxels"),
    (mha(b"0.5 0.25 0.125", b"0.5 nan 0.125"), FaultKind.UNREADABLE, "an invalid spacing"),
    (mha(b"0.5 0.25 0.125", b"0.5 0 0.125"), FaultKind.UNREADABLE, "not above 0"),
    (mha(b"0.5 0.25 0.125", b"0.5 -0.25 0.125"), FaultKind.UNREADABLE, "not above 0"),
    (
        mha(b"-0.59999999999999998 0.80000000000000004 0", b"0.8 0.6 0"),
        FaultKind.WRONG_VALUE,
        "axes x and y at 0°",
    ),
    (mha(b"0.80000000000000004 0 0 0 1", b"0.8 0 0 0 2"), FaultKind.WRONG_VALUE, "an axis z of length 2"),
    (mha(b"0.5 0.25 0.125", b"0.5 0_1 0.125"), FaultKind.UNREADABLE, "invalid numbers"),
    (mha(b"MET_FLOAT", b"MET_LONG"), FaultKind.WRONG_VALUE, "another type of values"),
    *(
        (mha(b"Element", b"%s\nElement" % key), FaultKind.UNREADABLE, "contradictory")
        for key in (b"ElementSize = 1 2 3", b"Origin = 0 0 0", b"Position = 1 2 3", ROTATION, MSB)
    ),
    (mha_body(zlib.compress(PLAIN)[:-9]), FaultKind.UNREADABLE, "ends before its voxels"),
    (mha_body(zlib.compress(PLAIN)[:-4] + b"abcd"), FaultKind.UNREADABLE, "damaged"),
    (mha_body(b"no zlib stream"), FaultKind.UNREADABLE, "damaged"),
    (mha_body(zlib.compress(PLAIN + bytes(1 << 24))), FaultKind.UNREADABLE, "more voxels"),
    (b"Comment = 1\n" * 100_000, FaultKind.UNREADABLE, "an invalid header"),
    (mha(b"DimSize", b"HeaderSize = -1\nDimSize"), FaultKind.UNREADABLE, "compressed values at an offset"),
]


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


@pytest.mark.parametrize("zeros", [1, 500, 1 << 19])
def test_zeros_may_follow_a_gzip_file(zeros):
    data = gzip.compress(NIFTI, mtime=0) + bytes(zeros)
    np.testing.assert_array_equal(read(data, ".nii.gz")[1], VALUES)
    with faulted(ReadError, "more voxels", kind=FaultKind.UNREADABLE):
        read(data + gzip.compress(b"1"), ".nii.gz")


def test_a_gzip_file_of_several_members_is_one_volume():
    plain = gzip.decompress(write_volume(VALUES, GEOMETRY, ".nii.gz"))
    data = gzip.compress(plain[:400], mtime=0) + gzip.compress(plain[400:], mtime=0)
    np.testing.assert_array_equal(read(data, ".nii.gz")[1], VALUES)


REFUSED_NIFTI = [
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
    (nifti(123, "B", 1), FaultKind.WRONG_VALUE, "metres"),
    (nifti(123, "B", 3), FaultKind.WRONG_VALUE, "micrometres"),
    (nifti(123, "B", 4), FaultKind.WRONG_VALUE, "the unit 4"),
    (nifti(347, "B", 1), FaultKind.UNREADABLE, "another header"),
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


def second(offset=0, layout="", *values):
    """Return the volume as NIfTI-2 of nibabel, with a changed field."""
    data = bytearray(nibabel.Nifti2Image(VALUES.T, np.diag([0.5, 0.25, 0.125, 1])).to_bytes())
    struct.pack_into(layout, data, offset, *values)
    return bytes(data)


REFUSED_2 = [
    (second(16, "<8q", 4, 5, 4, 3, 2, 1, 1, 1), FaultKind.WRONG_SIZE, "4 axes"),
    (second(16, "<8q", 3, 1 << 40, 1 << 20, 3, 1, 1, 1, 1), FaultKind.TOO_LARGE, "1099511627776"),
    (second(16, "<8q", 3, -5, 4, 3, 1, 1, 1, 1), FaultKind.WRONG_SIZE, "-5"),
    (second(176, "<2d", 3.05e-5, 0), FaultKind.WRONG_VALUE, "value × 3.05e-05"),
    (second()[:400], FaultKind.UNREADABLE, "ends before"),
]


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
    (write_volume(VALUES, GEOMETRY, ".tif")[:150], ".tif", "an incomplete header"),
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


HEADER = """NRRD0004
# a comment
type: uint8
dimension: 3
space: left-posterior-superior
sizes: 5 4 3
space directions: (0.5,0,0) (0,0.25,0) (0,0,2)
kinds: domain domain domain
endian: little
encoding: raw
space origin: (1,2,3)
modality:=CT

"""
BYTES = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)


def nrrd(old: str = "", new: str = "", values: bytes = BYTES.tobytes()) -> bytes:
    assert old in HEADER
    return HEADER.replace(old, new).encode() + values


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("left-posterior-superior", "LPS"),
        ("left-posterior-superior", "right-anterior-superior"),
        ("left-posterior-superior", "left-anterior-superior"),
        ("space: left-posterior-superior\n", ""),
        ("type: uint8", "type: unsigned char"),
        ("\n", "\r\n"),
    ],
)
def test_a_header_is_understood_as_by_simpleitk(tmp_path, old, new):
    without_space = not new and bool(old)
    data = nrrd(old, new)
    if without_space:
        data = data.replace(b"space directions: (0.5,0,0) (0,0.25,0) (0,0,2)", b"spacings: 0.5 0.25 2")
        data = data.replace(b"space origin: (1,2,3)\n", b"")
    (tmp_path / "V.nrrd").write_bytes(data)
    image = SimpleITK.ReadImage(tmp_path / "V.nrrd")
    header, values = read(data, ".nrrd")
    np.testing.assert_array_equal(values, SimpleITK.GetArrayFromImage(image))
    expected = Geometry(values.shape, image.GetSpacing(), image.GetOrigin(), image.GetDirection())
    assert check_geometry(header.geometry, expected) == []


REFUSED_NRRD = [
    (nrrd("sizes: 5 4 3", "sizes: 5 4"), FaultKind.UNREADABLE, "an invalid header"),
    (nrrd("sizes: 5 4 3", "sizes: 0_5 4 3"), FaultKind.UNREADABLE, "an invalid header"),
    (nrrd("dimension: 3", "dimension: 4"), FaultKind.UNREADABLE, "an invalid header"),
    (nrrd("dimension: 3\n", "dimension: 3\ndimension: 3\n"), FaultKind.UNREADABLE, "an invalid header"),
    (nrrd("\n\n", "\n"), FaultKind.UNREADABLE, "an invalid header"),
    (nrrd("encoding: raw", "encoding: ascii"), FaultKind.WRONG_VALUE, "ascii"),
    (nrrd("encoding: raw", "encoding: raw\ndata file: V.raw"), FaultKind.FORBIDDEN, "another file"),
    (nrrd("encoding: raw", "encoding: raw\nbyte skip: -1"), FaultKind.UNREADABLE, "at an offset"),
    (nrrd("type: uint8", "type: block"), FaultKind.WRONG_VALUE, "another type"),
    (nrrd("endian: little\n", "").replace(b"uint8", b"int16"), FaultKind.UNREADABLE, "byte order"),
    (nrrd("left-posterior-superior", "scanner-xyz"), FaultKind.WRONG_VALUE, "scanner-xyz"),
    (nrrd("endian", 'space units: "um" "um" "um"\nendian'), FaultKind.WRONG_VALUE, "the unit um"),
    (nrrd("(0,0,2)", "(0,1,2)"), FaultKind.WRONG_VALUE, "axes y and z at 63.43°"),
    (nrrd("(0,0,2)", "none"), FaultKind.UNREADABLE, "an invalid direction"),
    (nrrd("(0,0,2)", "(0,0,x)"), FaultKind.UNREADABLE, "invalid numbers"),
    (nrrd("(1,2,3)", "(1,2)"), FaultKind.UNREADABLE, "an invalid direction"),
    (nrrd(values=bytes(59)), FaultKind.UNREADABLE, "ends before its voxels"),
    (nrrd(values=bytes(61)), FaultKind.UNREADABLE, "more voxels"),
    (nrrd("encoding: raw", "encoding: gzip"), FaultKind.UNREADABLE, "damaged"),
    (nrrd("sizes: 5 4 3", "sizes: 99999 99999 9"), FaultKind.TOO_LARGE, "99999"),
]


REFUSED = [
    *((".mha", *row) for row in REFUSED_META),
    *((".nii.gz", *row) for row in REFUSED_NIFTI),
    *((".nii", *row) for row in REFUSED_2),
    *((".nrrd", *row) for row in REFUSED_NRRD),
]


@pytest.mark.parametrize(("extension", "data", "kind", "found"), REFUSED)
def test_faults_of_a_file(extension, data, kind, found):
    with faulted(ReadError, found, kind=kind):
        read(data, extension)
