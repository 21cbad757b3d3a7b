"""Writes a synthetic phase of Learn2Reg and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from volume_sample import Volumes, ellipsoid, write_volumes

SPACING_MM = (2.0, 1.5, 1.5)
SHAPE = (16, 20, 24)


def write_sample(folder: Path, scans: int = 4, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``: images are shifted, fields a little wrong."""
    random = np.random.Generator(np.random.PCG64(seed))
    tables: dict[str, list[list[object]]] = {side: [["case", "x", "y", "z"]] for side in ("fixed", "moving")}
    (folder / "submission" / "disp").mkdir(parents=True)

    def scan(number: int) -> tuple[Volumes, Volumes]:
        fixed, moving = (np.zeros(SHAPE, np.uint8) for _ in range(2))
        shift = random.integers(-2, 3, 3)  # x, y, z
        for label, x in ((1, 8.0), (2, 18.0), (3, 28.0)):
            if (number, label) == (0, 3):
                continue
            centre, radii = np.array([16.0, 15.0, x]), random.uniform(3, 6, 3)
            fixed[ellipsoid(SHAPE, SPACING_MM, centre, radii)] = label
            moving[ellipsoid(SHAPE, SPACING_MM, centre + shift[::-1] * SPACING_MM, radii)] = label
        points = random.uniform(3, 12, (8, 3)).round(2)
        for side, of in (("fixed", points), ("moving", points + shift)):
            tables[side] += [[f"scan_{number:03d}", *point] for point in of.tolist()]
        noise = random.normal(0, 0.4, (*SHAPE[::-1], 3))
        field = (shift + noise).astype(np.float32)
        np.savez_compressed(folder / "submission" / "disp" / f"scan_{number:03d}.npz", field)
        return {"disp_fixed": fixed, "disp_moving": moving}, {}

    phase = Path(__file__).with_name("phase.toml")
    write_volumes(folder, phase, SPACING_MM, [scan(number) for number in range(scans)])
    for side, rows in tables.items():
        _write_csv(folder / "phase" / f"{side}.csv", rows)


def _write_csv(path: Path, rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
