"""MetaImage volumes (`.mha`): a text header, then the voxels, plain or as a zlib stream."""

from __future__ import annotations

from evaluation.core.source import ByteStream
from evaluation.io.metaimage import read_header
from evaluation.io.volumes.header import UPRIGHT, VolumeHeader, header_of
from evaluation.io.volumes.voxels import ZLIB, VoxelBytes

VOLUME = "a MetaImage volume"


def open_metaimage(stream: ByteStream) -> tuple[VolumeHeader, VoxelBytes]:
    """Return the header of a MetaImage volume in one file and its voxels. Raises `ReadError`."""
    fields = read_header(stream.read, stream.size, VOLUME)
    # A row of the matrix is the direction of an axis; elsewhere an axis is a column.
    matrix = _numbers(fields.one_of("TransformMatrix", "Rotation", "Orientation")) or list(UPRIGHT)
    header = header_of(
        fields.size,
        fields.dtype,
        _numbers(fields.one_of("ElementSpacing", "ElementSize")) or [1.0, 1.0, 1.0],
        _numbers(fields.one_of("Offset", "Position", "Origin")) or [0.0, 0.0, 0.0],
        [*matrix[::3], *matrix[1::3], *matrix[2::3]],
        VOLUME,
    )
    return header, VoxelBytes(stream, VOLUME, ZLIB if fields.deflated else None)


def _numbers(text: str) -> list[float]:
    """Return the numbers of a value. Raises ValueError, also for numbers in a notation of Python alone."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return [float(number) for number in text.split()]
