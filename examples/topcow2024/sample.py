"""Writes a synthetic phase of TopCoW 2024 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np
import SimpleITK

FIELD = "vessels"
SHAPE = (24, 40, 44)
SPACING_MM = (0.8, 0.5, 0.5)
VESSELS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15]
HEADER = ["name", "width", "height", "depth", "spacing_mm", "origin_mm", "direction"]


def write_sample(folder: Path, scans: int = 5, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; some scans lack some vessels."""
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
        _write(phase / FIELD / f"{name}.nii.gz", reference)
        _write(submission / FIELD / f"{name}.nii.gz", prediction)
    with (phase / "cases.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])


def draw(random: np.random.Generator, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return thin tubes as reference; as prediction they are moved, some are lost and one is false."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    for place, label in enumerate(VESSELS):
        y, x = 3 + 9 * (place // 4), 3 + 10 * (place % 4)
        length, thickness = int(random.integers(8, 20)), int(random.integers(2, 4))
        tube = np.s_[2 : 2 + length, y : y + thickness, x : x + thickness]
        if random.random() < 0.8:
            reference[tube] = label
            shift = int(random.integers(0, 3))
            if random.random() < 0.85:
                prediction[2 + shift : 2 + length, y : y + thickness, x + shift // 2 : x + thickness] = label
        elif random.random() < 0.5:
            prediction[tube] = label
    return reference, prediction


def _write(path: Path, values: np.ndarray) -> None:
    image = SimpleITK.GetImageFromArray(values)
    image.SetSpacing(SPACING_MM[::-1])
    SimpleITK.WriteImage(image, str(path), useCompression=True)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
