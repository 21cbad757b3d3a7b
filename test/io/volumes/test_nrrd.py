"""NRRD volumes, against SimpleITK, and the headers that are refused."""

import numpy as np
import pytest
import SimpleITK

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.volume_header import Geometry, check_geometry
from evaluation.io.volumes import write_volume
from test.faults import faulted
from test.io.volumes.files import GEOMETRY, VALUES, read, written_by_simpleitk

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


@pytest.mark.parametrize("compress", [False, True])
@pytest.mark.parametrize("file_type", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"])
def test_what_simpleitk_writes_is_read(tmp_path, file_type, compress):
    values = (100 * VALUES).astype(file_type)
    header, found = read(written_by_simpleitk(tmp_path / "V.nrrd", values, compress), ".nrrd")
    np.testing.assert_array_equal(found, values)
    assert (found.dtype, check_geometry(header.geometry, GEOMETRY)) == (values.dtype, [])


def test_simpleitk_reads_what_is_written(tmp_path):
    (tmp_path / "V.nrrd").write_bytes(write_volume(VALUES, GEOMETRY, ".nrrd"))
    image = SimpleITK.ReadImage(tmp_path / "V.nrrd")
    np.testing.assert_array_equal(SimpleITK.GetArrayFromImage(image), VALUES)
    np.testing.assert_allclose(image.GetDirection(), GEOMETRY.direction)


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


REFUSED = [
    (nrrd("sizes: 5 4 3", "sizes: 5 4"), FaultKind.UNREADABLE, "an invalid header"),
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


@pytest.mark.parametrize(("data", "kind", "found"), REFUSED)
def test_faults_of_a_file(data, kind, found):
    with faulted(ReadError, found, kind=kind):
        read(data, ".nrrd")
