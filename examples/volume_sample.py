"""Writes a synthetic phase of volumes and a submission to it, for the scripts of the examples."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import SimpleITK

HEADER = ["name", "width", "height", "depth", "spacing_mm", "origin_mm", "direction"]
Volumes = Mapping[str, np.ndarray]


def write_volumes(
    folder: Path,
    phase_toml: Path,
    spacing_mm: tuple[float, float, float],
    scans: Iterable[tuple[Volumes, Volumes]],
    extension: str = ".nii.gz",
) -> None:
    """Write ``folder/phase`` and ``folder/submission``.

    scans: the reference and the submitted volumes of each scan, (z, y, x), by the folder of their files.
    spacing_mm: in the order z, y, x.
    """
    phase, submission = folder / "phase", folder / "submission"
    phase.mkdir(parents=True)
    for name in ("phase.toml", "metrics.py", "requirements.txt"):
        path = phase_toml.with_name(name)
        if path.exists():
            shutil.copy(path, phase)
    spacing = " ".join(map(str, spacing_mm[::-1]))
    rows: list[list[object]] = []
    for number, sides in enumerate(scans):
        name = f"scan_{number:03d}"
        for root, volumes in zip((phase, submission), sides, strict=True):
            for place, values in volumes.items():
                path = root / place / f"{name}{extension}"
                path.parent.mkdir(parents=True, exist_ok=True)
                image = SimpleITK.GetImageFromArray(values)
                image.SetSpacing(spacing_mm[::-1])
                SimpleITK.WriteImage(image, str(path), useCompression=True)
        rows.append([name, *values.shape[::-1], spacing, "0 0 0", "1 0 0 0 1 0 0 0 1"])
    with (phase / "cases.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


def ellipsoid(
    shape: tuple[int, int, int],
    spacing_mm: tuple[float, float, float],
    centre_mm: np.ndarray,
    radii_mm: np.ndarray,
) -> np.ndarray:
    """Return an ellipsoid as a mask; everything in the order z, y, x."""
    grid = np.indices(shape).transpose(1, 2, 3, 0) * spacing_mm
    return (((grid - centre_mm) / radii_mm) ** 2).sum(axis=-1) < 1
