"""Synthetic ADAM phases: structures as often as in the challenge's on-site set, in four qualities."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import pi
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from evaluation.challenges.adam import CHALLENGE, ELSEWHERE, STRUCTURE, AdamOptions
from evaluation.cli.common import Argument
from evaluation.core.challenge import Values
from evaluation.io.kinds.points import point_at
from evaluation.io.kinds.volume import Volume
from evaluation.io.pixels import Size
from evaluation.metrics.arrays import Bools
from evaluation.metrics.crops import crop
from evaluation.organiser.samples import images
from evaluation.organiser.samples.images import DEVIATIONS, Ellipse, Quality
from evaluation.organiser.submission_writer import SampleCase

_SET_IMAGES = 400
_SEVERITIES = {"early": 24, "middle": 9, "advanced dry": 3, "advanced wet": 53}
_SHOWN = {"disc": 286, "fovea": 394}
"""Images of the on-site set of 400 with AMD of each severity (section 2.1), and that show a structure."""


@dataclass(frozen=True)
class _Lesions:
    """Lesions of one kind: images of the set of 400 that show them (Table 1), number, size, spread.

    Lengths are in vertical diameters of the optic disc: of the semi-axes, and the standard deviation of the
    centres around the fovea.
    """

    images: int
    number: tuple[int, int]
    semi_axes: tuple[float, float]
    spread: float


LESIONS = {
    "drusen": _Lesions(44, (8, 25), (0.03, 0.10), 0.5),
    "exudate": _Lesions(39, (4, 12), (0.03, 0.12), 0.6),
    "hemorrhage": _Lesions(23, (1, 4), (0.10, 0.30), 0.6),
    "scar": _Lesions(21, (1, 2), (0.30, 0.70), 0.2),
    "other": _Lesions(2, (1, 2), (0.20, 0.50), 0.8),
}
_CAMERAS = ("Zeiss Visucam 500", "Canon CR-2")
_INVISIBLE = point_at(0.0, 0.0)
# Share of wrong decisions about the presence of a structure, relative to the rarer class.
_WRONG_DECISIONS = {Quality.PERFECT: 0.0, Quality.GOOD: 0.1, Quality.POOR: 0.4}


ARGUMENTS = (
    Argument("--cases", "number of images", type=int, default=_SET_IMAGES),
    Argument("--width", "in pixels", type=int, default=2124),
    Argument("--height", "in pixels", type=int, default=2056),
    Argument("--noise", "share of the pixels about a structure that are flipped", type=float, default=0.0),
    Argument(
        "--submissions",
        "which to write",
        nargs="+",
        choices=[*map(str, Quality)],
        default=[*map(str, Quality)],
    ),
)


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write a phase and submissions below ``arguments.output`` and return their folders."""
    cases, noise = arguments.cases, arguments.noise
    if not 0 <= noise < 0.5:
        raise ValueError(f"--noise: expected at least 0 and below 0.5, found {noise}")
    if cases <= len(_SEVERITIES):
        raise ValueError(f"--cases: expected at least {len(_SEVERITIES) + 1}, found {cases}")
    rng, size = Generator(np.random.PCG64(arguments.seed)), Size(arguments.width, arguments.height)
    of_cases = np.repeat(list(_SEVERITIES), [_in_proportion(one, cases) for one in _SEVERITIES.values()])
    severities = rng.permutation([*of_cases, *[""] * cases][:cases]).tolist()
    likelihoods = images.likelihoods(np.array([bool(one) for one in severities]), rng)
    counts = _SHOWN | {name: one.images for name, one in LESIONS.items()}
    shown = {name: rng.permutation(cases) < _in_proportion(count, cases) for name, count in counts.items()}
    decisions = {
        quality: {name: _decisions(flags, quality, rng) for name, flags in shown.items()}
        for quality in Quality
    }

    def draw(position: int) -> tuple[SampleCase, Callable[[Quality], Values]]:
        eye = images.draw_eye(size, 0.5, bool(rng.random() < 0.5), rng)
        drawn = {name: _anything(name, eye, size, rng) for name in counts}
        there = {name: of if shown[name][position] else [] for name, of in drawn.items()}
        reference = _values(there, size, noise, rng)

        def predict(quality: Quality) -> Values:
            risk = {"amd_risk": float(likelihoods[quality][position])}
            if quality is Quality.PERFECT:
                return reference | risk
            found: dict[str, Sequence[Ellipse]] = {}
            around = images.predicted_eye(eye, size, quality, rng)
            for name, seen in decisions[quality].items():
                of = [] if quality is Quality.RANDOM else there[name]
                of = of or _anything(name, around, size, rng)
                varied = [images.jitter(one, rng, DEVIATIONS[quality].error).inside(size) for one in of]
                found[name] = varied if seen[position] else []
            return _values(found, size, noise, rng) | risk

        of_case = {"camera": _CAMERAS[position % 2], "severity": severities[position]}
        columns = images.size_columns(size) | of_case
        amd = {"amd_risk": int(bool(severities[position]))}
        return SampleCase(f"T{position + 1:0{max(4, len(str(cases)))}d}", columns, reference | amd), predict

    configuration, tasks = images.configured("adam", arguments), CHALLENGE.tasks(AdamOptions())
    qualities = [*map(Quality, arguments.submissions)]
    return images.write_archive_sample(arguments, configuration, tasks, cases, draw, progress, qualities)


