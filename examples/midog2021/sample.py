"""Writes a synthetic phase of MIDOG 2021 and the outputs of an algorithm: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path

import numpy as np

SIDE_MM = 1.5
SLUG = "mitotic-figures"
INPUT = "histopathology-region-of-interest-cropout"


def write_sample(folder: Path, images: int = 20, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))
    names = [f"{number:03d}" for number in range(1, images + 1)]
    figures = {name: random.uniform(0, SIDE_MM, (random.poisson(12), 2)).round(5) for name in names}
    phase = folder / "phase"
    phase.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("phase.toml"), phase)
    _write_csv(phase / "cases.csv", ["name"], [[name] for name in names])
    rows = [[name, *point] for name, points in figures.items() for point in points.tolist()]
    _write_csv(phase / "mitotic_figures.csv", ["case", "x", "y"], rows)
    jobs = []
    for name, points in figures.items():
        found = points[random.random(len(points)) < 0.8]
        found = found + random.normal(0, 0.003, found.shape)
        false = random.uniform(0, SIDE_MM, (random.poisson(3), 2))
        jobs.append(_write_job(folder / "submission", name, np.vstack([found, false]).round(5)))
    (folder / "submission" / "predictions.json").write_text(json.dumps(jobs, indent=1) + "\n")


def _write_job(folder: Path, name: str, points: np.ndarray) -> dict[str, object]:
    """Write what the algorithm put out for one image, and return its job as the platform lists it."""
    content = {
        "type": "Multiple points",
        "points": [{"point": [x, y, 0]} for x, y in points.tolist()],
        "version": {"major": 1, "minor": 0},
    }
    output = folder / f"job-{name}" / "output"
    output.mkdir(parents=True, exist_ok=True)
    (output / f"{SLUG}.json").write_text(json.dumps(content))
    given = {"slug": INPUT, "kind": "Image", "super_kind": "Image", "relative_path": "images/input"}
    made = {
        "slug": SLUG,
        "kind": "Multiple points",
        "super_kind": "File",
        "relative_path": f"{SLUG}.json",
    }
    return {
        "pk": f"job-{name}",
        "status": "Succeeded",
        "inputs": [{"socket": given, "image": {"name": f"{name}.tiff"}, "value": None, "file": None}],
        "outputs": [{"socket": made, "image": None, "value": None, "file": f"{SLUG}.json"}],
    }


def _write_csv(path: Path, header: list[str], rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
