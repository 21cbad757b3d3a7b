import gzip
import io
import math
import re
import struct
import zlib

import numpy as np
import pytest
import SimpleITK
import tifffile
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.grey_images import write_grey
from evaluation.io.volumes.header import UPRIGHT, Geometry, check_geometry
from evaluation.io.volumes.reader import open_volume, write_volume

TILTED = (0.8, -0.6, 0.0, 0.6, 0.8, 0.0, 0.0, 0.0, 1.0)
GEOMETRY = Geometry((3, 4, 5), (0.5, 0.25, 0.125), (1.5, -2.0, 3.25), TILTED)
VALUES = np.random.default_rng(0).random((3, 4, 5)).astype(np.float32)
EXTENSIONS = (".mha", ".nii.gz", ".tif")


class Bytes(io.BytesIO):
    @property
    def size(self):
        return len(self.getvalue())


def read(data, extension, slab_bytes=1 << 20):
    volume = open_volume(Bytes(data), f"V1{extension}", slab_bytes)
    return volume.header, np.stack([plane.copy() for plane in volume.planes()])


def written_by_simpleitk(path, values, compress=True, geometry=GEOMETRY):
    image = SimpleITK.GetImageFromArray(values)
    image.SetSpacing(geometry.spacing_mm)
    image.SetOrigin(geometry.origin_mm)
    image.SetDirection(geometry.direction)
    SimpleITK.WriteImage(image, str(path), useCompression=compress)
    return path.read_bytes()


@pytest.mark.parametrize("direction", [UPRIGHT, TILTED, (0, 0, 1, -1, 0, 0, 0, -1, 0)], ids=str)
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "f4", "f8"])
@pytest.mark.parametrize(("extension", "compress"), [(".mha", True), (".mha", False), (".nii.gz", True)])
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
@pytest.mark.parametrize("dtype", ["u1", "f4"])
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
@settings(max_examples=15, deadline=None)
def test_the_size_of_slabs_changes_nothing(extension, slab_bytes):
    _, found = read(write_volume(VALUES, GEOMETRY, extension), extension, slab_bytes)
    np.testing.assert_array_equal(found, VALUES)


@pytest.mark.parametrize("compression", [None, "deflate", "packbits"])
def test_stacks_of_other_writers_are_read(compression):
    values = (VALUES * 255).astype(np.uint8)
    data = io.BytesIO()
    codec = {None: None, "deflate": "zlib", "packbits": None}[compression]
    if compression == "packbits":
        from PIL import Image

        pages = [Image.fromarray(page) for page in values]
        pages[0].save(data, "TIFF", save_all=True, append_images=pages[1:], compression="packbits")
    else:
        tifffile.imwrite(data, values, photometric="minisblack", compression=codec)
    header, found = read(data.getvalue(), ".tif")
    np.testing.assert_array_equal(found, values)
    assert header.geometry == Geometry((3, 4, 5))


def test_a_gzip_file_of_several_members_is_one_volume():
    plain = gzip.decompress(write_volume(VALUES, GEOMETRY, ".nii.gz"))
    data = gzip.compress(plain[:400]) + gzip.compress(plain[400:])
    np.testing.assert_array_equal(read(data, ".nii.gz")[1], VALUES)


def test_big_endian_values_are_read():
    data = write_volume(VALUES, GEOMETRY, ".mha")
    head, _, body = data.partition(b"LOCAL\n")
    swapped = np.frombuffer(zlib.decompress(body), "<f4").astype(">f4").tobytes()
    head = head.replace(b"ByteOrderMSB = False", b"ByteOrderMSB = True")
    head = head.replace(b"CompressedData = True", b"CompressedData = False")
    np.testing.assert_array_equal(read(head + b"LOCAL\n" + swapped, ".mha")[1], VALUES)


MHA = write_volume(VALUES, GEOMETRY, ".mha")
NIFTI = gzip.decompress(write_volume(VALUES, GEOMETRY, ".nii.gz"))
TIFF = write_volume(VALUES, GEOMETRY, ".tif")


def mha(old, new):
    assert old in MHA
    return MHA.replace(old, new, 1)


def nifti(offset, layout, *values):
    data = bytearray(NIFTI)
    struct.pack_into(layout, data, offset, *values)
    return gzip.compress(bytes(data))


def mha_body(body):
    return MHA.partition(b"LOCAL\n")[0] + b"LOCAL\n" + body


PLAIN = VALUES.tobytes()


