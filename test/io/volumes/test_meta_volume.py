import re
import zlib

import numpy as np
import pytest

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.grey_images import write_grey
from evaluation.io.volumes import write_volume
from test.faults import faulted
from test.io.volumes.files import GEOMETRY, VALUES, read

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


REFUSED = [
    (mha(b"LOCAL", b"other.raw"), FaultKind.FORBIDDEN, "a reference to another file"),
    (mha(b"LOCAL", b"LIST"), FaultKind.FORBIDDEN, "a reference to another file"),
    (mha(b"MET_FLOAT", b"MET_FLOAT_ARRAY"), FaultKind.WRONG_VALUE, "another type of values"),
    (mha(b"DimSize = 5 4 3", b"DimSize = 5 4"), FaultKind.UNREADABLE, "an invalid header"),
    (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 x"), FaultKind.UNREADABLE, "an invalid header"),
    (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 -3"), FaultKind.UNREADABLE, "an invalid header"),
    (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 0"), FaultKind.WRONG_SIZE, "5 × 4 × 0"),
    (mha(b"0.5 0.25 0.125", b"0.5 x 0.125"), FaultKind.UNREADABLE, "invalid numbers"),
    (write_grey(np.zeros((4, 5), np.uint8), ".mha"), FaultKind.WRONG_SIZE, "5 × 4"),
    (mha(b"NDims = 3", b"NDims = 3\nNDims = 3"), FaultKind.UNREADABLE, "an invalid header"),
    (
        mha(b"Element", b"ElementNumberOfChannels = 2\nElement"),
        FaultKind.WRONG_VALUE,
        "2 channels",
    ),
    (mha(b"DimSize = 5 4 3", b"DimSize = 99999 99999 9"), FaultKind.TOO_LARGE, "99999"),
    (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 4"), FaultKind.UNREADABLE, "ends before its voxels"),
    (mha(b"DimSize = 5 4 3", b"DimSize = 5 4 2"), FaultKind.UNREADABLE, "more voxels"),
    (mha(b"0.5 0.25 0.125", b"0.5 nan 0.125"), FaultKind.UNREADABLE, "an invalid spacing"),
    (mha(b"Data = True\nB", b"Data = False\nB"), FaultKind.UNREADABLE, "written as text"),
    (mha(b"0.5 0.25 0.125", b"0.5 0 0.125"), FaultKind.UNREADABLE, "not above 0"),
    (mha(b"0.5 0.25 0.125", b"0.5 -0.25 0.125"), FaultKind.UNREADABLE, "not above 0"),
    (mha(b"0.5 0.25 0.125", b"0.5 0.25 0.125\x0b"), FaultKind.UNREADABLE, "an invalid header"),
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
    (b"\x89PNG\r\n\x1a\n" + bytes(100), FaultKind.UNREADABLE, "a PNG image"),
    (b"Comment = 1\n" * 100_000, FaultKind.UNREADABLE, "an invalid header"),
]


@pytest.mark.parametrize(("data", "kind", "found"), REFUSED)
def test_faults_of_a_file(data, kind, found):
    with faulted(ReadError, found, kind=kind):
        read(data, ".mha")
