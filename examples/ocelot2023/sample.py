"""Writes a synthetic phase of OCELOT 2023 and a submission to it: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path

import numpy as np

CLASSES = ["background cell", "tumour cell"]
SIDE = 1024


def write_sample(folder: Path, patches: int = 6, seed: int = 0) -> None:
    """Write ``folder/phase`` and the one output of an algorithm in ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))
    phase, job = folder / "phase", folder / "submission" / "job-1"
    phase.mkdir(parents=True)
    (job / "output").mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("phase.toml"), phase)
    names = [f"patch{number:02d}" for number in range(patches)]
    rows: list[list[object]] = [["case", "x", "y", "class"]]
    points = []
    for index, name in enumerate(names):
        cells = np.column_stack([random.integers(0, SIDE, (40, 2)), random.integers(1, 3, 40)])
        rows += [[name, x, y, CLASSES[label - 1]] for x, y, label in cells.tolist()]
        kept = cells[random.random(len(cells)) < 0.8]
        shift = np.append(random.integers(-9, 10, 2), 0)
        false = np.column_stack([random.integers(0, SIDE, (8, 2)), random.integers(1, 3, 8)])
        found = np.vstack([kept + shift, kept[:3] + np.array((3, 0, 0)), false])
        found[:, :2] = found[:, :2].clip(0, SIDE - 1)
        chances = random.permutation(len(found)) / 100 + 0.3
        points += [
            {"name": f"image_{index}", "point": point, "probability": chance}
            for point, chance in zip(found.tolist(), chances.tolist(), strict=True)
        ]
    _write_csv(phase / "cells.csv", rows)
    header = ["name", "width", "height", "stack_name", "stack_index"]
    _write_csv(
        phase / "cases.csv", [header, *([name, SIDE, SIDE, "patches", i] for i, name in enumerate(names))]
    )
    content = {"type": "Multiple points", "points": points, "version": {"major": 1, "minor": 0}}
    (job / "output" / "cell-classification.json").write_text(json.dumps(content))
    given = {"slug": "cell-patches", "relative_path": "images/cell-patches"}
    made = {"slug": "cell-classification", "relative_path": "cell-classification.json"}
    listed = {
        "pk": "job-1",
        "inputs": [{"socket": given, "image": {"name": "patches.tif"}}],
        "outputs": [{"socket": made, "value": None}],
    }
    (folder / "submission" / "predictions.json").write_text(json.dumps([listed]))


def _write_csv(path: Path, rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
