"""Writes a synthetic phase of CURVAS 2024 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, ellipsoid, write_volumes

SHAPE = (20, 40, 48)
SPACING_MM = (3.0, 2.0, 2.0)
# Centre and radii in mm, (z, y, x), of each organ.
BODIES = {
    1: ((30, 24, 46), (9, 8, 18)),
    2: ((28, 58, 66), (16, 11, 10)),
    3: ((32, 40, 22), (20, 26, 14)),
}


def write_sample(folder: Path, scans: int = 5, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; annotators and prediction differ in size."""
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = (draw(random) for _ in range(scans))
    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, drawn)


def draw(random: np.random.Generator) -> tuple[Volumes, Volumes]:
    """Return the organs of three annotators; as prediction organs, and probabilities that fade outwards."""
    bodies = {
        organ: (centre + random.normal(0, 3, 3), radii * random.uniform(0.9, 1.1, 3))
        for organ, (centre, radii) in BODIES.items()
    }
    references = {f"organs/reader_{reader}": np.zeros(SHAPE, np.uint8) for reader in (1, 2, 3)}
    for values in references.values():
        for organ, (centre, radii) in bodies.items():
            own = centre + random.normal(0, 0.7, 3), radii * random.uniform(0.94, 1.06)
            values[ellipsoid(SHAPE, SPACING_MM, *own)] = organ
    fading = np.zeros((len(BODIES), *SHAPE))
    for position, (centre, radii) in enumerate(bodies.values()):
        found = centre + random.normal(0, 0.7, 3)
        layers = [ellipsoid(SHAPE, SPACING_MM, found, radii * size) for size in np.linspace(0.7, 1.3, 11)]
        fading[position] = np.mean(layers, axis=0)
    fading /= np.maximum(fading.sum(axis=0), 1)
    shares = fading.astype(np.float32)
    organs = np.where(shares.max(axis=0) >= 0.5, shares.argmax(axis=0) + 1, 0).astype(np.uint8)
    names = ("pancreas", "kidney", "liver")
    return references, {"organs": organs, **dict(zip(names, shares, strict=True))}


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
