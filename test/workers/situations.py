"""Values and files that readers refuse, made from good ones of every kind by systematic changes.

Nothing here knows what a kind expects: every part of its good value is exchanged, left out and repeated, as
is every part of a file of each format. Each changed value is a case of its own, so that one submission holds
many.
"""

from __future__ import annotations

import copy
import gzip
import io
import json
import math
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from PIL import Image

from evaluation.core.field import Files, Kind
from evaluation.core.form import CaseForm, Form
from evaluation.io.kinds.displacement import EXTENSIONS, DisplacementField
from evaluation.io.kinds.masks import LabelMask, MultilabelMask
from evaluation.io.tables import write_csv
from evaluation.io.volume_header import DEPTH, UPRIGHT, Geometry, geometry_columns
from evaluation.io.volumes import write_image
from evaluation.organiser.submission_writer import AlgorithmWriter, InputImage
from test.repository import THOROUGH

WIDTH, HEIGHT, PLANES = 64, 40, 3
SPACING_MM = (0.5, 0.25, 2.0)
SHAPES = {2: (1, HEIGHT, WIDTH), 3: (PLANES, HEIGHT, WIDTH)}
CELLS = (
    *("", " ", "x", "nan", "inf", "1e999", "-1", "-0.0", "0.5", "1", "2", "99", "1e30", "1,5", "1_0", "0x1"),
    *("true", "None", "ä", "１", "9" * 401, "a" * 3000, "a,b", "a b", "first", "e", "+5", ".5", "1e-3081"),
)
JSON_VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2, 0.5, 1e300, math.nan, math.inf, 10**400, "", "x", "1", "1,5", "a", "b" * 3000),
    *([], {}, [1], [1, 2], [[]], {"x": 1}, [None], "nan"),
)

Situation = tuple[str, Any]
"""A name, and the changed value."""


def case_of(name: str) -> CaseForm:
    """Return the form of a case, with the geometry that all files should have."""
    geometry = Geometry((PLANES, HEIGHT, WIDTH), SPACING_MM, (0.0, 0.0, 0.0), UPRIGHT)
    return CaseForm(name, WIDTH, HEIGHT, geometry_columns(geometry, DEPTH))


def good(kind: Kind) -> Any:
    """Return a valid value."""
    return kind.example(case_of("case"), np.random.default_rng(0))


# --- Cells, rows and JSON ---


def cells(kind: Kind) -> Iterator[Situation]:
    """Yield rows in which one cell is exchanged."""
    row = list(kind.write_cells(good(kind)))
    yield "good", row
    for position in range(len(row)):
        for text in CELLS:
            yield f"cell {position} is {text[:20]!r}", [*row[:position], text, *row[position + 1 :]]
    for text in ("0", "", "nan", "1"):
        yield f"all cells are {text!r}", [text] * len(row)


def rows(kind: Kind) -> Iterator[Situation]:
    """Yield lists of rows in which one is changed, missing or there again."""
    valid = [list(row) for row in kind.write_rows(good(kind))]
    yield "good", valid
    yield "no row", []
    yield "every row twice", valid * 2
    yield "the first row alone", valid[:1]
    yield "many rows", valid[:1] * 10_001
    for position in range(len(valid[0])):
        for text in CELLS:
            row = [*valid[0][:position], text, *valid[0][position + 1 :]]
            yield f"cell {position} is {text[:20]!r}", [row, *valid[1:]]
    yield "a thousand faults", [["x"] * len(valid[0])] * 1001


def json_values(kind: Kind) -> Iterator[Situation]:
    """Yield JSON in which one part is exchanged, missing or there again."""
    yield from changed_json(kind.write_json(good(kind)))


def changed_json(valid: Any) -> Iterator[Situation]:
    """Yield JSON with one change for each part and way."""
    yield "good", valid
    for factor in (-1, 1000, 1e9):
        yield f"all numbers are multiplied by {factor}", _scaled(valid, factor)
    for path in [(), *_paths(valid)]:
        place = ".".join(map(str, path)) or "all"
        for value in JSON_VALUES:
            yield f"{place} is {str(value)[:20]!r}", _with(valid, path, value)
        if path:
            yield f"{place} is missing", _without(valid, path)
        part = _part(valid, path)
        if isinstance(part, dict):
            yield f"{place} has another key", _with(valid, path, {**part, "other": 1})
            many = {f"other{number}": 1 for number in range(100)}
            yield f"{place} has many other keys", _with(valid, path, part | many)
        if isinstance(part, list) and part:
            yield f"{place} has its parts twice", _with(valid, path, part * 2)
            yield f"{place} has many parts", _with(valid, path, part[:1] * 10_001)
            yield f"{place} has a thousand faulty parts", _with(valid, path, ["x"] * 1001)


