"""Synthetic REFUGE phases: simulated graders for the reference, submissions of known order."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from evaluation.challenges.refuge.rules import CHALLENGE, RefugeOptions
from evaluation.core.challenge import fields_of
from evaluation.io.kinds.point import Point
from evaluation.phase.writer import SampleCase, write_phase
from evaluation.platform.submission_writer import ArchiveWriter
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

_AUC = {Quality.PERFECT: 1.0, Quality.GOOD: 0.95, Quality.POOR: 0.8, Quality.RANDOM: 0.5}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what can be chosen about a REFUGE sample."""
    parser.add_argument("--cases", type=int, default=400, help="number of images")
    parser.add_argument("--width", type=int, default=1634, help="in pixels")
    parser.add_argument("--height", type=int, default=1634, help="in pixels")
    parser.add_argument("--glaucoma", type=float, default=0.1, help="share of glaucomatous eyes")
    parser.add_argument("--auc", type=float, default=_AUC[Quality.GOOD], help="of the good submission")
    parser.add_argument(
        "--extension", default=".bmp", choices=[".bmp", ".png", ".tif"], help="of submitted masks"
    )


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write a phase and four submissions below ``arguments.output`` and return their folders."""
    rng = np.random.Generator(np.random.PCG64(arguments.seed))
    prefix = arguments.name[:1].upper()
    cases = draw_cases(arguments.cases, arguments.width, arguments.height, arguments.glaucoma, rng, prefix)
    fields = fields_of(CHALLENGE.tasks(RefugeOptions()))
    glaucoma = np.array([case.glaucoma for case in cases])
    auc = _AUC | {Quality.GOOD: arguments.auc}
    likelihoods = {quality: likelihoods_with_auc(glaucoma, auc[quality], rng) for quality in Quality}
    submissions = arguments.output / "submissions"
    writers = {
        quality: ArchiveWriter(submissions / quality.value, fields, {"segmentation": arguments.extension})
        for quality in Quality
    }

    def cases_with_predictions() -> Iterator[SampleCase]:
        for position, case in enumerate(cases):
            sample = _reference(case, rng)
            for quality, writer in writers.items():
                true_fovea = sample.reference["fovea"]
                writer.add(
                    case.name,
                    {
                        "glaucoma_risk": likelihoods[quality][position],
                        "segmentation": predicted_mask(case, sample.reference["segmentation"], quality, rng),
                        "fovea": predicted_fovea(case, true_fovea, quality, rng),
                    },
                )
            progress(position + 1)
            yield sample

    folder = arguments.output / "ground-truth" / arguments.name
    write_phase(folder, _configuration(arguments), fields, cases_with_predictions())
    for writer in writers.values():
        writer.close()
    return [folder, *(writer.folder for writer in writers.values())]


def _reference(case: FundusCase, rng: np.random.Generator) -> SampleCase:
    fovea = reference_fovea(case, rng)
    return SampleCase(
        case.name,
        {"width": str(case.width), "height": str(case.height), "eye": case.eye.value},
        {
            "glaucoma_risk": int(case.glaucoma),
            "segmentation": reference_mask(case, rng),
            "fovea": Point(round(fovea.x, 2), round(fovea.y, 2)),
        },
    )


def _configuration(arguments: argparse.Namespace) -> str:
    return f"""\
challenge = "refuge"
name = "{arguments.name}"
title = "REFUGE, synthetic sample of {arguments.cases} images"
submission = "archive"
seed = {arguments.seed}
public_detail = "full"

[[subgroups]]
column = "glaucoma"
audience = "organiser"
"""
