"""Writes a synthetic phase of PUMA, track 2, and the outputs of an algorithm: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import SimpleITK

CELLS = ["tumor", "lymphocyte", "plasma_cell", "histiocyte", "melanophage"]
CELLS += ["neutrophil", "stroma", "epithelium", "endothelium", "apoptosis"]
CLASSES = [f"nuclei_{cell}" for cell in CELLS]
NUCLEI, TISSUE = "melanoma-10-class-nuclei-segmentation", "melanoma-tissue-mask-segmentation"
SIDE = 256


def write_sample(folder: Path, images: int = 5, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``; rare classes are in some images only."""
    random = np.random.Generator(np.random.PCG64(seed))
    phase, submission = folder / "phase", folder / "submission"
    (phase / "tissue").mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("phase.toml"), phase)
    names = [f"image_{number:03d}" for number in range(images)]
    rows: list[list[object]] = [["case", "x", "y", "class"]]
    jobs = []
    for name in names:
        count = int(random.integers(30, 60))
        labels = np.minimum(random.geometric(0.3, count), 10) - 1
        nuclei = random.uniform(10, SIDE - 10, (count, 2)).round(2)
        rows += [[name, *at, CLASSES[of]] for at, of in zip(nuclei.tolist(), labels.tolist(), strict=True)]
        # Most are found, some of these twice or as another class, and a few lie where none is.
        found = np.flatnonzero(random.random(count) < 0.85)
        found = np.concatenate([found, found[:6]])
        moved = nuclei[found] + random.normal(0, 5, (len(found), 2))
        centres = np.vstack([moved, random.uniform(10, SIDE - 10, (5, 2))])
        called = np.append(labels[found], random.integers(0, 10, 5))
        wrong = random.random(len(called)) < 0.1
        called = np.where(wrong, random.integers(0, 10, len(called)), called)
        true = np.kron(random.integers(0, 6, (8, 8)), np.ones((SIDE // 8, SIDE // 8))).astype(np.uint8)
        _write_map(phase / "tissue" / f"{name}.tif", true)
        jobs.append(
            _write_job(
                submission,
                name,
                [_polygon(random, *of) for of in zip(centres, called, strict=False)],
                np.roll(true, 5, 1),
            )
        )
    (submission / "predictions.json").write_text(json.dumps(jobs, indent=1) + "\n")
    _write_csv(phase / "nuclei.csv", rows)
    _write_csv(phase / "cases.csv", [["name", "width", "height"], *([name, SIDE, SIDE] for name in names)])


def _polygon(random: np.random.Generator, centre: np.ndarray, label: int) -> dict[str, object]:
    """Return an outline of seven vertices as the platform has it."""
    angles = np.sort(random.uniform(0, 2 * np.pi, 7))
    outline = centre + random.uniform(3, 6, (7, 1)) * np.column_stack([np.cos(angles), np.sin(angles)])
    points = [[*at, 0.5] for at in outline.clip(0, SIDE).round(2).tolist()]
    chance = round(float(random.uniform(0.3, 1)), 1)
    return {
        "name": CLASSES[label],
        "seed_point": points[0],
        "path_points": points,
        "sub_type": "",
        "groups": [],
        "probability": chance,
    }


def _write_job(
    folder: Path, name: str, polygons: list[dict[str, object]], tissue: np.ndarray
) -> dict[str, object]:
    """Write what the algorithm put out for one image, and return its job as the platform lists it."""
    output = folder / f"job-{name}" / "output"
    (output / "images" / TISSUE).mkdir(parents=True)
    content = {"type": "Multiple polygons", "polygons": polygons, "version": {"major": 1, "minor": 0}}
    (output / f"{NUCLEI}.json").write_text(json.dumps(content))
    _write_map(output / "images" / TISSUE / "output.tif", tissue)
    given = {"slug": "melanoma-whole-slide-image", "relative_path": "images/melanoma-wsi"}
    return {
        "pk": f"job-{name}",
        "inputs": [{"socket": given, "image": {"name": f"{name}.tif"}}],
        "outputs": [
            {"socket": {"slug": NUCLEI, "relative_path": f"{NUCLEI}.json"}, "value": None},
            {
                "socket": {"slug": TISSUE, "relative_path": f"images/{TISSUE}"},
                "image": {"name": "output.tif"},
            },
        ],
    }


def _write_map(path: Path, values: np.ndarray) -> None:
    SimpleITK.WriteImage(SimpleITK.GetImageFromArray(values), str(path))


def _write_csv(path: Path, rows: list[list[object]]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
