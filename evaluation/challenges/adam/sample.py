"""Synthetic ADAM phases: the counts of one of the challenge's sets, submissions of known order."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.adam.lesions import (
    STYLES,
    draw_lesions,
    empty_mask,
    predicted_lesions,
    reference_lesions,
    roughen,
)
from evaluation.challenges.adam.rules import CHALLENGE, ELSEWHERE, LESIONS, STRUCTURE, AdamOptions
from evaluation.core.challenge import fields_of
from evaluation.io.kinds.point import Point
from evaluation.phase.writer import SampleCase, write_phase
from evaluation.platform.submission_writer import ArchiveWriter
from evaluation.synthesis.ellipses import Ellipse
from evaluation.synthesis.fundus import ELSEWHERE_VALUE as OUTSIDE_THE_DISC
from evaluation.synthesis.fundus import (
    FundusCase,
    Quality,
    draw_cases,
    predicted_fovea,
    predicted_mask,
    reference_fovea,
    reference_mask,
)
from evaluation.synthesis.likelihoods import likelihoods_with_auc

Mask = NDArray[np.uint8]
Flags = NDArray[np.bool_]

_AUC = {Quality.PERFECT: 1.0, Quality.GOOD: 0.95, Quality.POOR: 0.8, Quality.RANDOM: 0.5}
# Share of wrong decisions about a structure's presence, of the rarer class.
_WRONG_DECISIONS = {Quality.PERFECT: 0.0, Quality.GOOD: 0.1, Quality.POOR: 0.4}
_INVISIBLE = Point(0.0, 0.0)
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
    """Numbers of images of one of the challenge's sets of 400: Table 1, the severities from section 2.1.

    ``disc`` and ``fovea`` count the images that show them.
    """

    prefix: str
    severities: Mapping[str, int]
    disc: int
    fovea: int
    lesions: Mapping[str, int]


_SET_IMAGES = 400
SETS = {
    "train": SetCounts("A", _severities(28, 7, 4, 50), 270, 396, _lesions(61, 38, 19, 13, 17)),
    "online": SetCounts("V", _severities(18, 7, 3, 61), 265, 400, _lesions(49, 53, 30, 34, 10)),
    "onsite": SetCounts("T", _severities(24, 9, 3, 53), 286, 394, _lesions(44, 39, 23, 21, 2)),
}


@dataclass(frozen=True)
class _Eyes:
    """The truth of all images: anatomy, severity ("" without AMD) and which structures each shows."""

    cases: list[FundusCase]
    severity: list[str]
    shows: Mapping[str, Flags]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be chosen about an ADAM sample."""
    parser.add_argument("--cases", type=int, default=_SET_IMAGES, help="number of images")
    parser.add_argument("--set", default="onsite", choices=SETS, help="whose counts of Table 1 to keep")
    parser.add_argument("--width", type=int, default=2124, help="of the first camera's images, in pixels")
    parser.add_argument("--height", type=int, default=2056, help="of the first camera's images, in pixels")
    parser.add_argument(
        "--second-camera", type=float, default=376 / 1200, help="share of the second camera's smaller images"
    )
    parser.add_argument("--auc", type=float, default=_AUC[Quality.GOOD], help="of the good submission")
    parser.add_argument(
        "--noise", type=float, default=0.0, help="share of the pixels about a structure that are flipped"
    )
    parser.add_argument(
        "--submissions",
        nargs="+",
        type=Quality,
        default=list(Quality),
        choices=list(Quality),
        metavar="QUALITY",
        help="which to write",
    )


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write a phase and submissions below ``arguments.output`` and return their folders."""
    if not 0 <= arguments.noise < 0.5:
        raise ValueError(f"--noise: expected at least 0 and below 0.5, found {arguments.noise}")
    fewest = len(SETS[arguments.set].severities) + 1  # one of each severity and one without AMD
    if arguments.cases < fewest:
        raise ValueError(f"--cases: expected at least {fewest}, found {arguments.cases}")
    rng = np.random.Generator(np.random.PCG64(arguments.seed))
    eyes = _draw_eyes(arguments, rng)
    amd = np.array([bool(severity) for severity in eyes.severity])
    auc = _AUC | {Quality.GOOD: arguments.auc}
    likelihoods = {quality: likelihoods_with_auc(amd, auc[quality], rng) for quality in Quality}
    decisions = {
        quality: {name: _decisions(shown, quality, rng) for name, shown in eyes.shows.items()}
        for quality in Quality
    }
    fields = fields_of(CHALLENGE.tasks(AdamOptions()))
    writers = {
        quality: ArchiveWriter(arguments.output / "submissions" / quality.value, fields)
        for quality in arguments.submissions
    }

    def cases_with_predictions() -> Iterator[SampleCase]:
        for position, case in enumerate(eyes.cases):
            lesions: dict[str, Sequence[Ellipse]] = {
                name: draw_lesions(STYLES[name], case, rng) if eyes.shows[name][position] else ()
                for name in LESIONS
            }
            reference = _reference(case, eyes, position, lesions, arguments.noise, rng)
            for quality, writer in writers.items():
                seen = {name: bool(flags[position]) for name, flags in decisions[quality].items()}
                prediction = _prediction(case, reference, lesions, seen, quality, arguments.noise, rng)
                prediction["amd_risk"] = likelihoods[quality][position]
                writer.add(case.name, prediction)
            progress(position + 1)
            yield SampleCase(
                case.name,
                {
                    "width": str(case.width),
                    "height": str(case.height),
                    "camera": case.camera,
                    "severity": eyes.severity[position],
                },
                reference,
            )

    folder = arguments.output / "ground-truth" / arguments.name
    write_phase(folder, _configuration(arguments), fields, cases_with_predictions())
    for writer in writers.values():
        writer.close()
    return [folder, *(writer.folder for writer in writers.values())]


def _draw_eyes(arguments: argparse.Namespace, rng: np.random.Generator) -> _Eyes:
    """Draw the anatomy, and just as many eyes of every kind as the set has, in proportion."""
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
        "fovea": ~_flags(images, rng.permutation(images), _in_proportion(_SET_IMAGES - counts.fovea, images)),
    }
    for name in LESIONS:
        # Lesions lie in eyes with AMD as far as there are enough of these.
        places = np.concatenate((rng.permutation(diseased), rng.permutation(healthy)))
        shows[name] = _flags(images, places, _in_proportion(counts.lesions[name], images))
    return _Eyes(cases, severity, shows)


def _draw_cases(arguments: argparse.Namespace, rng: np.random.Generator) -> list[FundusCase]:
    """Draw the images of both cameras in a random order; a camera without images is left out."""
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


def _reference(
    case: FundusCase,
    eyes: _Eyes,
    position: int,
    lesions: Mapping[str, Sequence[Ellipse]],
    noise: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    fovea = reference_fovea(case, rng)
    reference: dict[str, Any] = {
        "amd_risk": int(bool(eyes.severity[position])),
        "fovea": Point(round(fovea.x, 2), round(fovea.y, 2)) if eyes.shows["fovea"][position] else _INVISIBLE,
        "disc": empty_mask(case),
    }
    if eyes.shows["disc"][position]:
        reference["disc"] = roughen(_disc_alone(reference_mask(case, rng)), noise, rng)
    for name in LESIONS:
        reference[name] = roughen(reference_lesions(lesions[name], case, rng), noise, rng)
    return reference


def _prediction(
    case: FundusCase,
    reference: Mapping[str, Any],
    lesions: Mapping[str, Sequence[Ellipse]],
    seen: Mapping[str, bool],
    quality: Quality,
    noise: float,
    rng: np.random.Generator,
) -> dict[str, Any]:
    """Draw a prediction of one image; ``seen`` says which structures it decides to be there."""
    if quality is Quality.PERFECT:
        return dict(reference)
    prediction: dict[str, Any] = {name: empty_mask(case) for name in ("disc", *LESIONS)}
    if seen["disc"]:
        segmented = predicted_mask(case, empty_mask(case), quality, rng)
        prediction["disc"] = roughen(_disc_alone(segmented), noise, rng)
    for name in LESIONS:
        if seen[name]:
            drawn = predicted_lesions(STYLES[name], lesions[name], case, quality, rng)
            prediction[name] = roughen(drawn, noise, rng)
    prediction["fovea"] = _INVISIBLE
    if seen["fovea"]:
        true = reference["fovea"]
        known = Quality.RANDOM if true == _INVISIBLE else quality
        prediction["fovea"] = predicted_fovea(case, true, known, rng)
    return prediction


def _decisions(shown: Flags, quality: Quality, rng: np.random.Generator) -> Flags:
    """Return in which images a submission sees a structure; as many are overlooked as are imagined."""
    if quality is Quality.RANDOM:
        return rng.permutation(shown)
    present, absent = rng.permutation(np.flatnonzero(shown)), rng.permutation(np.flatnonzero(~shown))
    wrong = round(_WRONG_DECISIONS[quality] * min(present.size, absent.size))
    decisions = shown.copy()
    decisions[present[:wrong]] = False
    decisions[absent[:wrong]] = True
    return decisions


def _disc_alone(mask: Mask) -> Mask:
    """Return a mask of disc and cup as one of the disc, to which the cup belongs."""
    return np.where(mask == OUTSIDE_THE_DISC, np.uint8(ELSEWHERE), np.uint8(STRUCTURE))


def _in_proportion(count: int, images: int) -> int:
    """Return a count of the full set for another number of images; what the set has does not vanish."""
    return min(images, max(round(count * images / _SET_IMAGES), 1)) if count else 0


def _flags(images: int, places: NDArray[np.int64], count: int) -> Flags:
    flags = np.zeros(images, dtype=np.bool_)
    flags[places[:count]] = True
    return flags


def _configuration(arguments: argparse.Namespace) -> str:
    return f"""\
challenge = "adam"
name = "{arguments.name}"
title = "ADAM, synthetic sample of {arguments.cases} images"
submission = "archive"
seed = {arguments.seed}
public_detail = "full"

[[subgroups]]
column = "camera"

# Each severity's positives against all negatives, as in Table 11. Only AMD has a severity.
[[subgroups]]
column = "severity"
compare = "positives"
audience = "organiser"
"""
