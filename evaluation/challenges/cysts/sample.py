"""Synthetic cyst phases: references of two simulated annotators, and submissions of known quality.

Optionally the annotations for building a reference, see `annotation_sample`.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.annotation_sample import ANNOTATORS, write_annotations
from evaluation.challenges.cysts.oct_volumes import (
    INTERVAL,
    OctCase,
    combine,
    draw_cases,
    draw_image,
    read_cysts,
)
from evaluation.challenges.cysts.rules import CHALLENGE, CystsOptions
from evaluation.core.challenge import Values
from evaluation.io.kinds.volume import Volume
from evaluation.io.volumes.case_geometry import geometry_columns
from evaluation.io.volumes.reader import EXTENSIONS, write_volume
from evaluation.phase.writer import ArchiveSample, SampleCase
from evaluation.synthesis.fundus import Quality

_ANNOTATORS = ("first", "second")
_FEWEST_B_SCANS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of a sample of OCT volumes."""
    parser.add_argument("--cases", type=int, default=26, help="number of volumes")
    parser.add_argument("--scale", type=float, default=1.0, help="of width, depth and number of B-scans")
    parser.add_argument("--images", action="store_true", help="also write the OCT volumes (8-bit)")
    parser.add_argument("--readers", action="store_true", help="also write the single annotators' levels")
    parser.add_argument(
        "--annotations",
        action="store_true",
        help="instead of a phase, write what `fuse cysts` builds one from: OCT volumes and annotations",
    )
    parser.add_argument("--b-scans", type=int, metavar="N", help="at most so many in a volume, 5 or more")
    parser.add_argument("--extension", default=".mha", choices=EXTENSIONS[:3], help="of submitted volumes")


def write(arguments: argparse.Namespace, progress: Callable[[int], None]) -> list[Path]:
    """Write a phase and four submissions below ``arguments.output`` and return their folders.

    With ``arguments.annotations``, write annotations there instead, and return that folder.
    """
    rng = np.random.Generator(np.random.PCG64(arguments.seed))
    if arguments.b_scans is not None and arguments.b_scans < _FEWEST_B_SCANS:
        raise ValueError(f"--b-scans: expected at least {_FEWEST_B_SCANS}, found {arguments.b_scans}")
    cases = draw_cases(arguments.cases, arguments.scale, rng, arguments.b_scans)
    if arguments.annotations:
        configuration = _configuration(arguments, tuple(ANNOTATORS))
        write_annotations(arguments.output, cases, configuration, rng, progress, arguments.extension)
        return [arguments.output]
    tasks = CHALLENGE.tasks(CystsOptions(readers=_ANNOTATORS if arguments.readers else ()))
    sample = ArchiveSample(
        arguments.output,
        arguments.name,
        _configuration(arguments, _ANNOTATORS if arguments.readers else ()),
        tasks,
        extensions={"cysts": arguments.extension},
    )

    def draw(position: int) -> tuple[SampleCase, Callable[[Quality], Values]]:
        case = cases[position]
        if arguments.images:
            _write_image(arguments.output / "images" / f"{case.name}.mha", case, rng)
        drawn = _reference(case, rng)

        def predict(quality: Quality) -> Values:
            values = _prediction(case, drawn.reference["cysts"].values, quality, rng)
            return {"cysts": Volume(values, case.geometry)}

        return drawn, predict

    return sample.write(arguments.cases, draw, progress)


def _reference(case: OctCase, rng: np.random.Generator) -> SampleCase:
    annotators = [read_cysts(case, rng, missed=0.3, deviation=0.08, level_deviation=0.6) for _ in _ANNOTATORS]
    confidence, level = combine(annotators)
    values: dict[str, NDArray[Any]] = {"cysts": confidence, "level": level}
    values |= {f"reader_{name}": levels for name, levels in zip(_ANNOTATORS, annotators, strict=True)}
    return SampleCase(
        case.name,
        {**geometry_columns(case.geometry), "vendor": case.vendor, "quality": case.quality},
        {name: Volume(value, case.geometry) for name, value in values.items()},
    )


def _prediction(
    case: OctCase, confidence: NDArray[np.float32], quality: Quality, rng: np.random.Generator
) -> NDArray[Any]:
    """Return a submitted volume: the reference, a confidence map, a binary mask, or the cysts misplaced."""
    if quality is Quality.PERFECT:
        return confidence
    if quality is Quality.GOOD:
        return INTERVAL[read_cysts(case, rng, missed=0.3, deviation=0.1, level_deviation=0.5)]
    if quality is Quality.POOR:
        levels = read_cysts(case, rng, missed=0.8, deviation=0.3, level_deviation=0.0)
        return (levels > 0).astype(np.uint8)
    elsewhere = np.roll(confidence, case.geometry.shape[1] // 3, axis=1)
    return np.ascontiguousarray(elsewhere[:, :, ::-1])


def _write_image(path: Path, case: OctCase, rng: np.random.Generator) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_volume(draw_image(case, rng), case.geometry, ".mha"))


def _configuration(arguments: argparse.Namespace, annotators: tuple[str, ...]) -> str:
    options = f"\n[options]\nreaders = {list(annotators)}\n" if annotators else ""
    return f"""\
challenge = "cysts"
name = "{arguments.name}"
title = "SD-OCT cysts, synthetic sample of {arguments.cases} volumes"
submission = "archive"
seed = {arguments.seed}
public_detail = "full"
subgroup_minimum = 3

[[subgroups]]
column = "vendor"

[[subgroups]]
column = "quality"
{options}"""
