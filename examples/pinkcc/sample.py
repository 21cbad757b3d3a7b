"""Writes a synthetic phase of PINKCC and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import ellipsoid, write_volumes

SHAPE, SPACING_MM = (20, 32, 32), (3.0, 1.5, 1.5)


def write_sample(folder: Path, scans: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; every third scan has no metastasis."""
    random = np.random.Generator(np.random.PCG64(seed))
    pairs = []
    for number in range(scans):
        sides = [np.zeros(SHAPE, np.uint8) for _ in range(2)]
        for label in (1, 2) if number % 3 else (1,):
            centre, radii = random.uniform(15, 30, 3), random.uniform(4, 10, 3)
            for values, moved in zip(sides, (0, 1), strict=True):
                values[ellipsoid(SHAPE, SPACING_MM, centre + moved, radii)] = label
        pairs.append(tuple({"lesions": values} for values in sides))
    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, pairs)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
