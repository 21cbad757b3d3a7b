"""Images and volumes in any of the accepted formats, and the image of a case, plane by plane."""

import importlib
import math
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, FormFault, ReadError
from evaluation.core.form import CaseForm
from evaluation.core.formats import (
    FORMATS,
    GZIP,
    HEAD_BYTES,
    NIFTI,
    PNG,
    Dimensions,
    Format,
    extensions_of,
    format_of_content,
    format_of_name,
    image_formats,
    other_content,
)
from evaluation.core.sources import ByteStream, FileAccess, FileSource, ImageStackSource, Source
from evaluation.io import metaimage, tiff
from evaluation.io.pixels import Size, check_size
from evaluation.io.volume_header import (
    MAX_VOXELS,
    Geometry,
    check_geometry,
    geometry_of,
    plane_geometry_of,
)
from evaluation.io.voxels import BegunStream, OpenVolume, Plane, whole_plane
from evaluation.metrics.crops import Crop, crop

EXTENSIONS = extensions_of(image_formats(3, on_request=True))


class Codec(Protocol):
    """The functions of a format's module: of images, of volumes or of both, as its row in `FORMATS` says."""

    def read_image(self, data: memoryview, size: Size | None) -> NDArray[Any]:
        """Return the values (y, x) of any type, those of one bit as booleans. Raises `ReadError`.

        The size in the header is compared with ``size`` before any value is decoded.
        """

    def open_volume(self, stream: BegunStream, max_pages: int) -> OpenVolume:
        """Return a volume whose header has been read. Raises `ReadError`, `ValueError` for no numbers."""

    def write(self, values: NDArray[Any], geometry: Geometry | None, extension: str) -> bytes:
        """Return a volume (z, y, x), without a ``geometry`` an image of its one plane, as a file."""


# A confined reader must have them: they are imported here, and not when the first file is read.
CODECS: Mapping[Format, Codec] = {
    row: cast(Codec, importlib.import_module(row.module)) for row in FORMATS if row.module
}

_MAX_REMEMBERED_BYTES = 1 << 16
_MAX_REMEMBERED = 32
_known_empty: dict[tuple[bytes, Size, int], np.dtype[Any]] = {}


def read_cropped(data: memoryview, path: str, size: Size, background: int) -> Crop:
    """Return the values of an image of any type, cropped to those that are not the background.

    Small files without foreground are remembered, so that each such content is decoded once: in many phases
    most masks are empty, and equal bytes.

    Values of other types than 8 bits are cropped for a background of 0 alone. Raises `ReadError` as
    `read_numbers` does.
    """
    key = (bytes(data), size, background) if len(data) <= _MAX_REMEMBERED_BYTES else None
    if key in _known_empty:
        return Crop(np.empty((0, 0), _known_empty[key]), (0, 0))
    values = read_numbers(data, path, size)
    if values.dtype == np.uint8:
        mask = crop(values, background)
    else:
        mask = Crop(values, (0, 0)) if background else whole_plane(values).crop
    if key is not None and not mask.values.size:
        if len(_known_empty) == _MAX_REMEMBERED:
            del _known_empty[next(iter(_known_empty))]
        _known_empty[key] = values.dtype
    return mask


def read_numbers(data: memoryview, path: str, size: Size | None) -> NDArray[Any]:
    """Return the values (y, x) of a BMP, PNG, TIFF or MetaImage file, possibly as a view of `data`.

    They have 8 bits, in PNG also 16 and in TIFF and MetaImage any type; those of one bit are booleans.
    The format is recognised by the content, not by the extension of `path`. The size in the header is
    compared with `size` before any pixel is decoded; without a `size`, the number of pixels is limited.

    Raises `ReadError` (unreadable, wrong size, wrong value, malformed or too large).
    """
    content = format_of_content(bytes(data[:HEAD_BYTES]))
    if content is not None and 2 in content.dimensions:
        return CODECS[content].read_image(data, size)
    wanted = format_of_name(path)
    possible = [wanted] if wanted is not None and 2 in wanted.dimensions else image_formats(2)
    expected = " or ".join(row.name for row in possible)
    raise other_content(bytes(data[:HEAD_BYTES]), expected)


