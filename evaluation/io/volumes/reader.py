"""Reads volumes of all accepted formats plane by plane."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.source import ByteStream
from evaluation.io.grey_images import write_grey, write_with_simpleitk
from evaluation.io.tiff import write_tiff
from evaluation.io.tiff_decoder import decode_page
from evaluation.io.tiff_pages import BLACK_IS_ZERO, IMAGE, PAGE_TAGS, SAMPLES, check_pages, read_pages
from evaluation.io.volumes.header import MAX_VOXELS, UPRIGHT, Geometry, VolumeHeader, header_of
from evaluation.io.volumes.meta_volume import open_metaimage
from evaluation.io.volumes.nifti import open_nifti
from evaluation.io.volumes.plane import Plane, whole_plane
from evaluation.io.volumes.voxels import Range, VoxelBytes

EXTENSIONS = (".mha", ".nii.gz", ".nii", ".tif", ".tiff")
SLAB_BYTES = 1 << 22


@dataclass(frozen=True)
class OpenVolume:
    """A volume whose header has been read.

    ``planes`` yields the planes in order, each valid until the next is read. It raises `ReadError` for
    damaged voxels.
    """

    header: VolumeHeader
    planes: Callable[[], Iterator[Plane]]


def open_volume(
    stream: ByteStream, path: str, slab_bytes: int = SLAB_BYTES, max_pages: int = MAX_VOXELS
) -> OpenVolume:
    """Return a volume in the format of the path's extension.

    Voxels are read in slabs of whole planes, of about ``slab_bytes``. A TIFF stack has at most ``max_pages``.
    Raises `ReadError`.
    """
    name = path.casefold()
    try:
        if name.endswith((".tif", ".tiff")):
            return _open_tiff_stack(stream, max_pages)
        if name.endswith(".mha"):
            header, voxels = open_metaimage(stream)
        elif name.endswith((".nii.gz", ".nii")):
            header, voxels = open_nifti(stream, compressed=name.endswith(".gz"))
        else:
            raise ReadError(FaultKind.UNREADABLE, f"one of {', '.join(EXTENSIONS)}", "another extension")
    except ValueError:
        raise ReadError(FaultKind.UNREADABLE, "a volume", "a header with invalid numbers") from None
    return OpenVolume(header, lambda: _planes(header, voxels, slab_bytes))


def write_volume(values: NDArray[Any], geometry: Geometry, extension: str) -> bytes:
    """Return a volume (z, y, x) as a file of the format with that extension; equal input gives equal bytes.

    Raises `ValueError` for an extension that is not one of `EXTENSIONS`.
    """
    if extension not in EXTENSIONS:
        raise ValueError(f"expected one of {', '.join(EXTENSIONS)}, found {extension}")
    if extension in (".tif", ".tiff"):
        return write_tiff(values)
    return write_with_simpleitk(
        values,
        extension,
        spacing=geometry.spacing_mm or (1.0, 1.0, 1.0),
        origin=geometry.origin_mm or (0.0, 0.0, 0.0),
        direction=geometry.direction or UPRIGHT,
    )


def write_image(values: NDArray[Any], geometry: Geometry, extension: str, dimensions: int) -> bytes:
    """Return a volume, or an image as a volume of one plane, as a file of the format with that extension.

    Equal input gives equal bytes. Raises `ValueError` for another extension, and for values that do not fit.
    """
    if dimensions == 3 or extension in (".nii", ".nii.gz"):
        return write_volume(values, geometry, extension)
    if extension in (".mha", ".tif", ".tiff"):
        return write_with_simpleitk(values[0], ".mha") if extension == ".mha" else write_tiff(values)
    if values.dtype != np.uint8:
        raise ValueError(f"{extension}: expected 8-bit values, found {values.dtype}")
    return write_grey(values[0], extension)


def _open_tiff_stack(stream: ByteStream, max_pages: int) -> OpenVolume:
    """Return a volume with one page per B-scan; the file is kept in memory, its pages are decoded one by one.

    It has no spacing, origin or direction. The tags of all pages are checked here.
    """
    data = memoryview(stream.read(stream.size))
    first, depth = check_pages(data, (BLACK_IS_ZERO,), max_pages)
    if first.one(SAMPLES, 1) != 1:
        raise ReadError(FaultKind.WRONG_VALUE, "one grey channel", f"{first.one(SAMPLES, 1)} channels")
    header = header_of((first.size.width, first.size.height, depth), first.dtype, None, None, None, IMAGE)
    return OpenVolume(
        header, lambda: (whole_plane(decode_page(data, tags)[..., 0]) for tags in read_pages(data, PAGE_TAGS))
    )


def _planes(header: VolumeHeader, voxels: VoxelBytes, slab_bytes: int) -> Iterator[Plane]:
    depth, height, width = header.geometry.shape
    row_bytes = width * header.dtype.itemsize
    per_slab = min(depth, max(1, slab_bytes // (height * row_bytes)))
    slab = np.zeros((per_slab, height, width), dtype=header.dtype)
    content = slab.view(np.uint8).reshape(-1)
    ranges: list[Range] = []
    for start in range(0, depth, per_slab):
        for first, last in ranges:
            content[first:last] = 0
        part = slab[: min(per_slab, depth - start)]
        ranges = voxels.fill(content[: part.nbytes].data)
        for z, values in enumerate(part):
            yield Plane(values, *_rows(ranges, z * height, height, row_bytes))
    voxels.finish()


def _rows(ranges: list[Range], first_row: int, height: int, row_bytes: int) -> Range:
    """Return which rows of a plane ranges of bytes touch, from the first to the last + 1 of them."""
    begin, end = first_row * row_bytes, (first_row + height) * row_bytes
    inside = [(first, last) for first, last in ranges if first < end and last > begin]
    if not inside:
        return 0, 0
    top, bottom = inside[0][0] // row_bytes - first_row, -(-inside[-1][1] // row_bytes) - first_row
    return max(top, 0), min(bottom, height)
