"""Writes a synthetic phase of AIROGS and the outputs of an algorithm: ``sample.py FOLDER``."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from pathlib import Path

import numpy as np

INPUT = "stacked-color-fundus-images"
CLASSES = ("RG", "NRG", "U")
SHARES = (0.3, 0.5, 0.2)


def write_sample(folder: Path, eyes: int = 240, stack: int = 80, seed: int = 0) -> None:
    """Write ``folder/phase`` and ``folder/submission``."""
    random = np.random.Generator(np.random.PCG64(seed))
    classes = random.choice(CLASSES, eyes, p=SHARES)
    rows = [
        [f"TEST{number:06d}", f"stack_{number // stack:03d}.tiff", number % stack, name]
        for number, name in enumerate(classes.tolist())
    ]
    phase = folder / "phase"
    phase.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).with_name("phase.toml"), phase)
    with (phase / "cases.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "stack_name", "stack_index", "class"])
        writer.writerows(random.permutation(np.array(rows, dtype=object)).tolist())
    likelihoods = _rounded(random.normal(0.3 + 0.35 * (classes == "RG"), 0.2)).clip(0, 1)
    scores = _rounded(random.normal(3.0 * (classes == "U"), 1.5))
    outputs = {
        "multiple-referable-glaucoma-likelihoods": likelihoods.tolist(),
        "multiple-referable-glaucoma-binary-decisions": (likelihoods >= 0.5).tolist(),
        "multiple-referable-ungradability-scores": scores.tolist(),
        "multiple-referable-ungradability-binary-decisions": (scores >= 2).tolist(),
    }
    jobs = []
    for start in range(0, eyes, stack):
        part = {slug: values[start : start + stack] for slug, values in outputs.items()}
        jobs.append(_write_job(folder / "submission", f"stack_{start // stack:03d}", part))
    (folder / "submission" / "predictions.json").write_text(json.dumps(jobs, indent=1) + "\n")


def _rounded(values: np.ndarray) -> np.ndarray:
    """Round to hundredths, so that values are tied."""
    return values.round(2)


def _write_job(folder: Path, name: str, outputs: dict[str, list[object]]) -> dict[str, object]:
    """Write what the algorithm put out for one stack, and return its job as the platform lists it."""
    path = folder / f"job-{name}" / "output"
    path.mkdir(parents=True, exist_ok=True)
    made = []
    for slug, values in outputs.items():
        (path / f"{slug}.json").write_text(json.dumps(values))
        socket = {"slug": slug, "kind": "Anything", "super_kind": "File", "relative_path": f"{slug}.json"}
        made.append({"socket": socket, "image": None, "value": None, "file": f"{slug}.json"})
    given = {"slug": INPUT, "kind": "Image", "super_kind": "Image", "relative_path": f"images/{INPUT}"}
    return {
        "pk": f"job-{name}",
        "status": "Succeeded",
        "inputs": [{"socket": given, "image": {"name": f"{name}.tiff"}, "value": None, "file": None}],
        "outputs": made,
    }


if __name__ == "__main__":
    write_sample(Path(sys.argv[1]))
