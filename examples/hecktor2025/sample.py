"""Writes a synthetic phase of HECKTOR 2025 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, ellipsoid, write_volumes

SPACING_MM = (3.0, 1.0, 1.0)
SHAPE = (12, 24, 24)


def write_sample(folder: Path, scans: int = 16, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; some patients have no lymph node."""
    random = np.random.Generator(np.random.PCG64(seed))

    def scan() -> tuple[Volumes, Volumes]:
        true, found = (np.zeros(SHAPE, np.uint8) for _ in range(2))
        for label, share, place in ((1, 0.95, (12, 8, 12)), (2, 0.6, (21, 16, 12)), (2, 0.5, (30, 5, 5))):
            if random.random() < share:
                radii, centre = random.uniform(3, 6, 3), np.array(place, float)
                true[ellipsoid(SHAPE, SPACING_MM, centre, radii)] = label
                aside = random.normal(0, 1.5, 3)
                found[ellipsoid(SHAPE, SPACING_MM, centre + aside, radii)] = label
        return {"tumours": true}, {"tumours": found}

    write_volumes(folder, Path(__file__).with_name("phase.toml"), SPACING_MM, [scan() for _ in range(scans)])
    days = random.integers(100, 3000, scans)
    relapsed, hpv = (random.integers(0, 2, scans) for _ in range(2))
    rows = list(csv.reader((folder / "phase" / "cases.csv").read_text().splitlines()))
    labels = [["relapse_days", "relapsed", "hpv"], *zip(days, relapsed, hpv, strict=True)]
    _write_csv(
        folder / "phase" / "cases.csv", [[*row, *more] for row, more in zip(rows, labels, strict=True)]
    )
    risks = (1 - days / 3000 + random.normal(0, 0.2, scans)).round(3)
    guesses = np.where(random.random(scans) < 0.8, hpv, 1 - hpv)
    names = [row[0] for row in rows[1:]]
    found = [["case", "risk", "hpv"], *zip(names, risks, guesses, strict=True)]
    _write_csv(folder / "submission" / "predictions.csv", [list(row) for row in found])


def _write_csv(path: Path, rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
