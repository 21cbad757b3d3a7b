"""The original images of cases, from a folder of the organiser's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm, name_key

_EXTENSIONS = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")


class Photographs:
    """The images of a folder by case; their names are those of the cases, with any extension."""

    def __init__(self, folder: Path | None) -> None:
        self._paths: dict[str, Path] = {}
        if folder is not None:
            if not folder.is_dir():
                raise PhaseError(f"{folder}: is not a folder")
            for path in sorted(folder.rglob("*")):
                if path.suffix.casefold() in _EXTENSIONS:
                    self._paths.setdefault(name_key(path.name), path)

    def of(self, case: CaseForm) -> NDArray[np.uint8] | None:
        """Return the colours of a case's image at the size of the case, shape (height, width, 3).

        None without an image. Raises `PhaseError` for one that cannot be decoded.
        """
        path = self._paths.get(name_key(case.name))
        if path is None or not (case.width and case.height):
            return None
        try:
            with Image.open(path) as image:
                colours = image.convert("RGB")
        except (OSError, ValueError, Image.DecompressionBombError) as error:
            raise PhaseError(f"{path}: cannot be read: {error}") from None
        if colours.size != (case.width, case.height):
            colours = colours.resize((case.width, case.height), Image.Resampling.BILINEAR)
        return np.asarray(colours)
