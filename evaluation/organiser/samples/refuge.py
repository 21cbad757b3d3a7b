"""Synthetic REFUGE phases: references of simulated graders, and submissions of known quality."""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.random import Generator

from evaluation.challenges.refuge import CHALLENGE, IMAGES, RefugeOptions
from evaluation.core.challenge import Values
from evaluation.io.kinds.points import Point
from evaluation.organiser.samples import fundus
from evaluation.organiser.samples.likelihoods import likelihoods_by_quality
from evaluation.organiser.samples.sample_writer import configured, write_archive_sample
from evaluation.organiser.submission_writer import SampleCase


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add = parser.add_argument
    add("--cases", type=int, default=400, help="number of images")
    add("--width", type=int, default=1634, help="in pixels")
    add("--height", type=int, default=1634, help="in pixels")
    add("--glaucoma", type=float, default=0.1, help="share of glaucomatous eyes")
    add("--auc", type=float, default=0.95, help="of the good submission")
    add("--extension", choices=IMAGES, default=".bmp", help="of submitted masks")


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write a phase and four submissions below ``arguments.output`` and return their folders."""
    rng = Generator(np.random.PCG64(arguments.seed))
    prefix = arguments.name[:1].upper()
    cases = fundus.draw_cases(
        arguments.cases, arguments.width, arguments.height, arguments.glaucoma, rng, prefix
    )
    glaucoma = np.array([case.glaucoma for case in cases])
    likelihoods = likelihoods_by_quality(glaucoma, rng, arguments.auc)

    def draw(position: int) -> tuple[SampleCase, Callable[[fundus.Quality], Values]]:
        case = cases[position]
        drawn = _reference(case, rng)

        def predict(quality: fundus.Quality) -> Values:
            return {
                "glaucoma_risk": likelihoods[quality][position],
                "segmentation": fundus.predicted_mask(case, drawn.reference["segmentation"], quality, rng),
                "fovea": fundus.predicted_fovea(case, drawn.reference["fovea"], quality, rng),
            }

        return drawn, predict

    configuration, tasks = configured("refuge", arguments), CHALLENGE.tasks(RefugeOptions())
    extensions = {"segmentation": arguments.extension}
    return write_archive_sample(
        arguments, configuration, tasks, arguments.cases, draw, progress, extensions=extensions
    )


def _reference(case: fundus.FundusCase, rng: Generator) -> SampleCase:
    fovea = fundus.reference_fovea(case, rng)
    return SampleCase(
        case.name,
        {"width": str(case.width), "height": str(case.height), "eye": case.eye.value},
        {
            "glaucoma_risk": int(case.glaucoma),
            "segmentation": fundus.reference_mask(case, rng),
            "fovea": Point(round(fovea.x, 2), round(fovea.y, 2)),
        },
    )
