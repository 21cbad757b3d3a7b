"""Synthetic fundus photographs of known quality, made of ellipses."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import reduce
from math import cos, exp, pi, sin, sqrt

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluation.io.kinds.points import Point
from evaluation.metrics.crops import NOTHING, Box, Crop
from evaluation.organiser.annotators.ellipses import Ellipse, rasterise

# --- Tilted ellipses: jittering, majority vote ---


def intersection(first: Crop, second: Crop) -> Crop:
    """Return the pixels that both crops mark, in the box around them."""
    box = first.box.union(second.box)
    return Crop(first.within(box) & second.within(box), box.top, box.left)


def jitter(ellipse: Ellipse, rng: Generator, relative: float) -> Ellipse:
    """Vary an ellipse randomly, like a second grader.

    `relative` is the standard deviation of the centre in semi-axes, of the logarithm of each semi-axis
    and of the tilt in radians, all independent and normal; 0 returns an equal ellipse.
    """
    shift_x, shift_y, scale_x, scale_y, turn = (relative * rng.standard_normal(5)).tolist()
    return Ellipse(
        center_x=ellipse.center_x + shift_x * ellipse.semi_axis_x,
        center_y=ellipse.center_y + shift_y * ellipse.semi_axis_y,
        semi_axis_x=ellipse.semi_axis_x * exp(scale_x),
        semi_axis_y=ellipse.semi_axis_y * exp(scale_y),
        tilt_radians=ellipse.tilt_radians + turn,
    )


def inner_ellipse(outer: Ellipse, ratio: float, rng: Generator) -> Ellipse:
    """Draw an ellipse inside another one, with its tilt; `ratio`: inner over outer y semi-axis.

    In the frame where the outer ellipse is the unit circle, the inner one has the semi-axes `ratio_x` and
    `ratio`, so it lies inside if its centre is nearer than 1 − max(ratio_x, ratio).
    """
    ratio_x = ratio * float(rng.uniform(0.92, 1.05))
    distance = 0.7 * (1 - max(ratio_x, ratio)) * sqrt(rng.random())
    direction = float(rng.uniform(-pi, pi))
    along_x = distance * cos(direction) * outer.semi_axis_x
    along_y = distance * sin(direction) * outer.semi_axis_y
    cosine, sine = cos(outer.tilt_radians), sin(outer.tilt_radians)
    return Ellipse(
        center_x=outer.center_x + along_x * cosine - along_y * sine,
        center_y=outer.center_y + along_x * sine + along_y * cosine,
        semi_axis_x=ratio_x * outer.semi_axis_x,
        semi_axis_y=ratio * outer.semi_axis_y,
        tilt_radians=outer.tilt_radians,
    )


def majority_vote(crops: Sequence[Crop], width: int, height: int) -> NDArray[np.bool_]:
    """Mark the pixels that more than half of the graders mark, each in a crop; an empty one marks nothing.

    Returns a boolean mask (height, width). Exactly half of the graders is not a majority. Raises ValueError
    if a crop leaves the image.

    Source: REFUGE, section 3.1 (majority voting of seven experts).
    """
    whole = Box(0, height, 0, width)
    around = reduce(Box.union, (crop.box for crop in crops), NOTHING)
    if whole.union(around) != whole:
        expected = f"patches inside {width} × {height} pixels"
        raise ValueError(f"majority vote: expected {expected}, found one outside")
    votes = np.count_nonzero([crop.within(around) for crop in crops], axis=0)
    majority = np.zeros((height, width), dtype=np.bool_)
    majority[around.slices] = 2 * votes > len(crops)
    return majority


# --- Synthetic fundus cases: sizes and ratios follow REFUGE (section 3.1) ---

CUP_VALUE, DISC_VALUE, ELSEWHERE_VALUE = 0, 128, 255
# Below this the smallest cups would fall between the pixel centres.
MIN_SIDE_PIXELS = 64

_RATIO_HEALTHY, _RATIO_GLAUCOMA = (0.46, 0.09), (0.68, 0.10)  # mean and standard deviation
_RATIO_RANGE = (0.25, 0.90)
_GRADER_JITTER = 0.05
_GRADER_FOVEA_DEVIATION = 0.05


class Laterality(StrEnum):
    """Which eye; in a photograph of a right eye, the optic disc lies to the right of the fovea."""

    RIGHT = "right"
    LEFT = "left"


class Quality(StrEnum):
    """Quality of a synthetic submission, best first."""

    PERFECT = "perfect"
    GOOD = "good"
    POOR = "poor"
    RANDOM = "random"


@dataclass(frozen=True)
class Outlines:
    """The two ellipses that a grader draws, in pixels."""

    disc: Ellipse
    cup: Ellipse


@dataclass(frozen=True)
class FundusCase:
    """The true anatomy of one synthetic photograph; sizes and positions in pixels."""

    name: str
    width: int
    height: int
    camera: str
    glaucoma: bool
    eye: Laterality
    disc: Ellipse
    cup: Ellipse
    fovea_x: float
    fovea_y: float


@dataclass(frozen=True)
class _Deviation:
    """How far predictions of one quality deviate from the truth."""

    jitter: float  # for both ellipses, see `ellipses.jitter`
    shift: float  # of both together, in semi-axes of the disc
    fovea: float  # in diameters of the disc, per axis


_DEVIATIONS = {
    Quality.GOOD: _Deviation(jitter=0.05, shift=0.03, fovea=0.15),
    Quality.POOR: _Deviation(jitter=0.18, shift=0.40, fovea=0.60),
}


def draw_cases(
    count: int,
    width: int,
    height: int,
    glaucoma_fraction: float,
    rng: Generator,
    name_prefix: str,
    camera: str = "Canon CR-2",
) -> list[FundusCase]:
    """Draw cases of one size, named `<prefix>0001` onwards.

    Exactly `round(count · glaucoma_fraction)` of them, at random positions, are glaucomatous. The disc's
    vertical diameter is 1/8 to 1/6 of the shorter side, the cup lies inside it, and the fovea lies 2.5 disc
    diameters to the temporal side. Raises ValueError if the count or the fraction is out of range or a side
    is below 64 pixels.
    """
    if count < 1:
        raise ValueError(f"count: expected at least 1 case, found {count}")
    if not 0.0 <= glaucoma_fraction <= 1.0:
        raise ValueError(f"glaucoma_fraction: expected a number from 0 to 1, found {glaucoma_fraction}")
    if min(width, height) < MIN_SIDE_PIXELS:
        expected = f"{MIN_SIDE_PIXELS} × {MIN_SIDE_PIXELS} pixels"
        raise ValueError(f"size: expected at least {expected}, found {width} × {height}")
    glaucomatous = rng.permutation(count) < round(count * glaucoma_fraction)
    digits = max(4, len(str(count)))
    cases = []
    for number, glaucoma in enumerate(glaucomatous.tolist(), start=1):
        eye = Laterality.RIGHT if rng.random() < 0.5 else Laterality.LEFT
        drawn = _draw_outlines(width, height, glaucoma, eye, rng)
        # About 2.5 disc diameters temporal of the disc's centre, and a little below it.
        diameter = 2 * drawn.disc.semi_axis_y
        temporal = (-1.0 if eye is Laterality.RIGHT else 1.0) * diameter * float(rng.uniform(2.35, 2.65))
        below = diameter * float(rng.uniform(0.15, 0.45))
        fovea = drawn.disc.center_x + temporal, drawn.disc.center_y + below
        name = f"{name_prefix}{number:0{digits}d}"
        cases.append(FundusCase(name, width, height, camera, glaucoma, eye, drawn.disc, drawn.cup, *fovea))
    return cases


def reference_mask(case: FundusCase, rng: Generator, graders: int = 7) -> NDArray[np.uint8]:
    """Draw the reference of several graders by majority vote: uint8 (height, width), 0 cup, 128 disc, 255.

    Every grader's cup is clipped to the same grader's disc, so the vote's cup lies in the vote's disc.
    Raises ValueError if there is no grader.
    """
    _check_graders(graders)
    both = (case.disc, case.cup)
    drawn = [Outlines(*(jitter(one, rng, _GRADER_JITTER) for one in both)) for _ in range(graders)]
    return _mask_of_majority(drawn, case.width, case.height)


def reference_fovea(case: FundusCase, rng: Generator, graders: int = 7) -> Point:
    """Draw the mean of the graders' points, in pixels inside the image; ValueError without graders."""
    _check_graders(graders)
    deviation = _GRADER_FOVEA_DEVIATION * 2 * case.disc.semi_axis_y
    shift_x, shift_y = (deviation * rng.standard_normal((graders, 2)).mean(axis=0)).tolist()
    return _inside(case.fovea_x + shift_x, case.fovea_y + shift_y, case.width, case.height)


