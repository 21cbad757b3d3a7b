"""Writes a synthetic phase of PI-CAI and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np
import SimpleITK

FIELD = "cancer"
SHAPE = (10, 24, 24)
SPACING_MM = (3.0, 0.5, 0.5)
HEADER = ["name", "width", "height", "depth", "spacing_mm", "origin_mm", "direction"]


def write_sample(folder: Path, scans: int = 16, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; every second scan has no lesion."""
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
    """Return lesions as reference, and near and false findings with confidences of up to 40 as prediction."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.float32)
    for place in random.permutation(4)[: 3 if number % 2 else 2].tolist():
        z, y, x = 2 + int(random.integers(0, 3)), 3 + 11 * (place // 2), 3 + 11 * (place % 2)
        is_lesion = number % 2 == 1 and random.random() < 0.7
        if is_lesion:
            reference[z : z + 3, y : y + 5, x : x + 5] = 1
        if random.random() < 0.8:
            shift = int(random.integers(0, 4))
            confidence = np.float32(random.integers(1, 21) + is_lesion * random.integers(0, 21))
            prediction[z : z + 3, y + shift : y + shift + 5, x : x + 5] = confidence
    return reference, prediction


def _write(path: Path, values: np.ndarray) -> None:
    image = SimpleITK.GetImageFromArray(values)
    image.SetSpacing(SPACING_MM[::-1])
    SimpleITK.WriteImage(image, str(path), useCompression=True)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
