"""Detection of 10,000 images: this package against pycocotools and faster-coco-eval, in one run.

    python -m benchmarks.edd2020 [--cases 10000] [--runs 5]

The rivals' rules differ (they match with any free box and sample the curve at 101 recalls), so only their
time is compared: whole processes from files (two JSON files for them, a text file per image and set for us,
each verified against the seal), and from arrays in memory to AP at 11 thresholds. They have one process.
"""

from __future__ import annotations

import contextlib
import io
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Contest, Row, benchmark_parser, parse_or_run_part, rows_of
from evaluation.challenges.edd2020.rules import CHALLENGE, Edd2020Options
from evaluation.io.kinds.boxes import Boxes, BoxList, read_plain_boxes
from evaluation.io.kinds.objects import Attributes
from evaluation.io.pixels import Size
from evaluation.io.tables import write_csv
from evaluation.metrics.boxes import match_boxes
from evaluation.metrics.detection import DetectionTable
from evaluation.phase.manifest import scan, seal

_WIDTH, _HEIGHT = 640, 512
_CLASSES = Edd2020Options().classes
_THRESHOLDS = Edd2020Options().iou_thresholds
Rows = NDArray[np.float64]


def main() -> None:
    """Write the files, time the commands and the computation in memory, and print the tables."""
    parser = benchmark_parser(__doc__, cases=10_000, runs=5)
    if (arguments := parse_or_run_part(parser, _PARTS)) is not None:
        rows_of(contests(arguments.cases), arguments.runs)
        rows_in_memory(arguments.cases, arguments.runs)


