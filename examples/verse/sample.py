"""Writes a synthetic phase of VerSe and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
import tomllib
from pathlib import Path

import numpy as np

PHASE = Path(__file__).with_name("phase.toml")
NAMES = tomllib.loads(PHASE.read_text(encoding="utf-8"))["fields"]["vertebrae"]["classes"]


def write_sample(folder: Path, scans: int = 12, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; some spines are named one vertebra too low."""
    random = np.random.Generator(np.random.PCG64(seed))
    phase, submission = folder / "phase", folder / "submission"
    for made in (phase, submission):
        made.mkdir(parents=True, exist_ok=True)
    shutil.copy(PHASE, phase)
    cases = [f"verse{number:03d}" for number in range(scans)]
    true: list[list[object]] = []
    found: list[list[object]] = []
    for number, case in enumerate(cases):
        first, last = random.integers(0, 8), random.integers(14, len(NAMES) - 1)
        for place in range(first, last + 1):
            centroid = np.array([8 * np.sin(place / 5), 5 * np.cos(place / 4), -24.0 * place])
            true.append([case, *centroid.round(2), NAMES[place]])
            if random.random() < 0.9:
                spread = 25 if random.random() < 0.1 else 3
                name = NAMES[place + (number % 6 == 5)]
                found.append([case, *(centroid + random.normal(0, spread, 3)).round(2), name])
    for path, rows in ((phase / "vertebrae.csv", true), (submission / "predictions.csv", found)):
        _write_csv(path, [["case", "x", "y", "z", "name"], *rows])
    _write_csv(phase / "cases.csv", [["name"], *([case] for case in cases)])


def _write_csv(path: Path, rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
