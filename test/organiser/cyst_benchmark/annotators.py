"""Annotators of OCT volumes, small and drawn from a seed."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

samples = pytest.importorskip("evaluation.organiser.samples.cysts")

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
class CystAnnotators:
    """An organiser's folder of a cyst benchmark, the true volumes, and the names of the annotators."""

    folder: Path
    cases: Sequence[samples.OctCase]
    annotators: tuple[str, ...]


def cyst_annotators(folder: Path, volumes: int = 6, seed: int = 3, annotated: bool = True) -> CystAnnotators:
    """Write a supervisor and three annotators of different subjectivity, each in two runs, and the benchmark.

    Annotator "low" calls cysts less certain than they are, "high" more, "rough" draws them roughly.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    cases = samples.draw_cases(volumes, 0.12, rng)
    samples.write_annotations(folder, cases, CYSTS_CONFIGURATION, rng, lambda _: None)
    if not annotated:
        shutil.rmtree(folder / "annotations")
    return CystAnnotators(folder, cases, tuple(samples.ANNOTATORS))
