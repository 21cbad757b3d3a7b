"""The sections of the page of a cyst benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.report.benchmark.agreement_figures import agreement_charts
from evaluation.report.benchmark.distinction_figures import distinction_charts
from evaluation.report.benchmark.reading import BenchmarkTables, Record
from evaluation.report.page import Block, Column, Figure, Gallery, Page, Section, Table, Text

BANNER = "Holds figures and pictures of the annotations: for the organisers of the challenge alone."
_ONLY_WITH_CYST = (
    "a and b change a value only with --interval cyst. By default a confidence has the mean of its "
    "transformed distinctions, and Eq. 2 makes that the supervisor's mean."
)
_WIDE = frozenset({"distributions", "combinations"})
_WHOLE = frozenset(
    {"confidence", "cysts", "found", "false", "volumes", "b_scans", "parts", "part", "from", "to", "pixels"}
)


@dataclass(frozen=True)
class Pictures:
    """B-scans with both runs of every annotator, with their combinations, and of the built benchmark."""

    runs: Gallery | None = None
    combinations: Gallery | None = None
    parts: Gallery | None = None


def benchmark_page(tables: BenchmarkTables, pictures: Pictures | None = None) -> Page:
    """Return the page of the existing tables, with the requested ``pictures``."""
    pictures = pictures or Pictures()
    charts = {
        "distinction": tuple(distinction_charts(tables)),
        "agreement": tuple(agreement_charts(tables)),
    }
    figures: dict[str, list[Block]] = {
        name: [Figure(chart, wide=chart.name in _WIDE) for chart in found] for name, found in charts.items()
    }
    accuracy = [figure for figure in figures["agreement"] if not _is(figure, "combinations")]
    combined = [figure for figure in figures["agreement"] if _is(figure, "combinations")]
    everything = [row for row in tables["combinations"] if row["column"] == "all"]
    groups = [row for row in tables["combinations"] if row["column"] in ("vendor", "quality")]
    sections: list[tuple[str, str, list[Block]]] = [
        (
            "distinctions",
            "Distinctions",
            [
                *figures["distinction"],
                *_table("values", "Value of every confidence", tables["levels"]),
                *_table("transforms", "Transforms (Eq. 2)", tables["transforms"], _ONLY_WITH_CYST),
            ],
        ),
        (
            "accuracy",
            "Accuracy",
            [
                *accuracy,
                *_table("accuracies", "Reproducibility and accuracy", tables["accuracy"]),
                *_table("groups", "By vendor and quality", tables["accuracy_by_group"]),
                *_table("effect", "Effect of --interval", tables["interval_effect"]),
                *([pictures.runs] if pictures.runs else []),
            ],
        ),
        (
            "combinations",
            "Combinations",
            [
                *combined,
                *_table("combined", "On all B-scans", everything),
                *_table("combined-groups", "By vendor and quality", groups),
                *([pictures.combinations] if pictures.combinations else []),
            ],
        ),
        (
            "work",
            "Volumes and work",
            [
                *_table("scanners", "Scanners", tables["scanners"]),
                *_table("parts", "Parts and their annotators", tables["assignment"]),
                *_table("workload", "Work of every annotator", tables["workload"]),
                *([pictures.parts] if pictures.parts else []),
            ],
        ),
    ]
    return Page(
        title="Cyst benchmark",
        subtitle=tables.folder.name,
        banner=BANNER,
        facts=tuple(_facts(tables)),
        sections=tuple(
            Section(name, title, tuple(blocks) or (Text(("This step was not run.",)),))
            for name, title, blocks in sections
        ),
    )


def _facts(tables: BenchmarkTables) -> Iterator[tuple[str, str]]:
    cysts = tables["distinctions"]
    if cysts:
        yield "annotators", ", ".join(sorted({str(row["reader"]) for row in cysts}))
        yield "marked cysts", str(len(cysts))
        yield "volumes of the evaluation set", str(len({row["volume"] for row in cysts}))


def _is(block: Block, name: str) -> bool:
    return isinstance(block, Figure) and block.chart.name == name


def _table(name: str, title: str, rows: Sequence[Record], note: str = "") -> Iterator[Table]:
    """Yield the table of rows as they are, numbers to three decimals; none without rows."""
    if rows:
        names = list(rows[0])
        yield Table(
            name,
            title,
            tuple(Column(column.replace("_", " "), 0 if _is_whole(column) else 3) for column in names),
            tuple(tuple(row[column] for column in names) for row in rows),
            note,
        )


def _is_whole(column: str) -> bool:
    return column in _WHOLE or column.endswith("_pixels") or column.startswith("quality_")
