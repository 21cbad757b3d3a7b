"""Writes a synthetic phase of ISLES 2024 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, write_volumes

FIELD = "infarcts"
SHAPE = (16, 48, 48)
SPACING_MM = (2.0, 1.0, 1.0)


def write_sample(folder: Path, scans: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = (draw(random) for _ in range(scans))
    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, drawn)


def draw(random: np.random.Generator) -> tuple[Volumes, Volumes]:
    """Return infarcts as reference; as prediction some are lost, added, or moved by several voxels."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    for lesion in range(8):
        z, y, x = (int(random.integers(0, side - 10)) for side in SHAPE)
        size, moved = random.integers(2, 8, 3), random.integers(0, 4)
        if lesion != 5:
            reference[z : z + size[0], y : y + size[1], x : x + size[2]] = 1
        if lesion > 0:
            prediction[z : z + size[0], y + moved : y + moved + size[1], x : x + size[2]] = 1
    return {FIELD: reference}, {FIELD: prediction}


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
