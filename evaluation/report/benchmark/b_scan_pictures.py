"""B-scans with both runs of every annotator and with all combinations (the paper's Figs. 8 to 12)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.benchmark.accuracy_step import read_accuracy
from evaluation.challenges.cysts.benchmark.comparison_step import (
    AVERAGE,
    combined_values,
    count_cysts,
    groups_of_annotators,
    marked_by,
)
from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES
from evaluation.challenges.cysts.benchmark.distinction_step import read_distinctions
from evaluation.challenges.cysts.benchmark.evaluation_set import (
    RUNS,
    SUPERVISOR,
    AnnotatedBScan,
    open_evaluation_set,
)
from evaluation.challenges.cysts.benchmark.scale import EVERY_INTERVAL, Interval, read_scale
from evaluation.challenges.cysts.benchmark.valued import ValuedBScan, valued
from evaluation.challenges.cysts.benchmark.volume_table import read_strata
from evaluation.core.fault import PhaseError
from evaluation.report.benchmark.painting import RAMP, Colours, around, as_uri, in_rows, painted
from evaluation.report.page import Gallery, Picture

_COLUMNS = 4


@dataclass(frozen=True)
class ShownBScan:
    """A B-scan of a vendor, and how often an annotator missed a cyst of the supervisor in it."""

    vendor: str
    b_scan: AnnotatedBScan
    values: ValuedBScan
    missed: int


def run_gallery(b_scans: Sequence[ShownBScan]) -> Gallery:
    """Return B-scans with every annotator's marks in each run, the supervisor first (Fig. 8)."""
    pictures = []
    for shown in b_scans:
        levels = shown.b_scan.levels
        panels = [("original", _painted(shown, np.zeros(shown.b_scan.image.shape)))]
        for name in sorted({name for name, _ in levels}, key=lambda name: (name != SUPERVISOR, name)):
            panels += [
                (f"{name}, {run}", _painted(shown, levels[name, run] / CONFIDENCES[-1])) for run in RUNS
            ]
        pictures.append(_picture(shown, panels, 1 + len(RUNS), "each annotated twice"))
    note = "Confidence 5 of an annotator is 1. The same B-scans as under Combinations. Fig. 8 of the paper."
    return Gallery("First and second annotations", tuple(pictures), _legend(), note)


def b_scan_gallery(b_scans: Sequence[ShownBScan], work: Path) -> Gallery:
    """Return B-scans with the means of both runs and with all combinations (Figs. 9 to 12).

    ``work``: the tables of `fuse cysts`, up to the accuracy. Raises `PhaseError`.
    """
    accuracies = read_accuracy(work)
    pictures = []
    for shown in b_scans:
        named = [
            ("original", np.zeros_like(shown.values.mean(SUPERVISOR))),
            (SUPERVISOR, shown.values.mean(SUPERVISOR)),
        ]
        for members in groups_of_annotators(sorted(accuracies)):
            methods = combined_values(shown.values, members, accuracies)
            named += [("+".join(members), value) for method, value in methods.items() if method != AVERAGE]
        panels = [(name, _panel(shown, values)) for name, values in named]
        missed = f"cysts of the supervisor missed {shown.missed} times by single annotators"
        pictures.append(_picture(shown, panels, _COLUMNS, missed))
    return Gallery(
        "B-scans with their annotations",
        tuple(pictures),
        _legend(),
        "Means of both runs; combinations by Eq. 4. Of every vendor, the B-scan in which annotators missed "
        "most of the supervisor's cysts.",
    )


def chosen_b_scans(folder: Path, work: Path) -> list[ShownBScan]:
    """Return each vendor's B-scan with the most missed cysts, the first of equal ones."""
    best: dict[str, ShownBScan] = {}
    for shown in _every_b_scan(folder, work):
        if shown.vendor not in best or shown.missed > best[shown.vendor].missed:
            best[shown.vendor] = shown
    return [best[vendor] for vendor in sorted(best)]


def _every_b_scan(folder: Path, work: Path) -> Iterator[ShownBScan]:
    strata = read_strata(folder)
    evaluation_set = open_evaluation_set(folder, strata, 0)
    scale, measured = read_scale(work, _interval(work)), read_distinctions(work)
    for b_scan in evaluation_set:
        values = valued(b_scan, scale, measured)
        true = marked_by(values, (SUPERVISOR,))
        counts = [count_cysts(marked_by(values, (name,)), true) for name in evaluation_set.annotators]
        missed = sum(found.cysts - found.found for found in counts)
        yield ShownBScan(strata[b_scan.volume].vendor, b_scan, values, missed)


def _panel(shown: ShownBScan, values: NDArray[np.float64]) -> Colours:
    """Return the surroundings of the marks of a B-scan, with values in the box of the marks."""
    confidence = np.zeros(shown.b_scan.image.shape)
    confidence[shown.values.box.slices] = values
    return _painted(shown, confidence)


def _painted(shown: ShownBScan, confidence: NDArray[np.float64]) -> Colours:
    """Return the surroundings of the marks of a B-scan, with confidences everywhere."""
    image = shown.b_scan.image
    window = around(shown.values.box, image.shape)
    return painted(image[window], confidence[window], shown.b_scan.intensities.highest)


def _picture(shown: ShownBScan, panels: Sequence[tuple[str, Colours]], columns: int, text: str) -> Picture:
    volume, number = shown.b_scan.volume, shown.b_scan.b_scan
    return Picture(
        case=volume,
        source=as_uri(in_rows(panels, columns)),
        caption=f"{shown.vendor}, {volume}, B-scan {number}: {text}",
        alternative=f"B-scan {number} of {volume}: {', '.join(name for name, _ in panels)}",
    )


def _legend() -> tuple[tuple[str, str], ...]:
    return tuple((colour, f"confidence {confidence:g}") for confidence, colour in RAMP)


def _interval(work: Path) -> Interval:
    """Return the interval behind the accuracies."""
    path = work / "report.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["accuracy"]["interval"]
    except (OSError, ValueError, KeyError, TypeError):
        raise PhaseError(f"{path}: expected the section of the step accuracy, found none") from None
    if found not in EVERY_INTERVAL:
        raise PhaseError(f"{path}: expected one of {', '.join(EVERY_INTERVAL)}, found {found!r}")
    return "cyst" if found == "cyst" else "level"