def texts_of_json(valid: Any) -> Iterator[tuple[str, bytes]]:
    """Yield files that are no JSON, or odd JSON, of a valid value."""
    text = json.dumps(valid).encode()
    yield "empty", b""
    yield "cut short", text[:-1]
    yield "other bytes", b"\xff\xfe\x00"
    yield "byte order mark", b"\xef\xbb\xbf" + text
    yield "UTF-16", text.decode().encode("utf-16")
    yield "comma", text + b","
    yield "many levels", b"[" * 100 + b"]" * 100
    yield "many values", b"[" + b"0," * 400_000 + b"0]"
    yield "key twice", b'{"a": 1, "a": 2}'
    yield "surrogate", b'["\\ud800"]'
    yield "surrogate as key", b'{"\\ud800": 1}'
    yield "not a number", b"NaN"
    yield "digits", b"9" * 5000
    yield "large integer", b"9" * 400
    yield "integer beyond a float", b"9" * 309
    yield "control characters", b'["\x01"]'
    yield "words", b"hello"
    yield "quotes", b'"' * 9


def _paths(value: Any, before: tuple = ()) -> Iterator[tuple]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in list(parts)[:4]:
        yield (*before, key)
        yield from _paths(part, (*before, key))


def _scaled(value: Any, factor: float) -> Any:
    if isinstance(value, dict):
        return {key: _scaled(part, factor) for key, part in value.items()}
    if isinstance(value, list):
        return [_scaled(part, factor) for part in value]
    return value * factor if isinstance(value, float) else value


def _part(value: Any, path: tuple) -> Any:
    for key in path:
        value = value[key]
    return value


def _with(value: Any, path: tuple, part: Any) -> Any:
    if not path:
        return part
    changed = copy.deepcopy(value)
    _part(changed, path[:-1])[path[-1]] = part
    return changed


def _without(value: Any, path: tuple) -> Any:
    changed = copy.deepcopy(value)
    del _part(changed, path[:-1])[path[-1]]
    return changed


# --- Files: images and volumes ---


def images(kind: Kind, extensions: tuple[str, ...], each_byte: bool) -> Iterator[tuple[str, bytes]]:
    """Yield extensions and files with changed values, sizes and positions, and with ``each_byte`` changed."""
    if isinstance(kind, MultilabelMask):
        for data in _channels(len(kind.classes)):
            yield ".mha" if data.startswith(b"ObjectType") else ".tif", data
        return
    if isinstance(kind, DisplacementField):
        yield from _displacements(kind)
        return
    if getattr(kind, "class_plane", False):
        yield from _numbers_and_classes(extensions)
    dimensions = getattr(kind, "dimensions", 2 if isinstance(kind, LabelMask) else 3)
    background = getattr(kind, "background", 0)
    base = np.full(SHAPES[dimensions], background if background <= 255 else 0, np.uint8)
    base[:, 2:6, 3:8] = 0 if isinstance(kind, LabelMask) else 1
    for extension in extensions:
        whole = _written(base, extension, dimensions)
        if whole is None:
            continue
        yield extension, whole
        for values in _values(base):
            if (data := _written(values, extension, dimensions)) is not None:
                yield extension, data
        for position in (
            {"spacing": (1, 1, 1)},
            {"origin": (0, 0, 9)},
            {"direction": (-1, 0, 0, 0, -1, 0, 0, 0, 1)},
        ):
            if dimensions == 3 and (data := _written(base, extension, dimensions, **position)) is not None:
                yield extension, data
        yield from ((extension, data) for data in spoilt(whole, extension if each_byte else ""))
    if dimensions == 3 and ".tif" in extensions:
        file = io.BytesIO()
        pairs = np.stack([base] * 2, axis=-1)
        tifffile.imwrite(file, pairs, photometric="minisblack", planarconfig="contig", metadata=None)
        yield ".tif", file.getvalue()
    if dimensions == 2:
        yield from _modes(base[0], set(extensions))
        if each_byte:
            yield from ((extension, data) for extension, data in _bases(base[0]) if extension in extensions)


