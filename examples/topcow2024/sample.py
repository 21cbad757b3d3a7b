"""Writes a synthetic phase of TopCoW 2024 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, write_volumes

FIELD = "vessels"
SHAPE = (24, 40, 44)
SPACING_MM = (0.8, 0.5, 0.5)
VESSELS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15]


def write_sample(folder: Path, scans: int = 5, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; some scans lack some vessels."""
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = (draw(random, number) for number in range(scans))
    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, drawn)


def draw(random: np.random.Generator, number: int) -> tuple[Volumes, Volumes]:
    """Return thin tubes as reference; as prediction they are moved, some are lost and one is false."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    for place, label in enumerate(VESSELS):
        y, x = 3 + 9 * (place // 4), 3 + 10 * (place % 4)
        length, thickness = int(random.integers(8, 20)), int(random.integers(2, 4))
        tube = np.s_[2 : 2 + length, y : y + thickness, x : x + thickness]
        if random.random() < 0.8:
            reference[tube] = label
            shift = int(random.integers(0, 3))
            if random.random() < 0.85:
                prediction[2 + shift : 2 + length, y : y + thickness, x + shift // 2 : x + thickness] = label
        elif random.random() < 0.5:
            prediction[tube] = label
    return {FIELD: reference}, {FIELD: prediction}


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
