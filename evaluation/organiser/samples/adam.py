"""Synthetic ADAM phases: counts of one of the challenge's sets, and submissions of known quality."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluation.challenges.adam import CHALLENGE, ELSEWHERE, LESIONS, STRUCTURE, AdamOptions
from evaluation.core.challenge import Values
from evaluation.io.kinds.points import Point
from evaluation.metrics.crops import crop
from evaluation.organiser.annotators.ellipses import Ellipse, rasterise
from evaluation.organiser.samples import fundus
from evaluation.organiser.samples.fundus import FundusCase, Quality, jitter
from evaluation.organiser.samples.likelihoods import likelihoods_by_quality
from evaluation.organiser.samples.sample_writer import configured, write_archive_sample
from evaluation.organiser.submission_writer import SampleCase

# --- The eyes of a synthetic ADAM set: anatomy, severity, and the structures that each image shows ---

Flags = NDArray[np.bool_]
Lesions = Mapping[str, Sequence[Ellipse]]

_CAMERAS = ("Zeiss Visucam 500", "Canon CR-2")
# The cameras' images have 2124 × 2056 and 1444 × 1444 pixels.
_SECOND_SIDE = 1444 / 2056
_NO_GLAUCOMA = 0.0


_SEVERITIES = ("early", "middle", "advanced dry", "advanced wet")


@dataclass(frozen=True)
class SetCounts:
    """Numbers of images in one of the challenge's sets of 400 (Table 1; severities from section 2.1).

    ``severities`` and ``lesions`` are in the order of `_SEVERITIES` and `LESIONS`; ``disc`` and ``fovea`` are
    the numbers of images that show them.
    """

    prefix: str
    severities: tuple[int, int, int, int]
    disc: int
    fovea: int
    lesions: tuple[int, int, int, int, int]


SET_IMAGES = 400
SETS = {
    "train": SetCounts("A", (28, 7, 4, 50), 270, 396, (61, 38, 19, 13, 17)),
    "online": SetCounts("V", (18, 7, 3, 61), 265, 400, (49, 53, 30, 34, 10)),
    "onsite": SetCounts("T", (24, 9, 3, 53), 286, 394, (44, 39, 23, 21, 2)),
}


@dataclass(frozen=True)
class Eyes:
    """The truth about all images: anatomy, severity ("" without AMD) and the structures that each shows."""

    cases: list[FundusCase]
    severity: list[str]
    shows: Mapping[str, Flags]


def draw_eyes(arguments: argparse.Namespace, rng: Generator) -> Eyes:
    """Draw the anatomy, and eyes of every kind in the proportions of the set."""
    counts, images = SETS[arguments.set], arguments.cases
    cases = _draw_cases(arguments, rng)
    severities = np.repeat(
        _SEVERITIES, [_in_proportion(count, images) for count in counts.severities]
    ).tolist()
    order = rng.permutation(images)
    severity = [""] * images
    for position, value in zip(order, severities, strict=False):
        severity[position] = value
    diseased, healthy = order[: len(severities)], order[len(severities) :]
    shows = {
        "disc": _flags(images, rng.permutation(images), _in_proportion(counts.disc, images)),
        "fovea": ~_flags(images, rng.permutation(images), _in_proportion(SET_IMAGES - counts.fovea, images)),
    }
    for name, count in zip(LESIONS, counts.lesions, strict=True):
        # Lesions lie in eyes with AMD as far as there are enough of these.
        places = np.concatenate((rng.permutation(diseased), rng.permutation(healthy)))
        shows[name] = _flags(images, places, _in_proportion(count, images))
    return Eyes(cases, severity, shows)


def _draw_cases(arguments: argparse.Namespace, rng: Generator) -> list[FundusCase]:
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
            drawn += fundus.draw_cases(count, width, height, _NO_GLAUCOMA, rng, "", camera)
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


# --- Synthetic lesions of the macula: groups of tilted ellipses, as drawn by graders and by submissions ---

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


_DEVIATIONS = {Quality.GOOD: 0.10, Quality.POOR: 0.40}
"""Of a submission: the jitter of every ellipse, and the share of the ellipses that it overlooks."""


def reference_lesions(
    lesions: Sequence[Ellipse], case: FundusCase, rng: Generator, graders: int = 7
) -> NDArray[np.uint8]:
    """Draw the reference as the graders' majority: uint8 (height, width), 0 lesion, 255 elsewhere."""
    drawn = [[jitter(lesion, rng, _GRADER_JITTER) for _ in range(graders)] for lesion in lesions]
    return _mask_of(drawn, case)


