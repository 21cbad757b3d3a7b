"""Hostile and odd label maps, probability maps and detection maps, in place of the first good one."""

import gzip
import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import SimpleITK
import tifffile
from PIL import Image

from .images import chunk, zeros_compressed
from .submissions import AS_BEFORE, Row, replaced
from .volumes import in_two_members, written

SHAPE = (4, 20, 24)
ORGANS, LESIONS, FINDINGS, DISC = (f"{name}/scan1" for name in ("organs", "lesions", "findings", "disc"))
_ENDINGS = {ORGANS: ".nii.gz", LESIONS: ".mha", FINDINGS: ".mha", DISC: ".png"}
WHOLE = "expected whole numbers from 0 to 2 only, found"

Spoil = Callable[[Path], object]


def file(place: str, make: Callable[[Path], bytes], extension: str | None = None) -> Spoil:
    """Return a change that replaces a file by the result of ``make`` for its path."""

    def spoil(folder: Path) -> None:
        path = folder / f"{place}{_ENDINGS[place]}"
        content = make(path)
        path.unlink()
        (folder / f"{place}{extension or _ENDINGS[place]}").write_bytes(content)

    return spoil


def volume(
    change: Callable[[np.ndarray], np.ndarray],
    place: str = ORGANS,
    extension: str | None = None,
    compress: bool = True,
    **position: tuple[float, ...],
) -> Spoil:
    """Return a change of the values of a volume, and its spacing, origin or direction."""

    def make(path: Path) -> bytes:
        image = SimpleITK.ReadImage(path)
        changed = SimpleITK.GetImageFromArray(change(SimpleITK.GetArrayFromImage(image)))
        for name in ("Spacing", "Origin", "Direction"):
            numbers = position.get(name.casefold(), getattr(image, f"Get{name}")())
            getattr(changed, f"Set{name}")(numbers)
        return written(changed, extension or _ENDINGS[place], compress)

    return file(place, make, extension)


def with_value(value: float, dtype: type[np.generic]) -> Callable[[np.ndarray], np.ndarray]:
    def change(values: np.ndarray) -> np.ndarray:
        changed = values.astype(dtype)
        changed[-1, -1, -1] = value
        return changed

    return change


def nifti(offset: int, layout: str, *values: float) -> Spoil:
    """Return a change of numbers in the header of the first label map."""

    def make(path: Path) -> bytes:
        data = bytearray(gzip.decompress(path.read_bytes()))
        struct.pack_into(f"<{layout}", data, offset, *values)
        return gzip.compress(bytes(data), mtime=0)

    return file(ORGANS, make)


def image(make: Callable[[np.ndarray], bytes], extension: str) -> Spoil:
    """Return a change that replaces the first image by a file made of its values."""
    return file(DISC, lambda path: make(np.asarray(Image.open(path))), extension)


