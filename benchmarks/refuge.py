"""REFUGE at full size: 400 masks of 1634 × 1634, whole process from start to metrics.json.

    python -m benchmarks.refuge [--cases 400] [--runs 5]

Against two floors (only reading the bytes of submission and reference; reading and decoding them) and a
rival: a plain evaluator of the kind that organisers write (Pillow, boolean arrays, scikit-learn, one process,
no check of values, no interval, no isolation).
"""

from __future__ import annotations

import csv
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import (
    benchmark_parser,
    evaluate_command,
    measure,
    parse_or_run_part,
    report,
    seconds_to_first_open,
    write_sample,
)

_NAME = "refuge-full"


def main() -> None:
    """Make the sample, time the commands and print the table."""
    parser = benchmark_parser(__doc__, cases=400, runs=5)
    if (arguments := parse_or_run_part(parser, _PARTS)) is None:
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_sample("refuge", folder, _NAME, "--name", _NAME, "--cases", str(arguments.cases))
        evaluate = evaluate_command(folder, _NAME)
        part = [sys.executable, "-m", "benchmarks.refuge", "--folder", temporary, "--only"]
        commands = {
            "evaluate (2 workers, intervals)": evaluate,
            "floor: read the bytes": [*part, "read"],
            "floor: read and decode, one process": [*part, "decode"],
            "rival: plain Pillow and scikit-learn": [*part, "plain"],
        }
        print(f"{arguments.cases} cases of 1634 × 1634, BMP masks against PNG references")
        report(measure(commands, arguments.runs), "evaluate (2 workers, intervals)")
        masks = folder / "submissions" / "good" / "segmentation"
        first = seconds_to_first_open(evaluate, masks, arguments.runs)
        print(f"{'from process start to the first mask':<44} {first:>8.2f}")


def _files(folder: Path) -> list[tuple[Path, Path]]:
    masks = sorted((folder / "submissions" / "good" / "segmentation").iterdir())
    references = folder / "ground-truth" / _NAME / "masks"
    return [(path, references / f"{path.stem}.png") for path in masks]


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
