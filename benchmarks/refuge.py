"""REFUGE at full size: 400 masks of 1634 × 1634, whole process from start to metrics.json.

    python -m benchmarks.refuge [--cases 400] [--runs 5]

Masks are BMP files, as participants send them; references are PNG files, then BMP files as in the data that
the organisers published. Against two floors (only reading the bytes of submission and reference; reading and
decoding them) and a rival: a plain evaluator like organisers write them (Pillow, boolean arrays,
scikit-learn, one process, no check of values, no interval, no isolation). Below, the parts of our time.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import (
    Contest,
    benchmark_parser,
    evaluate_command,
    parse_or_run_part,
    rows_of,
    run_evaluation,
    write_sample,
)

_NAME = "refuge-full"


def main() -> None:
    """Make the samples, time the commands and print the tables."""
    parser = benchmark_parser(__doc__, cases=400, runs=5)
    if (arguments := parse_or_run_part(parser, _PARTS)) is not None:
        rows_of(contests(arguments.cases), arguments.runs)


def contests(cases: int = 400) -> Iterator[Contest]:
    """Yield the contests of PNG and of BMP references."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_sample("refuge", folder, _NAME, "--name", _NAME, "--cases", str(cases))
        for extension in ("PNG", "BMP"):
            if extension == "BMP":
                _make_bitmaps(folder)
            part = [sys.executable, "-m", "benchmarks.refuge", "--folder", temporary, "--only"]
            commands = {
                "evaluate (2 workers, intervals)": evaluate_command(folder, _NAME),
                "floor: read the bytes": [*part, "read"],
                "floor: read and decode, one process": [*part, "decode"],
                "rival: plain Pillow and scikit-learn": [*part, "plain"],
            }
            title = f"REFUGE, {cases} BMP masks of 1634 × 1634 against {extension} references"
            yield Contest(title, commands)
            stages = [sys.executable, "-m", "benchmarks.stages", *evaluate_command(folder, _NAME)[3:]]
            subprocess.run(stages, check=True)


def _make_bitmaps(folder: Path) -> None:
    """Replace the PNG references by BMP files of the same pixels, and seal the phase again."""
    from PIL import Image

    phase = folder / "ground-truth" / _NAME
    for path in (phase / "masks").glob("*.png"):
        with Image.open(path) as image:
            image.save(path.with_suffix(".bmp"))
        path.unlink()
    run_evaluation("seal", str(phase))


def _files(folder: Path) -> list[tuple[Path, Path]]:
    masks = sorted((folder / "submissions" / "good" / "segmentation").iterdir())
    references = {path.stem: path for path in (folder / "ground-truth" / _NAME / "masks").iterdir()}
    return [(path, references[path.stem]) for path in masks]


def _read(folder: Path) -> None:
    buffer = bytearray(1 << 23)
    for pair in _files(folder):
        for path in pair:
            with path.open("rb", buffering=0) as file:
                file.readinto(buffer)


def _decode(folder: Path) -> None:
    import numpy as np
    from PIL import Image

    for pair in _files(folder):
        for path in pair:
            np.asarray(Image.open(path))


def _plain(folder: Path) -> None:
    import numpy as np
    from PIL import Image
    from sklearn.metrics import roc_auc_score

    dice: list[tuple[float, float, float]] = []
    for predicted_path, true_path in _files(folder):
        predicted, true = np.array(Image.open(predicted_path)), np.array(Image.open(true_path))
        scores = []
        ratios = []
        for brightest in (0, 128):
            a, b = predicted <= brightest, true <= brightest
            scores.append(2 * np.logical_and(a, b).sum() / (a.sum() + b.sum()))
            ratios.append((a.sum(axis=0).max(), b.sum(axis=0).max()))
        (cup_a, cup_b), (disc_a, disc_b) = ratios
        dice.append((*scores, abs(cup_a / disc_a - cup_b / disc_b)))
    with (folder / "submissions" / "good" / "classification_results.csv").open() as file:
        likelihood = {row["FileName"]: float(row["Glaucoma Risk"]) for row in csv.DictReader(file)}
    with (folder / "ground-truth" / _NAME / "cases.csv").open() as file:
        label = {row["name"]: int(row["glaucoma"]) for row in csv.DictReader(file)}
    roc_auc_score([label[name] for name in likelihood], list(likelihood.values()))
    np.mean(dice, axis=0)


_PARTS = {"read": _read, "decode": _decode, "plain": _plain}

if __name__ == "__main__":
    main()
