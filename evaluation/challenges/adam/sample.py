"""Synthetic ADAM phases: counts of one of the challenge's sets, and submissions of known quality."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.adam.eyes import SET_IMAGES, SETS, Eyes, Flags, draw_eyes
from evaluation.challenges.adam.lesions import (
    STYLES,
    draw_lesions,
    empty_mask,
    predicted_lesions,
    reference_lesions,
    roughen,
)
from evaluation.challenges.adam.rules import CHALLENGE, ELSEWHERE, LESIONS, STRUCTURE, AdamOptions
from evaluation.core.challenge import Values
from evaluation.io.kinds.point import Point
from evaluation.phase.writer import ArchiveSample, SampleCase
from evaluation.synthesis.ellipses import Ellipse
from evaluation.synthesis.fundus import ELSEWHERE_VALUE as OUTSIDE_THE_DISC
from evaluation.synthesis.fundus import (
    FundusCase,
    Quality,
    predicted_fovea,
    predicted_mask,
    reference_fovea,
    reference_mask,
)
from evaluation.synthesis.likelihoods import AUC, likelihoods_by_quality

Mask = NDArray[np.uint8]

# Share of wrong decisions about the presence of a structure, relative to the rarer class.
_WRONG_DECISIONS = {Quality.PERFECT: 0.0, Quality.GOOD: 0.1, Quality.POOR: 0.4}
_INVISIBLE = Point(0.0, 0.0)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of an ADAM sample."""
    parser.add_argument("--cases", type=int, default=SET_IMAGES, help="number of images")
    parser.add_argument("--set", default="onsite", choices=SETS, help="whose counts of Table 1 to keep")
    parser.add_argument("--width", type=int, default=2124, help="of the first camera's images, in pixels")
    parser.add_argument("--height", type=int, default=2056, help="of the first camera's images, in pixels")
    parser.add_argument(
        "--second-camera", type=float, default=376 / 1200, help="share of the second camera's smaller images"
    )
    parser.add_argument("--auc", type=float, default=AUC[Quality.GOOD], help="of the good submission")
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
    eyes = draw_eyes(arguments, rng)
    amd = np.array([bool(severity) for severity in eyes.severity])
    likelihoods = likelihoods_by_quality(amd, rng, arguments.auc)
    decisions = {
        quality: {name: _decisions(shown, quality, rng) for name, shown in eyes.shows.items()}
        for quality in Quality
    }
    sample = ArchiveSample(
        arguments.output,
        arguments.name,
        _configuration(arguments),
        CHALLENGE.tasks(AdamOptions()),
        arguments.submissions,
    )

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

    return sample.write(arguments.cases, draw, progress)


def _reference(
    case: FundusCase,
    eyes: Eyes,
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
    """Draw the prediction for one image; ``seen`` says which structures it reports as present."""
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
    return np.where(mask == OUTSIDE_THE_DISC, np.uint8(ELSEWHERE), np.uint8(STRUCTURE))


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