def _in_proportion(count: int, cases: int) -> int:
    """Return a count of the full set for another number of images; one above 0 stays above 0."""
    return min(cases, max(round(count * cases / _SET_IMAGES), 1))


def _decisions(shown: Bools, quality: Quality, rng: Generator) -> Bools:
    """Return the images with a structure in a submission, with as many misses as false reports."""
    if quality is Quality.RANDOM:
        return rng.permutation(shown)
    present, absent = rng.permutation(np.flatnonzero(shown)), rng.permutation(np.flatnonzero(~shown))
    wrong = round(_WRONG_DECISIONS[quality] * min(present.size, absent.size))
    decisions = shown.copy()
    decisions[present[:wrong]] = False
    decisions[absent[:wrong]] = True
    return decisions


def _anything(name: str, eye: images.DrawnEye, size: Size, rng: Generator) -> Sequence[Ellipse]:
    """Return the disc or the fovea of an eye, or lesions of one kind around its fovea."""
    fovea = eye.fovea.inside(size)
    if name not in LESIONS:
        return [eye.disc if name == "disc" else fovea]
    lesions, diameter = LESIONS[name], 2 * fovea.semi_axis_y
    found = []
    for _ in range(int(rng.integers(*lesions.number, endpoint=True))):
        x, y = lesions.spread * diameter * rng.standard_normal(2)
        along, across = diameter * rng.uniform(*lesions.semi_axes, 2)
        lesion = Ellipse(fovea.center_x + x, fovea.center_y + y, along, across, rng.uniform(-pi / 2, pi / 2))
        found.append(lesion.inside(size))
    return found


def _values(
    outlines: Mapping[str, Sequence[Ellipse]], size: Size, noise: float, rng: Generator
) -> dict[str, Any]:
    values: dict[str, Any] = {"fovea": _INVISIBLE}
    for name, found in outlines.items():
        if name != "fovea":
            mask = np.where(images.marked(found, size), STRUCTURE, ELSEWHERE).astype(np.uint8)
            values[name] = Volume.of_image(_roughened(mask, noise, rng))
        elif found:
            values[name] = point_at(round(found[0].center_x, 2), round(found[0].center_y, 2))
    return values


def _roughened(mask: NDArray[np.uint8], share: float, rng: Generator) -> NDArray[np.uint8]:
    """Return a mask with a share of the pixels around its structure flipped, none if it would be empty.

    The masks of pixel-wise methods are ragged and compress far less than ellipses.
    """
    if not share:
        return mask
    box = crop(mask, ELSEWHERE).box.slices
    rough = mask.copy()
    rough[box] ^= np.where(rng.random(rough[box].shape) < share, np.uint8(255), np.uint8(0))
    return rough if (rough[box] == STRUCTURE).any() else mask