def png_of_16_bits(values: np.ndarray, height: int | None = None, more: int = 0) -> bytes:
    """Return a grey image, with ``more`` zeros behind its pixels in MB."""
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in values)
    header = struct.pack(">IIBBBBB", values.shape[1], height or len(values), 16, 0, 0, 0, 0)
    pixels = zeros_compressed(more, rows) if more else zlib.compress(rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def tiff(values: np.ndarray, **options: object) -> bytes:
    content = io.BytesIO()
    tifffile.imwrite(content, values, photometric="minisblack", metadata=None, **options)
    return content.getvalue()


ROWS = {
    # Labels that mean nothing.
    "map of another label": Row(volume(with_value(3, np.uint8)), f"{WHOLE} 3 in plane 4)"),
    "map of grey values": Row(volume(lambda values: values * 127), f"{WHOLE} 127, 254 in plane"),
    "map of a negative label": Row(volume(with_value(-1, np.int16)), f"{WHOLE} -1 in plane 4)"),
    "map of a label beyond 32 bits": Row(volume(with_value(1 << 40, np.int64)), f"{WHOLE} {1 << 40} in"),
    "map of half a label": Row(volume(with_value(0.5, np.float32)), f"{WHOLE} 0.5 in plane 4)"),
    "map of what is not a number": Row(volume(with_value(np.nan, np.float64)), f"{WHOLE} nan in plane 4)"),
    "map of infinity": Row(volume(with_value(np.inf, np.float32)), f"{WHOLE} inf in plane 4)"),
    # Other axes.
    "map with exchanged axes": Row(
        volume(lambda values: values.transpose(2, 1, 0)), "(the axes are exchanged)"
    ),
    "map with exchanged spacing": Row(
        volume(np.copy, spacing=(2.0, 0.25, 0.5)), "found 2, 0.25, 0.5 mm (the axes are exchanged)"
    ),
    "map that points the other way": Row(
        volume(np.copy, direction=(-1, 0, 0, 0, -1, 0, 0, 0, 1)), "(some axes point the other way)"
    ),
    "map at another place": Row(volume(np.copy, origin=(0, 0, 9)), "expected origin 0, 0, 0 mm"),
    "map of two dimensions": Row(nifti(40, "h", 2), "expected a volume of three axes, found 2 axes"),
    # Bombs and damage.
    "map whose header promises 3.5 × 10^13 voxels": Row(nifti(42, "3h", 32767, 32767, 32767), "too large"),
    "map that goes on for 1 GB": Row(
        file(ORGANS, lambda path: path.read_bytes() + gzip.compress(bytes(1 << 20), mtime=0) * 1000),
        "found more voxels than its header says",
    ),
    "map that ends early": Row(
        file(ORGANS, lambda path: gzip.decompress(path.read_bytes())[:-1], ".nii"),
        "found a file that ends before its voxels",
    ),
    "map with a byte behind it": Row(
        file(ORGANS, lambda path: gzip.decompress(path.read_bytes()) + b"\0", ".nii"),
        "found more voxels than its header says",
    ),
    "map that is compressed under a plain name": Row(
        file(ORGANS, Path.read_bytes, ".nii"),
        AS_BEFORE,
    ),
    "map twice": Row(
        lambda folder: (
            volume(np.copy, extension=".mha")(folder)
            or (folder / f"{ORGANS}.nii.gz").write_bytes((folder / f"{ORGANS}.mha").read_bytes())
        ),
        "duplicate",
    ),
    "map that is a link": Row(
        replaced(lambda path: path.symlink_to("scan2.nii.gz"), f"{ORGANS}.nii.gz"), "forbidden"
    ),
    # Probabilities and findings.
    "probability of 1.5": Row(volume(with_value(1.5, np.float32), LESIONS), "found 1.5 in plane 4)"),
    "probability below 0": Row(volume(with_value(-0.5, np.float32), LESIONS), "found -0.5 in plane 4)"),
    "probability that is not a number": Row(
        volume(with_value(np.nan, np.float32), LESIONS), "expected values from 0 to 1, found nan in plane 4)"
    ),
    "probabilities as findings": Row(
        volume(lambda values: np.linspace(0.1, 1, values.size).reshape(values.shape), FINDINGS),
        "found 0.1 to 1 in one of 1 components",
    ),
    # Images.
    "image of 16 bits with another label": Row(
        image(lambda values: png_of_16_bits(values.astype(np.uint16) * 256), ".png"), f"{WHOLE} 256, 512)"
    ),
    "image of 16 bits that promises 4 gigapixels": Row(
        image(lambda values: png_of_16_bits(values, height=1 << 31), ".png"), "wrong size"
    ),
    "image of 16 bits with 1 GB of zeros behind its pixels": Row(
        image(lambda values: png_of_16_bits(values, more=1000), ".png"), AS_BEFORE
    ),
    "image of floating-point numbers that are none": Row(
        image(lambda values: tiff(np.where(values > 0, np.float32(np.nan), 0)), ".tif"), f"{WHOLE} nan)"
    ),
    "image that is a volume": Row(
        image(lambda values: written(SimpleITK.GetImageFromArray(np.stack([values] * 2)), ".mha"), ".mha"),
        "expected an image of one plane, found 2 planes",
    ),
    # Odd, but unmistakable: scored.
    "odd map of 64 bits": Row(volume(lambda values: values.astype(np.int64)), AS_BEFORE),
    "odd map of floating-point numbers": Row(
        volume(lambda values: values.astype(np.float64), extension=".mha", compress=False), AS_BEFORE
    ),
    "odd map without compression": Row(volume(np.copy, extension=".nii", compress=False), AS_BEFORE),
    "odd map of two gzip members": Row(
        file(ORGANS, lambda path: in_two_members(SimpleITK.ReadImage(path))), AS_BEFORE
    ),
    "odd findings of 64 bits": Row(volume(lambda values: values.astype(np.float64), FINDINGS), AS_BEFORE),
    "odd image of 16 bits": Row(image(png_of_16_bits, ".png"), AS_BEFORE),
    "odd image of 32 bits": Row(
        image(lambda values: tiff(values.astype(np.uint32), compression="zlib"), ".tif"), AS_BEFORE
    ),
}
