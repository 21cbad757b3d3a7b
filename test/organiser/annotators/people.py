"""Annotators of different subjectivity, small and drawn from a seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.challenges.refuge import CHALLENGE, RefugeOptions
from evaluation.core.challenge import fields_of
from evaluation.io.kinds.points import point_at
from evaluation.io.kinds.volume import Volume
from evaluation.io.tables import write_csv
from evaluation.organiser.submission_writer import ArchiveWriter

FIELDS = fields_of(CHALLENGE.tasks(RefugeOptions()))
SEVEN = tuple(f"g{number}" for number in range(1, 8))
CONFIGURATION = """\
challenge = "refuge"
name = "fused"
title = "Fused"
submission = "archive"
resamples = 0
"""


@dataclass(frozen=True)
class DrawnEye:
    """An eye with the vertical radius of its disc, the ratio of its cup, and its fovea; in pixels."""

    name: str
    side: str
    glaucoma: bool
    centre: tuple[float, float]
    radius: float
    ratio: float
    fovea: tuple[float, float]


@dataclass(frozen=True)
class SevenGraders:
    """An organiser's folder, its cases, and the decisions by case and grader."""

    folder: Path
    cases: Sequence[DrawnEye]
    said: Mapping[str, Mapping[str, Mapping[str, Any]]]


def seven_graders(
    folder: Path, cases: int = 6, size: int = 72, seed: int = 5, graders: Sequence[str] = SEVEN
) -> SevenGraders:
    """Write masks, foveas and labels of graders for a REFUGE phase; the last grader is careless."""
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = [_drawn(f"V{number:04}", number % 2 == 1, size, rng) for number in range(1, cases + 1)]
    said: dict[str, dict[str, dict[str, Any]]] = {case.name: {} for case in drawn}
    for grader in graders:
        careless = grader == graders[-1]
        writer = ArchiveWriter(folder / "readers" / grader, FIELDS, {"segmentation": ".png"})
        for case in drawn:
            wrong = rng.random() < (0.4 if careless else 0.1)
            off = 0.18 if careless else 0.05
            at = np.clip(case.fovea + 3 * off * 2 * case.radius * rng.normal(size=2), 0, size - 1)
            values = {
                "glaucoma_risk": int(case.glaucoma != wrong),
                "segmentation": _mask(case, off, size, rng),
                "fovea": point_at(*np.round(at, 1).tolist()),
            }
            image = Volume.of_image(values["segmentation"])
            writer.add(case.name, {**values, "segmentation": image})
            said[case.name][grader] = values
        writer.close()
    (folder / "phase.toml").write_text(CONFIGURATION, encoding="utf-8")
    write_csv(
        folder / "cases.csv",
        ["name", "width", "height", "eye"],
        [[case.name, str(size), str(size), case.side] for case in drawn],
    )
    return SevenGraders(folder, drawn, said)


def _drawn(name: str, glaucoma: bool, size: int, rng: np.random.Generator) -> DrawnEye:
    right = rng.random() < 0.5
    centre = size * (0.7 if right else 0.3), size * rng.uniform(0.45, 0.55)
    radius, ratio = 1.1 * size * rng.uniform(0.08, 0.12), 0.7 if glaucoma else 0.5
    fovea = size * (0.35 if right else 0.65), size * rng.uniform(0.45, 0.55)
    return DrawnEye(name, "right" if right else "left", glaucoma, centre, radius, ratio, fovea)


def _mask(case: DrawnEye, off: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return a mask of the disc (128) and of the part of the cup within it (0), drawn a little off."""
    centre = np.add(case.centre, off * case.radius * rng.normal(size=2))
    mask, within = np.full((size, size), 255, np.uint8), np.ones((size, size), bool)
    places = np.stack(np.meshgrid(np.arange(size), np.arange(size)), axis=-1) - centre
    for radius, value in ((case.radius, 128), (case.ratio * case.radius, 0)):
        within &= ((places / (radius * np.exp(off * rng.normal(size=2)))) ** 2).sum(axis=-1) <= 1
        mask[within] = value
    return mask
