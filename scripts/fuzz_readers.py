"""Coverage-guided fuzzing of the readers of untrusted bytes; what is not a `ReadError` is a finding.

    .venv/bin/python -m pip install atheris      (Linux; not pinned, since no test needs it)
    .venv/bin/python scripts/fuzz_readers.py [CORPUS_FOLDER] [-max_total_time=300] [more options of libFuzzer]

The first byte of an input chooses the reader. A finding is written to crash-…; it becomes a row of
test/hostile/submissions.py.
"""

import contextlib
import io
import struct
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import atheris
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

with atheris.instrument_imports(include=["evaluation.io"]):
    from evaluation.io.box_files import BoxFormat, read_box_lines
    from evaluation.io.grey_images import read_grey
    from evaluation.io.json_files import parse_json
    from evaluation.io.pixels import PNG_MAGIC as MAGIC
    from evaluation.io.pixels import Size
    from evaluation.io.tables import ColumnSpec, is_number, read_table
    from evaluation.io.tiff import ORIENTATION, read_channels, read_page
    from evaluation.io.volume_header import Geometry
    from evaluation.io.volumes import open_volume, write_volume

from evaluation.core.fault import ReadError
from evaluation.io.grey_images import write_grey

_SIZE = Size(16, 12)
_VOLUME = np.zeros((3, 4, 5), np.uint8)
_BOXES = BoxFormat({"a": 0, "b": 1}, with_confidence=True)
_COLUMNS = (ColumnSpec("Name"), ColumnSpec("Value", ("Score",)))


def _with_checksums(data: bytes) -> bytes:
    """Return a PNG file whose chunks have valid checksums, behind which mutations would not get otherwise."""
    if data[:8] != MAGIC:
        return data
    repaired = bytearray(data)
    start = len(MAGIC)
    while start + 12 <= len(data):
        stop = start + 8 + struct.unpack_from(">I", data, start)[0]
        if stop + 4 > len(data):
            break
        struct.pack_into(">I", repaired, stop, zlib.crc32(data[start + 4 : stop]))
        start = stop + 4
    return bytes(repaired)


def _image(data: bytes, size: Size | None) -> None:
    pixels = read_grey(memoryview(_with_checksums(data)), "x.png", size)
    if pixels.dtype != np.uint8 or (size and pixels.shape != (size.height, size.width)):
        raise AssertionError(f"{pixels.dtype} {pixels.shape}")
    pixels.sum()


class _Stream:
    """Bytes in memory as a `ByteStream`."""

    def __init__(self, data: bytes) -> None:
        self._data = io.BytesIO(data)
        self.size = len(data)

    def readinto(self, view: memoryview) -> int:
        return self._data.readinto(view)

    def read(self, count: int) -> bytes:
        return self._data.read(count)

    def drain(self) -> None:
        self._data.read()


def _volume(data: bytes, extension: str) -> None:
    volume = open_volume(_Stream(data), f"x{extension}")
    # As the field does: the header is held against the form before a voxel is read.
    if volume.header.geometry.shape == _VOLUME.shape:
        for plane in volume.planes():
            plane.values.sum()


def _boxes(data: bytes) -> None:
    lines = read_box_lines(memoryview(data), _BOXES, _SIZE, max_boxes=50)
    for _, _, *corners in lines.rows:
        if not all(0 <= corner <= max(_SIZE.width, _SIZE.height) for corner in corners):
            raise AssertionError(corners)


def _table(data: bytes) -> None:
    table = read_table(memoryview(data), _COLUMNS, max_rows=50)
    if len(table.rows) > 50 or any(len(row.cells) != 2 for row in table.rows):
        raise AssertionError(table)
    for row in table.rows:
        is_number(row.cells[1])


READERS: tuple[Callable[[bytes], object], ...] = (
    lambda data: _image(data, _SIZE),
    # Without a size only small images, or their decoding would take all the time.
    lambda data: _image(data, None) if len(data) < 2000 else None,
    _table,
    parse_json,
    lambda data: read_page(memoryview(data), (ORIENTATION, 273, 279)),
    lambda data: _volume(data, ".mha"),
    lambda data: _volume(data, ".nii.gz"),
    lambda data: _volume(data, ".tif"),
    _boxes,
    lambda data: read_channels(memoryview(data), 5, _SIZE).sum(),
)


def one_input(data: bytes) -> None:
    """Give an input to the reader that its first byte chooses."""
    if len(data) < 2:
        return
    with contextlib.suppress(ReadError):
        READERS[data[0] % len(READERS)](data[1:])


def write_seeds(folder: Path) -> None:
    """Write a valid input for every reader, so that mutation begins behind the first checks."""
    folder.mkdir(parents=True, exist_ok=True)
    mask = np.full((_SIZE.height, _SIZE.width), 255, np.uint8)
    mask[3:9, 4:11] = 128
    for extension in (".bmp", ".png", ".tif"):
        (folder / f"seed{extension}").write_bytes(b"\0" + write_grey(mask, extension))
    tables = (
        b"Name,Value\na,0.5\nb,1e-3\n",
        b'\xef\xbb\xbf"Name";"Score"\r\n"a";"1"\r\n',
        "Name\tValue".encode("utf-16"),
    )
    for number, table in enumerate(tables):
        (folder / f"seed{number}.csv").write_bytes(b"\2" + table)
    (folder / "seed.json").write_bytes(b'\3[{"pk": "a", "value": [1, -2.5e3, null, true, "\\u00e9"]}]')
    for number, extension in enumerate((".mha", ".nii.gz", ".tif"), 5):
        volume = write_volume(_VOLUME, Geometry(_VOLUME.shape, (1.0, 1.0, 1.0)), extension)
        (folder / f"seed.volume{extension}").write_bytes(bytes([number]) + volume)
    (folder / "seed.boxes").write_bytes(b"\x08a 0.5 1 2 3 4\nb 1e-3 0 0 16 12\n")
    (folder / "seed.tags").write_bytes(b"\4" + write_grey(mask, ".tif"))


def main() -> None:
    """Fuzz until libFuzzer is told to stop."""
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    if folders:
        write_seeds(Path(folders[0]))
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
