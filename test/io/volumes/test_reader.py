"""Volumes of every format, against SimpleITK, their planes and their bytes."""

import gzip
import zlib
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import SimpleITK
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io import voxels
from evaluation.io.volume_header import UPRIGHT, Geometry, check_geometry
from evaluation.io.volumes import open_volume, write_volume
from evaluation.io.voxels import GZIPPED, ZLIB, Plane, VoxelBytes, whole_plane
from evaluation.metrics.crops import Box
from test.faults import faulted
from test.io.volumes.files import EXTENSIONS, GEOMETRY, TILTED, VALUES, Bytes, read, written_by_simpleitk


@pytest.mark.parametrize("direction", [UPRIGHT, TILTED, (0, 0, 1, -1, 0, 0, 0, -1, 0)], ids=str)
@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
@pytest.mark.parametrize(
    ("extension", "compress"),
    [
        *((".mha", True), (".mha", False), (".nii.gz", True)),
        *((".nii", False), (".nrrd", True), (".nrrd", False)),
    ],
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


def test_the_rows_that_are_looked_at_change_nothing():
    values = np.zeros((5, 6), dtype=np.float32)
    values[2:4, [1, 4]] = 0.5
    for plane in (whole_plane(values), Plane(values, 2, 4), Plane(values, 1, 5)):
        assert plane.crop.box == Box((2, 1), (4, 5))
        np.testing.assert_array_equal(plane.crop.values, values[2:4, 1:5])


@pytest.mark.parametrize("plane", [whole_plane(np.zeros((5, 6))), Plane(np.zeros((5, 6)), 3, 3)])
def test_an_empty_plane_lies_at_the_corner(plane):
    assert plane.crop.box == Box((0, 0), (0, 0))
    assert plane.crop.values.shape == (0, 0)


@pytest.mark.parametrize("extension", [".mha", ".nii.gz", ".nii", ".tif"])
@given(
    values=arrays(np.int16, st.tuples(*[st.integers(1, 9)] * 3), fill=st.just(0)), planes=st.integers(1, 9)
)
def test_nothing_lies_outside_the_rows_of_a_file(extension, values, planes):
    data = write_volume(values, Geometry(values.shape), extension)
    volume = open_volume(Bytes(data), f"V1{extension}")
    with mock.patch.object(voxels, "SLAB_BYTES", planes * values[0].nbytes):
        for expected, plane in zip(values, volume.planes(), strict=True):
            np.testing.assert_array_equal(plane.values, expected)
            np.testing.assert_array_equal(plane.crop.whole(expected.shape), expected)


def test_empty_planes_are_known_without_looking_at_them():
    values = np.zeros((4, 512, 1024), dtype=np.uint8)
    values[1, 300, 7] = values[3, 511, 1023] = 1
    volume = open_volume(Bytes(write_volume(values, Geometry(values.shape), ".mha")), "V1.mha")
    rows = [(plane.top, plane.bottom) for plane in volume.planes()]
    assert rows[0] == rows[2] == (0, 0)
    assert rows[1][0] <= 300 < rows[1][1]
    assert rows[3][0] <= 511 < rows[3][1]


DATA = bytes(range(200)) * 5
FORMS = {
    None: DATA,
    ZLIB: zlib.compress(DATA),
    GZIPPED: gzip.compress(DATA[:300], mtime=0) + gzip.compress(DATA[300:], mtime=0),
}


class Counting(Bytes):
    """Bytes that can be read on, and how many were handed out."""

    handed_out = 0

    def read(self, count):
        data = super().read(count)
        self.handed_out += len(data)
        return data


@pytest.mark.parametrize("form", FORMS)
@given(sizes=st.lists(st.integers(0, 300), max_size=9))
@settings(max_examples=20)
def test_pieces_of_any_size_make_up_the_data(form, sizes):
    voxels = VoxelBytes(Bytes(FORMS[form]), "a volume", form)
    found = bytearray()
    for size in [*sizes, 10**6]:
        piece = bytearray(min(size, len(DATA) - len(found)))
        voxels.fill(memoryview(piece))
        found += piece
    assert found == DATA
    voxels.finish()


@pytest.mark.parametrize("form", FORMS)
def test_too_few_and_too_many_bytes(form):
    with faulted(ReadError, "a file that ends before its voxels", kind=FaultKind.UNREADABLE):
        VoxelBytes(Bytes(FORMS[form]), "a volume", form).fill(memoryview(bytearray(len(DATA) + 1)))
    voxels = VoxelBytes(Bytes(FORMS[form]), "a volume", form)
    voxels.fill(memoryview(bytearray(len(DATA) - 1)))
    with faulted(ReadError, "more voxels than its header says", kind=FaultKind.UNREADABLE):
        voxels.finish()


def read_all(voxels, data=DATA):
    voxels.fill(memoryview(bytearray(len(data))))
    voxels.finish()


@pytest.mark.parametrize("data", [DATA, bytes(1 << 20)], ids=["values", "zeros"])
@pytest.mark.parametrize("form", [ZLIB, GZIPPED])
@pytest.mark.parametrize("position", range(4))
def test_a_wrong_checksum_is_seen_at_the_end(position, form, data):
    compressed = bytearray(zlib.compress(data) if form == ZLIB else gzip.compress(data, mtime=0))
    compressed[-8 + position if form == GZIPPED else -4 + position] ^= 1
    with faulted(ReadError, "damaged or incomplete image data", kind=FaultKind.UNREADABLE):
        read_all(VoxelBytes(Bytes(bytes(compressed)), "a volume", form), data)


def test_little_of_a_file_is_read_for_the_first_voxels():
    stream = Counting(zlib.compress(np.random.default_rng(0).bytes(1 << 22)))
    VoxelBytes(stream, "a volume", ZLIB).fill(memoryview(bytearray(1000)))
    assert stream.handed_out <= 1 << 18


ZEROS = st.integers(1, 1 << 20).map(bytes)
SPARSE = st.lists(st.one_of(ZEROS, st.binary(max_size=50)), max_size=6).map(b"".join)


@pytest.mark.parametrize("form", [ZLIB, GZIPPED])
@given(data=SPARSE)
@settings(max_examples=40, deadline=None)
def test_zeros_are_left_as_they_are_and_all_else_is_named(form, data):
    voxels = VoxelBytes(Bytes(zlib.compress(data) if form == ZLIB else gzip.compress(data)), "a volume", form)
    found = bytearray(len(data))
    ranges = voxels.fill(memoryview(found))
    voxels.finish()  # the checksum of zlib is right
    assert found == data
    assert ranges == sorted(ranges)
    for first, last in ranges:
        assert any(data[first:last])
        data = data[:first] + bytes(last - first) + data[last:]
    assert not any(data)
