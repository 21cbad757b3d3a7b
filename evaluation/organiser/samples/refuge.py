"""Synthetic REFUGE phases: the majority of simulated graders as reference, submissions of known quality."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import Generator

from evaluation.challenges.refuge import CHALLENGE, CUP, DISC, ELSEWHERE, RefugeOptions
from evaluation.cli.common import Argument
from evaluation.core.challenge import Values
from evaluation.io.kinds.points import point_at
from evaluation.io.kinds.volume import Volume
from evaluation.io.pixels import Size
from evaluation.organiser.samples import images
from evaluation.organiser.samples.images import DrawnEye, Quality
from evaluation.organiser.submission_writer import SampleCase

# Mean and standard deviation of the vertical ratio of cup to disc.
_RATIO_HEALTHY, _RATIO_GLAUCOMA = (0.46, 0.09), (0.68, 0.10)
_GRADERS, _GRADER_ERROR = 7, 0.05


ARGUMENTS = (
    Argument("--cases", "number of images", type=int, default=400),
    Argument("--width", "in pixels", type=int, default=1634),
    Argument("--height", "in pixels", type=int, default=1634),
    Argument("--glaucoma", "share of glaucomatous eyes", type=float, default=0.1),
    Argument("--auc", "of the good submission", type=float, default=images.DEVIATIONS[Quality.GOOD].auc),
)


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write a phase and four submissions below ``arguments.output`` and return their folders."""
    positives = round(arguments.cases * arguments.glaucoma)
    if not 0 < positives < arguments.cases:
        raise ValueError(f"--glaucoma: expected eyes of both classes among {arguments.cases}")
    if not 0.5 <= arguments.auc <= 1:
        raise ValueError(f"--auc: expected a number from 0.5 to 1, found {arguments.auc}")
    rng, size = Generator(np.random.PCG64(arguments.seed)), Size(arguments.width, arguments.height)
    glaucoma = rng.permutation(arguments.cases) < positives
    likelihoods = images.likelihoods(glaucoma, rng, arguments.auc)
    prefix, digits = arguments.name[:1].upper(), max(4, len(str(arguments.cases)))

    def draw(position: int) -> tuple[SampleCase, Callable[[Quality], Values]]:
        usual = _RATIO_GLAUCOMA if glaucoma[position] else _RATIO_HEALTHY
        is_right = bool(rng.random() < 0.5)
        eye = images.draw_eye(size, float(np.clip(rng.normal(*usual), 0.25, 0.9)), is_right, rng)
        graders = [eye.varied(lambda one: images.jitter(one, rng, _GRADER_ERROR)) for _ in range(_GRADERS)]
        agreed = _values(graders, size)
        reference = {"glaucoma_risk": int(glaucoma[position]), **agreed}

        def predict(quality: Quality) -> Values:
            perfect = quality is Quality.PERFECT
            found = agreed if perfect else _values([images.predicted_eye(eye, size, quality, rng)], size)
            return {"glaucoma_risk": float(likelihoods[quality][position]), **found}

        columns = images.size_columns(size) | {"eye": "right" if is_right else "left"}
        return SampleCase(f"{prefix}{position + 1:0{digits}d}", columns, reference), predict

    configuration, tasks = images.configured("refuge", arguments), CHALLENGE.tasks(RefugeOptions())
    return images.write_archive_sample(
        arguments, configuration, tasks, arguments.cases, draw, progress, extensions={"segmentation": ".bmp"}
    )


def _values(eyes: Sequence[DrawnEye], size: Size) -> dict[str, Any]:
    """Return the mask that most drawings of an eye mark (section 3.1), and the mean of their foveas."""
    drawn = [(images.marked([eye.disc], size), images.marked([eye.cup], size)) for eye in eyes]
    disc = 2 * np.count_nonzero([disc for disc, _ in drawn], axis=0) > len(eyes)
    cup = 2 * np.count_nonzero([disc & cup for disc, cup in drawn], axis=0) > len(eyes)
    mask = np.where(cup, CUP, np.where(disc, DISC, ELSEWHERE)).astype(np.uint8)
    foveas = [eye.fovea.inside(size) for eye in eyes]
    x, y = np.mean([(fovea.center_x, fovea.center_y) for fovea in foveas], axis=0).tolist()
    return {"segmentation": Volume.of_image(mask), "fovea": point_at(round(x, 2), round(y, 2))}
