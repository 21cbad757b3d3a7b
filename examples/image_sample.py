"""Writes a synthetic phase of images with instances and a submission, for the scripts of the examples."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import SimpleITK

Pair = tuple[np.ndarray, np.ndarray]


def write_images(folder: Path, phase_toml: Path, place: str, pairs: Iterable[Pair]) -> None:
    """Write ``folder/phase`` and ``folder/submission``.

    pairs: the reference and the submitted values of each image, (y, x), or (2, y, x) with classes. place: the
    folder of their files.
    """
    rows = [["name", "width", "height"]]
    for root in ("phase", "submission"):
        (folder / root / place).mkdir(parents=True)
    for path in (phase_toml, phase_toml.with_name("metrics.py")):
        if path.exists():
            shutil.copy(path, folder / "phase")
    for number, sides in enumerate(pairs):
        name = f"image_{number:03d}"
        for root, values in zip(("phase", "submission"), sides, strict=True):
            path = folder / root / place / f"{name}.mha"
            SimpleITK.WriteImage(SimpleITK.GetImageFromArray(values), str(path), useCompression=True)
        rows.append([name, str(sides[0].shape[-1]), str(sides[0].shape[-2])])
    with (folder / "phase" / "cases.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def cells(random: np.random.Generator, side: int, count: int) -> Pair:
    """Return discs with numbers from 1 on, and the same ones moved, larger, lost, joined or new."""
    grid = np.indices((side, side))
    true, made = np.zeros((2, side, side), np.int32)
    for number in range(1, count + 1):
        middle, radius = random.integers(0, side, 2), random.integers(3, 7)
        true[((grid - middle[:, None, None]) ** 2).sum(axis=0) <= radius**2] = number
        moved, larger = random.integers(-2, 3, 2), int(random.integers(-1, 2))
        if number % 7:
            centre = (middle + moved)[:, None, None]
            made[((grid - centre) ** 2).sum(axis=0) <= (radius + larger) ** 2] = 300 + number
    made[made == 302] = 301
    made[: side // 9, : side // 9] = 999
    return true, made
