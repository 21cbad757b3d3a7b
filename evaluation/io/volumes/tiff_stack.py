"""TIFF stacks: one page a B-scan. They say nothing of spacing, origin and direction."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.core.fault import FaultKind, ReadError
from evaluation.core.source import ByteStream
from evaluation.io.decoder import silenced_libraries
from evaluation.io.volumes.header import MOST_VOXELS, VolumeHeader, header_of

VOLUME = "a TIFF stack"
_MODES = {"1": "u1", "L": "u1", "I;16": "u2", "I;16B": ">u2", "I": "i4", "F": "f4"}
_COMPRESSION, _PHOTOMETRIC, _ORIENTATION = 259, 262, 274
_LOSSLESS = (1, 5, 8, 32773, 32946)


class TiffStack:
    """An opened stack; its file is held as it is, its pages are decoded one by one."""

    def __init__(self, stream: ByteStream) -> None:
        """Read the file and its first page's tags. Raises `ReadError`."""
        from PIL import Image  # 0.02 s that only stacks need

        data = stream.read(stream.size)
        try:
            with warnings.catch_warnings(), silenced_libraries():
                warnings.simplefilter("ignore")  # about metadata that nobody asked for
                self._image = Image.open(io.BytesIO(data), formats=["TIFF"])
                self._width, self._height = self._image.size
                pages = self._count_pages()
        except MemoryError:
            raise
        except Exception:
            raise _damaged() from None
        self._mode = self._image.mode
        code = _MODES.get(self._mode)
        self.header: VolumeHeader = header_of(
            (self._width, self._height, pages),
            None if code is None else np.dtype(code),
            None,
            None,
            None,
            VOLUME,
        )

    def pages(self) -> Iterator[NDArray[Any]]:
        """Yield the pages (y, x). Raises `ReadError` for one that is damaged or unlike the first."""
        for page in range(self.header.geometry.shape[0]):
            try:
                with warnings.catch_warnings(), silenced_libraries():
                    warnings.simplefilter("ignore")
                    self._image.seek(page)
                    self._check(page)
                    values = np.array(self._image)
            except (MemoryError, ReadError):
                raise
            except Exception:
                raise _damaged() from None
            yield values.astype(self.header.dtype, copy=False)

    def _check(self, page: int) -> None:
        """Raise `ReadError` before decoding a page that differs from the first, or that is not plain grey."""
        tags = self._image.tag_v2  # type: ignore[attr-defined]  # Pillow's class of TIFF images has it
        if self._image.size != (self._width, self._height) or self._image.mode != self._mode:
            raise ReadError(FaultKind.WRONG_SIZE, "pages of one size and type", f"another at page {page + 1}")
        if tags.get(_COMPRESSION, 1) not in _LOSSLESS:
            raise ReadError(
                FaultKind.WRONG_VALUE,
                "no compression, LZW, deflate or PackBits",
                f"compression {tags.get(_COMPRESSION)}",
            )
        if tags.get(_PHOTOMETRIC, 1) != 1 or tags.get(_ORIENTATION, 1) != 1:
            raise ReadError(FaultKind.WRONG_VALUE, "upright pages on which black is zero", "others")

    def _count_pages(self) -> int:
        """Return the number of pages; a chain of pages that bites its tail ends as well."""
        for page in range(1, MOST_VOXELS // max(1, self._width * self._height) + 2):
            try:
                self._image.seek(page)
            except EOFError:
                return page
        return 0


def write_tiff_stack(values: NDArray[Any]) -> bytes:
    """Return a volume (z, y, x) of 8-bit or 32-bit values as a TIFF stack; the same gives the same bytes."""
    from PIL import Image

    pages = [Image.fromarray(page) for page in values]
    buffer = io.BytesIO()
    pages[0].save(buffer, "TIFF", save_all=True, append_images=pages[1:], compression="tiff_adobe_deflate")
    return buffer.getvalue()


def _damaged() -> ReadError:
    return ReadError(FaultKind.UNREADABLE, VOLUME, "damaged or incomplete image data")
