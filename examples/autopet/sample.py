"""Writes a synthetic phase of autoPET and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, write_volumes

FIELD = "lesions"
SHAPE = (24, 40, 40)
SPACING_MM = (3.0, 2.0, 2.0)


def write_sample(folder: Path, scans: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; two scans have no lesion, one of them a false one."""
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = (draw(random, number) for number in range(scans))
    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, drawn, ".mha")


def draw(random: np.random.Generator, number: int) -> tuple[Volumes, Volumes]:
    """Return lesions that touch at edges and corners as reference, and a part of them as prediction."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    for lesion in range(0 if number < 2 else 12):
        z, y, x = (int(random.integers(1, side - 6)) for side in SHAPE)
        for step in range(3):
            # The next block touches this one at an edge, or at a corner.
            block = np.s_[z : z + 2, y : y + 2, x : x + 2]
            reference[block] = 1
            if lesion % 3 == 0 and step == 0:
                prediction[block] = 1
            z, y, x = z + 2, y + 2, x + 2 * int(random.integers(0, 2))
    for _ in range(0 if number == 0 else 3):
        z, y, x = (int(random.integers(0, side - 2)) for side in SHAPE)
        prediction[z : z + 2, y : y + 2, x : x + 2] = 1
    return {FIELD: reference}, {FIELD: prediction}


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
