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
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.core.field import Files, Kind
from evaluation.core.form import CaseForm, Form
from evaluation.io.kinds.displacement import EXTENSIONS, DisplacementField
from evaluation.io.kinds.volume import MultilabelMask
from evaluation.io.tables import write_csv
from evaluation.io.volume_header import DEPTH, UPRIGHT, Geometry, geometry_columns
from evaluation.io.volumes import write_image
from evaluation.organiser.submission_writer import AlgorithmWriter, InputImage
from test.io import test_box_lines, test_metaimage, test_tiff_decoder
from test.io.formats import TESTS
from test.io.images import GREY, tiff
from test.io.volumes import test_formats
from test.io.volumes.files import GEOMETRY, VALUES

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


PLANE = Geometry((1, *GREY.shape))
FORMATS = {
    "images": CaseForm("", 7, 6),
    "metaimages": CaseForm("", 4, 3),
    "volumes": CaseForm("", 5, 4, geometry_columns(GEOMETRY, DEPTH)),
}
"""Cases of the files of `of_formats` and `changed_bytes`."""


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


def texts_of_json(valid: Any) -> tuple[bytes, ...]:
    """Return files that are no JSON, or odd JSON, of a valid value."""
    text = json.dumps(valid).encode()
    return (
        *(b"", text[:-1], text + b",", b"\xef\xbb\xbf" + text, text.decode().encode("utf-16")),
        *(b"[" * 100 + b"]" * 100, b"[" + b"0," * 400_000 + b"0]", b'{"a": 1, "a": 2}', b'["\\ud800"]'),
        *(b'{"\\ud800": 1}', b"NaN", b"9" * 5000, b"9" * 400, b"9" * 309, b'["\x01"]', b"hello", b'"' * 9),
    )


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