def predicted_lesions(
    style: LesionStyle, lesions: Sequence[Ellipse], case: FundusCase, quality: Quality, rng: Generator
) -> NDArray[np.uint8]:
    """Draw a prediction of lesions of one kind: uint8 (height, width), 0 lesion, 255 elsewhere; never empty.

    Good deviates mildly and poor strongly from the true ellipses, and both overlook some of them. Random
    draws lesions around a random place, as do the others for an image without lesions. Raises ValueError for
    perfect, which is the reference itself.
    """
    if quality is Quality.PERFECT:
        raise ValueError("quality: expected good, poor or random, found perfect")
    if quality is Quality.RANDOM or not lesions:
        drawn = draw_lesions(style, case, rng, (rng.random(2) * (case.width, case.height)).tolist())
    else:
        deviation = _DEVIATIONS[quality]
        seen = rng.random(len(lesions)) >= deviation
        seen[rng.integers(len(lesions))] = True
        drawn = tuple(
            _inside(jitter(lesion, rng, deviation), case) for lesion in compress(lesions, seen.tolist())
        )
    return _mask_of([[lesion] for lesion in drawn], case)


def empty_mask(case: FundusCase) -> NDArray[np.uint8]:
    """Return a mask (height, width) without any lesion."""
    return np.full((case.height, case.width), ELSEWHERE_VALUE, dtype=np.uint8)


def roughen(mask: NDArray[np.uint8], share: float, rng: Generator) -> NDArray[np.uint8]:
    """Flip a random share of the pixels in the bounding box of the lesions (mask of 0 and 255).

    The masks of pixel-wise methods are ragged and compress far less than ellipses. A mask that would become
    empty is returned unchanged.
    """
    if not share:
        return mask
    box = crop(mask, ELSEWHERE_VALUE).box.slices
    rough = mask.copy()
    rough[box] ^= np.where(rng.random(rough[box].shape) < share, np.uint8(255), np.uint8(0))
    return rough if (rough[box] == 0).any() else mask


def draw_lesions(
    style: LesionStyle, case: FundusCase, rng: Generator, center: Sequence[float] | None = None
) -> tuple[Ellipse, ...]:
    """Draw the lesions of one kind in one image, with their centres inside it, around the fovea or a centre.

    center: x and y in pixels.
    """
    center_x, center_y = center or (case.fovea_x, case.fovea_y)
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
        mask[fundus.majority_vote(patches, case.width, case.height)] = LESION_VALUE
    return mask


# --- Synthetic ADAM phases: counts of one of the challenge's sets, and submissions of known quality ---

Mask = NDArray[np.uint8]

