"""Writes a synthetic phase of CoNIC and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from image_sample import cells, write_images

FIELD = "nuclei"


def write_sample(folder: Path, images: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))
    write_images(folder, Path(__file__).with_name("phase.toml"), FIELD, (draw(random) for _ in range(images)))


def draw(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return nuclei with their types in a second plane; some submitted types are wrong."""
    true, made = cells(random, 96, int(random.integers(20, 40)))
    types = np.append(0, random.integers(1, 7, 1000))
    called = np.where(random.random(1001) < 0.1, 1 + types % 6, np.roll(types, 300))
    return np.stack([true, types[true]]), np.stack([made, np.where(made, called[made], 0)])


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
