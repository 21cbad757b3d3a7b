"""Writes a synthetic phase of a number for each case and a submission, for the scripts of the examples."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Sequence
from pathlib import Path

Column = tuple[str, Sequence[object]]


def write_tables(folder: Path, example: Path, reference: Column, found: Column) -> None:
    """Write ``folder/phase`` and ``folder/submission``: a column of the reference, and one of predictions."""
    for root, table, key, (name, values) in (
        ("phase", "cases.csv", "name", reference),
        ("submission", "predictions.csv", "case", found),
    ):
        (folder / root).mkdir(parents=True)
        rows = [[f"case_{number:03d}", value] for number, value in enumerate(values)]
        with (folder / root / table).open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([[key, name], *rows])
    for path in (example / "phase.toml", example / "metrics.py"):
        shutil.copy(path, folder / "phase")