@pytest.mark.parametrize(
    ("data", "extension", "kind", "found"),
    [
        (mha(b"LOCAL", b"other.raw"), ".mha", FaultKind.FORBIDDEN, "a reference to another file"),
        (mha(b"LOCAL", b"LIST"), ".mha", FaultKind.FORBIDDEN, "a reference to another file"),
        (mha(b"MET_FLOAT", b"MET_FLOAT_ARRAY"), ".mha", FaultKind.WRONG_VALUE, "another type of values"),
        (mha(b"DimSize = 5 4 3", b"DimSize = 5 4"), ".mha", FaultKind.UNREADABLE, "an invalid header"),
        (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 x"), ".mha", FaultKind.UNREADABLE, "an invalid header"),
        (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 -3"), ".mha", FaultKind.UNREADABLE, "an invalid header"),
        (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 0"), ".mha", FaultKind.WRONG_SIZE, "5 × 4 × 0"),
        (mha(b"0.5 0.25 0.125", b"0.5 x 0.125"), ".mha", FaultKind.UNREADABLE, "invalid numbers"),
        (write_grey(np.zeros((4, 5), np.uint8), ".mha"), ".mha", FaultKind.WRONG_SIZE, "5 × 4"),
        (mha(b"NDims = 3", b"NDims = 3\nNDims = 3"), ".mha", FaultKind.UNREADABLE, "an invalid header"),
        (
            mha(b"Element", b"ElementNumberOfChannels = 2\nElement"),
            ".mha",
            FaultKind.WRONG_VALUE,
            "2 channels",
        ),
        (mha(b"DimSize = 5 4 3", b"DimSize = 99999 99999 9"), ".mha", FaultKind.TOO_LARGE, "99999"),
        (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 4"), ".mha", FaultKind.UNREADABLE, "ends before its voxels"),
        (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 2"), ".mha", FaultKind.UNREADABLE, "more voxels"),
        (mha(b"0.5 0.25 0.125", b"0.5 nan 0.125"), ".mha", FaultKind.UNREADABLE, "an invalid spacing"),
        (mha(b"Data = True\nB", b"Data = False\nB"), ".mha", FaultKind.UNREADABLE, "written as text"),
        (mha_body(zlib.compress(PLAIN)[:-9]), ".mha", FaultKind.UNREADABLE, "ends before its voxels"),
        (mha_body(zlib.compress(PLAIN)[:-4] + b"abcd"), ".mha", FaultKind.UNREADABLE, "damaged"),
        (mha_body(b"no zlib stream"), ".mha", FaultKind.UNREADABLE, "damaged"),
        (mha_body(zlib.compress(PLAIN + bytes(1 << 24))), ".mha", FaultKind.UNREADABLE, "more voxels"),
        (b"\x89PNG" + bytes(100), ".mha", FaultKind.UNREADABLE, "an invalid header"),
        (b"A = 1\n" * 100_000, ".mha", FaultKind.UNREADABLE, "an invalid header"),
        (gzip.compress(NIFTI)[:-20], ".nii.gz", FaultKind.UNREADABLE, "ends before its voxels"),
        (gzip.compress(NIFTI + b"x"), ".nii.gz", FaultKind.UNREADABLE, "more voxels"),
        (gzip.compress(b"x" * 400), ".nii.gz", FaultKind.UNREADABLE, "another header"),
        (NIFTI, ".nii.gz", FaultKind.UNREADABLE, "damaged"),
        (nifti(40, "<h", 2), ".nii.gz", FaultKind.WRONG_SIZE, "2 axes"),
        (nifti(70, "<h", 128), ".nii.gz", FaultKind.WRONG_VALUE, "another type of values"),
        (nifti(112, "<2f", 2.0, 0.0), ".nii.gz", FaultKind.WRONG_VALUE, "the scale 2"),
        (nifti(108, "<f", math.nan), ".nii.gz", FaultKind.UNREADABLE, "offset"),
        (nifti(108, "<f", 1e9), ".nii.gz", FaultKind.UNREADABLE, "offset"),
        (TIFF[: len(TIFF) // 2], ".tif", FaultKind.UNREADABLE, "damaged"),
        (MHA, ".tif", FaultKind.UNREADABLE, "damaged"),
    ],
)
def test_faults_of_a_file(data, extension, kind, found):
    with pytest.raises(ReadError, match=re.escape(found)) as error:
        read(data, extension)
    assert error.value.kind == kind


def test_pages_must_be_alike():
    data = io.BytesIO()
    with tifffile.TiffWriter(data) as file:
        file.write(np.zeros((4, 5), np.uint8), photometric="minisblack")
        file.write(np.zeros((4, 6), np.uint8), photometric="minisblack")
    with pytest.raises(ReadError, match="another at page 2"):
        read(data.getvalue(), ".tif")


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (Geometry((3, 4, 5)), []),
        (Geometry((3, 5, 4), (0.5, 0.25, 0.125)), ["3 B-scans of 4 × 5 pixels"]),
        (Geometry((3, 4, 5), (0.5, 0.25002, 0.125)), []),
        (Geometry((3, 4, 5), (0.5, 0.25003, 0.125)), ["0.5, 0.25003, 0.125 mm"]),
        (Geometry((3, 4, 5), None, (1.5049, -2.0, 3.25)), []),
        (Geometry((3, 4, 5), None, (1.5051, -2.0, 3.25)), ["1.5051, -2, 3.25 mm"]),
        (Geometry((3, 4, 5), None, None, UPRIGHT), ["1, 0, 0, 0, 1, 0, 0, 0, 1"]),
        (Geometry((9, 4, 5), (1, 1, 1)), ["9 B-scans of 5 × 4 pixels", "1, 1, 1 mm"]),
    ],
)
def test_tolerances_of_the_geometry(other, expected):
    assert [problem.found for problem in check_geometry(other, GEOMETRY)] == expected
