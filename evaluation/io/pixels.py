"""Size, limits, palettes and channels: shared by the readers of grey images."""

import io
import os
import struct
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.trouble import DECODER, MachineTrouble, raise_trouble_of
from evaluation.metrics.crops import distinct_values

if TYPE_CHECKING:
    from PIL.ImageFile import ImageFile

MAX_PIXELS = 1 << 26
"""The maximum number of pixels of an image if the phase gives no size."""

MAX_COORDINATE = 1 << 26
"""The largest coordinate of a place in an image without a size: areas of whole boxes up to it are exact."""

Outside = Literal["error", "clip", "keep"]
"""The treatment of a place that leaves its image."""

NUMBERS = "integers or floating-point numbers"
"""The types of values that are read, in the words of messages."""

_OPAQUE = 255
_MAX_VALUES_NAMED = 5


@dataclass(frozen=True, slots=True)
class Size:
    """Width and height of an image in pixels."""

    width: int
    height: int

    def __str__(self) -> str:
        """Return for example ``1634 × 1634 pixels``."""
        return f"{self.width} × {self.height} pixels"


def check_size(found: Size, expected: Size | None) -> None:
    """Compare the size in a header with the expected one, before any pixel is decoded.

    Raises `ReadError` (wrong size, or too large where no size is expected).
    """
    if expected is not None and found != expected:
        raise ReadError(FaultKind.WRONG_SIZE, str(expected), str(found), hint=_hint_of_size(found, expected))
    if found.width < 1 or found.height < 1:
        raise ReadError(FaultKind.WRONG_SIZE, "at least one pixel", str(found))
    if expected is None and found.width * found.height > MAX_PIXELS:
        raise ReadError(FaultKind.TOO_LARGE, f"at most {MAX_PIXELS} pixels", str(found))


def _hint_of_size(found: Size, expected: Size) -> str | None:
    if (found.width, found.height) == (expected.height, expected.width):
        return "width and height are exchanged: the image is transposed or rotated"
    if found.width == expected.width or found.height == expected.height:
        return None
    scale = found.width / expected.width if expected.width else 0.0
    if 0.01 < scale < 100 and abs(found.height - scale * expected.height) <= 1:
        return f"resampled to {scale:.3g} times its size? A mask has the size of the original image"
    return None


def values_in_words(values: Sequence[object]) -> str:
    """Return the first five values as text, and the number of further ones."""
    more = len(values) - _MAX_VALUES_NAMED
    named = ", ".join(map(str, values[:_MAX_VALUES_NAMED]))
    return f"{named} and {more} more" if more > 0 else named


def outside(values: NDArray[Any], lowest: float, highest: float) -> float | None:
    """Return a value that is not within bounds, also one that is not a number; None where all are.

    Python's numbers are compared: in the type of an array a bound may become another number, or infinite.
    """
    extremes = (values.max().item(), values.min().item()) if values.size else ()
    return next((value for value in extremes if not lowest <= value <= highest), None)


def require_bits(found: int, allowed: tuple[int, ...]) -> None:
    """Raise `ReadError` unless the number of bits per channel is supported."""
    if found not in allowed:
        expected = "8 or 16 bits per channel" if 16 in allowed else "8 bits per channel"
        raise ReadError(FaultKind.WRONG_VALUE, expected, str(found))


def damaged(image: str, reason: str) -> ReadError:
    """Return the error for a damaged image (``"a PNG image"``)."""
    return ReadError(FaultKind.UNREADABLE, image, reason)


def not_upright(orientation: int) -> ReadError:
    """Return the error for an image with a rotation in its metadata, which only some tools apply."""
    expected = "an image stored upright (orientation 1)"
    return ReadError(FaultKind.WRONG_VALUE, expected, f"orientation {orientation}")


