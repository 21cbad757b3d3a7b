"""The page of a cyst benchmark: figures and tables of the measurements that `fuse cysts` wrote."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evaluation.charts import chart as vl
from evaluation.core.fault import PhaseError
from evaluation.organiser.report.page import Block, Column, Page, Section, Table, Text, rendered
from evaluation.phase.cases import organiser_table

# --- The tables of `fuse cysts`, as records for figures and pages ---

Record = dict[str, str | float | None]
TABLES = (
    *("distinctions", "transforms", "levels", "accuracy", "combinations"),
    *("assignment", "workload"),
)

Tables = dict[str, list[Record]]
"""The rows of every table by name; a table of a step that was not run has no rows."""


def read_tables(folder: Path) -> Tables:
    """Return the tables in a folder by `fuse cysts --report`. Raises `PhaseError` without any."""
    tables = {name: _rows(folder / f"{name}.csv") for name in TABLES}
    if not any(tables.values()):
        raise PhaseError(f"{folder}: expected the tables of fuse cysts, found none")
    return tables


def _rows(path: Path) -> list[Record]:
    if not path.exists():
        return []
    with organiser_table(path, ()) as table:
        return [{name: _cell(cell) for name, cell in row.cells.items()} for row in table.rows]


def _cell(text: str) -> str | float | None:
    """Return a cell as a number if it is one, None if it is empty."""
    try:
        return float(text) if text else None
    except ValueError:
        return text


# --- Figures of distinctions by confidence (the paper's Fig. 7a) ---


def _chart(name: str, rows: Sequence[Record], **content: Any) -> vl.Chart:
    """Return a figure of rows whose words and specification are in `templates/benchmark.json`."""
    readers = vl.marks_of(str(row["reader"]) for row in rows if "reader" in row)
    content |= {"name": name, "readers": readers, "down": vl.names_down}
    words = json.loads(rendered("benchmark.json", {}, **content))
    specification = words.pop("specification")
    return vl.Chart(
        name=name, data={specification["data"]["name"]: rows}, specification=specification, **words
    )


# --- Figures of accuracy by confidence (Table 4) and of combined annotators (Figs. 9 to 12) ---


def _accuracy_charts(tables: Tables) -> Iterator[vl.Chart]:
    for measure in ("accuracy", "reproducibility"):
        points: list[Record] = [
            {"reader": row["reader"], "confidence": confidence, "similarity": row[f"confidence_{confidence}"]}
            for row in tables["accuracy"]
            for confidence in range(1, 6)
            if row["measure"] == measure and row[f"confidence_{confidence}"] is not None
        ]
        if points:
            yield _chart(measure, points)


# --- The sections of the page of a cyst benchmark ---

BANNER = "Holds figures of the annotations: for the organisers of the challenge alone."
_ONLY_WITH_CYST = (
    "a and b change a value only with --interval cyst. By default a confidence has the mean of its "
    "transformed distinctions, and Eq. 2 makes that the supervisor's mean."
)
_DISPUTE = (
    "A combined level 1 is low confidence or dispute: a voxel that one of three annotators marks at 4 or 5, "
    "and the others leave out, falls there too."
)
_WHOLE = frozenset({"confidence", "cysts", "volumes", "b_scans", "parts", "part", "pooled_with"})


def benchmark_page(name: str, tables: Tables) -> Page:
    """Return the page of the tables of that name."""
    everything = tables["combinations"]
    combined = len({row["readers"] for row in everything})
    means = [row for row in tables["transforms"] if row["mean"] is not None]
    distinctions: list[Block] = [
        *([_chart("means", means)] if means else []),
        *_table("values", "Value of every confidence", tables["levels"], _DISPUTE),
        *_table("transforms", "Transforms (Eq. 2)", tables["transforms"], _ONLY_WITH_CYST),
    ]
    accuracy: list[Block] = [
        *_accuracy_charts(tables),
        *_table("accuracies", "Reproducibility and accuracy", tables["accuracy"]),
    ]
    combinations: list[Block] = [
        *([_chart("combinations", everything, combined=combined)] if everything else []),
        *_table("combined", "On all B-scans", everything),
    ]
    work: list[Block] = [
        *_table("parts", "Parts and their annotators", tables["assignment"]),
        *_table("workload", "Work of every annotator", tables["workload"]),
    ]
    sections = (
        ("distinctions", "Distinctions", distinctions),
        ("accuracy", "Accuracy", accuracy),
        ("combinations", "Combinations", combinations),
        ("work", "Volumes and work", work),
    )
    not_run = (Text(("This step was not run.",)),)
    return Page(
        title="Cyst benchmark",
        subtitle=name,
        banner=BANNER,
        answer=tuple(_answer(tables)),
        sections=tuple(Section(name, title, tuple(blocks) or not_run) for name, title, blocks in sections),
    )


def _answer(tables: Tables) -> Iterator[str]:
    if cysts := tables["distinctions"]:
        readers = ", ".join(sorted({str(row["reader"]) for row in cysts}))
        volumes = len({row["volume"] for row in cysts})
        yield f"{len(cysts)} cysts are marked in {volumes} volumes of the evaluation set, by {readers}."


def _table(name: str, title: str, rows: Sequence[Record], note: str = "") -> Iterator[Table]:
    """Yield the table of rows as they are, numbers to three decimals; none without rows."""
    if rows:
        names = list(rows[0])
        columns = (Column(_in_words(column), 0 if column in _WHOLE else 3) for column in names)
        cells = ([row[name] for name in names] for row in rows)
        yield Table.of(name, title, columns, cells, note)


def _in_words(name: str) -> str:
    return name.replace("b_scan", "B-scan").replace("_", " ")
