"""Synthetic annotations of three annotators and a supervisor, for `fuse cysts`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.cysts.oct_volumes import OctCase, draw_image, read_cysts
from evaluation.io.tables import write_csv
from evaluation.io.volumes.reader import write_volume

_SUPERVISOR, _RUNS = "supervisor", ("run1", "run2")
_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Where in a volume the five B-scans of the evaluation set lie."""


@dataclass(frozen=True, slots=True)
class Habits:
    """How somebody annotates: ``shift`` of every confidence, and the arguments of `read_cysts`."""

    shift: int
    missed: float
    deviation: float


ANNOTATORS = {
    "high": Habits(shift=1, missed=0.2, deviation=0.05),
    "low": Habits(shift=-1, missed=0.2, deviation=0.05),
    "rough": Habits(shift=0, missed=0.5, deviation=0.25),
}
"""One annotator is more confident than the supervisor, one less; one misses cysts and draws roughly."""

_EXPERT = Habits(shift=0, missed=0.2, deviation=0.05)


def write_annotations(
    folder: Path,
    cases: Sequence[OctCase],
    configuration: str,
    rng: np.random.Generator,
    progress: Callable[[int], None],
    extension: str = ".mha",
) -> None:
    """Write the input of `fuse cysts`: volumes, the evaluation set in two runs, and the annotations.

    ``configuration``: the text of `phase.toml`. Raises `ValueError` for a volume of fewer than five B-scans.
    """
    b_scans: list[list[str]] = []
    for done, case in enumerate(cases, start=1):
        depth = case.geometry.shape[0]
        if depth < len(_SHARES):
            raise ValueError(f"{case.name}: expected at least {len(_SHARES)} B-scans, found {depth}")
        file = f"{case.name}{extension}"
        _write(folder / "images" / file, draw_image(case, rng), case)
        b_scans += [[case.name, str(int(depth * share) + 1)] for share in _SHARES]
        for name, habits in {_SUPERVISOR: _EXPERT, **ANNOTATORS}.items():
            for run in _RUNS:
                _write(folder / "evaluation" / name / run / file, annotate(case, rng, habits), case)
            if name != _SUPERVISOR:
                _write(folder / "annotations" / name / file, annotate(case, rng, habits), case)
        progress(done)
    write_csv(folder / "evaluation.csv", ["volume", "b_scan"], b_scans)
    ranks = [[case.name, case.vendor, case.quality, case.quality, "medium"] for case in cases]
    header = ["volume", "vendor", *(f"quality_{name}" for name in ANNOTATORS)]
    write_csv(folder / "volumes.csv", header, ranks)
    (folder / "phase.toml").write_text(configuration, encoding="utf-8", newline="\n")


def annotate(case: OctCase, rng: np.random.Generator, habits: Habits) -> NDArray[np.uint8]:
    """Return the confidences (z, y, x), 0 to 5, that somebody of these habits gives."""
    levels = read_cysts(case, rng, habits.missed, habits.deviation, level_deviation=0.4)
    shifted = np.clip(levels.astype(np.int64) + habits.shift, 1, 5)
    return np.where(levels > 0, shifted, 0).astype(np.uint8)


def _write(path: Path, values: NDArray[np.uint8], case: OctCase) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(write_volume(values, case.geometry, "".join(path.suffixes)))
