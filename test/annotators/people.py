"""Annotators of different subjectivity, small and drawn from a seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.oct_volumes import OctCase, draw_image, read_cysts
from evaluation.challenges.cysts.oct_volumes import draw_cases as draw_volumes
from evaluation.challenges.refuge.rules import CHALLENGE, RefugeOptions
from evaluation.core.challenge import fields_of
from evaluation.io.kinds.point import Point
from evaluation.io.tables import write_csv
from evaluation.io.volumes.reader import write_volume
from evaluation.platform.submission_writer import ArchiveWriter
from evaluation.synthesis.fundus import FundusCase, Quality, draw_cases, predicted_fovea, predicted_mask

FIELDS = fields_of(CHALLENGE.tasks(RefugeOptions()))
SEVEN = tuple(f"g{number}" for number in range(1, 8))
CONFIGURATION = """\
challenge = "refuge"
name = "fused"
title = "Fused"
submission = "archive"
resamples = 0
"""
CYSTS_CONFIGURATION = """\
challenge = "cysts"
name = "fused-cysts"
title = "Fused cysts"
submission = "archive"
resamples = 0

[options]
readers = ["high", "low", "rough"]
"""


@dataclass(frozen=True)
class SevenGraders:
    """An organiser's folder, the cases behind it, and what every grader said by case and grader."""

    folder: Path
    cases: Sequence[FundusCase]
    said: Mapping[str, Mapping[str, Mapping[str, Any]]]


def seven_graders(
    folder: Path, cases: int = 6, size: int = 72, seed: int = 5, graders: Sequence[str] = SEVEN
) -> SevenGraders:
    """Write masks, foveas and labels of graders, the last of whom is careless, for a REFUGE phase."""
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


@dataclass(frozen=True)
class CystAnnotators:
    """An organiser's folder of a cyst benchmark, the true volumes, and the names of the annotators."""

    folder: Path
    cases: Sequence[OctCase]
    annotators: tuple[str, ...]


def cyst_annotators(folder: Path, volumes: int = 6, seed: int = 3, annotated: bool = True) -> CystAnnotators:
    """Write a supervisor and three annotators of different subjectivity, each in two runs, and the benchmark.

    Annotator "low" calls cysts less certain than they are, "high" more, "rough" draws them roughly.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    cases = draw_volumes(volumes, 0.12, rng)
    bias = {"supervisor": 0, "low": -1, "high": 1, "rough": 0}
    b_scans = []
    for case in cases:
        _write_volume(folder / "images" / f"{case.name}.mha", draw_image(case, rng), case)
        depth = case.geometry.shape[0]
        b_scans += [[case.name, str(int(depth * share) + 1)] for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
        for annotator, shift in bias.items():
            for run in ("run1", "run2"):
                levels = _subjective(case, rng, shift, rough=annotator == "rough")
                _write_volume(folder / "evaluation" / annotator / run / f"{case.name}.mha", levels, case)
            if annotated and annotator != "supervisor":
                levels = _subjective(case, rng, shift, rough=annotator == "rough")
                _write_volume(folder / "annotations" / annotator / f"{case.name}.mha", levels, case)
    write_csv(folder / "evaluation.csv", ["volume", "b_scan"], b_scans)
    ranks = [[case.name, case.vendor, case.quality, case.quality, "medium"] for case in cases]
    write_csv(
        folder / "volumes.csv", ["volume", "vendor", "quality_low", "quality_high", "quality_rough"], ranks
    )
    (folder / "phase.toml").write_text(CYSTS_CONFIGURATION, encoding="utf-8")
    return CystAnnotators(folder, cases, ("high", "low", "rough"))


def _subjective(case: OctCase, rng: np.random.Generator, shift: int, rough: bool) -> NDArray[np.uint8]:
    deviation = 0.25 if rough else 0.05
    levels = read_cysts(case, rng, missed=0.2, deviation=deviation, level_deviation=0.4)
    shifted = np.clip(levels.astype(np.int64) + shift, 1, 5)
    return np.where(levels > 0, shifted, 0).astype(np.uint8)


def _write_volume(path: Path, values: NDArray[np.uint8], case: OctCase) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_volume(values, case.geometry, ".mha"))
