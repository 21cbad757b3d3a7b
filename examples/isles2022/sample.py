"""Writes a synthetic phase of ISLES 2022 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np
import SimpleITK

FIELD = "infarcts"
SHAPE = (16, 48, 48)
SPACING_MM = (2.0, 2.0, 2.0)
HEADER = ["name", "width", "height", "depth", "spacing_mm", "origin_mm", "direction"]


def write_sample(folder: Path, scans: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; the first scan has no infarct."""
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
    """Return small infarcts as reference; as prediction some are lost, joined, moved or added."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    for lesion in range(0 if number == 0 else 7):
        z, y, x = (int(random.integers(0, side - 6)) for side in SHAPE)
        size = random.integers(1, 6, 3)
        block = np.s_[z : z + size[0], y : y + size[1], x : x + size[2]]
        if lesion != 5:
            reference[block] = 1
        if lesion > 1:
            prediction[block] = 1
    return reference, np.maximum(prediction, np.roll(prediction, 3, 2) * np.uint8(number % 2))


def _write(path: Path, values: np.ndarray) -> None:
    image = SimpleITK.GetImageFromArray(values)
    image.SetSpacing(SPACING_MM[::-1])
    SimpleITK.WriteImage(image, str(path), useCompression=True)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