def images(kind: Kind, extensions: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    """Yield extensions and files with changed values, sizes and positions, and files that are cut."""
    if isinstance(kind, MultilabelMask):
        yield from _channels(len(kind.classes))
        return
    if isinstance(kind, DisplacementField):
        yield from _displacements(kind)
        return
    if getattr(kind, "class_plane", False):
        yield from _numbers_and_classes(extensions)
    dimensions = getattr(kind, "dimensions", 3)
    background = getattr(kind, "background", 0)
    base = np.full(SHAPES[dimensions], background if background <= 255 else 0, np.uint8)
    base[:, 2:6, 3:8] = 0 if 0 in getattr(kind, "labels", ()) else 1
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
        yield from ((extension, data) for data in cut_short(whole))
    if dimensions == 3 and ".tif" in extensions:
        yield ".tif", tiff(np.stack([base] * 2, axis=-1), planarconfig="contig")


def of_formats(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield extensions and the files that the tests of each format read or refuse."""
    if name == "images":
        for extension, tests in TESTS.items():
            for files in (tests.READABLE, tests.REFUSED):
                yield from ((extension, data) for data, *_ in files.values())
    elif name == "metaimages":
        yield from ((".mha", data) for data, *_ in test_metaimage.REFUSED)
    else:
        yield from ((extension, data) for extension, data, *_ in test_formats.REFUSED)
        yield from ((extension, data) for data, extension, _ in test_formats.OTHERS)
        yield ".tif", test_tiff_decoder.in_a_circle(VALUES[0])
        yield ".tif", bytes(test_tiff_decoder.pages(VALUES[0], VALUES[1], VALUES[2, 1:]))


def changed_bytes(name: str) -> Iterator[tuple[str, bytes]]:
    """Yield readable files with each of their first bytes changed."""
    if name != "volumes":
        written = (".png", ".mha")
        files = [(extension, write_image(GREY[np.newaxis], PLANE, extension, 2)) for extension in written]
        for extension, tests in TESTS.items():
            if extension not in written:
                files += [(extension, data) for data, _ in tests.READABLE.values()]
    else:
        extensions = (".mha", ".nii", ".nii.gz", ".nrrd", ".tif")
        files = [(extension, write_image(VALUES, GEOMETRY, extension, 3)) for extension in extensions]
    for extension, data in files:
        is_packed = data.startswith(b"\x1f\x8b")
        plain = gzip.decompress(data) if is_packed else data
        for position in range(min(len(plain), 500)):
            for value in (0, 1, 3, 16, 255):
                changed = plain[:position] + bytes([value]) + plain[position + 1 :]
                yield extension, gzip.compress(changed, mtime=0) if is_packed else changed


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


def _displacements(kind: DisplacementField) -> Iterator[tuple[str, bytes]]:
    """Yield displacement fields, and what is none."""
    field = good(kind)
    for extension in EXTENSIONS:
        whole = kind.write_file(field, extension)
        yield extension, whole
        yield from ((extension, data) for data in cut_short(whole))
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


def _channels(count: int) -> Iterator[tuple[str, bytes]]:
    """Yield files of several channels."""
    good_channels = np.zeros((count, HEIGHT, WIDTH), np.uint8)
    good_channels[:, 2:6] = 255
    for values in (good_channels, good_channels[:1], good_channels.astype("u2")):
        yield ".mha", write_image(values, Geometry(values.shape), ".mha", 3)
    arrays = [
        *(good_channels, good_channels[:1], np.concatenate([good_channels] * 2), good_channels // 2),
        *(good_channels.astype("u2"), good_channels > 0, good_channels[:, 1:], np.float32(good_channels)),
    ]
    for values in arrays:
        yield ".tif", tiff(values)
        if len(values) > 1:
            yield ".tif", tiff(values, planarconfig="separate")
            yield ".tif", tiff(np.moveaxis(values, 0, -1), planarconfig="contig", compression="zlib")
    yield ".tif", tiff(good_channels, extratags=[(274, 3, 1, 6, True)])
    yield ".tif", tiff(good_channels, photometric="miniswhite")
    yield ".tif", tiff(good_channels.astype(np.int8))
    yield from ((".tif", data) for data in cut_short(tiff(good_channels)))
    yield ".tif", write_image(good_channels[:1], Geometry((1, HEIGHT, WIDTH)), ".png", 2)


def cut_short(data: bytes) -> Iterator[bytes]:
    """Yield a file that is cut or goes on, and contents of other files."""
    yield from (b"", b"\0", b"text", data[:1], data * 2, data + b"\0", b"\x89PNG\r\n\x1a\n", b"BM", b"II*\0")
    yield from (data[: len(data) * eighth // 8] for eighth in range(1, 8))
    yield data[:-1]


# --- Files of boxes ---


def box_files(kind: Any) -> Iterator[tuple[str, bytes]]:
    """Yield files of boxes: good ones, those that the tests of each format refuse, and long ones."""
    valid = kind.write_file(good(kind), ".txt")
    yield from (
        (".txt", data) for data in (valid, b"\xff\xfe\0", b"\n" * 200_000, b"x\n" * 1002, valid * 4000)
    )
    for text in (*(text for text, _ in test_box_lines.GOOD.values()), *test_box_lines.BAD):
        data = text if isinstance(text, bytes) else text.encode()
        for name, of_kind in ((b"BE", b"a"), (b"HGD", b"b"), (b"polyp", b"b")):
            data = data.replace(name, of_kind)
        yield ".txt", data


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
    yield from texts_of_json([])
    for number, (_, value) in enumerate(changed_json(json.loads(valid))):
        if number % 9 == 0:
            yield json.dumps(value).encode()


# --- Submissions ---


def form_of(name: str, layout: str, cases: Sequence[CaseForm]) -> Form:
    """Return the form of a phase with one field."""
    return Form(
        challenge="situations",
        phase="situations",
        submission="algorithm" if layout == "json" else "archive",
        tasks=("situations",),
        missing="reject",
        options={"field": name, "layout": layout},
        sockets={name: "value"},
        cases=tuple(cases),
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
