"""JustRAIGS at full size: 9,741 eyes, whole process from start to metrics.json.

    python -m benchmarks.justraigs [--cases 9741] [--runs 5] [--stacks 500 1]

Against floors (starting Python, reading the same JSON files, and parsing them in plain Python), and a rival:
a plain evaluator of the kind that organisers write (a dictionary an eye, scikit-learn, no check, no
interval). In stacks of 1 there are three small files an eye.
"""

from __future__ import annotations

import csv
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.measure import (
    Contest,
    benchmark_parser,
    evaluate_command,
    parse_or_run_part,
    rows_of,
    write_sample,
)

_NAME = "justraigs-full"
_PHASE = f"{_NAME}-phase2"
_STACKS = (500, 1)


def main() -> None:
    """Make the samples, time the commands and print the tables."""
    parser = benchmark_parser(__doc__, cases=9741, runs=5)
    parser.add_argument("--stacks", type=int, nargs="+", default=_STACKS)
    if (arguments := parse_or_run_part(parser, _PARTS)) is not None:
        rows_of(contests(arguments.cases, arguments.stacks), arguments.runs)


def contests(cases: int = 9741, stacks: Sequence[int] = _STACKS) -> Iterator[Contest]:
    """Yield a contest for each size of a stack."""
    for stack in stacks:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            options = ("--cases", str(cases), "--stack", str(stack), "--name", _NAME)
            write_sample("justraigs", folder, _PHASE, *options)
            part = [sys.executable, "-m", "benchmarks.justraigs", "--folder", temporary, "--only"]
            commands = {
                "evaluate (2 workers, intervals)": evaluate_command(folder, _PHASE, f"{_PHASE}/good"),
                "floor: start Python": [sys.executable, "-c", "pass"],
                "floor: read the files": [*part, "read"],
                "floor: read and parse the JSON": [*part, "parse"],
                "rival: plain Python and scikit-learn": [*part, "plain"],
            }
            yield Contest(f"JustRAIGS, {cases} eyes in stacks of up to {stack}", commands)


def _submission(folder: Path) -> Path:
    return folder / "submissions" / _PHASE / "good"


def _read(folder: Path) -> None:
    for path in _submission(folder).rglob("*.json"):
        path.read_bytes()


def _parse(folder: Path) -> None:
    for path in _submission(folder).rglob("*.json"):
        json.loads(path.read_bytes())


def _plain(folder: Path) -> None:
    import numpy as np
    from sklearn.metrics import roc_curve

    submission = _submission(folder)
    with (folder / "ground-truth" / _PHASE / "cases.csv").open() as file:
        rows = {(row["stack_name"], int(row["stack_index"])): row for row in csv.DictReader(file)}
    results: dict[str, dict[str, object]] = {}
    for job in json.loads((submission / "predictions.json").read_bytes()):
        stack = job["inputs"][0]["image"]["name"]
        for output in job["outputs"]:
            socket = output["socket"]
            values = json.loads((submission / job["pk"] / "output" / socket["relative_path"]).read_bytes())
            for index, value in enumerate(values):
                results.setdefault(rows[stack, index]["name"], {})[socket["slug"]] = value
    labels, scores, distances = [], [], []
    for row in rows.values():
        result = results[row["name"]]
        if row["final_label"] == "U":
            continue
        labels.append(row["final_label"] == "RG")
        scores.append(result["multiple-referable-glaucoma-likelihoods"])
        if row["final_label"] != "RG":
            continue
        features = result["stacked-referable-glaucomatous-features"]
        assert isinstance(features, dict)
        marks = [text for text in (row["features_g1"], row["features_g2"], row["features_g3"]) if text]
        agreed = [
            (mark[0] == "1", flag)
            for *mark, flag in zip(*marks, features.values(), strict=True)
            if len({*mark}) == 1
        ]
        distances.append(float(np.mean([true != flag for true, flag in agreed])))
    false_positive_rate, sensitivity, _ = roc_curve(labels, scores)
    assert sensitivity[false_positive_rate <= 0.05].max() > 0
    assert np.mean(distances) > 0


_PARTS = {"read": _read, "parse": _parse, "plain": _plain}

if __name__ == "__main__":
    main()
