"""Synthetic lesions of the macula: groups of tilted ellipses, as drawn by graders and by submissions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import pi

import numpy as np
from numpy.typing import NDArray

from evaluation.synthesis.ellipses import Ellipse, jitter, majority_vote, rasterise
from evaluation.synthesis.fundus import FundusCase, Quality

LESION_VALUE, ELSEWHERE_VALUE = 0, 255

_GRADER_JITTER = 0.05
# Below this an ellipse could fall between the pixel centres.
_MIN_SEMI_AXIS_PIXELS = 1.5


@dataclass(frozen=True)
class LesionStyle:
    """Number, size and spread of lesions of one kind; lengths in vertical diameters of the optic disc.

    An image has ``min_count`` to ``max_count`` ellipses with semi-axes from ``min_axis`` to ``max_axis``.
    Their centres are normally distributed around the fovea with standard deviation ``spread``.
    """

    min_count: int
    max_count: int
    min_axis: float
    max_axis: float
    spread: float


STYLES = {
    "drusen": LesionStyle(8, 25, 0.03, 0.10, 0.5),
    "exudate": LesionStyle(4, 12, 0.03, 0.12, 0.6),
    "hemorrhage": LesionStyle(1, 4, 0.10, 0.30, 0.6),
    "scar": LesionStyle(1, 2, 0.30, 0.70, 0.2),
    "other": LesionStyle(1, 2, 0.20, 0.50, 0.8),
}


@dataclass(frozen=True)
class _Deviation:
    jitter: float  # of every ellipse, see `ellipses.jitter`
    overlooked: float  # share of the ellipses


_DEVIATIONS = {
    Quality.GOOD: _Deviation(jitter=0.10, overlooked=0.10),
    Quality.POOR: _Deviation(jitter=0.40, overlooked=0.40),
}


def draw_lesions(style: LesionStyle, case: FundusCase, rng: np.random.Generator) -> tuple[Ellipse, ...]:
    """Draw the lesions of one kind in one image, with their centres inside it."""
    return _scattered(style, case, case.fovea_x, case.fovea_y, rng)


def reference_lesions(
    lesions: Sequence[Ellipse], case: FundusCase, rng: np.random.Generator, graders: int = 7
) -> NDArray[np.uint8]:
    """Draw the reference as the graders' majority: uint8 (height, width), 0 lesion, 255 elsewhere."""
    drawn = [[jitter(lesion, rng, _GRADER_JITTER) for _ in range(graders)] for lesion in lesions]
    return _mask_of(drawn, case)


def predicted_lesions(
    style: LesionStyle,
    lesions: Sequence[Ellipse],
    case: FundusCase,
    quality: Quality,
    rng: np.random.Generator,
) -> NDArray[np.uint8]:
    """Draw a prediction of lesions of one kind: uint8 (height, width), 0 lesion, 255 elsewhere; never empty.

    Good deviates mildly and poor strongly from the true ellipses, and both overlook some of them. Random
    draws lesions around a random place, as do the others for an image without lesions. Raises ValueError for
    perfect, which is the reference itself.
    """
    if quality is Quality.PERFECT:
        raise ValueError("quality: expected good, poor or random, found perfect")
    if quality is Quality.RANDOM or not lesions:
        center_x, center_y = (rng.random(2) * (case.width, case.height)).tolist()
        drawn = _scattered(style, case, center_x, center_y, rng)
    else:
        deviation = _DEVIATIONS[quality]
        seen = rng.random(len(lesions)) >= deviation.overlooked
        seen[rng.integers(len(lesions))] = True
        drawn = tuple(
            _inside(jitter(lesion, rng, deviation.jitter), case)
            for lesion, is_seen in zip(lesions, seen.tolist(), strict=True)
            if is_seen
        )
    return _mask_of([[lesion] for lesion in drawn], case)


def empty_mask(case: FundusCase) -> NDArray[np.uint8]:
    """Return a mask (height, width) without any lesion."""
    return np.full((case.height, case.width), ELSEWHERE_VALUE, dtype=np.uint8)


def roughen(mask: NDArray[np.uint8], share: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Flip a random share of the pixels in the bounding box of the lesions (mask of 0 and 255).

    The masks of pixel-wise methods are ragged and compress far less than ellipses. A mask that would become
    empty is returned unchanged.
    """
    if not share:
        return mask
    rows, columns = np.flatnonzero((mask == 0).any(axis=1)), np.flatnonzero((mask == 0).any(axis=0))
    if not rows.size:
        return mask
    box = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    rough = mask.copy()
    rough[box] ^= np.where(rng.random(rough[box].shape) < share, np.uint8(255), np.uint8(0))
    return rough if (rough[box] == 0).any() else mask


def _scattered(
    style: LesionStyle, case: FundusCase, center_x: float, center_y: float, rng: np.random.Generator
) -> tuple[Ellipse, ...]:
    diameter = 2 * case.disc.semi_axis_y
    lesions = []
    for _ in range(int(rng.integers(style.min_count, style.max_count, endpoint=True))):
        shift_x, shift_y = (style.spread * diameter * rng.standard_normal(2)).tolist()
        semi_axis_x, semi_axis_y = (rng.uniform(style.min_axis, style.max_axis, 2) * diameter).tolist()
        lesion = Ellipse(
            center_x=center_x + shift_x,
            center_y=center_y + shift_y,
            semi_axis_x=semi_axis_x,
            semi_axis_y=semi_axis_y,
            tilt_radians=float(rng.uniform(-pi / 2, pi / 2)),
        )
        lesions.append(_inside(lesion, case))
    return tuple(lesions)


def _inside(lesion: Ellipse, case: FundusCase) -> Ellipse:
    """Return the ellipse with its centre in the image and semi-axes that cover a pixel."""
    return replace(
        lesion,
        center_x=min(max(lesion.center_x, 2.0), case.width - 3.0),
        center_y=min(max(lesion.center_y, 2.0), case.height - 3.0),
        semi_axis_x=max(lesion.semi_axis_x, _MIN_SEMI_AXIS_PIXELS),
        semi_axis_y=max(lesion.semi_axis_y, _MIN_SEMI_AXIS_PIXELS),
    )


def _mask_of(drawn: Sequence[Sequence[Ellipse]], case: FundusCase) -> NDArray[np.uint8]:
    """Return the majority of the drawings of each lesion as a mask."""
    mask = empty_mask(case)
    for drawings in drawn:
        patches = [rasterise(ellipse, case.width, case.height) for ellipse in drawings]
        mask[majority_vote(patches, case.width, case.height, len(patches))] = LESION_VALUE
    return mask