def contests(cases: int = 10_000) -> Iterator[Contest]:
    """Yield the contest of whole processes, from files."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        references, predictions = draw(cases, np.random.Generator(np.random.PCG64(0)))
        phase, submission = write_phase_folder(folder, references, predictions)
        write_coco(folder, references, predictions)
        part = [sys.executable, "-m", "benchmarks.edd2020", "--folder", temporary, "--only"]
        evaluate = [
            *(sys.executable, "-m", "evaluation", "evaluate", "--output", temporary),
            *("--input", str(submission), "--ground-truth", str(phase), "--workers"),
        ]
        commands = {
            "evaluate (2 workers)": [*evaluate, "2"],
            "evaluate (1 worker)": [*evaluate, "1"],
            "evaluate (one process, no isolation)": [*evaluate, "0"],
            "floor: read the files": [*part, "read"],
            "floor: read and parse the files": [*part, "parse"],
            "rival: faster-coco-eval, from JSON": [*part, "faster-coco-eval"],
            "rival: pycocotools, from JSON": [*part, "pycocotools"],
        }
        boxes = sum(map(len, references)), sum(map(len, predictions))
        title = f"EDD2020, {cases} text files a side, {boxes[0]} reference boxes, {boxes[1]} detections"
        yield Contest(title, commands)


def rows_in_memory(cases: int = 10_000, runs: int = 5) -> list[Row]:
    """Print and return the rows of the computation alone, from arrays or loaded boxes to AP."""
    references, predictions = draw(cases, np.random.Generator(np.random.PCG64(0)))
    with tempfile.TemporaryDirectory() as temporary:
        files = write_coco(Path(temporary), references, predictions)
        ours, faster, slower = (list[float]() for _ in range(3))
        for _ in range(runs):  # in turn, so that a change of the machine's speed meets all
            started = time.perf_counter()
            from_arrays(references, predictions)
            ours.append(time.perf_counter() - started)
            faster.append(_rival_in_memory(files, *_faster()))
            slower.append(_rival_in_memory(files, *_pycocotools()))
    title = f"EDD2020, {cases} images in memory, from boxes to AP"
    median = statistics.median(ours)
    rows = [Row(title, "this package, from arrays", median)]
    for name, seconds in (
        ("rival: faster-coco-eval, loaded", faster),
        ("rival: pycocotools, loaded", slower),
    ):
        rows.append(Row(title, name, statistics.median(seconds), statistics.median(seconds) / median))
    print(f"\n{title}")
    for row in rows:
        print(f"{row.name:<44} {row.seconds:>8.3f} {1 / (row.ratio or 1):>10.2f}")
    return rows


def draw(images: int, rng: np.random.Generator) -> tuple[list[Rows], list[Rows]]:
    """Return reference and predicted boxes of every image: 2.5 and 5.1 on average."""
    references, predictions = [], []
    for _ in range(images):
        reference = _boxes(int(rng.integers(1, 5)), rng)
        found = reference[rng.random(len(reference)) < 0.85].copy()
        found[:, 2:] += rng.normal(0, 12, (len(found), 4)).round()
        predicted = np.concatenate([found, _boxes(int(rng.integers(0, 7)), rng)])
        predicted[:, 1] = rng.random(len(predicted)).round(4)
        corners = predicted[:, 2:].reshape(-1, 2, 2)
        predicted[:, 2:] = np.sort(np.clip(corners, 0, (_WIDTH, _HEIGHT)), axis=1).reshape(-1, 4)
        references.append(reference)
        predictions.append(predicted)
    return references, predictions


def _boxes(number: int, rng: np.random.Generator) -> Rows:
    first = rng.integers((0, 0), (_WIDTH - 200, _HEIGHT - 200), (number, 2))
    second = first + rng.integers(30, 200, (number, 2))
    return np.column_stack((rng.integers(0, 5, number), np.ones(number), first, second)).astype(np.float64)


def from_arrays(references: list[Rows], predictions: list[Rows]) -> float:
    """Return mAP_d from one array of boxes per image."""
    reference, predicted = np.concatenate(references), np.concatenate(predictions)
    reference_images = np.repeat(np.arange(len(references)), [len(rows) for rows in references])
    images = np.repeat(np.arange(len(predictions)), [len(rows) for rows in predictions])
    classes = predicted[:, 0].astype(np.int64)
    groups = reference_images * len(_CLASSES) + reference[:, 0].astype(np.int64)
    matches = match_boxes(
        predicted[:, 2:], images * len(_CLASSES) + classes, predicted[:, 1], reference[:, 2:], groups, True
    )
    counts = np.bincount(groups, minlength=len(references) * len(_CLASSES)).reshape(-1, len(_CLASSES))
    hits = matches.found(np.array(_THRESHOLDS))
    table = DetectionTable(images, classes, predicted[:, 1], hits, counts, _THRESHOLDS)
    precision = table.average_precision(np.ones((1, len(references))))
    return float(precision.mean())


def _texts(folder: Path) -> Iterator[tuple[bool, bytes]]:
    """Yield the content of all files, and whether it holds confidences."""
    for with_confidence, name in ((True, "submission"), (False, "phase")):
        for path in (folder / name / "detection_bbox").iterdir():
            yield with_confidence, path.read_bytes()


def _read(folder: Path) -> None:
    for _ in _texts(folder):
        pass


def _parse(folder: Path) -> None:
    for with_confidence, data in _texts(folder):
        read_plain_boxes([data], _CLASSES, with_confidence, [Size(_WIDTH, _HEIGHT)], 10_000)


def write_phase_folder(folder: Path, references: list[Rows], predictions: list[Rows]) -> tuple[Path, Path]:
    """Write a sealed phase with the detection task and a submission; return their folders."""
    phase, submission = folder / "phase", folder / "submission"
    for root, with_confidence, images in ((phase, False, references), (submission, True, predictions)):
        kind = BoxList(attributes=Attributes(_CLASSES, with_confidence))
        (root / "detection_bbox").mkdir(parents=True)
        for number, rows in enumerate(images):
            path = root / "detection_bbox" / f"E{number:05d}.txt"
            path.write_bytes(kind.write_file(Boxes(rows), ".txt"))
    (phase / "phase.toml").write_text(
        f'challenge = "{CHALLENGE.name}"\nname = "benchmark"\ntitle = "Benchmark"\n'
        'submission = "archive"\ntasks = ["detection"]\n'
    )
    rows_of_table = [[f"E{n:05d}", str(_WIDTH), str(_HEIGHT)] for n in range(len(references))]
    write_csv(phase / "cases.csv", ["name", "width", "height"], rows_of_table)
    seal(phase, scan(phase))
    return phase, submission


def write_coco(folder: Path, references: list[Rows], predictions: list[Rows]) -> tuple[Path, Path]:
    """Write the same boxes as the rivals read them; return annotations and results."""

    def entries(images: list[Rows], score: bool) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for image, rows in enumerate(images):
            for label, confidence, x1, y1, x2, y2 in rows.tolist():
                width, height = x2 - x1 + 1, y2 - y1 + 1
                entry: dict[str, Any] = {
                    "image_id": image,
                    "category_id": int(label) + 1,
                    "bbox": [x1, y1, width, height],
                }
                if score:
                    entry["score"] = confidence
                else:
                    entry |= {"id": len(found) + 1, "area": width * height, "iscrowd": 0}
                found.append(entry)
        return found

    truth = {
        "info": {},
        "images": [{"id": n, "width": _WIDTH, "height": _HEIGHT} for n in range(len(references))],
        "categories": [{"id": index + 1, "name": name} for index, name in enumerate(_CLASSES)],
        "annotations": entries(references, score=False),
    }
    paths = folder / "truth.json", folder / "results.json"
    paths[0].write_text(json.dumps(truth))
    paths[1].write_text(json.dumps(entries(predictions, score=True)))
    return paths


Rival = tuple[Callable[..., Any], Callable[..., Any]]


def _faster() -> Rival:
    from faster_coco_eval import COCO, COCOeval_faster

    return COCO, COCOeval_faster


def _pycocotools() -> Rival:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    return COCO, COCOeval


def _from_json(folder: Path, rival: Callable[[], Rival]) -> None:
    coco, evaluator = rival()
    _accumulate(*_load((folder / "truth.json", folder / "results.json"), coco), evaluator)


def _rival_in_memory(
    files: tuple[Path, Path], coco: Callable[..., Any], evaluator: Callable[..., Any]
) -> float:
    """Return the seconds from loaded boxes to AP."""
    loaded = _load(files, coco)
    start = time.perf_counter()
    _accumulate(*loaded, evaluator)
    return time.perf_counter() - start


def _load(files: tuple[Path, Path], coco: Callable[..., Any]) -> tuple[Any, Any]:
    with contextlib.redirect_stdout(io.StringIO()):
        truth = coco(str(files[0]))
        return truth, truth.loadRes(str(files[1]))


def _accumulate(truth: Any, results: Any, evaluator: Callable[..., Any]) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        evaluation = evaluator(truth, results, iouType="bbox")
        evaluation.params.iouThrs = np.array(_THRESHOLDS)
        evaluation.params.areaRng, evaluation.params.areaRngLbl = [[0, 1e10]], ["all"]
        evaluation.params.maxDets = [100]
        evaluation.evaluate()
        evaluation.accumulate()


_PARTS: dict[str, Callable[[Path], None]] = {
    "read": _read,
    "parse": _parse,
    "faster-coco-eval": lambda folder: _from_json(folder, _faster),
    "pycocotools": lambda folder: _from_json(folder, _pycocotools),
}

if __name__ == "__main__":
    main()
