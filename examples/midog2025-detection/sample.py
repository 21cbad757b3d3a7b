"""Writes a synthetic phase of MIDOG 2025, track 1, and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np

CLASSES = ["mitotic figure", "non-mitotic figure"]
TUMOURS = ["breast", "lung", "lymphoma"]


def write_sample(folder: Path, images: int = 12, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))
    for place in ("phase", "submission"):
        (folder / place).mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("phase.toml"), folder / "phase")
    names = [f"{number:03d}" for number in range(images)]
    true: list[list[object]] = [["case", "x", "y", "class"]]
    found: list[list[object]] = [["case", "x", "y", "class", "probability"]]
    for name in names:
        points = random.uniform(0, 1.5, (random.poisson(12), 2)).round(5)
        true += [[name, *point, CLASSES[0]] for point in points.tolist()]
        near = points + random.normal(0, 0.004, points.shape)
        every = np.vstack([near, random.uniform(0, 1.5, (4, 2))]).round(5)
        for point in every.tolist():
            chance = round(float(random.uniform(0.2, 1)), 3)
            found.append([name, *point, CLASSES[chance < 0.5], chance])
    _write_csv(folder / "phase" / "mitoses.csv", true)
    _write_csv(folder / "submission" / "predictions.csv", found)
    rows = [[name, TUMOURS[number % 3]] for number, name in enumerate(names)]
    _write_csv(folder / "phase" / "cases.csv", [["name", "tumour"], *rows])


def _write_csv(path: Path, rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
