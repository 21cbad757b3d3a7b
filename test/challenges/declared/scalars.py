"""Declared phases of values in one table, scored and rehearsed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import evaluation
from evaluation.organiser.rehearsal import Rehearsal, rehearse
from evaluation.phase.manifest import read_manifest
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase, write_table

Columns = Mapping[str, Sequence[Any]]
DIGITS = "resamples = 200\nvalue_digits = 6\n"


def sealed(folder: Path, tables: str, cases: Columns, keys: str = "", submission: str = "archive") -> Path:
    """Write and seal a phase with figures of many digits, and return its folder."""
    phase = declared_phase(folder, tables, cases, submission=submission, keys=DIGITS + keys)
    evaluation.seal(phase)
    return phase


def figures(phase: Path, submission: Path) -> dict[str, dict[str, Any]]:
    """Return the figures of the only task of a phase, by name."""
    result = evaluation.evaluate(phase, submission, workers=0).to_dict()
    (task,) = result["aggregates"].values()
    found: dict[str, dict[str, Any]] = task
    return found


def values(phase: Path, folder: Path, submitted: Columns) -> dict[str, float]:
    """Return the values of the only task for a table of predictions, by metric."""
    write_table(folder / "predictions.csv", submitted)
    return {name: figure["value"] for name, figure in figures(phase, folder).items()}


def rehearsed(phase: Path) -> Rehearsal:
    """Return the rehearsal of a sealed phase."""
    return rehearse(load_phase(phase, read_manifest(phase)), workers=0)
