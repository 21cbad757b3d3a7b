"""MetaImages of one plane, against SimpleITK."""

import zlib

import numpy as np
import pytest
import SimpleITK
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.grey_images import read_grey, write_grey
from evaluation.io.pixels import Size
from test.faults import faulted

PIXELS = np.arange(12, dtype=np.uint8).reshape(3, 4)
SIZE = Size(4, 3)


def header(**changes: str) -> bytes:
    keys = {
        "ObjectType": "Image",
        "NDims": "2",
        "BinaryData": "True",
        "DimSize": "4 3",
        "ElementType": "MET_UCHAR",
        "ElementDataFile": "LOCAL",
    }
    keys = {key: changes.get(key, value) for key, value in keys.items()}
    others = {key: value for key, value in changes.items() if key not in keys}
    last = keys.pop("ElementDataFile")
    lines = [f"{key} = {value}" for key, value in {**keys, **others, "ElementDataFile": last}.items()]
    return "\n".join(lines).encode("latin-1") + b"\n"


def deflated(content: bytes, **changes: str) -> bytes:
    return header(**{"CompressedData": "True", "CompressedDataSize": str(len(content)), **changes}) + content


def read(data: bytes, size: Size | None = SIZE):
    return read_grey(memoryview(data), "mask.mha", size)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("planes", [False, True], ids=["2-D", "one plane of 3-D"])
def test_reads_what_simpleitk_writes(tmp_path, compressed, planes):
    array = PIXELS[np.newaxis] if planes else PIXELS
    path = tmp_path / "mask.mha"
    SimpleITK.WriteImage(SimpleITK.GetImageFromArray(array), path, useCompression=compressed)
    np.testing.assert_array_equal(read(path.read_bytes()), PIXELS)


@settings(max_examples=50)
@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_simpleitk_reads_what_is_written(tmp_path_factory, width, height, seed):
    image = np.random.default_rng(seed).integers(0, 256, (height, width), dtype=np.uint8)
    path = tmp_path_factory.mktemp("mha") / "mask.mha"
    data = write_grey(image, ".mha")
    path.write_bytes(data)
    np.testing.assert_array_equal(SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path)), image)
    np.testing.assert_array_equal(read(data, Size(width, height)), image)


DEFLATED = zlib.compress(bytes(12))
OFFSET = "values written as text or at an offset"
WRONG_FLAG = "a header with a flag that is neither True nor False"
SCALE = "a scale of the intensity"
BOMB = zlib.compress(bytes(1 << 22))


@pytest.mark.parametrize(
    ("data", "kind", "found"),
    [
        (header(DimSize="4 4") + bytes(16), FaultKind.WRONG_SIZE, "4 × 4 pixels"),
        (header(NDims="3", DimSize="4 3 2") + bytes(24), FaultKind.WRONG_VALUE, "2 planes"),
        (header(NDims="3") + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        (header(DimSize="4 -3") + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        (header(DimSize="4 " + "9" * 5000) + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        (header(ElementType="MET_USHORT") + bytes(24), FaultKind.WRONG_VALUE, "MET_USHORT"),
        (header(ElementNumberOfChannels="3") + bytes(36), FaultKind.WRONG_VALUE, "3 channels"),
        (header(ElementDataFile="/etc/passwd"), FaultKind.FORBIDDEN, "a reference to another file"),
        (header(HeaderSize="-1") + bytes(12) + b"\n", FaultKind.UNREADABLE, "13 of 12 pixels"),
        (header(HeaderSize="7") + bytes(19), FaultKind.UNREADABLE, OFFSET),
        (header() + bytes(11), FaultKind.UNREADABLE, "11 of 12 pixels"),
        (header() + bytes(13), FaultKind.UNREADABLE, "13 of 12 pixels"),
        (
            deflated(DEFLATED, CompressedDataSize="10"),
            FaultKind.UNREADABLE,
            "other bytes after its compressed ones",
        ),
        (
            deflated(DEFLATED) + b"x",
            FaultKind.UNREADABLE,
            "other bytes after its compressed ones",
        ),
        (deflated(b"?" * 9), FaultKind.UNREADABLE, "damaged or incomplete image data"),
        (deflated(BOMB), FaultKind.UNREADABLE, "13 of 12 pixels"),
        (deflated(zlib.compress(bytes(9))), FaultKind.UNREADABLE, "9 of 12 pixels"),
        (
            header(BinaryData="False") + b"0 " * 12,
            FaultKind.UNREADABLE,
            "values written as text or at an offset",
        ),
        (b"NDims = 2\n" + header() + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        (header(DimSize="4\x1f3") + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        (
            header().replace(b"NDims", b"Offset = 0 0\nNDims") + bytes(12),
            FaultKind.UNREADABLE,
            "a header with Offset before NDims",
        ),
        (header(DimSize="4 3\nNDims = 2") + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        *(
            (data, FaultKind.UNREADABLE, f"{size} compressed bytes, unlike its CompressedDataSize")
            for data, size in (
                (deflated(DEFLATED, CompressedDataSize="8"), len(DEFLATED)),
                (deflated(DEFLATED)[:-1], len(DEFLATED) - 1),
                (header(CompressedData="True") + DEFLATED, len(DEFLATED)),
                (header(CompressedDataSize="12") + bytes(12), 0),
            )
        ),
        *(
            (header(**{flag: "1"}) + bytes(12), FaultKind.UNREADABLE, WRONG_FLAG)
            for flag in ("BinaryData", "CompressedData", "BinaryDataByteOrderMSB", "ElementByteOrderMSB")
        ),
        (header(ElementToIntensityFunctionSlope="2") + bytes(12), FaultKind.WRONG_VALUE, SCALE),
        (header(ElementToIntensityFunctionOffset="x") + bytes(12), FaultKind.WRONG_VALUE, SCALE),
        (header(ObjectType="Tube") + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        (header(dimsize="4 3") + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        (header(**{"Offset\0": "1 2"}) + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        (header(**{"Offset\xa0": "1 2"}) + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        (header(**{"NDims: a": "3"}) + bytes(12), FaultKind.UNREADABLE, "an invalid header"),
        (header()[:40], FaultKind.UNREADABLE, "an invalid header"),
    ],
)
def test_refuses(data, kind, found):
    with pytest.raises(ReadError) as caught:
        read(data)
    assert (caught.value.kind, caught.value.found) == (kind, found)


@pytest.mark.parametrize(
    "data",
    [
        header(HeaderSize="-1") + PIXELS.tobytes(),
        header() + PIXELS.tobytes() + b"\n",
        header() + PIXELS.tobytes() + b"\r\n",
        deflated(zlib.compress(PIXELS.tobytes())) + b"\n",
        header(ElementToIntensityFunctionSlope="1.0") + PIXELS.tobytes(),
    ],
)
def test_reads_what_other_programs_write(tmp_path, data):
    (tmp_path / "mask.mha").write_bytes(data)
    np.testing.assert_array_equal(
        SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(tmp_path / "mask.mha")), PIXELS
    )
    np.testing.assert_array_equal(read(data), PIXELS)


def test_without_a_size_the_number_of_pixels_is_limited():
    with faulted(ReadError, "100000 × 100000 pixels", kind=FaultKind.TOO_LARGE):
        read(header(DimSize="100000 100000"), None)
