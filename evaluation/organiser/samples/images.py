"""What samples have in common: drawn eyes and lesions, submissions of four qualities, and their archives."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib.resources import files
from math import ceil, cos, exp, floor, hypot, pi, sin
from pathlib import Path
from string import Template

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluation.core.challenge import Task, Values, fields_of, references_of
from evaluation.io.pixels import Size
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.crops import Crop
from evaluation.organiser.submission_writer import ArchiveWriter, SampleCase, write_phase


class Quality(StrEnum):
    """Quality of a synthetic submission, best first."""

    PERFECT = "perfect"
    GOOD = "good"
    POOR = "poor"
    RANDOM = "random"


@dataclass(frozen=True)
class Deviation:
    """How a submission differs from the truth.

    error: of outlines, see `jitter`; missed: the share of what is there that it overlooks; invented: the mean
    number of false objects in an image; confidence: the lowest and the highest of true objects; auc: the area
    under the ROC curve of its likelihoods.
    """

    error: float
    missed: float
    invented: float
    confidence: tuple[float, float]
    auc: float


DEVIATIONS = {
    Quality.PERFECT: Deviation(0.0, 0.0, 0.0, (1.0, 1.0), 1.0),
    Quality.GOOD: Deviation(0.06, 0.08, 0.15, (0.55, 0.99), 0.95),
    Quality.POOR: Deviation(0.2, 0.35, 0.6, (0.3, 0.95), 0.8),
    Quality.RANDOM: Deviation(0.0, 1.0, 2.0, (0.0, 1.0), 0.5),
}
_MIDDLE = -1.5
"""The mean score of negatives: most are below a likelihood of 0.5, as of a rare disease."""


def likelihoods(
    positive: Bools, rng: Generator, good: float = DEVIATIONS[Quality.GOOD].auc
) -> dict[Quality, Floats]:
    """Return the likelihoods of the cases, shape (cases,), in a submission of each quality.

    All find the same cases hard. Positives are moved up until the chosen share of the pairs of a negative and
    a positive is in order, to one pair. good: the area under the curve of the good submission.
    """
    hard = rng.standard_normal(positive.size) + _MIDDLE
    ahead = np.subtract.outer(hard[~positive], hard[positive])
    chosen = {quality: one.auc for quality, one in DEVIATIONS.items()} | {Quality.GOOD: good}

    def of(auc: float) -> Floats:
        apart = np.quantile(ahead, auc) if auc < 1 else ahead.max() + 1
        return np.asarray(1 / (1 + np.exp(-(hard + apart * positive)))).round(6)

    return {quality: of(auc) for quality, auc in chosen.items()}


# --- Ellipses, of which the drawn eyes and lesions are made ---


def size_columns(size: Size) -> dict[str, str]:
    """Return the cells of `cases.csv` with the size of an image."""
    return {"width": str(size.width), "height": str(size.height)}


@dataclass(frozen=True)
class Ellipse:
    """A filled ellipse: centre and semi-axes in pixels, tilt in radians.

    The centre of the first pixel is the point (0, 0); x runs to the right and y downwards. A positive tilt
    turns the x semi-axis towards the y axis, clockwise on the screen.
    """

    center_x: float
    center_y: float
    semi_axis_x: float
    semi_axis_y: float
    tilt_radians: float = 0.0

    def moved(self, x: float, y: float) -> "Ellipse":
        """Return the ellipse moved by a vector in pixels."""
        return replace(self, center_x=self.center_x + x, center_y=self.center_y + y)

    def inside(self, size: Size) -> "Ellipse":
        """Return the ellipse with its centre in the image, and semi-axes that cover a pixel."""
        return Ellipse(
            min(max(self.center_x, 2.0), size.width - 3.0),
            min(max(self.center_y, 2.0), size.height - 3.0),
            max(self.semi_axis_x, 1.5),
            max(self.semi_axis_y, 1.5),
            self.tilt_radians,
        )


def jitter(ellipse: Ellipse, rng: Generator, relative: float) -> Ellipse:
    """Return an ellipse that is varied randomly, like a second drawing.

    relative: the standard deviation of the centre in semi-axes, of the logarithm of each semi-axis, and of
    the tilt in radians, all independent and normal.
    """
    shift_x, shift_y, scale_x, scale_y, turn = (relative * rng.standard_normal(5)).tolist()
    return Ellipse(
        ellipse.center_x + shift_x * ellipse.semi_axis_x,
        ellipse.center_y + shift_y * ellipse.semi_axis_y,
        ellipse.semi_axis_x * exp(scale_x),
        ellipse.semi_axis_y * exp(scale_y),
        ellipse.tilt_radians + turn,
    )


def rasterise(ellipse: Ellipse, size: Size) -> Crop:
    """Mark the pixels with centres in the ellipse or on its border, in its bounding box within the image."""
    sine, cosine = sin(ellipse.tilt_radians), cos(ellipse.tilt_radians)
    half_width = hypot(ellipse.semi_axis_x * cosine, ellipse.semi_axis_y * sine)
    half_height = hypot(ellipse.semi_axis_x * sine, ellipse.semi_axis_y * cosine)
    top, bottom = _pixel_span(ellipse.center_y, half_height, size.height)
    left, right = _pixel_span(ellipse.center_x, half_width, size.width)
    y, x = np.ogrid[top:bottom, left:right]
    y, x = y - ellipse.center_y, x - ellipse.center_x
    along, across = x * cosine + y * sine, y * cosine - x * sine
    values = (along / ellipse.semi_axis_x) ** 2 + (across / ellipse.semi_axis_y) ** 2 <= 1
    return Crop(values, (top, left))


def _pixel_span(center: float, half_extent: float, size: int) -> tuple[int, int]:
    """Return the first pixel within the extent and the first one after it, clipped to the image."""
    first = min(max(ceil(center - half_extent), 0), size)
    return first, max(min(floor(center + half_extent) + 1, size), first)


def marked(ellipses: Sequence[Ellipse], size: Size) -> NDArray[np.bool_]:
    """Return the pixels, shape (height, width), in any of the ellipses."""
    mask = np.zeros((size.height, size.width), np.bool_)
    for patch in (rasterise(ellipse, size) for ellipse in ellipses):
        mask[patch.box.slices] |= patch.values
    return mask


# --- Eyes: a disc with its cup, and the fovea beside it; sizes and ratios follow REFUGE (section 3.1) ---

_SMALLEST_SIDE = 64


@dataclass(frozen=True)
class DrawnEye:
    """The outlines in a photograph of an eye; the fovea is the centre of a circle as large as the disc."""

    disc: Ellipse
    cup: Ellipse
    fovea: Ellipse

    def varied(self, change: Callable[[Ellipse], Ellipse]) -> "DrawnEye":
        """Return the eye with other outlines."""
        return DrawnEye(*map(change, (self.disc, self.cup, self.fovea)))


def draw_eye(size: Size, ratio: float, is_right: bool, rng: Generator) -> DrawnEye:
    """Return a disc, a cup in it with a vertical ratio to it, and the fovea to the temporal side.

    Raises `ValueError` for an image with a side below 64 pixels.
    """
    if min(size.width, size.height) < _SMALLEST_SIDE:
        smallest = Size(_SMALLEST_SIDE, _SMALLEST_SIDE)
        raise ValueError(f"size: expected at least {smallest}, found {size}")
    nasal = 1.0 if is_right else -1.0
    radius = min(size.width, size.height) * rng.uniform(1 / 16, 1 / 12)
    x, y = size.width * (0.5 + nasal * rng.uniform(0.22, 0.28)), size.height * rng.uniform(0.45, 0.52)
    disc = Ellipse(x, y, radius * rng.uniform(0.9, 1.0), radius, rng.uniform(-pi / 8, pi / 8))
    shift_x, shift_y = 0.4 * (1 - ratio) * radius * rng.uniform(-1, 1, 2)
    cup = Ellipse(x + shift_x, y + shift_y, ratio * disc.semi_axis_x, ratio * radius, disc.tilt_radians)
    away, below = 2 * radius * rng.uniform((2.35, 0.15), (2.65, 0.45))
    return DrawnEye(disc, cup, Ellipse(x - nasal * away, y + below, radius, radius))


def predicted_eye(eye: DrawnEye, size: Size, quality: Quality, rng: Generator) -> DrawnEye:
    """Return the eye of a submission; of random quality, one with another ratio at any place."""
    if quality is not Quality.RANDOM:
        return eye.varied(lambda one: jitter(one, rng, DEVIATIONS[quality].error))
    ratio = rng.uniform(0.1, 0.25) if rng.random() < 0.5 else rng.uniform(0.85, 0.95)
    other = draw_eye(size, ratio, bool(rng.random() < 0.5), rng)
    x, y = rng.uniform(0, (size.width, size.height))
    way = x - other.disc.center_x, y - other.disc.center_y
    return other.varied(lambda one: one.moved(*way))


# --- A phase with an archive of each quality ---


def configured(name: str, arguments: argparse.Namespace, /, **values: object) -> str:
    """Return a `phase.toml` made of a template, the arguments of the command and further values."""
    path = files(__package__) / "templates" / f"{name}.toml"
    return Template(path.read_text(encoding="utf-8")).substitute(vars(arguments) | values)


def write_archive_sample(
    arguments: argparse.Namespace,
    configuration: str,
    tasks: Sequence[Task],
    cases: int,
    draw: Callable[[int], tuple[SampleCase, Callable[[Quality], Values]]],
    progress: Callable[[int], None],
    qualities: Sequence[Quality] = tuple(Quality),
    extensions: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write a synthetic phase and an archive submission of each quality, and return their folders.

    They are below ``arguments.output``; ``arguments.name`` is the name of the phase. ``draw`` takes a case's
    position and returns the case and a function from a quality to its prediction, so that one prediction at a
    time is in memory. ``extensions`` chooses the submitted files' extensions by the name of their field.
    """
    fields, submissions = fields_of(tasks), arguments.output / "submissions"
    writers = {
        quality: ArchiveWriter(submissions / quality.value, fields, extensions or {}) for quality in qualities
    }

    def references() -> Iterator[SampleCase]:
        for position in range(cases):
            case, predict = draw(position)
            for quality, writer in writers.items():
                writer.add(case.name, predict(quality))
            progress(position + 1)
            yield case

    folder = arguments.output / "ground-truth" / arguments.name
    write_phase(folder, configuration, references_of(tasks), references())
    for writer in writers.values():
        writer.close()
    return [folder, *(writer.folder for writer in writers.values())]