def predicted_mask(
    case: FundusCase, reference: NDArray[np.uint8], quality: Quality, rng: Generator
) -> NDArray[np.uint8]:
    """Draw a prediction of a quality: uint8 (height, width), 0 cup, 128 disc, 255 elsewhere.

    Perfect is a copy of the reference mask. Good and poor deviate mildly and strongly from the case's true
    outlines. Random outlines depend on the size of the image only.
    """
    if quality is Quality.PERFECT:
        return reference.copy()
    if quality is Quality.RANDOM:
        outlines = _random_outlines(case.width, case.height, rng)
    else:
        deviation = _DEVIATIONS[quality]
        shift_x, shift_y = (deviation.shift * case.disc.semi_axis_y * rng.standard_normal(2)).tolist()
        varied = [jitter(ellipse, rng, deviation.jitter) for ellipse in (case.disc, case.cup)]
        outlines = Outlines(*(ellipse.moved(shift_x, shift_y) for ellipse in varied))
    return _mask_of_majority([outlines], case.width, case.height)


def predicted_fovea(case: FundusCase, reference: Point, quality: Quality, rng: Generator) -> Point:
    """Draw a predicted fovea of a quality, in pixels inside the image.

    Perfect is the reference, good and poor are normally distributed around it, random is anywhere.
    """
    if quality is Quality.PERFECT:
        return reference
    if quality is Quality.RANDOM:
        return Point(x=float(rng.uniform(0, case.width - 1)), y=float(rng.uniform(0, case.height - 1)))
    deviation = _DEVIATIONS[quality].fovea * 2 * case.disc.semi_axis_y
    shift_x, shift_y = (deviation * rng.standard_normal(2)).tolist()
    return _inside(reference.x + shift_x, reference.y + shift_y, case.width, case.height)