def open_volume(stream: ByteStream, path: str, max_pages: int = MAX_VOXELS) -> OpenVolume:
    """Return a volume in the format of the path's extension; a NIfTI volume may be compressed or not.

    A TIFF stack has at most ``max_pages``. Raises `ReadError`, also for the content of another format.
    """
    wanted = format_of_name(path)
    if wanted is None or 3 not in wanted.dimensions:
        raise ReadError(FaultKind.UNREADABLE, f"one of {', '.join(EXTENSIONS)}", "another extension")
    head = stream.read(HEAD_BYTES)
    content = format_of_content(head)
    if content is not wanted and not (content is GZIP and wanted is NIFTI):
        raise other_content(head, wanted.name)
    try:
        return CODECS[wanted].open_volume(BegunStream(head, stream), max_pages)
    except ValueError:
        raise ReadError(FaultKind.UNREADABLE, "a volume", "a header with invalid numbers") from None


def open_planes(data: memoryview, path: str, size: Size, count: int, expected: str) -> OpenVolume:
    """Return a volume in memory of so many planes of a size; ``expected`` names them. Raises `ReadError`."""
    volume = open_volume(BegunStream(data, None), path, max_pages=count)
    depth, height, width = volume.header.geometry.shape
    check_size(Size(width, height), size)
    if depth != count:
        raise ReadError(FaultKind.WRONG_VALUE, expected, str(depth))
    return volume


def write_volume(values: NDArray[Any], geometry: Geometry, extension: str) -> bytes:
    """Return a volume (z, y, x) as a file of the format with that extension; equal input gives equal bytes.

    Raises `ValueError` for an extension that is not one of `EXTENSIONS`.
    """
    if (row := format_of_name(extension)) is None or 3 not in row.dimensions:
        raise ValueError(f"expected one of {', '.join(EXTENSIONS)}, found {extension}")
    return CODECS[row].write(values, geometry, extension)


def write_image(values: NDArray[Any], geometry: Geometry, extension: str, dimensions: int) -> bytes:
    """Return a volume, or an image as a volume of one plane, as a file of the format with that extension.

    Equal input gives equal bytes. Raises `ValueError` for another extension, and for values that do not fit.
    """
    row = format_of_name(extension)
    if dimensions == 3 or row is None or 2 not in row.dimensions:
        return write_volume(values, geometry, extension)
    most = 2 if row is PNG else 1
    if not row.numbers and not (values.dtype.kind == "u" and values.itemsize <= most):
        raise ValueError(f"{extension}: expected values of at most {8 * most} bits, found {values.dtype}")
    return CODECS[row].write(values[:1], None, extension)


# --- The image of a case, plane by plane: its header is compared with the case table before it is read ---

_BYTES_PER_VOXEL = 8
_HEADER_ALLOWANCE = 1 << 20


def case_geometry(case: CaseForm, dimensions: Dimensions) -> Geometry:
    """Return the geometry of a case's image; one of two dimensions has one plane. Raises `PhaseError`."""
    return geometry_of(case) if dimensions == 3 else plane_geometry_of(case)


def case_values(source: Source, case: CaseForm, files: FileAccess, dimensions: Dimensions) -> NDArray[Any]:
    """Return the values of a case's image, shape (z, y, x), of any numeric type; an image has one plane.

    The file is a source's, in any of the formats. Raises `FormFault` as `case_planes`, and `TypeError` for a
    source that is no file.
    """
    if not isinstance(source, FileSource):
        raise TypeError(f"no image can be read from {type(source).__name__}")
    _, height, width = case_geometry(case, dimensions).shape
    planes = case_planes(source.file, case, files, dimensions)
    return np.stack([plane.whole((height, width)).copy() for plane in planes])