# Share of wrong decisions about the presence of a structure, relative to the rarer class.
_WRONG_DECISIONS = {Quality.PERFECT: 0.0, Quality.GOOD: 0.1, Quality.POOR: 0.4}
_INVISIBLE = Point(0.0, 0.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--cases", type=int, default=400, help="number of images")
    add("--set", choices=list(SETS), default="onsite", help="whose counts of Table 1 to keep")
    add("--width", type=int, default=2124, help="of the first camera's images, in pixels")
    add("--height", type=int, default=2056, help="of the first camera's images, in pixels")
    add(
        "--second-camera",
        type=float,
        default=0.31333333333333335,
        help="share of the second camera's smaller images",
    )
    add("--auc", type=float, default=0.95, help="of the good submission")
    add("--noise", type=float, default=0.0, help="share of the pixels about a structure that are flipped")
    add(
        "--submissions",
        type=Quality,
        nargs="+",
        choices=list(Quality),
        default=list(Quality),
        metavar="QUALITY",
        help="which to write: " + ", ".join(quality.value for quality in Quality),
    )


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write a phase and submissions below ``arguments.output`` and return their folders."""
    if not 0 <= arguments.noise < 0.5:
        raise ValueError(f"--noise: expected at least 0 and below 0.5, found {arguments.noise}")
    fewest = len(SETS[arguments.set].severities) + 1  # one of each severity and one without AMD
    if arguments.cases < fewest:
        raise ValueError(f"--cases: expected at least {fewest}, found {arguments.cases}")
    rng = Generator(np.random.PCG64(arguments.seed))
    eyes = draw_eyes(arguments, rng)
    amd = np.array([bool(severity) for severity in eyes.severity])
    likelihoods = likelihoods_by_quality(amd, rng, arguments.auc)
    decisions = {
        quality: {name: _decisions(shown, quality, rng) for name, shown in eyes.shows.items()}
        for quality in Quality
    }

    def draw(position: int) -> tuple[SampleCase, Callable[[Quality], Values]]:
        case = eyes.cases[position]
        lesions: dict[str, Sequence[Ellipse]] = {
            name: draw_lesions(STYLES[name], case, rng) if eyes.shows[name][position] else ()
            for name in LESIONS
        }
        columns = {
            "width": str(case.width),
            "height": str(case.height),
            "camera": case.camera,
            "severity": eyes.severity[position],
        }
        reference = _reference(case, eyes, position, lesions, arguments.noise, rng)

        def predict(quality: Quality) -> Values:
            seen = {name: bool(flags[position]) for name, flags in decisions[quality].items()}
            prediction = _prediction(case, reference, lesions, seen, quality, arguments.noise, rng)
            return prediction | {"amd_risk": likelihoods[quality][position]}

        return SampleCase(case.name, columns, reference), predict

    configuration, tasks = configured("adam", arguments), CHALLENGE.tasks(AdamOptions())
    return write_archive_sample(
        arguments, configuration, tasks, arguments.cases, draw, progress, arguments.submissions
    )


def _reference(
    case: FundusCase, eyes: Eyes, position: int, lesions: Lesions, noise: float, rng: Generator
) -> dict[str, Any]:
    fovea = fundus.reference_fovea(case, rng)
    reference: dict[str, Any] = {
        "amd_risk": int(bool(eyes.severity[position])),
        "fovea": Point(round(fovea.x, 2), round(fovea.y, 2)) if eyes.shows["fovea"][position] else _INVISIBLE,
        "disc": empty_mask(case),
    }
    if eyes.shows["disc"][position]:
        reference["disc"] = roughen(_disc_alone(fundus.reference_mask(case, rng)), noise, rng)
    for name in LESIONS:
        reference[name] = roughen(reference_lesions(lesions[name], case, rng), noise, rng)
    return reference


def _prediction(
    case: FundusCase,
    reference: Mapping[str, Any],
    lesions: Lesions,
    seen: Mapping[str, bool],
    quality: Quality,
    noise: float,
    rng: Generator,
) -> dict[str, Any]:
    """Draw the prediction for one image; ``seen`` says which structures it reports as present."""
    if quality is Quality.PERFECT:
        return dict(reference)
    prediction: dict[str, Any] = {name: empty_mask(case) for name in ("disc", *LESIONS)}
    if seen["disc"]:
        segmented = fundus.predicted_mask(case, empty_mask(case), quality, rng)
        prediction["disc"] = roughen(_disc_alone(segmented), noise, rng)
    for name in LESIONS:
        if seen[name]:
            drawn = predicted_lesions(STYLES[name], lesions[name], case, quality, rng)
            prediction[name] = roughen(drawn, noise, rng)
    prediction["fovea"] = _INVISIBLE
    if seen["fovea"]:
        true = reference["fovea"]
        known = Quality.RANDOM if true == _INVISIBLE else quality
        prediction["fovea"] = fundus.predicted_fovea(case, true, known, rng)
    return prediction


def _decisions(shown: Flags, quality: Quality, rng: Generator) -> Flags:
    """Return the images with a structure in a submission, with as many misses as false reports."""
    if quality is Quality.RANDOM:
        return rng.permutation(shown)
    present, absent = rng.permutation(np.flatnonzero(shown)), rng.permutation(np.flatnonzero(~shown))
    wrong = round(_WRONG_DECISIONS[quality] * min(present.size, absent.size))
    decisions = shown.copy()
    decisions[present[:wrong]] = False
    decisions[absent[:wrong]] = True
    return decisions


def _disc_alone(mask: Mask) -> Mask:
    """Return the mask of the disc alone from one of disc and cup; the cup belongs to the disc."""
    return np.where(mask == fundus.ELSEWHERE_VALUE, np.uint8(ELSEWHERE), np.uint8(STRUCTURE))
