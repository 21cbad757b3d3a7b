"""Writes a synthetic phase of multi-organ CT and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np
import SimpleITK

SHAPE = (28, 80, 96)
SPACING_MM = (4.0, 3.5, 3.5)
# Ellipsoids: centre and diameters in mm from the corner of the volume, (z, y, x) each.
ORGANS = {
    1: [((56, 130, 95), (80, 100, 110))],
    2: [((62, 170, 260), (60, 60, 55))],
    3: [((45, 205, 120), (60, 40, 40)), ((45, 205, 220), (60, 40, 40))],
    4: [((50, 120, 195), (24, 30, 80))],
    5: [((56, 175, 168), (400, 22, 22))],
}
PANCREAS = 4
HEADER = ["name", "width", "height", "depth", "spacing_mm", "origin_mm", "direction"]


def write_sample(folder: Path, scans: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; the first two scans lack a pancreas."""
    random = np.random.Generator(np.random.PCG64(seed))
    phase, submission = folder / "phase", folder / "submission"
    for made in (phase, submission):
        (made / "organs").mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("phase.toml"), phase)
    depth, height, width = SHAPE
    rows: list[list[object]] = []
    for number in range(scans):
        name = f"scan_{number:04d}"
        origin_mm = tuple(random.uniform(-200, 0, 3).round(2).tolist())
        spacing, origin = (" ".join(map(str, numbers)) for numbers in (SPACING_MM[::-1], origin_mm))
        rows.append([name, width, height, depth, spacing, origin, "1 0 0 0 1 0 0 0 1"])
        body = {label: [_varied(organ, random, 6, 8) for organ in organs] for label, organs in ORGANS.items()}
        found = {label: [_varied(organ, random, 2, 4) for organ in organs] for label, organs in body.items()}
        if number < 2:
            del body[PANCREAS]
        if number == 0:
            del found[PANCREAS]
        _write(phase / "organs" / f"{name}.nii.gz", _label_map(body), origin_mm)
        _write(submission / "organs" / f"{name}.nii.gz", _label_map(found), origin_mm)
    with (phase / "cases.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


def _varied(
    organ: tuple, random: np.random.Generator, shift_mm: float, growth_mm: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return an organ that lies elsewhere by a few mm and has another size."""
    centre, diameters = organ
    return centre + random.normal(0, shift_mm, 3), diameters + random.normal(0, growth_mm, 3)


def _label_map(organs: dict[int, list]) -> np.ndarray:
    """Return the organs as a label map, shape (z, y, x)."""
    values = np.zeros(SHAPE, dtype=np.uint8)
    grid = np.indices(SHAPE).transpose(1, 2, 3, 0) * SPACING_MM
    for label, ellipsoids in organs.items():
        for centre, diameters in ellipsoids:
            values[(((grid - centre) / (diameters / 2)) ** 2).sum(axis=-1) < 1] = label
    return values


def _write(path: Path, values: np.ndarray, origin_mm: tuple[float, ...]) -> None:
    image = SimpleITK.GetImageFromArray(values)
    image.SetSpacing(SPACING_MM[::-1])
    image.SetOrigin(origin_mm)
    SimpleITK.WriteImage(image, str(path), useCompression=True)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
