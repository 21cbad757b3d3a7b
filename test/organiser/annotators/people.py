"""Annotators of different subjectivity, small and drawn from a seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evaluation.challenges.refuge import CHALLENGE, RefugeOptions
from evaluation.core.challenge import fields_of
from evaluation.io.kinds.points import Point
from evaluation.io.tables import write_csv
from evaluation.organiser.submission_writer import ArchiveWriter
from evaluation.organiser.synthesis import FundusCase, Quality, draw_cases, predicted_fovea, predicted_mask

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
class SevenGraders:
    """An organiser's folder, its cases, and the decisions by case and grader."""

    folder: Path
    cases: Sequence[FundusCase]
    said: Mapping[str, Mapping[str, Mapping[str, Any]]]


def seven_graders(
    folder: Path, cases: int = 6, size: int = 72, seed: int = 5, graders: Sequence[str] = SEVEN
) -> SevenGraders:
    """Write masks, foveas and labels of graders for a REFUGE phase; the last grader is careless."""
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = draw_cases(cases, size, size, 0.5, rng, "V")
    said: dict[str, dict[str, dict[str, Any]]] = {case.name: {} for case in drawn}
    for grader in graders:
        quality = Quality.POOR if grader == graders[-1] else Quality.GOOD
        writer = ArchiveWriter(folder / "readers" / grader, FIELDS, {"segmentation": ".png"})
        for case in drawn:
            wrong = rng.random() < (0.4 if quality is Quality.POOR else 0.1)
            fovea = predicted_fovea(case, Point(case.fovea_x, case.fovea_y), quality, rng)
            values = {
                "glaucoma_risk": int(bool(case.glaucoma) != wrong),
                "segmentation": predicted_mask(case, np.empty((0, 0), np.uint8), quality, rng),
                "fovea": Point(round(fovea.x, 1), round(fovea.y, 1)),
            }
            writer.add(case.name, values)
            said[case.name][grader] = values
        writer.close()
    (folder / "phase.toml").write_text(CONFIGURATION, encoding="utf-8")
    write_csv(
        folder / "cases.csv",
        ["name", "width", "height", "eye"],
        [[case.name, str(size), str(size), case.eye.value] for case in drawn],
    )
    return SevenGraders(folder, drawn, said)
