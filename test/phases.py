"""Tiny REFUGE phases and submissions, written through the project's own writers."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.challenges.refuge import CHALLENGE, CUP, DISC, ELSEWHERE, RefugeOptions
from evaluation.core.challenge import fields_of
from evaluation.io.kinds.points import PointSet, point_at
from evaluation.io.kinds.volume import Volume
from evaluation.io.tables import write_csv
from evaluation.organiser.submission_writer import ArchiveWriter, SampleCase, write_phase
from evaluation.phase.manifest import scan, seal
from evaluation.phase.phase import Phase, load_phase
from evaluation.phase.renamed import OF_THE_PLATFORM

WIDTH, HEIGHT = 16, 12
FIELDS = fields_of(CHALLENGE.tasks(RefugeOptions()))


@dataclass(frozen=True)
class TinyCase:
    """A case of 16 × 12 pixels: a disc of 6 × 6 pixels with a cup of 2 × 3 in it, placed by its number."""

    number: int
    glaucoma: bool

    @property
    def name(self) -> str:
        return f"V{self.number:04d}"

    @property
    def fovea(self) -> PointSet:
        return point_at(2.0 + self.number % 10, 5.5)

    @property
    def mask(self) -> NDArray[np.uint8]:
        mask = np.full((HEIGHT, WIDTH), ELSEWHERE, np.uint8)
        top, left = 1 + self.number % 5, 2 + self.number % 7
        mask[top : top + 6, left : left + 6] = DISC
        mask[top + 1 : top + 4, left + 2 : left + 4] = CUP
        return mask

    @property
    def values(self) -> dict[str, Any]:
        """The reference, and also the content of a perfect submission (a likelihood near the label)."""
        likelihood = round(0.001 * self.number + (0.9 if self.glaucoma else 0.1), 3)
        return {"glaucoma_risk": likelihood, "segmentation": Volume.of_image(self.mask), "fovea": self.fovea}


def tiny_cases(count: int = 4, positives: int | None = None) -> list[TinyCase]:
    """Return cases V0001, V0002, …; the first ``positives`` of them (by default half) are glaucomatous."""
    positives = count // 2 if positives is None else positives
    return [TinyCase(number, number <= positives) for number in range(1, count + 1)]


def refuge_phase(
    folder: Path,
    cases: Sequence[TinyCase] | int = 4,
    *,
    keys: Mapping[str, Any] | None = None,
    tables: str = "",
    columns: Mapping[str, Sequence[object]] | None = None,
    sealed: bool = True,
) -> Path:
    """Write a phase folder and return it.

    ``keys`` are added to (or replace) keys of `phase.toml`, ``tables`` is TOML that follows them, ``columns``
    are added to (or replace) columns of `cases.csv`, one value a case.
    """
    cases = tiny_cases(cases) if isinstance(cases, int) else cases
    content = configuration("refuge", {"submission": "archive", "resamples": 200, **(keys or {})}, tables)
    write_phase(folder, content, FIELDS, (_sample(case) for case in cases))
    if columns:
        _add_columns(folder / "cases.csv", columns)
    if sealed:
        seal(folder, scan(folder))
    return folder


def configuration(challenge: str, keys: Mapping[str, Any], tables: str) -> str:
    """Return a phase.toml with some keys, and TOML that follows them."""
    named = {"challenge": challenge, "name": f"{challenge}-tiny", "title": "Tiny", **keys}
    platform = {f"platform.{key}": named.pop(key) for key in OF_THE_PLATFORM if key in named}
    lines = (f"{key} = {json.dumps(value)}" for key, value in {**named, **platform}.items())
    return "\n".join([*lines, tables, ""])


def loaded_phase(folder: Path, cases: Sequence[TinyCase] | int = 4, **arguments: Any) -> Phase:
    """Write a sealed phase folder, see `refuge_phase`, and return it as it is scored."""
    return load_phase(refuge_phase(folder, cases, **arguments))


def refuge_submission(
    folder: Path,
    cases: Sequence[TinyCase] | int = 4,
    *,
    fields: Sequence[str] = ("glaucoma_risk", "segmentation", "fovea"),
    extension: str = ".png",
    change: Callable[[TinyCase, dict[str, Any]], Mapping[str, Any]] = lambda case, values: values,
) -> Path:
    """Write a perfect submission and return its folder; ``change`` may alter or leave out a case's values."""
    writer = ArchiveWriter(
        folder, [field for field in FIELDS if field.name in fields], {"segmentation": extension}
    )
    for case in tiny_cases(cases) if isinstance(cases, int) else cases:
        writer.add(case.name, change(case, dict(case.values)))
    writer.close()
    folder.mkdir(exist_ok=True)
    return folder


def imperfect(case: TinyCase, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a likelihood that puts some pairs out of order, and a mask without some of its rows."""
    mask = values["segmentation"].values[0].copy()
    mask[: case.number % 3 + 2] = ELSEWHERE
    return {**values, "glaucoma_risk": case.number * 5 % 13 / 13, "segmentation": Volume.of_image(mask)}


def replace_in(path: Path, old: str, new: str) -> None:
    """Replace text in a file, in which it must stand."""
    text = path.read_text(encoding="utf-8")
    if old not in text:
        raise ValueError(f"{path}: {old!r} does not stand in it")
    path.write_text(text.replace(old, new), encoding="utf-8")


def _sample(case: TinyCase) -> SampleCase:
    size = {"width": str(WIDTH), "height": str(HEIGHT)}
    return SampleCase(case.name, size, {**case.values, "glaucoma_risk": int(case.glaucoma)})


def _add_columns(path: Path, columns: Mapping[str, Sequence[object]]) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for name, values in columns.items():
        for row, value in zip(rows, values, strict=True):
            row[name] = str(value)
    write_csv(path, list(rows[0]), [list(row.values()) for row in rows])
