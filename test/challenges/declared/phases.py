"""Small declared phases, written as an organiser writes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import evaluation

LIKELIHOOD = """\
[fields.likelihood]
kind = "number"
minimum = 0
maximum = 1
reference_column = "class"
positive = ["RG"]
negative = ["NRG"]
excluded = ["U"]
"""
"""The table of a likelihood of two classes, of which some cases have neither."""
SCREENING = f"""{LIKELIHOOD}
[tasks.screening]
metrics = ["auc"]
"""
"""The tables of a phase with one likelihood."""


def declared_phase(
    folder: Path,
    tables: str,
    cases: Mapping[str, Sequence[object]],
    *,
    submission: str = "archive",
    keys: str = "",
) -> Path:
    """Write `phase.toml` and `cases.csv` (columns with a cell for each case) and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    head = f'name = "declared"\ntitle = "Declared"\nsubmission = "{submission}"\n{keys}\n'
    (folder / "phase.toml").write_text(f"{head}\n{tables}", encoding="utf-8")
    write_table(folder / "cases.csv", cases)
    return folder


def write_table(path: Path, columns: Mapping[str, Sequence[object]]) -> Path:
    """Write a csv file of columns and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *rows, ""]), encoding="utf-8")
    return path


def figures_of(phase: Path, folder: Path, found: Mapping[str, Sequence[object]]) -> dict[str, float]:
    """Seal a phase of one task, score a table of predictions below the folder, and return the figures."""
    evaluation.seal(phase)
    write_table(folder / "submission" / "predictions.csv", found)
    result = evaluation.evaluate(phase, folder / "submission", workers=0).to_dict()
    (figures,) = result["aggregates"].values()
    return {name: entry["value"] for name, entry in figures.items()}
