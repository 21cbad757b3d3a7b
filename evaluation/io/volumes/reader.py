"""Volumes of any accepted format, read plane by plane."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.source import ByteStream
from evaluation.io.volumes.header import Geometry, VolumeHeader
from evaluation.io.volumes.meta_volume import open_metaimage, write_metaimage
from evaluation.io.volumes.nifti import open_nifti, write_nifti
from evaluation.io.volumes.tiff_stack import TiffStack, write_tiff_stack
from evaluation.io.volumes.voxels import VoxelBytes

EXTENSIONS = (".mha", ".nii.gz", ".tif", ".tiff")
SLAB_BYTES = 1 << 22


@dataclass(frozen=True)
class OpenVolume:
    """A volume whose header has been read and whose voxels have not.

    ``planes`` yields the planes (y, x) in order, each valid until the next one is asked for; whatever is
    wrong with the voxels' bytes is raised there as `ReadError`.
    """

    header: VolumeHeader
    planes: Callable[[], Iterator[NDArray[Any]]]


def open_volume(stream: ByteStream, path: str, slab_bytes: int = SLAB_BYTES) -> OpenVolume:
    """Return a volume of the format that the extension of its path names.

    Voxels are read in slabs of whole planes, of about ``slab_bytes``. Raises `ReadError`.
    """
    name = path.casefold()
    try:
        if name.endswith((".tif", ".tiff")):
            stack = TiffStack(stream)
            return OpenVolume(stack.header, stack.pages)
        if name.endswith(".mha"):
            header, voxels = open_metaimage(stream)
        elif name.endswith(".nii.gz"):
            header, voxels = open_nifti(stream)
        else:
            raise ReadError(FaultKind.UNREADABLE, f"one of {', '.join(EXTENSIONS)}", "another extension")
    except ValueError:
        raise ReadError(FaultKind.UNREADABLE, "a volume", "a header with invalid numbers") from None
    return OpenVolume(header, lambda: _planes(header, voxels, slab_bytes))


def write_volume(values: NDArray[Any], geometry: Geometry, extension: str) -> bytes:
    """Return a volume (z, y, x) as a file of the format with that extension. Raises `ValueError`."""
    if extension == ".mha":
        return write_metaimage(values, geometry)
    if extension == ".nii.gz":
        return write_nifti(values, geometry)
    if extension in (".tif", ".tiff"):
        return write_tiff_stack(values)
    raise ValueError(f"expected one of {', '.join(EXTENSIONS)}, found {extension}")


def _planes(header: VolumeHeader, voxels: VoxelBytes, slab_bytes: int) -> Iterator[NDArray[Any]]:
    depth, height, width = header.geometry.shape
    per_slab = min(depth, max(1, slab_bytes // (height * width * header.dtype.itemsize)))
    slab = np.empty((per_slab, height, width), dtype=header.dtype)
    for start in range(0, depth, per_slab):
        part = slab[: min(per_slab, depth - start)]
        voxels.fill(part.view(np.uint8).reshape(-1).data)
        yield from part
    voxels.finish()
