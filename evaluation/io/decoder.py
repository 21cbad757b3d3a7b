"""Decodes PNG and TIFF data whose headers have been checked."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.io.pixels import damaged

ImageFormat = Literal["PNG", "TIFF"]


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

    SimpleITK decodes PNG seven times as fast as Pillow, but only from a path: it gets the bytes in an
    anonymous file in memory, so that exactly the checked bytes are decoded. Pillow decodes TIFF, the PNG
    types that SimpleITK does not support, and everything on systems without such files (macOS).

    Raises `ReadError` (unreadable) for data that are cut short or damaged.
    """
    image = f"a {image_format} image"
    try:
        with silenced_libraries():
            if image_format == "PNG" and _HAS_MEMORY_FILES and not pillow:
                pixels = _from_memory_file(data)
            else:
                pixels = _with_pillow(data, image_format)
    except (MemoryError, ImportError):  # of a library, which says nothing about the image
        raise
    except Exception:
        # On damaged data both libraries raise many types; their messages contain addresses and paths.
        raise damaged(image, "damaged or incomplete image data") from None
    if pixels.shape != shape or (dtype is not None and pixels.dtype != dtype):
        raise damaged(image, "image data that contradict the header")
    return pixels


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
    pixels: NDArray[Any] = np.asarray(_PixelsOf(image, SimpleITK.GetArrayViewFromImage(image)))
    return pixels


class _PixelsOf:
    """Keeps an image alive for the array made from it, so that no pixel is copied."""

    def __init__(self, image: object, view: NDArray[Any]) -> None:
        self._image = image
        self.__array_interface__ = view.__array_interface__


def _with_pillow(data: bytes, image_format: ImageFormat) -> NDArray[Any]:
    from PIL import Image  # as above

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about metadata, which is not used
        image = Image.open(io.BytesIO(data), formats=[image_format])
        # In PNG, 1-bit values mean 0 and 255.
        return np.asarray(image.convert("L") if image.mode == "1" and image_format == "PNG" else image)


@contextmanager
def silenced_libraries() -> Iterator[None]:
    """Discard the messages of libpng and libtiff on descriptor 2."""
    saved = os.dup(2)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 2)
    os.close(nothing)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
