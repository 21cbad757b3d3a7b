"""Writes a synthetic phase of KiTS 2023 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np
import SimpleITK

FIELD = "kidneys"
SHAPE = (28, 60, 72)
SPACING_MM = (3.0, 1.5, 1.5)
# Centre and radii in mm, (z, y, x), and label.
BODIES = [
    ((42, 45, 27), (30, 18, 15), 1),
    ((42, 45, 80), (30, 18, 15), 1),
    ((36, 36, 30), (12, 9, 10), 2),
    ((54, 50, 84), (8, 7, 6), 3),
]
HEADER = ["name", "width", "height", "depth", "spacing_mm", "origin_mm", "direction"]


def write_sample(folder: Path, scans: int = 5, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; the first scan has no cyst, the second no mass."""
    random = np.random.Generator(np.random.PCG64(seed))
    phase, submission = folder / "phase", folder / "submission"
    for made in (phase, submission):
        (made / FIELD).mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("phase.toml"), phase)
    depth, height, width = SHAPE
    spacing = " ".join(map(str, SPACING_MM[::-1]))
    rows: list[list[object]] = []
    for number in range(scans):
        name = f"scan_{number:03d}"
        rows.append([name, width, height, depth, spacing, "0 0 0", "1 0 0 0 1 0 0 0 1"])
        reference, prediction = draw(random, number)
        _write(phase / FIELD / f"{name}.nii.gz", reference)
        _write(submission / FIELD / f"{name}.nii.gz", prediction)
    with (phase / "cases.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


def draw(random: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two kidneys with a tumour and a cyst as reference, and with other ones as prediction."""
    maps = []
    for spread_mm in (0.0, 1.0):
        values = np.zeros(SHAPE, np.uint8)
        for centre, radius, label in BODIES:
            absent = (number == 0 and label == 3) or (number == 1 and label > 1 and not spread_mm)
            if not absent:
                shift = random.normal(0, spread_mm, 3)
                values[_body(np.array(centre) + shift, np.array(radius) * random.uniform(0.9, 1.1))] = label
        maps.append(values)
    return maps[0], maps[1]


def _body(centre: np.ndarray, radius_mm: np.ndarray) -> np.ndarray:
    """Return an ellipsoid as a mask, shape (z, y, x); centre in mm."""
    grid = np.indices(SHAPE).transpose(1, 2, 3, 0) * SPACING_MM
    return (((grid - centre) / radius_mm) ** 2).sum(axis=-1) < 1


def _write(path: Path, values: np.ndarray) -> None:
    image = SimpleITK.GetImageFromArray(values)
    image.SetSpacing(SPACING_MM[::-1])
    SimpleITK.WriteImage(image, str(path), useCompression=True)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
