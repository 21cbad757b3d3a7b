"""The original images of cases, from the organiser's folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm, name_key

_EXTENSIONS = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")
_VOLUMES = (".mha", ".mhd", ".nii", ".nii.gz", ".tif", ".tiff")
_WINDOW = (0.5, 99.5)
"""Percentiles of a volume's values that are drawn as black and as white."""
Shape = tuple[int, int, int]


class Photographs:
    """The images of a folder by case; a file has the name of its case, with any extension."""

    def __init__(self, folder: Path | None) -> None:
        self._paths: dict[str, Path] = {}
        self._volumes: dict[str, Path] = {}
        if folder is not None:
            if not folder.is_dir():
                raise PhaseError(f"{folder}: is not a folder")
            for path in sorted(folder.rglob("*")):
                if path.suffix.casefold() in _EXTENSIONS:
                    self._paths.setdefault(name_key(path.name), path)
                if path.name.casefold().endswith(_VOLUMES):
                    self._volumes.setdefault(name_key(path.name), path)

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

    def volume_of(self, case: CaseForm, shape: Shape) -> NDArray[np.uint8] | None:
        """Return the grey values of a case's volume, shape (z, y, x); None without an image.

        Raises `PhaseError` for one that cannot be read or has another shape.
        """
        path = self._volumes.get(name_key(case.name))
        if path is None:
            return None
        import SimpleITK

        try:
            values = SimpleITK.GetArrayFromImage(SimpleITK.ReadImage(str(path))).astype(np.float64)
        except RuntimeError as error:
            raise PhaseError(f"{path}: cannot be read: {error}") from None
        if values.shape != shape:
            expected, found = (" × ".join(map(str, sides[::-1])) for sides in (shape, values.shape))
            raise PhaseError(f"{path}: expected the size of the reference, {expected}, found {found}")
        low, high = np.percentile(values, _WINDOW)
        scaled = (values - low) / max(float(high - low), 1e-12)
        return np.asarray((255 * scaled.clip(0, 1)).round().astype(np.uint8))
