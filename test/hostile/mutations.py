"""Files of every format but images, spoilt at random: each is refused with a fault, or read to a sound value.

    python -m test.hostile.mutations [--inputs 5000] [--seed 0] [FORMAT …]

It needs nothing but this package, starts at valid files, and prints each input that is neither. The tests
give it a few inputs of each format. `scripts/fuzz_readers.py` is guided by coverage instead, and knows
images too.
"""

from __future__ import annotations

import argparse
import functools
import gzip
import io
import json
import random
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from evaluation.core.fault import FormFault, ReadError
from evaluation.core.field import Kind
from evaluation.core.form import CaseForm
from evaluation.core.sources import JsonSource
from evaluation.io.box_files import BoxFormat, BoxLines, read_box_lines, read_voc_boxes, write_voc_boxes
from evaluation.io.handover import decode, encode
from evaluation.io.json_files import parse_json
from evaluation.io.pixels import Size
from evaluation.io.tables import is_number, read_table
from evaluation.io.volume_header import Geometry
from evaluation.io.volumes import open_volume, write_volume

from ..workers.kinds.situations import KINDS

_SIZE = Size(60, 40)
_CASE = CaseForm("case", _SIZE.width, _SIZE.height)
_BOXES = BoxFormat({"a": 0, "b": 1}, with_confidence=True)
_OF_XML = BoxFormat({"a": 0, "b": 1}, with_confidence=False)
_COLUMNS = ("Name", "Value")
_MOST = 50
_VOXELS = np.arange(60, dtype=np.uint8).reshape(3, 4, 5)
# What breaks parsers of text: numbers at the ends of their ranges, brackets, signs, marks and white space.
_TOKENS = [
    *(b"", b"0", b"-1", b"1e999", b"-1e3081", b"nan", b"inf", b"0x1", b"1_0", b"9" * 401, b"4294967296"),
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"\r", b"\n\n", b"\t", b" " * 300, b",", b";", b'"'),
    *(b"[" * 200, b"{", b"]", b"<", b"</object>", b"<!DOCTYPE a>", b"&amp;", b"null", b"true", b"= ", b"%s"),
]


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


def _read_volume(data: bytes, extension: str) -> None:
    volume = open_volume(_Stream(data), f"x{extension}")
    if volume.header.geometry.shape == _VOXELS.shape:  # as the field does before a voxel is read
        planes = list(volume.planes())
        assert [plane.values.shape for plane in planes] == [_VOXELS.shape[1:]] * len(_VOXELS)


def _read_socket(data: bytes, kind: Kind) -> None:
    source = JsonSource(parse_json(data, finite=False, max_values=kind.max_json_values), "x.json")
    value = kind.read(source, _CASE, None)
    # What is read can be handed over, and is sound there.
    packed = kind.pack(value)
    kind.unpack(decode(b"".join(encode(packed))), _CASE)


def _require_in_image(found: BoxLines) -> None:
    for _, _, *corners in found.rows:
        assert all(0 <= corner <= max(_SIZE.width, _SIZE.height) for corner in corners), corners


def _read_csv(data: bytes) -> None:
    table = read_table(memoryview(data), _COLUMNS, max_rows=_MOST)
    assert len(table.rows) <= _MOST
    for row in table.rows:
        assert len(row.cells) == len(_COLUMNS)
        is_number(row.cells[1])


@dataclass(frozen=True)
class Format:
    """A reader, valid inputs, and whether inputs are compressed, so that their content is spoilt too."""

    read: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    compressed: bool = False


@functools.cache
def formats() -> Mapping[str, Format]:
    """Return the formats by name."""
    volumes = {
        extension: write_volume(_VOXELS, Geometry(_VOXELS.shape, (1.0, 0.5, 0.5)), extension)
        for extension in (".mha", ".nii.gz")
    }
    lines = b"a 0.5 1 2 3 4\nb 1e-3 0 0 16 12\n"
    xml = write_voc_boxes([[0, 1, 1, 2, 30, 4], [1, 1, 0, 0, 60, 40]], _OF_XML)
    tables = (b"Name,Value\na,0.5\nb,1e-3\n", b'\xef\xbb\xbf"Name";"Value"\r\n"a";"1"\r\n')
    sockets = {}
    for name, kind in KINDS.items():
        if type(kind).write_json is not Kind.write_json and kind.socket_kind is not None:
            value = kind.example(_CASE, np.random.default_rng(0))
            seed = json.dumps(kind.write_json(value)).encode()
            sockets[f"JSON of {name}"] = Format(functools.partial(_read_socket, kind=kind), (seed,))
    return {
        "MetaImage": Format(functools.partial(_read_volume, extension=".mha"), (volumes[".mha"],)),
        "NIfTI": Format(functools.partial(_read_volume, extension=".nii.gz"), (volumes[".nii.gz"],), True),
        "csv": Format(_read_csv, (*tables, "Name\tValue\na\t1".encode("utf-16"))),
        "box lines": Format(
            lambda data: _require_in_image(read_box_lines(memoryview(data), _BOXES, _SIZE, max_boxes=_MOST)),
            (lines,),
        ),
        "VOC XML": Format(
            lambda data: _require_in_image(read_voc_boxes(memoryview(data), _OF_XML, _SIZE, _MOST)), (xml,)
        ),
        **sockets,
    }


def spoilt(data: bytes, draw: random.Random) -> bytes:
    """Return data with one to four random changes."""
    changed = bytearray(data)
    for _ in range(draw.randint(1, 4)):
        start = draw.randrange(len(changed) + 1)
        stop = min(len(changed), start + draw.choice((1, 1, 2, 4, 8, 40)))
        change = draw.randrange(6)
        if change == 0 and start < len(changed):
            changed[start] ^= 1 << draw.randrange(8)
        elif change == 1:
            changed[start:stop] = b""
        elif change == 2:
            changed[start:stop] = draw.choice(_TOKENS)
        elif change == 3:
            changed[start:start] = draw.choice(_TOKENS)
        elif change == 4:
            changed[start:start] = changed[start:stop] * draw.choice((1, 2, 100))
        else:
            changed[start:stop] = draw.randbytes(stop - start)
    return bytes(changed)


def inputs_of(name: str, count: int, seed: int) -> Iterator[bytes]:
    """Yield the valid inputs of a format and ``count`` spoilt ones, the same for the same seed."""
    chosen, draw = formats()[name], random.Random(f"{seed} {name}")
    yield from chosen.seeds
    for _ in range(count):
        data = draw.choice(chosen.seeds)
        if chosen.compressed and draw.random() < 0.7:
            yield gzip.compress(spoilt(gzip.decompress(data), draw), mtime=0)
        else:
            yield spoilt(data, draw)


def finding(name: str, data: bytes) -> str | None:
    """Return what goes wrong with an input, None where it is refused with a fault or read."""
    try:
        formats()[name].read(data)
    except (FormFault, ReadError):
        return None
    except Exception:
        return f"{name}: {data[:2000]!r}\n{traceback.format_exc(limit=-4)}"
    return None


def main() -> int:
    """Spoil inputs, print findings, and return 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=", ".join(formats()))
    parser.add_argument("--inputs", type=int, default=5000, help="of each format (default: 5000)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    findings = 0
    for name in arguments.formats or formats():
        for data in inputs_of(name, arguments.inputs, arguments.seed):
            if (found := finding(name, data)) is not None:
                findings += 1
                sys.stdout.write(f"{found}\n")
        sys.stdout.write(f"{name}: {arguments.inputs} inputs\n")
    return int(findings > 0)


if __name__ == "__main__":
    sys.exit(main())
