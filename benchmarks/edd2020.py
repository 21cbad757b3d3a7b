"""Detection of 10,000 images: this package against pycocotools and faster-coco-eval, in one run.

    python -m benchmarks.edd2020 [--images 10000] [--repeats 3]

The rivals' rules differ (they match with any free box and sample the curve at 101 recalls), so only their
time is compared: from files (two JSON files for them, a text file per image and set for us, each verified
against the seal) and from what is in memory to AP at 11 thresholds. They have one process.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.edd2020.rules import CHALLENGE, Edd2020Options
from evaluation.evaluate import Rejection, evaluate
from evaluation.io.box_lines import BoxFormat, read_box_lines
from evaluation.io.kinds.boxes import Boxes, BoxList
from evaluation.io.pixels import Size
from evaluation.io.tables import write_csv
from evaluation.metrics.box_matching import match_boxes
from evaluation.metrics.detection import DetectionTable
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import load_phase

_WIDTH, _HEIGHT = 640, 512
_CLASSES = Edd2020Options().classes
_THRESHOLDS = Edd2020Options().iou_thresholds
Rows = NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    references, predictions = draw(arguments.images, np.random.Generator(np.random.PCG64(0)))
    boxes = sum(map(len, references)), sum(map(len, predictions))
    print(f"{arguments.images} images, {boxes[0]} reference boxes, {boxes[1]} detections, 11 thresholds")
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), references, predictions, arguments.repeats)


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


def measure(folder: Path, references: list[Rows], predictions: list[Rows], repeats: int) -> None:
    """Print times of every part, and ratios to the rivals."""
    from faster_coco_eval import COCO as FasterCOCO  # noqa: N811
    from faster_coco_eval import COCOeval_faster
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    phase_folder, submission = write_phase_folder(folder, references, predictions)
    json_files = write_coco(folder, references, predictions)
    texts = read_texts(phase_folder, submission)
    ours, serial, theirs, faster, in_memory, curves, parsing = (list[float]() for _ in range(7))
    for _ in range(repeats):  # in turn, so that a change of the machine's speed meets all
        for times, workers in ((ours, 2), (serial, 0)):
            with timed(times):
                result = evaluate(load_phase(phase_folder), submission, workers)
                if isinstance(result, Rejection):
                    raise SystemExit(str(next(iter(result.faults))))
                metrics = result.metrics
        with timed(in_memory):
            value = from_arrays(references, predictions, curves)
        with timed(parsing):
            parse_all(texts)
        for times, coco, evaluator in ((theirs, COCO, COCOeval), (faster, FasterCOCO, COCOeval_faster)):
            times.append(rival(json_files, coco, evaluator))
    if abs(metrics.aggregates["detection"]["map_d"].value - value) > 1e-9:
        raise SystemExit("the figures from files and from arrays differ")
    rival_memory = [rival_in_memory(json_files, FasterCOCO, COCOeval_faster) for _ in range(repeats)]
    slower_memory = [rival_in_memory(json_files, COCO, COCOeval) for _ in range(repeats)]
    show("this package, text files to metrics, 2 workers", ours)
    show("this package, text files to metrics, one process", serial)
    show("  of which parsing of text", parsing)
    show("pycocotools, JSON files to AP", theirs, serial)
    show("faster-coco-eval, JSON files to AP", faster, serial)
    show("this package, arrays to AP", in_memory)
    show("  of which curves", curves)
    show("pycocotools, loaded to AP", slower_memory, in_memory)
    show("faster-coco-eval, loaded to AP", rival_memory, in_memory)


def show(what: str, seconds: list[float], ours: list[float] | None = None) -> None:
    """Print the median of some runs, and how many times longer than ours it is."""
    ratio = f"   {statistics.median(seconds) / statistics.median(ours):6.2f} × ours" if ours else ""
    print(f"{what:<58} {statistics.median(seconds):7.3f} s ({min(seconds):.3f} to {max(seconds):.3f}){ratio}")


@contextmanager
def timed(times: list[float]) -> Iterator[None]:
    """Append the seconds that the block takes."""
    start = time.perf_counter()
    yield
    times.append(time.perf_counter() - start)


def from_arrays(references: list[Rows], predictions: list[Rows], curves: list[float]) -> float:
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
    with timed(curves):
        table = DetectionTable(images, classes, predicted[:, 1], matches, counts, _THRESHOLDS)
        precision = table.average_precision(np.ones((1, len(references))))
    return float(precision.mean())


def read_texts(phase: Path, submission: Path) -> dict[bool, list[memoryview]]:
    """Return the bytes of all files, those with confidences and those without."""
    return {
        with_confidence: [memoryview(path.read_bytes()) for path in (folder / "detection_bbox").iterdir()]
        for with_confidence, folder in ((True, submission), (False, phase))
    }


def parse_all(texts: dict[bool, list[memoryview]]) -> None:
    """Parse the text of all files."""
    classes = {name: index for index, name in enumerate(_CLASSES)}
    for with_confidence, files in texts.items():
        form = BoxFormat(classes, with_confidence)
        for data in files:
            read_box_lines(data, form, Size(_WIDTH, _HEIGHT), 10_000)


def write_phase_folder(folder: Path, references: list[Rows], predictions: list[Rows]) -> tuple[Path, Path]:
    """Write a sealed phase with the detection task and a submission; return their folders."""
    phase, submission = folder / "phase", folder / "submission"
    for root, with_confidence, images in ((phase, False, references), (submission, True, predictions)):
        kind = BoxList(_CLASSES, with_confidence)
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


def rival(files: tuple[Path, Path], coco: Callable[..., Any], evaluator: Callable[..., Any]) -> float:
    """Return the seconds from JSON files to AP."""
    start = time.perf_counter()
    _accumulate(*_load(files, coco), evaluator)
    return time.perf_counter() - start


def rival_in_memory(
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


if __name__ == "__main__":
    main()
