"""Writes a synthetic phase of BraTS 2023 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np
import SimpleITK

FIELD = "tumour"
SHAPE = (30, 48, 52)
SPACING_MM = (1.0, 1.0, 1.0)
HEADER = ["name", "width", "height", "depth", "spacing_mm", "origin_mm", "direction"]


def write_sample(folder: Path, scans: int = 5, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; the third scan has no enhancing tumour."""
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
    """Return nested bodies as reference and prediction; some lesions are missed, small or false."""
    reference, prediction = np.zeros(SHAPE, np.uint8), np.zeros(SHAPE, np.uint8)
    for lesion in range(4):
        centre, radius = random.uniform(6, np.array(SHAPE) - 6), random.uniform(1.5, 7, 3)
        shift, growth = random.normal(0, 0.7, 3), random.uniform(0.8, 1.2)
        for label, share in ((2, 1.0), (3, 0.7), (1, 0.4)):
            if label == 3 and number == 2:
                continue
            if lesion < 3:
                reference[_body(centre, radius * share)] = label
            if lesion > 0:
                prediction[_body(centre + shift, radius * share * growth)] = label
    return reference, prediction


def _body(centre: np.ndarray, radius_mm: np.ndarray) -> np.ndarray:
    """Return an ellipsoid as a mask, shape (z, y, x); centre in mm."""
    grid = np.indices(SHAPE).transpose(1, 2, 3, 0) * SPACING_MM
    return (((grid - centre) / radius_mm) ** 2).sum(axis=-1) < 1


def _write(path: Path, values: np.ndarray) -> None:
    image = SimpleITK.GetImageFromArray(values)
    image.SetSpacing(SPACING_MM[::-1])
    SimpleITK.WriteImage(image, str(path), useCompression=True)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
