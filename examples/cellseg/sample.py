"""Writes a synthetic phase of cells in microscopy and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from image_sample import cells, write_images

FIELD = "cells"


def write_sample(folder: Path, images: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))
    drawn = (cells(random, 80, int(random.integers(8, 40))) for _ in range(images))
    write_images(folder, Path(__file__).with_name("phase.toml"), FIELD, drawn)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
