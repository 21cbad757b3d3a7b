"""Synthetic EDD2020 phases: overlapping lesions in two sets of images, and submissions of known quality."""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluation.challenges.edd2020.rules import CHALLENGE, SET, Edd2020Options
from evaluation.cli.common import Argument
from evaluation.core.challenge import Values
from evaluation.io.kinds.boxes import Boxes
from evaluation.io.pixels import Size
from evaluation.metrics.crops import Crop, content_of
from evaluation.organiser.samples import images
from evaluation.organiser.samples.images import DEVIATIONS, Ellipse, Quality, jitter
from evaluation.organiser.submission_writer import SampleCase

CLASSES = Edd2020Options().classes
# Annotations of each class in the table of the paper's section III.
_FREQUENCY = np.array([160, 88, 74, 53, 127]) / 502
# Dysplasia and cancer arise within Barrett's oesophagus.
_BARRETT, _WITHIN_BARRETT = 0, (1, 2, 3)
_EMPTY_IMAGES = 0.05


@dataclass(frozen=True)
class Lesion:
    """One object: the index of its class, its outline, and how sure of it a submission is."""

    label: int
    outline: Ellipse
    confidence: float = 1.0


ARGUMENTS = (
    Argument("--cases", "number of images of the first set", type=int, default=100),
    Argument("--out-of-sample", "number of images of the second set", type=int, default=40),
    Argument("--width", "in pixels", type=int, default=640),
    Argument("--height", "in pixels", type=int, default=512),
)


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write a phase and four submissions; return the folders. Raises ValueError for a number out of range."""
    if arguments.cases < 1 or arguments.out_of_sample < 0 or min(arguments.width, arguments.height) < 32:
        raise ValueError("expected at least one case and images of at least 32 × 32 pixels")
    rng, size = Generator(np.random.PCG64(arguments.seed)), Size(arguments.width, arguments.height)

    def draw(position: int) -> tuple[SampleCase, Callable[[Quality], Values]]:
        later = max(0, position - arguments.cases + 1)
        name = f"G{later:05d}" if later else f"E{position + 1:05d}"
        lesions = _draw_lesions(size, rng)
        columns = images.size_columns(size) | {SET.name: SET.values[int(later > 0)]}

        def predict(quality: Quality) -> Values:
            return _values(_found(lesions, quality, 1.5 if later else 1.0, size, rng), size, later > 0)

        return SampleCase(name, columns, _values(lesions, size, later > 0)), predict

    cases = arguments.cases + arguments.out_of_sample
    chosen = ["detection", "segmentation", *(["generalisation"] if arguments.out_of_sample else [])]
    tasks = [task for task in CHALLENGE.tasks(Edd2020Options()) if task.name in chosen]
    configuration = images.configured("edd2020", arguments, tasks=json.dumps(chosen))

    def told(done: int) -> None:
        progress(min(done, arguments.cases))

    return images.write_archive_sample(arguments, configuration, tasks, cases, draw, told)


def _draw_lesions(size: Size, rng: Generator) -> list[Lesion]:
    """Return the lesions of an image, some of them within a Barrett's oesophagus."""
    lesions: list[Lesion] = []
    if rng.random() >= _EMPTY_IMAGES:
        for _ in range(int(rng.integers(1, 4))):
            lesions.append(_draw_lesion(size, rng))
            if lesions[-1].label == _BARRETT and rng.random() < 0.5:
                outer = lesions[-1].outline
                away_x, away_y = 0.3 * rng.uniform(-1, 1, 2)
                scale_x, scale_y = rng.uniform(0.3, 0.6, 2)
                inner = Ellipse(
                    outer.center_x + away_x * outer.semi_axis_x,
                    outer.center_y + away_y * outer.semi_axis_y,
                    outer.semi_axis_x * scale_x,
                    outer.semi_axis_y * scale_y,
                    outer.tilt_radians,
                )
                lesions.append(Lesion(int(rng.choice(_WITHIN_BARRETT)), inner))
    return lesions


def _draw_lesion(size: Size, rng: Generator, confidence: float = 1.0) -> Lesion:
    center_x, center_y = rng.uniform(0.2, 0.8, 2) * (size.width, size.height)
    along, across = rng.uniform(0.08, 0.3, 2) * (size.width, size.height)
    outline = Ellipse(center_x, center_y, along, across, rng.uniform(0, pi))
    return Lesion(int(rng.choice(len(CLASSES), p=_FREQUENCY)), outline, confidence)


def _found(
    lesions: Sequence[Lesion], quality: Quality, strain: float, size: Size, rng: Generator
) -> list[Lesion]:
    """Return the lesions that a submission finds; strain: how much worse it is, as out of sample."""
    detector = DEVIATIONS[quality]
    low, high = detector.confidence
    found = [
        replace(
            lesion,
            outline=jitter(lesion.outline, rng, strain * detector.error),
            confidence=rng.uniform(low, high),
        )
        for lesion in lesions
        if rng.random() >= min(1.0, strain * detector.missed)
    ]
    invented = range(rng.poisson(strain * detector.invented))
    return [*found, *(_draw_lesion(size, rng, rng.uniform(0.0, (low + high) / 2)) for _ in invented)]


def _values(lesions: Sequence[Lesion], size: Size, out_of_sample: bool) -> dict[str, Any]:
    rasterised = ((lesion, images.rasterise(lesion.outline, size)) for lesion in lesions)
    drawn = [(lesion, patch) for lesion, patch in rasterised if patch.values.any()]
    rows = [[lesion.label, round(lesion.confidence, 4), *_corners(patch)] for lesion, patch in drawn]
    boxes = Boxes(np.array(rows, dtype=np.float64).reshape(-1, 6))
    if out_of_sample:
        return {"generalisation_boxes": boxes}
    mask: NDArray[np.bool_] = np.zeros((len(CLASSES), size.height, size.width), dtype=np.bool_)
    for lesion, patch in drawn:
        mask[lesion.label][patch.box.slices] |= patch.values
    return {"detection_boxes": boxes, "masks": mask}


def _corners(patch: Crop) -> tuple[int, int, int, int]:
    """Return the first and last pixel of a region as x1, y1, x2, y2, both inclusive."""
    box = content_of(patch.values).moved(patch.corner).box
    (top, left), (bottom, right) = box.corner, box.end
    return left, top, right - 1, bottom - 1