def limit_bytes(case: CaseForm, dimensions: Dimensions) -> int:
    """Return how many bytes a file of a case's image may have."""
    return _BYTES_PER_VOXEL * math.prod(case_geometry(case, dimensions).shape) + _HEADER_ALLOWANCE


def case_planes(
    path: str,
    case: CaseForm,
    files: FileAccess,
    dimensions: Dimensions,
    plane: str = "plane",
    background: int = 0,
    in_parts: bool = False,
) -> Iterator[Crop]:
    """Yield the planes of a case's image in order, each valid until the next is read.

    Values have any numeric type. A plane is cropped to what is not the ``background``, another one than 0
    only where values have 8 bits. ``in_parts``: the one plane of a large image may come as several parts,
    outside of which it is the background. ``plane`` is the word for a plane in messages.
    The size of an image of two dimensions, and size, spacing, origin and direction of a volume are compared
    with the case before pixels are decoded. Raises `FormFault`.
    """
    expected = case_geometry(case, dimensions)
    most = limit_bytes(case, dimensions)
    try:
        if dimensions == 2:
            size = Size(case.width, case.height)
            if in_parts and tiff.is_large(size):
                with files.open(path, most) as stream:
                    if (parts := tiff.read_parts(stream, size, background)) is not None:
                        yield from parts
                        return
            yield read_cropped(files.read(path, most), path, size, background)
            return
        with files.open(path, most) as stream:
            # As many pages as any axis is long: exchanged axes are still recognised.
            volume = open_volume(stream, path, max(expected.shape))
            problems = check_geometry(volume.header.geometry, expected, plane)
            if problems:
                raise FormFault(problem.fault(path) for problem in problems)
            for one in volume.planes():
                yield Crop(one.values, (0, 0)) if background else one.crop
    except ReadError as error:
        raise FormFault(error.fault(path)) from None


# --- One file in which the planes of all cases of a stack follow each other ---


class _Part:
    """The image of a case as a file in memory."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self._data = path, memoryview(data)

    def read(self, path: str, limit_bytes: int, may_be_empty: bool = False) -> memoryview:
        return self._data

    @contextmanager
    def open(self, path: str, limit_bytes: int) -> Iterator[ByteStream]:
        yield BegunStream(self._data, None)


class StackedImage:
    """The images of a stack in one file, which is decoded once if its cases come in their order."""

    def __init__(self, source: ImageStackSource, files: FileAccess, dimensions: Dimensions) -> None:
        self.source, self.dimensions = source, dimensions
        self._files = files
        self._open = ExitStack()
        self._next = -1
        self._planes: Iterator[Plane] = iter(())

    def part_of(self, case: CaseForm) -> _Part:
        """Return the planes of a case as a MetaImage file of its geometry. Raises `FormFault`."""
        geometry = case_geometry(case, self.dimensions)
        start, stop = self.source.starts[case.stack_index : case.stack_index + 2]
        try:
            if not 0 <= self._next <= start:
                self._begin(geometry)
            chosen = [self._plane(geometry) for _ in range(self._next, stop)][start - stop :]
        except ReadError as error:
            self._next = -1
            raise FormFault(error.fault(self.source.file)) from None
        return _Part(f"{self.source.file}.mha", metaimage.plain(np.stack(chosen), geometry, self.dimensions))

    def _begin(self, geometry: Geometry) -> None:
        """Open the file anew and compare its size, which follows from any case of the stack."""
        self._open.close()
        shape = (self.source.starts[-1], *geometry.shape[1:])
        stream = self._files.open(self.source.file, _BYTES_PER_VOXEL * math.prod(shape) + _HEADER_ALLOWANCE)
        volume = open_volume(self._open.enter_context(stream), self.source.file, max_pages=max(shape))
        for problem in check_geometry(Geometry(volume.header.geometry.shape), Geometry(shape)):
            raise problem
        self._planes, self._next = volume.planes(), 0

    def _plane(self, geometry: Geometry) -> NDArray[Any]:
        self._next += 1
        return next(self._planes).crop.whole(geometry.shape[1:]).copy()
