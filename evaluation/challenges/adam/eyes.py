"""The eyes of a synthetic ADAM set: anatomy, severity, and the structures that each image shows."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.adam.rules import LESIONS
from evaluation.synthesis.fundus import FundusCase, draw_cases

Flags = NDArray[np.bool_]

_CAMERAS = ("Zeiss Visucam 500", "Canon CR-2")
# The cameras' images have 2124 × 2056 and 1444 × 1444 pixels.
_SECOND_SIDE = 1444 / 2056
_NO_GLAUCOMA = 0.0


def _severities(early: int, middle: int, advanced_dry: int, advanced_wet: int) -> dict[str, int]:
    return {"early": early, "middle": middle, "advanced dry": advanced_dry, "advanced wet": advanced_wet}


def _lesions(*counts: int) -> dict[str, int]:
    return dict(zip(LESIONS, counts, strict=True))


@dataclass(frozen=True)
class SetCounts:
    """Numbers of images in one of the challenge's sets of 400 (Table 1; severities from section 2.1).

    ``disc`` and ``fovea`` are the numbers of images that show them.
    """

    prefix: str
    severities: Mapping[str, int]
    disc: int
    fovea: int
    lesions: Mapping[str, int]


SET_IMAGES = 400
SETS = {
    "train": SetCounts("A", _severities(28, 7, 4, 50), 270, 396, _lesions(61, 38, 19, 13, 17)),
    "online": SetCounts("V", _severities(18, 7, 3, 61), 265, 400, _lesions(49, 53, 30, 34, 10)),
    "onsite": SetCounts("T", _severities(24, 9, 3, 53), 286, 394, _lesions(44, 39, 23, 21, 2)),
}


@dataclass(frozen=True)
class Eyes:
    """The truth about all images: anatomy, severity ("" without AMD) and the structures that each shows."""

    cases: list[FundusCase]
    severity: list[str]
    shows: Mapping[str, Flags]


def draw_eyes(arguments: argparse.Namespace, rng: np.random.Generator) -> Eyes:
    """Draw the anatomy, and eyes of every kind in the proportions of the set."""
    counts, images = SETS[arguments.set], arguments.cases
    cases = _draw_cases(arguments, rng)
    severities = [
        severity
        for severity, count in counts.severities.items()
        for _ in range(_in_proportion(count, images))
    ]
    order = rng.permutation(images)
    severity = [""] * images
    for position, value in zip(order, severities, strict=False):
        severity[position] = value
    diseased, healthy = order[: len(severities)], order[len(severities) :]
    shows = {
        "disc": _flags(images, rng.permutation(images), _in_proportion(counts.disc, images)),
        "fovea": ~_flags(images, rng.permutation(images), _in_proportion(SET_IMAGES - counts.fovea, images)),
    }
    for name in LESIONS:
        # Lesions lie in eyes with AMD as far as there are enough of these.
        places = np.concatenate((rng.permutation(diseased), rng.permutation(healthy)))
        shows[name] = _flags(images, places, _in_proportion(counts.lesions[name], images))
    return Eyes(cases, severity, shows)


def _draw_cases(arguments: argparse.Namespace, rng: np.random.Generator) -> list[FundusCase]:
    """Draw the images of both cameras in random order."""
    if not 0 <= arguments.second_camera <= 1:
        raise ValueError(f"--second-camera: expected a share from 0 to 1, found {arguments.second_camera}")
    second = round(arguments.cases * arguments.second_camera)
    side = round(arguments.height * _SECOND_SIDE)
    sizes = ((arguments.width, arguments.height), (side, side))
    drawn: list[FundusCase] = []
    for camera, (width, height), count in zip(
        _CAMERAS, sizes, (arguments.cases - second, second), strict=True
    ):
        if count:
            drawn += draw_cases(count, width, height, _NO_GLAUCOMA, rng, "", camera)
    prefix, digits = SETS[arguments.set].prefix, max(4, len(str(arguments.cases)))
    return [
        replace(drawn[position], name=f"{prefix}{number:0{digits}d}")
        for number, position in enumerate(rng.permutation(len(drawn)).tolist(), start=1)
    ]


def _in_proportion(count: int, images: int) -> int:
    """Scale a count of the full set to another number of images; a count above 0 stays above 0."""
    return min(images, max(round(count * images / SET_IMAGES), 1)) if count else 0


def _flags(images: int, places: NDArray[np.int64], count: int) -> Flags:
    flags = np.zeros(images, dtype=np.bool_)
    flags[places[:count]] = True
    return flags
