"""B-scans with what every annotator marked and with all combinations (the paper's Figs. 9 to 12)."""

from __future__ import annotations

import json
from collections.abc import Iterator
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
from evaluation.challenges.cysts.benchmark.distinction_step import read_distinctions
from evaluation.challenges.cysts.benchmark.evaluation_set import (
    SUPERVISOR,
    AnnotatedBScan,
    open_evaluation_set,
)
from evaluation.challenges.cysts.benchmark.scale import EVERY_INTERVAL, Interval, read_scale
from evaluation.challenges.cysts.benchmark.valued import ValuedBScan, valued
from evaluation.challenges.cysts.benchmark.volume_table import read_strata
from evaluation.core.fault import PhaseError
from evaluation.report.benchmark.painting import RAMP, Colours, as_uri, in_rows, painted
from evaluation.report.page import Gallery, Picture

_MARGIN = 12
_COLUMNS = 4


@dataclass(frozen=True)
class ShownBScan:
    """A B-scan of a vendor, and how often an annotator missed a cyst of the supervisor in it."""

    vendor: str
    b_scan: AnnotatedBScan
    values: ValuedBScan
    missed: int


def b_scan_gallery(folder: Path, work: Path) -> Gallery:
    """Return one B-scan of every vendor, that in which the annotators missed most.

    ``folder``: the input of `fuse cysts`; ``work``: its tables, up to those of the accuracy. Raises
    `PhaseError`.
    """
    accuracies = read_accuracy(work)
    pictures = []
    for shown in chosen_b_scans(folder, work):
        volume, number = shown.b_scan.volume, shown.b_scan.b_scan
        named = [
            ("original", np.zeros_like(shown.values.mean(SUPERVISOR))),
            (SUPERVISOR, shown.values.mean(SUPERVISOR)),
        ]
        for members in groups_of_annotators(sorted(accuracies)):
            methods = combined_values(shown.values, members, accuracies)
            named += [("+".join(members), value) for method, value in methods.items() if method != AVERAGE]
        panels = [(name, _panel(shown, values)) for name, values in named]
        pictures.append(
            Picture(
                case=volume,
                source=as_uri(in_rows(panels, _COLUMNS)),
                caption=f"{shown.vendor}, {volume}, B-scan {number}: cysts of the supervisor missed "
                f"{shown.missed} times by single annotators",
                alternative=f"B-scan {number} of {volume}: {', '.join(name for name, _ in named)}",
            )
        )
    return Gallery(
        "B-scans with their annotations",
        tuple(pictures),
        tuple((colour, f"confidence {confidence:g}") for confidence, colour in RAMP),
        "Means of both runs; combinations by Eq. 4. Of every vendor, the B-scan in which annotators missed "
        "most of the supervisor's cysts.",
    )


def chosen_b_scans(folder: Path, work: Path) -> list[ShownBScan]:
    """Return the B-scan of every vendor in which annotators missed most cysts, the first of equal ones."""
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
    """Return what is around the marks of a B-scan, with values in the box of the marks."""
    image, box = shown.b_scan.image, shown.values.box
    confidence = np.zeros(image.shape)
    confidence[box.slices] = values
    window = tuple(
        slice(max(0, part.start - _MARGIN), min(size, part.stop + _MARGIN))
        for part, size in zip(box.slices, image.shape, strict=True)
    )
    return painted(image[window], confidence[window], shown.b_scan.intensities.highest)


def _interval(work: Path) -> Interval:
    """Return the interval under which the accuracies were measured."""
    path = work / "report.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["accuracy"]["interval"]
    except (OSError, ValueError, KeyError, TypeError):
        raise PhaseError(f"{path}: expected the section of the step accuracy, found none") from None
    if found not in EVERY_INTERVAL:
        raise PhaseError(f"{path}: expected one of {', '.join(EVERY_INTERVAL)}, found {found!r}")
    return "cyst" if found == "cyst" else "level"