def _numbers_and_classes(extensions: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield images with numbers and classes in two planes, right ones and others."""
    good = np.zeros((2, HEIGHT, WIDTH), np.int32)
    good[0, 2:6, 3:8], good[1, 2:6, 3:8] = 70_000, 2
    without, unlisted, negative = good.copy(), good.copy(), good.copy()
    without[1], unlisted[1, 0, 0], negative[0, 0, 0] = 0, 3, -1
    for values in (good, without, unlisted, negative, good[:, 1:], good[:1], np.concatenate([good, good])):
        for extension in extensions:
            if (data := _written(values, extension, 3)) is not None:
                yield extension, data


def _values(base: np.ndarray) -> Iterator[np.ndarray]:
    for dtype in ("i1", "u2", "i2", "u4", "i4", "u8", "i8", "f4", "f8"):
        yield base.astype(dtype)
    for value, dtype in (
        *((3, "u1"), (127, "u1"), (128, "u1"), (255, "u1"), (1000, "u2"), (-1, "i2"), (1 << 40, "i8")),
        *((0.5, "f4"), (1.5, "f4"), (-0.5, "f4"), (np.nan, "f4"), (np.inf, "f8"), (1e30, "f8"), (1e-3, "f8")),
    ):
        changed = base.astype(dtype)
        changed[-1, -1, -1] = value
        yield changed
    yield base * 127
    yield np.linspace(0.01, 1, base.size).reshape(base.shape)
    yield (np.indices(base.shape).sum(axis=0) % 2).astype(np.uint8)
    yield np.zeros_like(base)
    grid = np.zeros(base.shape)
    grid[::2, ::2, ::2] = np.linspace(0.5, 1, grid[::2, ::2, ::2].size).reshape(grid[::2, ::2, ::2].shape)
    yield grid
    for part in (base[:, 1:], base[..., 1:], base[1:], np.concatenate([base, base]), base.transpose(0, 2, 1)):
        if part.size:
            yield part


def _written(values: np.ndarray, extension: str, dimensions: int, **position: Any) -> bytes | None:
    place = {"spacing": SPACING_MM, "origin": (0.0, 0.0, 0.0), "direction": UPRIGHT} | position
    geometry = Geometry(values.shape, place["spacing"], place["origin"], place["direction"])
    try:
        return write_image(values, geometry, extension, dimensions)
    except Exception:  # what no writer writes
        return None


def _modes(values: np.ndarray, extensions: set[str]) -> Iterator[tuple[str, bytes]]:
    """Yield images in colours, with transparency, a palette, one bit, and other ways to write one."""
    image = Image.fromarray(values)
    for extension, name in ((".png", "PNG"), (".bmp", "BMP"), (".tif", "TIFF")):
        for mode in ("1", "L", "P", "LA", "RGB", "RGBA", "I;16", "F", "CMYK"):
            file = io.BytesIO()
            try:
                image.convert(mode).save(file, name)
            except (OSError, ValueError):
                continue
            # Under each extension: files are decoded by their content.
            yield from ((other, file.getvalue()) for other in sorted({extension, ".png"} & extensions))
    options: tuple[dict[str, Any], ...] = (
        *({"compression": "zlib"}, {"compression": "zlib", "predictor": 2}, {"tile": (16, 16)}),
        *({"bigtiff": True}, {"byteorder": ">"}, {"rowsperstrip": 3}, {"extratags": [(274, 3, 1, 6, True)]}),
        {"photometric": "miniswhite"},
    )
    for chosen in options:
        data = io.BytesIO()
        tifffile.imwrite(data, values, metadata=None, **{"photometric": "minisblack"} | chosen)
        yield from ((other, data.getvalue()) for other in sorted({".tif", ".png"} & extensions))
    complex_values = io.BytesIO()
    tifffile.imwrite(complex_values, values.astype("c8"), photometric="minisblack", metadata=None)
    yield from ((other, complex_values.getvalue()) for other in sorted({".tif"} & extensions))
    pages = io.BytesIO()
    tifffile.imwrite(pages, np.stack([values, values]), photometric="minisblack", metadata=None)
    yield from ((other, pages.getvalue()) for other in sorted({".tif"} & extensions))


def _some(changed: Iterable[bytes]) -> Iterable[bytes]:
    """Return a third of the changed files of a further layout; the first one of its format has all."""
    return changed if THOROUGH else islice(changed, 0, None, 3)


def _bases(values: np.ndarray) -> Iterator[tuple[str, bytes]]:
    """Yield files of other layouts with each of their parts changed."""
    colours = np.stack([values * 100] * 4, axis=-1)
    layouts: tuple[tuple[np.ndarray, dict[str, Any]], ...] = (
        (values, {"tile": (16, 16)}),
        (values, {"compression": "zlib", "predictor": 2, "rowsperstrip": 7}),
        (values.astype("f4"), {}),
        (colours[..., :3], {"photometric": "rgb"}),
        (colours, {"photometric": "rgb", "extrasamples": ["unassalpha"]}),
        (np.moveaxis(colours[..., :3], -1, 0), {"photometric": "rgb", "planarconfig": "separate"}),
        (colours[..., :2], {"extrasamples": ["unspecified"], "planarconfig": "contig"}),
    )
    for pixels, options in layouts:
        file = io.BytesIO()
        tifffile.imwrite(file, pixels, metadata=None, **{"photometric": "minisblack"} | options)
        yield ".tif", file.getvalue()
        changed = _spoilt_tiff(file.getvalue())
        in_parts = "tile" in options or "rowsperstrip" in options  # as no other layout
        yield from ((".tif", data) for data in (changed if in_parts else _some(changed)))
    for mode, options in (
        ("P", {}),
        ("P", {"transparency": 1}),
        ("LA", {}),
        ("RGB", {"transparency": (1, 1, 1)}),
    ):
        file = io.BytesIO()
        Image.fromarray(values).convert(mode).save(file, "PNG", **options)
        yield ".png", file.getvalue()
        yield from ((".png", data) for data in _some(_spoilt_png(file.getvalue())))
    yield ".bmp", _bitmap_of_bit_fields(values)
    yield ".mha", write_image(np.stack([values] * 2), Geometry((2, *values.shape)), ".mha", 3)


def _bitmap_of_bit_fields(values: np.ndarray) -> bytes:
    height, width = values.shape
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 32, 3, 0, 0, 0, 0, 0)
    masks = struct.pack("<III", 0xFF, 0xFF00, 0xFF0000)
    pixels = np.repeat(values[..., np.newaxis], 4, axis=-1).tobytes()
    start = 14 + len(header) + len(masks)
    return struct.pack("<2sIHHI", b"BM", start + len(pixels), 0, 0, start) + header + masks + pixels


def _displacements(kind: DisplacementField) -> Iterator[tuple[str, bytes]]:
    """Yield displacement fields, and what is none."""
    field = good(kind)
    for extension in EXTENSIONS:
        yield from ((extension, data) for data in spoilt(kind.write_file(field, extension), extension))
        for value in (np.nan, np.inf, 1e7, -1e7):
            changed = field.vectors.astype(np.float64)
            changed[0, -1, -1, -1] = value
            yield extension, kind.write_file(replace(field, vectors=changed), extension)
        for vectors in (field.vectors[:, 1:], field.vectors[..., 1:], field.vectors.transpose(0, 2, 1, 3)):
            yield extension, kind.write_file(replace(field, vectors=vectors), extension)
        yield extension, write_image(field.vectors[0], Geometry(field.vectors.shape[1:]), ".nii.gz", 3)
    array = field.vectors.transpose(3, 2, 1, 0)
    for changed in (
        array.astype("f2"),
        array.astype("i4"),
        array.astype("f8"),
        array[..., :2],
        np.asarray(array, ">f4"),
    ):
        yield ".npz", _archive(changed)
    yield ".npz", _archive(np.asfortranarray(array))
    yield ".npz", _archive(array, array)
    yield ".npz", _archive()
    yield ".npz", _archive(array, version=(2, 0))
    yield ".npz", _archive(array, more=bytes(1000))
    yield ".npz", _archive(array, name="x.txt")


def _archive(
    *arrays: np.ndarray, version: tuple[int, int] = (1, 0), more: bytes = b"", name: str = "arr"
) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, array in enumerate(arrays):
            file = io.BytesIO()
            np.lib.format.write_array(file, array, version)
            archive.writestr(zipfile.ZipInfo(f"{name}_{number}.npy"), file.getvalue() + more)
    return whole.getvalue()


def _channels(count: int) -> Iterator[bytes]:
    """Yield files of several channels."""
    good_channels = np.zeros((count, HEIGHT, WIDTH), np.uint8)
    good_channels[:, 2:6] = 255
    arrays = [
        *(good_channels, good_channels[:1], np.concatenate([good_channels] * 2), good_channels // 2),
        *(good_channels.astype("u2"), good_channels > 0, good_channels[:, 1:], np.float32(good_channels)),
    ]
    for values in (good_channels, good_channels[:1], good_channels.astype("u2")):
        yield write_image(values, Geometry(values.shape), ".mha", 3)
    for values in arrays:
        for planes in ("separate", "contig") if len(values) > 1 else (None,):
            file = io.BytesIO()
            arranged = values if planes != "contig" else np.moveaxis(values, 0, -1)
            tifffile.imwrite(file, arranged, photometric="minisblack", planarconfig=planes, metadata=None)
            yield file.getvalue()
    file = io.BytesIO()
    tifffile.imwrite(file, good_channels, photometric="minisblack", metadata=None, compression="zlib")
    yield file.getvalue()
    file = io.BytesIO()
    tifffile.imwrite(
        file, good_channels, photometric="minisblack", metadata=None, extratags=[(274, 3, 1, 6, True)]
    )
    yield file.getvalue()
    whole = io.BytesIO()
    tifffile.imwrite(whole, good_channels, photometric="minisblack", metadata=None)
    yield from spoilt(whole.getvalue(), ".tif")
    yield write_image(good_channels[:1], Geometry((1, HEIGHT, WIDTH)), ".png", 2)


def spoilt(data: bytes, extension: str) -> Iterator[bytes]:
    """Yield a file with each of its parts changed, as far as its format has parts."""
    yield from (b"", b"\0", b"text", data[:1], data * 2, data + b"\0", b"\x89PNG\r\n\x1a\n", b"BM", b"II*\0")
    yield from (data[: len(data) * eighth // 8] for eighth in range(1, 8))
    yield data[:-1]
    if extension == ".png":
        yield from _spoilt_png(data)
    elif extension == ".mha":
        yield from _spoilt_text_header(data)
    elif extension == ".nrrd":
        yield from _spoilt_nrrd(data)
    elif extension == ".nii.gz":
        yield from (gzip.compress(part, mtime=0) for part in spoilt(gzip.decompress(data), ".nii_in_gzip"))
        yield data[:-5] + bytes(5)
        yield data[:20] + b"\xff" * 20 + data[40:]
    elif extension in (".tif", ".tiff"):
        yield from _spoilt_tiff(data)
    elif extension == ".nii":
        yield data[:344] + b"ni1" + data[347:]
        for position in (*range(8), *range(38, 60), *range(68, 80), *range(76, 124), *range(250, 352)):
            yield from (_byte(data, position, value) for value in (0, 1, 255))
    elif extension == ".bmp":
        for position in range(54):
            yield from (_byte(data, position, value) for value in (0, 1, 8, 255))


def _byte(data: bytes, position: int, value: int) -> bytes:
    return data[:position] + bytes([value]) + data[position + 1 :]


def _spoilt_png(data: bytes) -> Iterator[bytes]:
    chunks, position = [], 8
    while position < len(data):
        (length,) = struct.unpack_from(">I", data, position)
        chunks.append((data[position + 4 : position + 8], data[position + 8 : position + 8 + length]))
        position += 12 + length

    def joined(parts: list[tuple[bytes, bytes]]) -> bytes:
        return data[:8] + b"".join(
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
            for kind, body in parts
        )

    for number, (kind, body) in enumerate(chunks):
        yield joined([*chunks[:number], *chunks[number + 1 :]])
        yield joined([*chunks[:number], chunks[number], *chunks[number:]])
        yield joined([*chunks[:number], (b"sBIT", b"\1\1\1\1"[: max(1, len(body) % 5)]), *chunks[number:]])
        yield joined([*chunks[:number], (b"ABCD", b"x"), *chunks[number:]])
        yield joined([*chunks[:number], (b"aBCD", b"x"), *chunks[number:]])
        yield joined([*chunks[:number], (b"tRNS", b"\0\1"), *chunks[number:]])
        yield joined([*chunks[:number], (b"PLTE", b"\0\1\2"), *chunks[number:]])
        turned = b"II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0"
        yield joined([*chunks[:number], (b"eXIf", turned), *chunks[number:]])
        for place in range(min(len(body), 20)):
            for value in (0, 1, 2, 3, 16, 255):
                yield joined([*chunks[:number], (kind, _byte(body, place, value)), *chunks[number + 1 :]])
        yield joined([*chunks[:number], (kind, body[:-1]), *chunks[number + 1 :]])
    yield joined([chunks[0], *[(b"tEXt", b"a\0b")] * 100_001, *chunks[1:]])
    yield joined(chunks[::-1])
    yield _byte(data, len(data) - 1, data[-1] ^ 1)
    yield _byte(data, 11, 200)


def _with_other_lines(
    lines: list[bytes], sign: bytes, values: Iterable[bytes], *, instead: bytes, before: Iterable[bytes]
) -> Iterator[bytes]:
    """Yield a header with each line gone, doubled, replaced, preceded by others, or with another value."""
    for number, line in enumerate(lines):
        name = line.partition(sign)[0]
        others = [b"", line * 2, instead, *(one + line for one in before)]
        others += [name + sign + b" " + value + b"\n" for value in values]
        for other in others:
            yield b"".join([*lines[:number], other, *lines[number + 1 :]])


def _spoilt_text_header(data: bytes) -> Iterator[bytes]:
    end = data.index(b"\n", data.index(b"ElementDataFile")) + 1
    lines = data[:end].splitlines(keepends=True)
    values = (
        *(b"", b"x", b"1", b"0", b"-1", b"2 2", b"1 1 1", b"1e999 1 1", b"nan 1 1"),
        *(b"9999999 9999999 9999999", b"0 0 0 0 0 0 0 0 0", b"True", b"False"),
        *(b"MET_UCHAR_ARRAY", b"MET_FLOAT", b"other.raw", b"LIST"),
    )
    before = (b"Other = 1\n", b"\xff", b"\x01")
    for header in _with_other_lines(lines, b"=", values, instead=b"no equals sign\n", before=before):
        yield header + data[end:]
    yield b"Comment = " + b"x" * 70_000 + b"\n" + data
    yield from (_byte(data, position, 255) for position in (end, end + 2, len(data) - 1))
    for added in (
        b"CompressedDataSize = 3\n",
        b"HeaderSize = -1\n",
        b"ElementNumberOfChannels = 2\n",
        b"ElementToIntensityFunctionSlope = 2\n",
    ):
        yield b"".join([*lines[:-1], added, lines[-1]]) + data[end:]


def _spoilt_nrrd(data: bytes) -> Iterator[bytes]:
    end = data.index(b"\n\n") + 1
    lines = data[:end].splitlines(keepends=True)
    values = (
        *(b"", b"x", b"0", b"1", b"-1", b"2 2", b"1 2 3", b"nan nan nan", b"big", b"raw", b"gzip", b"hex"),
        *(b"float", b"uint64", b"block", b"left-posterior-superior", b"scanner-xyz", b'"mm" "mm" "in"'),
        *(b"(1,0)", b"(1,0,0) (0,1,0) (0,0,1)", b"(1,0,0) (0,1_0,0) (0,0,1)", b"none (1,0,0) (0,1,0)"),
    )
    before = (b"# comment\n", b"\xff")
    for header in _with_other_lines(lines, b":", values, instead=b"no colon\n", before=before):
        yield header + data[end:]
    for number in range(len(lines)):
        yield b"".join([*lines[:number], b"NRRD0009\n", *lines[number + 1 :]]) + data[end:]
    for added in (
        *(b"byte skip: 3\n", b"line skip: 1\n", b"data file: other.raw\n", b"spacings: 1 1 1\n"),
        *(b'space units: "mm" "mm" "in"\n', b"comment=" + b"x" * 70_000 + b"\n"),
    ):
        yield b"".join([*lines, added]) + data[end:]
    without = [line for line in lines if not line.startswith((b"space", b"endian"))]
    yield b"".join([*without, b"spacings: 1 1 1\n"]) + data[end:]
    yield b"".join(without).replace(b"uint8", b"short").replace(b"unsigned char", b"short") + data[end:]
    yield from (_byte(data, position, 255) for position in (end + 1, end + 9, len(data) - 1))


def _spoilt_tiff(data: bytes) -> Iterator[bytes]:
    order = "<" if data[:2] == b"II" else ">"
    (start,) = struct.unpack_from(f"{order}I", data, 4)
    (count,) = struct.unpack_from(f"{order}H", data, start)
    for number in range(count):
        place = start + 2 + 12 * number
        tag, kind, length, value = struct.unpack_from(f"{order}HHII", data, place)
        changes = [(tag, other, length, value) for other in (0, 1, 2, 3, 4, 5, 12, 16, 99)]
        changes += [(tag, kind, other, value) for other in (0, 2, 3, 1 << 20, (1 << 32) - 1)]
        changes += [
            (tag, kind, length, other) for other in (0, 1, 2, 3, 5, 8, 16, 32, 999, 32773, (1 << 32) - 1)
        ]
        changes += [(other, kind, length, value) for other in (254, 258, 273, 274, 279, 322, 324, 339, 65000)]
        for change in changes:
            yield data[:place] + struct.pack(f"{order}HHII", *change) + data[place + 12 :]
        size = {3: 2, 4: 4}.get(kind, 0)
        if tag in (273, 279, 324, 325) and length > 1 and size:
            code = order + ("H" if size == 2 else "I") * length
            for other in (0, 8, len(data) // 2, len(data)):
                packed = struct.pack(code, *[other & (0xFFFF if size == 2 else 0xFFFFFFFF)] * length)
                yield data[:value] + packed + data[value + len(packed) :]
    for entries in (0, 1, 5000):
        yield data[:start] + struct.pack(f"{order}H", entries) + data[start + 2 :]
    # All strips or tiles lie in one place, which is nearly the whole file.
    whole = data
    for number in range(count):
        tag, kind, length, value = struct.unpack_from(f"{order}HHII", data, start + 2 + 12 * number)
        if tag in (273, 279, 324, 325) and length > 2 and kind in (3, 4):
            other = 8 if tag in (273, 324) else len(data) - 8
            packed = struct.pack(order + "?HI"[kind - 2] * length, *[other] * length)
            whole = whole[:value] + packed + whole[value + len(packed) :]
    yield whole
    for other in (0, 7, len(data), len(data) - 4, (1 << 32) - 1):
        yield data[:4] + struct.pack(f"{order}I", other) + data[8:]
    after = start + 2 + 12 * count
    for other in (start, 1, len(data)):
        yield data[:after] + struct.pack(f"{order}I", other) + data[after + 4 :]


# --- Files of boxes ---


def box_files(kind: Any) -> Iterator[tuple[str, bytes]]:
    """Yield extensions and files of boxes with each word of a line, or each element, changed."""
    extension = ".xml" if kind.layout == "voc_xml" else ".txt"
    valid = kind.write_file(good(kind), extension)
    yield extension, valid
    texts = [
        b"",
        b"\xff\xfe\0",
        b"\xef\xbb\xbf" + valid,
        valid.replace(b"\n", b"\r\n"),
        b"\n" * 200_000,
        valid * 4000,
    ]
    texts += [valid.replace(b"\n", b"\n \n"), b"x\n" * 1002, valid.decode().encode("utf-16")]
    if extension == ".txt":
        line, _, rest = valid.partition(b"\n")
        words = line.split(b" ")
        for number in range(len(words)):
            texts += [
                b" ".join([*words[:number], text.encode(), *words[number + 1 :]]) + b"\n" + rest
                for text in CELLS
            ]
            texts.append(b" ".join([*words[:number], *words[number + 1 :]]) + b"\n")
        texts.append(b" ".join(words * 2))
        texts.append(b" ".join([words[0], *words[-4:][::-1]]))
    else:
        text = valid.decode()
        words = ["annotation", "object", "name", "bndbox", "xmin", "xmax"]
        texts += [
            text.replace(word, other).encode()
            for word in words
            for other in ("other", "name", "a b", "&x;", "ä")
        ]
        for tag in ("name", "xmin", "ymin", "xmax", "ymax"):
            start, end = text.index(f"<{tag}>"), text.index(f"</{tag}>") + len(tag) + 3
            texts += [(text[:start] + f"<{tag}>{cell}</{tag}>" + text[end:]).encode() for cell in CELLS]
            texts += [(text[:start] + text[end:]).encode(), (text[:end] + text[start:]).encode()]
        size = "<size><width>9</width><height>9</height></size>"
        texts += [
            text.replace("<annotation>", f"<annotation>{size}").encode(),
            b"<!DOCTYPE a>" + valid,
            b'<?xml version="1.0" encoding="no-such"?>' + valid,
            b'<?xml version="1.0" encoding="cp1252"?>' + valid,
            b'<?xml version="1.0" encoding="shift_jis"?>' + valid,
            b'<?xml version="1.0" encoding="idna"?>' + valid,
            b'<?xml version="1.0" encoding="utf-16"?>' + valid,
            b"<annotation>" + b"<a>" * 30 + b"</a>" * 30 + b"</annotation>",
            (text[: text.rindex("</annotation>")] + text[text.index("<object>") :] * 3).encode(),
            text.replace(
                "</object>", "</object>" + text[text.index("<object>") : text.index("</object>") + 9] * 4
            ).encode(),
            valid[:-5],
        ]
    yield from ((extension, data) for data in texts)


# --- Tables and lists of jobs as a whole ---


def tables() -> Iterator[bytes]:
    """Yield tables of one case with a number that are changed as a whole."""
    valid = b"case,value\ncase0000,0.5\n"
    yield from (
        valid,
        b"",
        b"\n",
        b"\0",
        b"sep=,\n" + valid,
        b"case\ncase0000\n",
        b"value\n0.5\n",
        b"case,value\n",
    )
    yield from (b"case,value,value\ncase0000,0.5,0.5\n", valid + b"case0000,0.5\n", valid + b"other,0.5\n")
    yield from (valid.replace(b",", separator) for separator in (b";", b"\t", b"|"))
    yield from (valid.decode().encode(codec) for codec in ("utf-16", "utf-32", "utf-8-sig", "cp500"))
    yield from (
        valid + b"\xff,1\n",
        valid + b"\x01,1\n" * 5000,
        b"\xff\n" * 5000 + valid,
        valid + b'"open',
        valid + b"a,b,c,d\n",
    )
    yield from (valid * 3000, valid.replace(b"\n", b"\r"), b"Case,Value\n" + valid[11:])
    yield from (valid + b"," * 3_000_000, valid + b"\n" * 20_000)


def lists_of_jobs(valid: bytes) -> Iterator[bytes]:
    """Yield lists of jobs with parts exchanged, missing or there again."""
    yield from (data for _, data in texts_of_json([]))
    for number, (_, value) in enumerate(changed_json(json.loads(valid))):
        if number % 9 == 0:
            yield json.dumps(value).encode()


# --- Submissions ---


def form_of(name: str, layout: str, names: list[str]) -> Form:
    """Return the form of a phase with one field and cases of these names."""
    return Form(
        challenge="situations",
        phase="situations",
        submission="algorithm" if layout in ("json", "images") else "archive",
        tasks=("situations",),
        missing="reject",
        options={"field": name, "layout": layout},
        sockets={name: "value"},
        cases=tuple(case_of(one) for one in names),
    )


def write_files(folder: Path, layout: Files, files: list[tuple[str, bytes]]) -> list[str]:
    """Write a file for each case, and return the names of the cases."""
    names = [f"case{number:04d}" for number in range(len(files))]
    (folder / layout.folder).mkdir(parents=True)
    for name, (extension, data) in zip(names, files, strict=True):
        (folder / layout.path(name, extension)).write_bytes(data)
    return names


def write_table(folder: Path, columns: tuple[str, ...], rows_by_case: list[list[list[str]]]) -> list[str]:
    """Write a table with the rows of each case, and return the names of the cases."""
    names = [f"case{number:04d}" for number in range(len(rows_by_case))]
    folder.mkdir(parents=True)
    lines = [[name, *row] for name, of_case in zip(names, rows_by_case, strict=True) for row in of_case]
    write_csv(folder / "values.csv", ["case", *columns], lines)
    return names


def write_jobs(folder: Path, field: Any, contents: list[bytes]) -> list[str]:
    """Write a job for each case with the content of its output, and return the names of the cases."""
    names = [f"case{number:04d}" for number in range(len(contents))]
    inputs = [InputImage(name, (name,)) for name in names]
    writer = AlgorithmWriter(folder, [field], inputs, "image")
    writer._values = {name: {field.name: None} for name in names}
    writer.close()
    for image, content in zip(inputs, contents, strict=True):
        (folder / writer._output(image, field)).write_bytes(content)
    return names
