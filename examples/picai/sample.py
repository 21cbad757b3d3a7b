"""Writes a synthetic phase of PI-CAI and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, write_volumes

FIELD = "cancer"
SHAPE = (10, 24, 24)
SPACING_MM = (3.0, 0.5, 0.5)


def write_sample(folder: Path, scans: int = 16, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; every second scan has no lesion."""
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = (draw(random, number) for number in range(scans))
    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, drawn, ".mha")


def draw(random: np.random.Generator, number: int) -> tuple[Volumes, Volumes]:
    """Return lesions as reference, and near and false findings with confidences of up to 40 as prediction."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.float32)
    for place in random.permutation(4)[: 3 if number % 2 else 2].tolist():
        z, y, x = 2 + int(random.integers(0, 3)), 3 + 11 * (place // 2), 3 + 11 * (place % 2)
        is_lesion = number % 2 == 1 and random.random() < 0.7
        if is_lesion:
            reference[z : z + 3, y : y + 5, x : x + 5] = 1
        if random.random() < 0.8:
            shift = int(random.integers(0, 4))
            confidence = np.float32(random.integers(1, 21) + is_lesion * random.integers(0, 21))
            prediction[z : z + 3, y + shift : y + shift + 5, x : x + 5] = confidence
    return {FIELD: reference}, {FIELD: prediction}


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
