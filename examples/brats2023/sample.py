"""Writes a synthetic phase of BraTS 2023 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, ellipsoid, write_volumes

FIELD = "tumour"
SHAPE = (30, 48, 52)
SPACING_MM = (1.0, 1.0, 1.0)


def write_sample(folder: Path, scans: int = 5, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; the third scan has no enhancing tumour."""
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = (draw(random, number) for number in range(scans))
    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, drawn)


def draw(random: np.random.Generator, number: int) -> tuple[Volumes, Volumes]:
    """Return nested bodies as reference and prediction; some lesions are missed, small or false."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    for lesion in range(4):
        centre, radius = random.uniform(6, np.array(SHAPE) - 6), random.uniform(1.5, 7, 3)
        shift, growth = random.normal(0, 0.7, 3), random.uniform(0.8, 1.2)
        for label, share in ((2, 1.0), (3, 0.7), (1, 0.4)):
            if label == 3 and number == 2:
                continue
            if lesion < 3:
                reference[ellipsoid(SHAPE, SPACING_MM, centre, radius * share)] = label
            if lesion > 0:
                prediction[ellipsoid(SHAPE, SPACING_MM, centre + shift, radius * share * growth)] = label
    return {FIELD: reference}, {FIELD: prediction}


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
