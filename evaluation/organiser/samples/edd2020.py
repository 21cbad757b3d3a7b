"""Synthetic EDD2020 phases: overlapping lesions in two sets of images, and submissions of known quality."""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluation.challenges.edd2020.rules import CHALLENGE, SET, Edd2020Options
from evaluation.core.challenge import Values
from evaluation.io.kinds.boxes import Boxes
from evaluation.metrics.crops import Crop, box_of_content
from evaluation.organiser.samples import images
from evaluation.organiser.samples.ellipses import Ellipse, rasterise
from evaluation.organiser.samples.images import DEVIATIONS, Deviation, Quality, jitter
from evaluation.organiser.submission_writer import SampleCase

CLASSES = Edd2020Options().classes
# Annotations of each class in the table of the paper's section III.
_FREQUENCY = np.array([160, 88, 74, 53, 127]) / 502
# Dysplasia and cancer arise within Barrett's oesophagus.
_BARRETT, _WITHIN_BARRETT = 0, (1, 2, 3)
_EMPTY_IMAGES = 0.05


@dataclass(frozen=True)
class Lesion:
    """One object: the index of its class, and its outline."""

    label: int
    outline: Ellipse


@dataclass(frozen=True)
class Frame:
    """One image: name, size in pixels, set and lesions."""

    name: str
    width: int
    height: int
    out_of_sample: bool
    lesions: tuple[Lesion, ...]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--cases", type=int, default=100, help="number of images of the first set")
    add("--out-of-sample", type=int, default=40, help="number of images of the second set")
    add("--width", type=int, default=640, help="in pixels")
    add("--height", type=int, default=512, help="in pixels")


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write a phase and four submissions; return the folders. Raises ValueError for a number out of range."""
    if arguments.cases < 1 or arguments.out_of_sample < 0 or min(arguments.width, arguments.height) < 32:
        raise ValueError("expected at least one case and images of at least 32 × 32 pixels")
    rng = Generator(np.random.PCG64(arguments.seed))

    def draw(position: int) -> tuple[SampleCase, Callable[[Quality], Values]]:
        frame = _draw_frame(position, arguments, rng)
        return _reference(frame), lambda quality: _values(frame, _found(frame, DEVIATIONS[quality], rng))

    cases = arguments.cases + arguments.out_of_sample
    chosen = ["detection", "segmentation", *(["generalisation"] if arguments.out_of_sample else [])]
    tasks = [task for task in CHALLENGE.tasks(Edd2020Options()) if task.name in chosen]
    configuration = images.configured("edd2020", arguments, tasks=json.dumps(chosen))

    def told(done: int) -> None:
        progress(min(done, arguments.cases))

    return images.write_archive_sample(arguments, configuration, tasks, cases, draw, told)


def _draw_frame(position: int, arguments: argparse.Namespace, rng: Generator) -> Frame:
    out_of_sample = position >= arguments.cases
    number = position - arguments.cases + 1 if out_of_sample else position + 1
    lesions: list[Lesion] = []
    if rng.random() >= _EMPTY_IMAGES:
        for _ in range(int(rng.integers(1, 4))):
            lesion = _draw_lesion(arguments.width, arguments.height, rng)
            lesions.append(lesion)
            if lesion.label == _BARRETT and rng.random() < 0.5:
                outline = lesion.outline
                inner = Ellipse(
                    outline.center_x + 0.3 * outline.semi_axis_x * float(rng.uniform(-1, 1)),
                    outline.center_y + 0.3 * outline.semi_axis_y * float(rng.uniform(-1, 1)),
                    outline.semi_axis_x * float(rng.uniform(0.3, 0.6)),
                    outline.semi_axis_y * float(rng.uniform(0.3, 0.6)),
                    outline.tilt_radians,
                )
                lesions.append(Lesion(int(rng.choice(_WITHIN_BARRETT)), inner))
    name = f"{'G' if out_of_sample else 'E'}{number:05d}"
    return Frame(name, arguments.width, arguments.height, out_of_sample, tuple(lesions))


def _draw_lesion(width: int, height: int, rng: Generator) -> Lesion:
    outline = Ellipse(
        center_x=float(rng.uniform(0.2, 0.8)) * width,
        center_y=float(rng.uniform(0.2, 0.8)) * height,
        semi_axis_x=float(rng.uniform(0.08, 0.3)) * width,
        semi_axis_y=float(rng.uniform(0.08, 0.3)) * height,
        tilt_radians=float(rng.uniform(0, pi)),
    )
    return Lesion(int(rng.choice(len(CLASSES), p=_FREQUENCY)), outline)


def _found(frame: Frame, detector: Deviation, rng: Generator) -> list[tuple[Lesion, float]]:
    """Return the lesions that a submission finds and their confidences; it is worse out of sample."""
    strain = 1.5 if frame.out_of_sample else 1.0
    low, high = detector.confidence
    found = [
        (
            Lesion(lesion.label, jitter(lesion.outline, rng, strain * detector.error)),
            float(rng.uniform(low, high)),
        )
        for lesion in frame.lesions
        if rng.random() >= min(1.0, strain * detector.missed)
    ]
    invented = [
        (_draw_lesion(frame.width, frame.height, rng), float(rng.uniform(0.0, (low + high) / 2)))
        for _ in range(int(rng.poisson(strain * detector.invented)))
    ]
    return [*found, *invented]


def _reference(frame: Frame) -> SampleCase:
    columns = {"width": str(frame.width), "height": str(frame.height)}
    columns[SET.name] = SET.values[int(frame.out_of_sample)]
    values = _values(frame, [(lesion, 1.0) for lesion in frame.lesions])
    return SampleCase(frame.name, columns, values)


def _values(frame: Frame, found: Sequence[tuple[Lesion, float]]) -> dict[str, Any]:
    drawn = [
        (lesion.label, confidence, patch)
        for lesion, confidence in found
        if (patch := rasterise(lesion.outline, frame.width, frame.height)).values.any()
    ]
    rows = [[label, round(confidence, 4), *_corners(patch)] for label, confidence, patch in drawn]
    boxes = Boxes(np.array(rows, dtype=np.float64).reshape(-1, 6))
    if frame.out_of_sample:
        return {"generalisation_boxes": boxes}
    mask: NDArray[np.bool_] = np.zeros((len(CLASSES), frame.height, frame.width), dtype=np.bool_)
    for label, _, patch in drawn:
        mask[label][patch.box.slices] |= patch.values
    return {"detection_boxes": boxes, "masks": mask}


def _corners(patch: Crop) -> tuple[int, int, int, int]:
    """Return the first and last pixel of a region as x1, y1, x2, y2, both inclusive."""
    box = box_of_content(patch.values)
    return patch.left + box.left, patch.top + box.top, patch.left + box.right - 1, patch.top + box.bottom - 1
