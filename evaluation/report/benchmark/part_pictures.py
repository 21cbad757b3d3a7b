"""B-scans of the built benchmark: the annotators of a part and their combination (Fig. 13)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluation.challenges.cysts.benchmark.combination_step import ANNOTATIONS
from evaluation.challenges.cysts.benchmark.distinction import CONFIDENCES
from evaluation.challenges.cysts.benchmark.evaluation_set import IMAGES
from evaluation.challenges.cysts.benchmark.scans import Scan, scans_in
from evaluation.challenges.cysts.benchmark.task_assignment import read_assignment
from evaluation.challenges.cysts.benchmark.volume_table import read_strata
from evaluation.core.fault import PhaseError
from evaluation.metrics.crop import Box, box_of_content
from evaluation.report.benchmark.painting import RAMP, around, as_uri, in_rows, painted
from evaluation.report.page import Gallery, Picture

_CONFIDENCE = "confidence"


def part_gallery(folder: Path, work: Path, phase: Path) -> Gallery:
    """Return the B-scan with most combined marks of the first volume of every vendor.

    ``folder``: the input of `fuse cysts`; ``work``: its tables; ``phase``: the folder that it built. Raises
    `PhaseError`.
    """
    assigned, strata = read_assignment(work), read_strata(folder)
    first = {stratum.vendor: name for name, stratum in sorted(strata.items(), reverse=True)}
    combined, images = scans_in(phase / _CONFIDENCE), scans_in(folder / IMAGES)
    pictures = []
    for vendor, volume in sorted(first.items()):
        annotators = {
            name: _of(scans_in(folder / ANNOTATIONS / name), volume, folder / ANNOTATIONS / name)
            for name in assigned[volume]
        }
        whole = _of(combined, volume, phase / _CONFIDENCE)
        number = _most_marked(whole)
        values = {name: scan.chosen([number])[number] / CONFIDENCES[-1] for name, scan in annotators.items()}
        values[" + ".join(annotators)] = whole.chosen([number])[number].astype(np.float64)
        scan = _of(images, volume, folder / IMAGES)
        image, brightest = scan.chosen([number])[number], scan.intensities().highest
        box = box_of_content(np.logical_or.reduce([found > 0 for found in values.values()]))
        if box.is_empty:
            box = Box(0, image.shape[0], 0, image.shape[1])
        window = around(box, image.shape)
        panels = [("original", painted(image[window], np.zeros(image.shape)[window], brightest))]
        panels += [(name, painted(image[window], found[window], brightest)) for name, found in values.items()]
        pictures.append(
            Picture(
                case=volume,
                source=as_uri(in_rows(panels, len(panels))),
                caption=f"{vendor}, {volume}, B-scan {number}",
                alternative=f"B-scan {number} of {volume}: {', '.join(name for name, _ in panels)}",
            )
        )
    return Gallery(
        "The benchmark",
        tuple(pictures),
        tuple((colour, f"confidence {confidence:g}") for confidence, colour in RAMP),
        "Of the first volume of every vendor, the B-scan with most combined marks: both annotators of its "
        "part, confidence 5 as 1, and their combination. Fig. 13 of the paper.",
    )


def _of(scans: dict[str, Scan], volume: str, folder: Path) -> Scan:
    if volume not in scans:
        raise PhaseError(f"{folder}/{volume}: is missing")
    return scans[volume]


def _most_marked(scan: Scan) -> int:
    """Return the number, from 1, of the B-scan with most marked pixels, the first of equal ones."""
    return 1 + int(np.argmax([np.count_nonzero(plane) for plane in scan.planes()]))
