"""Writes a synthetic phase of autoPET and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np
import SimpleITK

FIELD = "lesions"
SHAPE = (24, 40, 40)
SPACING_MM = (3.0, 2.0, 2.0)
HEADER = ["name", "width", "height", "depth", "spacing_mm", "origin_mm", "direction"]


def write_sample(folder: Path, scans: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; two scans have no lesion, one of them a false one."""
    random = np.random.Generator(np.random.PCG64(seed))
    phase, submission = folder / "phase", folder / "submission"
    for made in (phase, submission):
        (made / FIELD).mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("phase.toml"), phase)
    depth, height, width = SHAPE
    spacing = " ".join(map(str, SPACING_MM[::-1]))
    rows: list[list[object]] = []
    for number in range(scans):
        name = f"scan_{number:03d}"
        rows.append([name, width, height, depth, spacing, "0 0 0", "1 0 0 0 1 0 0 0 1"])
        reference, prediction = draw(random, number)
        _write(phase / FIELD / f"{name}.mha", reference)
        _write(submission / FIELD / f"{name}.mha", prediction)
    with (phase / "cases.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


def draw(random: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return lesions that touch at edges and corners as reference, and a part of them as prediction."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    for lesion in range(0 if number < 2 else 12):
        z, y, x = (int(random.integers(1, side - 6)) for side in SHAPE)
        for step in range(3):
            # The next block touches this one at an edge, or at a corner.
            block = np.s_[z : z + 2, y : y + 2, x : x + 2]
            reference[block] = 1
            if lesion % 3 == 0 and step == 0:
                prediction[block] = 1
            z, y, x = z + 2, y + 2, x + 2 * int(random.integers(0, 2))
    for _ in range(0 if number == 0 else 3):
        z, y, x = (int(random.integers(0, side - 2)) for side in SHAPE)
        prediction[z : z + 2, y : y + 2, x : x + 2] = 1
    return reference, prediction


def _write(path: Path, values: np.ndarray) -> None:
    image = SimpleITK.GetImageFromArray(values)
    image.SetSpacing(SPACING_MM[::-1])
    SimpleITK.WriteImage(image, str(path), useCompression=True)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
