"""Writes a synthetic phase of STS and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from image_sample import cells, write_images


def write_sample(folder: Path, images: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = (cells(random, 60, 14) for _ in range(images))
    write_images(folder, Path(__file__).with_name("phase.toml"), "teeth", drawn)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
