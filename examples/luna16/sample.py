"""Writes a synthetic phase of LUNA16 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import shutil
import sys
from pathlib import Path

import numpy as np

POSITION = ["coordX", "coordY", "coordZ"]


def write_sample(folder: Path, scans: int = 40, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))
    names = [f"1.3.6.1.4.1.14519.5.2.1.6279.6001.{number:06d}" for number in range(1, scans + 1)]
    phase, submission = folder / "phase", folder / "submission"
    for made in (phase, submission):
        made.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("phase.toml"), phase)
    _write_csv(phase / "cases.csv", ["name"], [[name] for name in names])
    nodules, excluded, candidates = [], [], []
    for name in names:
        for _ in range(random.poisson(1.5)):
            centre, diameter = _position(random), round(random.uniform(4, 20), 3)
            nodules.append([name, *centre, diameter])
            for _ in range(random.choice(3, p=[0.2, 0.6, 0.2])):
                shift = random.normal(0, diameter / 6, 3)
                candidates.append([name, *(centre + shift).round(3), round(random.beta(4, 2), 4)])
        for number in range(random.poisson(2)):
            centre = _position(random)
            # The challenge does not know the diameters of some findings.
            excluded.append([name, *centre, -1 if number else round(random.uniform(3, 9), 3)])
            if random.random() < 0.3:
                near = (centre + random.normal(0, 1, 3)).round(3)
                candidates.append([name, *near, round(random.beta(3, 3), 4)])
        false = [_position(random) for _ in range(random.poisson(6))]
        candidates += [[name, *position, round(random.beta(2, 4), 4)] for position in false]
    _write_csv(phase / "annotations.csv", ["seriesuid", *POSITION, "diameter_mm"], nodules)
    _write_csv(phase / "annotations_excluded.csv", ["seriesuid", *POSITION, "diameter_mm"], excluded)
    _write_csv(submission / "predictions.csv", ["seriesuid", *POSITION, "probability"], candidates)


def _position(random: np.random.Generator) -> np.ndarray:
    """Return a position in the chest in world millimetres, x, y, z."""
    return random.uniform([-150, -150, -300], [150, 150, 0]).round(3)


def _write_csv(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
