"""Writes a synthetic phase of SynthRAD 2025 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, ellipsoid, write_volumes

SPACING_MM = (3.0, 1.0, 1.0)
SHAPE = (10, 24, 28)


def write_sample(folder: Path, scans: int = 3, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; some values leave the range that counts."""
    random = np.random.Generator(np.random.PCG64(seed))
    write_volumes(
        folder,
        Path(__file__).with_name("phase.toml"),
        SPACING_MM,
        (scan(random) for _ in range(scans)),
        extension=".mha",
    )


def scan(random: np.random.Generator) -> tuple[Volumes, Volumes]:
    """Return a body with bone in air, its mask, and what is submitted: noise and a bias."""
    centre = np.array([15.0, 12.0, 14.0]) + random.normal(0, 0.5, 3)
    body, bone = (
        ellipsoid(SHAPE, SPACING_MM, centre, radius * np.array([13, 10, 12])) for radius in (1, 0.3)
    )
    true = np.where(bone, 2900.0, np.where(body, 40.0, -1000.0)) + random.normal(0, 60, SHAPE)
    made = true + random.normal(20, 400, SHAPE) + 300 * bone
    return (
        {"sct": true.astype(np.float32), "mask": body.astype(np.uint8)},
        {"sct": made.astype(np.float32)},
    )


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
