"""Writes a synthetic phase of MIDOG 2025, track 2, and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np


def write_sample(folder: Path, cells: int = 60, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; a fifth of the figures is atypical."""
    random = np.random.Generator(np.random.PCG64(seed))
    for place in ("phase", "submission"):
        (folder / place).mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("phase.toml"), folder / "phase")
    atypical = random.random(cells) < 0.2
    names = [f"cell{number:03d}" for number in range(cells)]
    labels = np.where(atypical, "atypical", "normal").tolist()
    _write_csv(
        folder / "phase" / "cases.csv", [["name", "class"], *map(list, zip(names, labels, strict=True))]
    )
    numbers = np.clip(0.35 + 0.3 * atypical + random.normal(0, 0.2, cells), 0, 1).round(3).tolist()
    rows = [["case", "atypical"], *map(list, zip(names, numbers, strict=True))]
    _write_csv(folder / "submission" / "predictions.csv", rows)


def _write_csv(path: Path, rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
