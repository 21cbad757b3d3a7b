"""Writes a synthetic phase of ISLES 2022 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, write_volumes

FIELD = "infarcts"
SHAPE = (16, 48, 48)
SPACING_MM = (2.0, 2.0, 2.0)


def write_sample(folder: Path, scans: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; the first scan has no infarct."""
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = (draw(random, number) for number in range(scans))
    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, drawn)


def draw(random: np.random.Generator, number: int) -> tuple[Volumes, Volumes]:
    """Return small infarcts as reference; as prediction some are lost, joined, moved or added."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    for lesion in range(0 if number == 0 else 7):
        z, y, x = (int(random.integers(0, side - 6)) for side in SHAPE)
        size = random.integers(1, 6, 3)
        block = np.s_[z : z + size[0], y : y + size[1], x : x + size[2]]
        if lesion != 5:
            reference[block] = 1
        if lesion > 1:
            prediction[block] = 1
    moved = np.roll(prediction, 3, 2) * np.uint8(number % 2)
    return {FIELD: reference}, {FIELD: np.maximum(prediction, moved)}


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
