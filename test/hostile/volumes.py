"""Hostile and odd volumes, in place of the first one of a good submission to the phase of cysts."""

import gzip
import re
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import SimpleITK

from .images import zeros_compressed
from .submissions import AS_BEFORE, Row

FIRST = "cysts/V01.mha"

Spoil = Callable[[Path], None]


def volume(make: Callable[[SimpleITK.Image], bytes], extension: str = ".mha") -> Spoil:
    """Return a change that replaces the first volume by a file made of it."""

    def spoil(folder: Path) -> None:
        image = SimpleITK.ReadImage(folder / FIRST)
        (folder / FIRST).unlink()
        (folder / FIRST).with_name(f"V01{extension}").write_bytes(make(image))

    return spoil


def written(image: SimpleITK.Image, extension: str, compress: bool = True) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"volume{extension}")
        SimpleITK.WriteImage(image, path, useCompression=compress)
        return path.read_bytes()


def meta(old: bytes, new: bytes, compress: bool = False) -> Spoil:
    """Return a change of the header of the first volume, by a regular expression."""

    def make(image: SimpleITK.Image) -> bytes:
        data = written(image, ".mha", compress)
        changed = re.sub(old, new, data, count=1)
        assert changed != data
        return changed

    return volume(make)


def nifti(offset: int, layout: str, *values: float) -> Spoil:
    """Return a change of the first volume to a NIfTI file with other numbers in its header."""

    def make(image: SimpleITK.Image) -> bytes:
        data = bytearray(gzip.decompress(written(image, ".nii.gz")))
        struct.pack_into(f"<{layout}", data, offset, *values)
        return gzip.compress(bytes(data), mtime=0)

    return volume(make, ".nii.gz")


def stack(pages: int, in_circle: bool = False, **changed: tuple[int, int, int]) -> bytes:
    """Return a TIFF of many equal pages of one pixel each."""
    tags = {256: (4, 1, 1), 257: (4, 1, 1), 258: (3, 1, 8), 259: (3, 1, 1), 262: (3, 1, 1)}
    tags |= {273: (4, 1, 0), 277: (3, 1, 1), 278: (4, 1, 1), 279: (4, 1, 1)}
    tags |= {int(name.removeprefix("tag_")): value for name, value in changed.items()}
    body = struct.pack("<H", len(tags))
    body += b"".join(struct.pack("<HHII", tag, *value) for tag, value in sorted(tags.items()))
    size = len(body) + 4
    following = [8 + size * number for number in range(1, pages)] + [8 if in_circle else 0]
    return b"II*\0\x08\0\0\0" + b"".join(body + struct.pack("<I", position) for position in following)


def swollen(image: SimpleITK.Image) -> bytes:
    """Return the volume with a gigabyte of zeros behind its voxels, in the same zlib stream."""
    head = written(image, ".mha").partition(b"LOCAL\n")[0]
    body = zeros_compressed(1000, SimpleITK.GetArrayFromImage(image).tobytes())
    return re.sub(rb"DataSize = \d+", b"DataSize = %d" % len(body), head) + b"LOCAL\n" + body


def followed_by_zeros(image: SimpleITK.Image) -> bytes:
    """Return the volume with a thousand gzip members of a megabyte of zeros behind it."""
    return written(image, ".nii.gz") + gzip.compress(bytes(1 << 20), mtime=0) * 1000


def in_two_members(image: SimpleITK.Image) -> bytes:
    plain = gzip.decompress(written(image, ".nii.gz"))
    return gzip.compress(plain[:999], mtime=0) + gzip.compress(plain[999:], mtime=0)


ROWS = {
    # Content that readers understand differently.
    "volume of two spacings": Row(meta(rb"(ElementSpacing)", rb"ElementSize = 1 2 3\n\1")),
    "volume of a wrong compressed size": Row(meta(rb"(CompressedDataSize = )\d+", rb"\g<1>99", True)),
    # Bombs.
    "volume whose header promises 10^27 voxels": Row(
        meta(rb"DimSize = \d+ \d+ \d+", b"DimSize = 999999999 999999999 999999999")
    ),
    "volume that goes on for 1 GB": Row(volume(swollen)),
    "NIfTI that goes on for 1 GB": Row(volume(followed_by_zeros, ".nii.gz")),
    "TIFF of 13,000 pages": Row(volume(lambda image: stack(13_000), ".tif")),
    "TIFF with 60,000 values on each page": Row(
        volume(lambda image: stack(2_000, tag_258=(3, 60_000, 8)), ".tif")
    ),
    "TIFF stack in a circle": Row(volume(lambda image: stack(3, in_circle=True), ".tif")),
    # Values and files.
    # Odd, but unmistakable: scored.
    "NIfTI": Row(volume(lambda image: written(image, ".nii.gz"), ".nii.gz"), AS_BEFORE),
    "NIfTI of two gzip members": Row(volume(in_two_members, ".nii.gz"), AS_BEFORE),
}
