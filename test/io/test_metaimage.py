"""MetaImages of one plane, against SimpleITK."""

import zlib

import numpy as np
import pytest
import SimpleITK

from evaluation.core.fault import FaultKind, ReadError
from evaluation.io.pixels import Size
from test.faults import faulted
from test.io.images import read_grey, write_grey

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


@pytest.mark.parametrize("image", [PIXELS, PIXELS[:1], PIXELS[:, 1:2].copy()])
def test_simpleitk_reads_what_is_written(tmp_path, image):
    path, data = tmp_path / "mask.mha", write_grey(image, ".mha")
    path.write_bytes(data)
    np.testing.assert_array_equal(SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(path)), image)
    np.testing.assert_array_equal(read(data, Size(image.shape[1], image.shape[0])), image)


DEFLATED = zlib.compress(bytes(12))
NOTHING = bytes(12)
OFFSET = "values written as text or at an offset"
UNREADABLE = {
    "a header with a flag that is neither True nor False": [
        header(**{flag: "1"}) + NOTHING
        for flag in ("BinaryData", "CompressedData", "BinaryDataByteOrderMSB", "ElementByteOrderMSB")
    ],
    "an invalid header": [
        header(NDims="3") + NOTHING,
        header(DimSize="4 -3") + NOTHING,
        header(DimSize="4 " + "9" * 5000) + NOTHING,
        b"NDims = 2\n" + header() + NOTHING,
        header(DimSize="4\x1f3") + NOTHING,
        header(DimSize="4 3\nNDims = 2") + NOTHING,
        header(ObjectType="Tube") + NOTHING,
        header(dimsize="4 3") + NOTHING,
        header(**{"Offset\0": "1 2"}) + NOTHING,
        header(**{"Offset\xa0": "1 2"}) + NOTHING,
        header(**{"NDims: a": "3"}) + NOTHING,
        header()[:40],
    ],
    "a header with Offset before NDims": [header().replace(b"NDims", b"Offset = 0 0\nNDims") + NOTHING],
    OFFSET: [header(HeaderSize="7") + bytes(19), header(BinaryData="False") + b"0 " * 12],
    "a file that ends before its voxels": [deflated(zlib.compress(bytes(9))), header() + bytes(11)],
    "more voxels than its header says": [
        header() + bytes(13),
        header(HeaderSize="-1") + NOTHING + b"\n",
        deflated(zlib.compress(bytes(1 << 22))),
        deflated(DEFLATED, CompressedDataSize="10"),
        deflated(DEFLATED) + b"x",
    ],
    "damaged or incomplete image data": [deflated(b"?" * 9)],
    "0 compressed bytes, unlike its CompressedDataSize": [header(CompressedDataSize="12") + NOTHING],
    f"{len(DEFLATED) - 1} compressed bytes, unlike its CompressedDataSize": [deflated(DEFLATED)[:-1]],
    f"{len(DEFLATED)} compressed bytes, unlike its CompressedDataSize": [
        deflated(DEFLATED, CompressedDataSize="8"),
        header(CompressedData="True") + DEFLATED,
    ],
}
SCALE = "a scale of the intensity"
REFUSED = [
    *((data, FaultKind.UNREADABLE, found) for found, files in UNREADABLE.items() for data in files),
    (header(DimSize="4 4") + bytes(16), FaultKind.WRONG_SIZE, "4 × 4 pixels"),
    (header(NDims="3", DimSize="4 3 2") + bytes(24), FaultKind.WRONG_VALUE, "2 planes"),
    (header(ElementType="MET_ARRAY") + bytes(24), FaultKind.WRONG_VALUE, "MET_ARRAY"),
    (header(ElementNumberOfChannels="3") + bytes(36), FaultKind.WRONG_VALUE, "3 channels"),
    (header(ElementDataFile="/etc/passwd"), FaultKind.FORBIDDEN, "a reference to another file"),
    (header(ElementToIntensityFunctionSlope="2") + NOTHING, FaultKind.WRONG_VALUE, SCALE),
    (header(ElementToIntensityFunctionOffset="x") + NOTHING, FaultKind.WRONG_VALUE, SCALE),
]


@pytest.mark.parametrize(("data", "kind", "found"), REFUSED)
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