def grey_of_palette(indices: NDArray[np.uint8], palette: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the grey values of palette indices (y, x); `palette` is (entries, 3).

    With the identity palette the indices are returned without a copy. Raises `ReadError` if a pixel has no
    entry or one that is not grey.
    """
    grey = (palette == palette[:, :1]).all(axis=1)
    if len(palette) == 256 and grey.all() and (palette[:, 0] == np.arange(256)).all():
        return indices
    used = np.array(distinct_values(indices), dtype=np.intp)
    if len(used) and used[-1] >= len(palette):
        expected = f"palette indices below {len(palette)}"
        raise ReadError(FaultKind.MALFORMED, expected, f"index {int(used[-1])}")
    if not grey[used].all():
        raise _coloured(palette[used[~grey[used]][0]])
    values = np.zeros(256, dtype=np.uint8)
    values[: len(palette)] = palette[:, 0]
    return values[indices]


def grey_of_channels(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the grey values (y, x) of pixels (y, x, channel): grey, grey + alpha, RGB or RGBA.

    Raises `ReadError` if the colour channels differ or a pixel is not opaque.
    """
    channels = pixels.shape[2]
    if channels in (2, 4) and not (pixels[..., -1] == _OPAQUE).all():
        raise ReadError(FaultKind.WRONG_VALUE, "opaque pixels", "transparent ones")
    if channels >= 3:
        for other in (1, 2):
            unequal = pixels[..., 0] != pixels[..., other]
            if unequal.any():
                y, x = np.unravel_index(int(unequal.argmax()), unequal.shape)
                raise _coloured(pixels[y, x, :3])
    return pixels[..., 0]


def _coloured(colour: NDArray[np.uint8]) -> ReadError:
    red, green, blue = (int(channel) for channel in colour)
    return ReadError(FaultKind.WRONG_VALUE, "grey values", f"the colour ({red}, {green}, {blue})")


# --- Decodes PNG and TIFF data whose headers have been checked ---

ImageFormat = Literal["PNG", "TIFF"]
PNG_MAGIC = b"\x89PNG\r\n\x1a\n"


def decode(
    data: bytes,
    image_format: ImageFormat,
    shape: tuple[int, ...],
    dtype: type[np.generic] | None = None,
    *,
    pillow: bool = False,
) -> NDArray[Any]:
    """Return the pixels of an image with the ``shape`` of its header: (y, x) or (y, x, channel).

    ``dtype``: None for any type.

    SimpleITK decodes large PNG in up to a third of Pillow's time, but only from a path: it gets the bytes in
    an anonymous file in memory, so that exactly the checked bytes are decoded. Pillow decodes TIFF, small
    PNG in a fifth of that time, the PNG types that SimpleITK does not support, those beyond
    `MEMORY_FILE_BYTES`, and everything on systems without such files (macOS).

    Raises `ReadError` (unreadable) for data that are cut short or damaged, and `MachineTrouble` where nothing
    can be decoded.
    """
    image = f"a {image_format} image"
    pillow = pillow or shape[0] * shape[1] < _LARGE_FOR_PILLOW
    try:
        pixels = _decoded(data, image_format, pillow)
    except ImportError:  # of a library, which says nothing about the image
        raise
    except Exception as error:
        raise_trouble_of(error, "decode")
        # On damaged data both libraries raise many types; their messages contain addresses and paths. On a
        # machine without memory or descriptors they do so too: an image that is known to be whole then fails.
        try:
            _decoded(_blank(image_format, shape[0], shape[1]), image_format, pillow)
        except Exception:
            raise MachineTrouble("decode", "", DECODER) from None
        raise damaged(image, "damaged or incomplete image data") from None
    if pixels.shape != shape or (dtype is not None and pixels.dtype != dtype):
        raise damaged(image, "image data that contradict the header")
    return pixels


def _decoded(data: bytes, image_format: ImageFormat, pillow: bool) -> NDArray[Any]:
    with silenced_libraries():
        if image_format == "PNG" and _HAS_MEMORY_FILES and not pillow and len(data) <= MEMORY_FILE_BYTES:
            return _from_memory_file(data)
        # `Image.open` would import the plugins of five formats, which a confined reader does late, and limit
        # the size, which has been compared with the case's.
        if image_format == "PNG":
            from PIL.PngImagePlugin import PngImageFile

            opened: type[ImageFile] = PngImageFile
        else:
            from PIL.TiffImagePlugin import TiffImageFile

            opened = TiffImageFile
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about metadata, which is not used
            image = opened(io.BytesIO(data))
            # In PNG, 1-bit values mean 0 and 255.
            return np.asarray(image.convert("L") if image.mode == "1" and image_format == "PNG" else image)


@lru_cache(maxsize=1)
def _blank(image_format: ImageFormat, height: int, width: int) -> bytes:
    """Return the file of a black image; a confined reader can import no encoder."""
    if image_format == "PNG":
        header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
        return png_file(header, zlib.compress(bytes((width + 1) * height), 1))
    tags = {256: width, 257: height, 258: 8, 259: 1, 262: 1, 273: 110, 278: height, 279: width * height}
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, number) for tag, number in tags.items())
    return struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + entries + bytes(4 + width * height)


def png_file(header: bytes, image_data: bytes) -> bytes:
    """Return a PNG file of three chunks."""
    chunks = ((b"IHDR", header), (b"IDAT", image_data), (b"IEND", b""))
    return PNG_MAGIC + b"".join(
        struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
        for kind, content in chunks
    )


_LARGE_FOR_PILLOW = 1 << 19
MEMORY_FILE_BYTES = 1 << 23
"""The largest file in memory; no limit of a process's memory counts it, only that of its files' size."""

_HAS_MEMORY_FILES = hasattr(os, "memfd_create")


def _from_memory_file(data: bytes) -> NDArray[Any]:
    import SimpleITK  # 0.14 s that only PNG needs

    descriptor = os.memfd_create("image", os.MFD_CLOEXEC)
    try:
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(data)
        reader = SimpleITK.ImageFileReader()
        reader.SetImageIO("PNGImageIO")
        reader.SetFileName(f"/proc/self/fd/{descriptor}")
        image = reader.Execute()
    finally:
        os.close(descriptor)
    return np.asarray(_PixelsOf(image, SimpleITK.GetArrayViewFromImage(image)))


def write_with_pillow(
    image_format: str, values: NDArray[Any], geometry: object, extension: str, **options: object
) -> bytes:
    """Return planes (plane, y, x), of which only TIFF has several, as a file without a position."""
    from PIL import Image  # needed by writers only

    first, *others = map(Image.fromarray, values)
    pages = {"save_all": True, "append_images": others} if others else {}
    file = io.BytesIO()
    first.save(file, image_format, **pages, **options)
    return file.getvalue()


class _PixelsOf:
    """Keeps an image alive for the array made from it, so that no pixel is copied."""

    def __init__(self, image: object, view: NDArray[Any]) -> None:
        self._image = image
        self.__array_interface__ = view.__array_interface__


@contextmanager
def silenced_libraries() -> Iterator[None]:
    """Discard the messages of libpng and libtiff on descriptor 2."""
    saved = os.dup(2)
    try:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
