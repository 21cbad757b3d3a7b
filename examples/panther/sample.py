"""Writes a synthetic phase of PANTHER and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import ellipsoid, write_volumes

SHAPE, SPACING_MM = (20, 32, 32), (3.0, 1.5, 1.5)


def write_sample(folder: Path, scans: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))

    def tumour(centre: np.ndarray, radii: np.ndarray) -> dict[str, np.ndarray]:
        return {"tumour": ellipsoid(SHAPE, SPACING_MM, centre, radii).astype(np.uint8)}

    drawn = [(random.uniform(20, 30, 3), random.uniform(6, 14, 3)) for _ in range(scans)]
    pairs = [(tumour(at, radii), tumour(at + 1, radii + random.normal(0, 1, 3))) for at, radii in drawn]
    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, pairs)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
