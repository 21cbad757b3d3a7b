"""Writes a synthetic phase of KiTS 2023 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, ellipsoid, write_volumes

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


def write_sample(folder: Path, scans: int = 5, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; the first scan has no cyst, the second no mass."""
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = (draw(random, number) for number in range(scans))
    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, drawn)


def draw(random: np.random.Generator, number: int) -> tuple[Volumes, Volumes]:
    """Return two kidneys with a tumour and a cyst as reference, and with other ones as prediction."""
    maps = []
    for spread_mm in (0.0, 1.0):
        values = np.zeros(SHAPE, np.uint8)
        for centre, radius, label in BODIES:
            absent = (number == 0 and label == 3) or (number == 1 and label > 1 and not spread_mm)
            if not absent:
                shift = random.normal(0, spread_mm, 3)
                radii = np.array(radius) * random.uniform(0.9, 1.1)
                values[ellipsoid(SHAPE, SPACING_MM, centre + shift, radii)] = label
        maps.append(values)
    return {FIELD: maps[0]}, {FIELD: maps[1]}


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