def _draw_outlines(width: int, height: int, glaucoma: bool, eye: Laterality, rng: Generator) -> Outlines:
    nasal = 1.0 if eye is Laterality.RIGHT else -1.0
    disc_semi_axis_y = min(width, height) * float(rng.uniform(1 / 8, 1 / 6)) / 2
    disc = Ellipse(
        center_x=width * (0.5 + nasal * float(rng.uniform(0.22, 0.28))),
        center_y=height * float(rng.uniform(0.45, 0.52)),
        semi_axis_x=disc_semi_axis_y * float(rng.uniform(0.90, 1.00)),
        semi_axis_y=disc_semi_axis_y,
        tilt_radians=float(rng.uniform(-pi / 8, pi / 8)),
    )
    ratio = float(np.clip(rng.normal(*(_RATIO_GLAUCOMA if glaucoma else _RATIO_HEALTHY)), *_RATIO_RANGE))
    return Outlines(disc, inner_ellipse(disc, ratio, rng))


def _random_outlines(width: int, height: int, rng: Generator) -> Outlines:
    """Draw a disc anywhere in the image, with a cup of any size inside it."""
    semi_axis_x, semi_axis_y = (min(width, height) * rng.uniform(1 / 16, 1 / 6, size=2)).tolist()
    margin = max(semi_axis_x, semi_axis_y)
    disc = Ellipse(
        center_x=float(rng.uniform(margin, width - 1 - margin)),
        center_y=float(rng.uniform(margin, height - 1 - margin)),
        semi_axis_x=semi_axis_x,
        semi_axis_y=semi_axis_y,
        tilt_radians=float(rng.uniform(-pi / 2, pi / 2)),
    )
    # Ratios at both ends of the range: far from most eyes of either class.
    ratio = float(rng.uniform(0.10, 0.25) if rng.random() < 0.5 else rng.uniform(0.85, 0.95))
    return Outlines(disc, inner_ellipse(disc, ratio, rng))


def _mask_of_majority(drawn: list[Outlines], width: int, height: int) -> NDArray[np.uint8]:
    discs = [rasterise(outlines.disc, width, height) for outlines in drawn]
    uncut = [rasterise(outlines.cup, width, height) for outlines in drawn]
    cups = list(map(intersection, uncut, discs))
    mask = np.full((height, width), ELSEWHERE_VALUE, dtype=np.uint8)
    mask[majority_vote(discs, width, height)] = DISC_VALUE
    mask[majority_vote(cups, width, height)] = CUP_VALUE
    return mask


def _inside(x: float, y: float, width: int, height: int) -> Point:
    return Point(x=min(max(x, 0.0), width - 1.0), y=min(max(y, 0.0), height - 1.0))


def _check_graders(graders: int) -> None:
    if graders < 1:
        raise ValueError(f"graders: expected at least 1, found {graders}")
