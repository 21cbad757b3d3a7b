"""The page of a cyst benchmark: figures and tables of the measurements that `fuse cysts` wrote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from evaluation.charts import chart as vl
from evaluation.core.fault import PhaseError
from evaluation.organiser.report.page import Block, Column, Gallery, Page, Section, Table, Text
from evaluation.phase.cases import organiser_table

# --- The tables of `fuse cysts`, as records for figures and pages ---

Record = dict[str, str | float | None]
TABLES = (
    *("distinctions", "histograms", "transforms", "levels", "distributions", "intervals"),
    *("accuracy", "accuracy_by_group", "interval_effect", "combinations"),
    *("scanners", "assignment", "workload"),
)


@dataclass(frozen=True)
class BenchmarkTables:
    """The rows of every table by name; a table of a step that was not run has no rows."""

    folder: Path
    rows: dict[str, list[Record]]

    def __getitem__(self, name: str) -> list[Record]:
        """Return the rows of a table."""
        return self.rows[name]


def read_tables(folder: Path) -> BenchmarkTables:
    """Return the tables in a folder by `fuse cysts --report`. Raises `PhaseError` without any."""
    rows = {name: _rows(folder / f"{name}.csv") for name in TABLES}
    if not any(rows.values()):
        raise PhaseError(f"{folder}: expected the tables of fuse cysts, found none")
    return BenchmarkTables(folder, rows)


def _numeric(record: Record, column: str) -> float | None:
    """Return a cell as a number; None if it is empty. Raises `PhaseError` for text."""
    value = record.get(column)
    if isinstance(value, str):
        raise PhaseError(f"{column}: expected a number, found {value!r}")
    return value


def _number(record: Record, column: str) -> float:
    return _numeric(record, column) or 0.0


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


# --- Figures of distinctions: two cysts, distributions, means and intervals (the paper's Figs. 5 to 7) ---

SUPERVISOR = "supervisor"
_REGIONS = {"domain": ["inside", "ring"], "range": [vl.VERMILION, vl.BLUE]}
_KEY = ("reader", "run", "volume", "b_scan", "cyst")


def _by_reader(rows: Sequence[Record], shape: bool = True) -> dict[str, Any]:
    """Return the encodings of colour and shape that tell annotators apart, the same in every figure."""
    marks = vl.marks_of(str(row["reader"]) for row in rows)
    of_reader = vl.nominal("reader", title=None)
    colour = {"color": {**of_reader, "scale": vl.colour_scale(marks)}}
    return {**colour, "shape": {**of_reader, "scale": vl.shape_scale(marks)}} if shape else colour


def _lines(table: str, column: str, title: str, rows: Sequence[Record], *numbers: str) -> dict[str, Any]:
    """Return the specification of a line for each annotator, from the confidences 1 to 5."""
    axis = {"labelAngle": 0}
    encoding = {
        "x": {"field": "confidence", "type": "ordinal", "title": "confidence", "axis": axis},
        "y": vl.quantity(column, title),
        **_by_reader(rows),
        "tooltip": vl.tooltip("reader", "confidence", numbers=(column, *numbers)),
    }
    return vl.layer(table, {"type": "line", "point": {"filled": True, "size": 70}}, **encoding) | {
        "height": 260
    }


def _distinction_charts(tables: BenchmarkTables) -> Iterator[vl.Chart]:
    yield from _two_cysts(tables)
    if tables["distributions"]:
        yield _distributions(tables["distributions"])
    means = [row for row in tables["transforms"] if row["mean"] is not None]
    if means:
        yield _means(means)
    intervals = [row for row in tables["intervals"] if row["interval"] is not None]
    if intervals:
        yield _intervals(intervals)
    if means:
        yield _scale(means)


def _two_cysts(tables: BenchmarkTables) -> Iterator[vl.Chart]:
    """Yield histograms of the supervisor's most and least distinct cysts of at least median size."""
    cysts = [
        row
        for row in tables["distinctions"]
        if row["reader"] == SUPERVISOR and row["distinction"] is not None and row["pixels"] is not None
    ]
    if not cysts:
        return
    usual = median(_number(row, "pixels") for row in cysts)
    large = sorted(
        (row for row in cysts if _number(row, "pixels") >= usual),
        key=lambda row: (_number(row, "distinction"), *(str(row[name]) for name in _KEY)),
    )
    for which, cyst in (("most", large[-1]), ("least", large[0])):
        found = [row for row in tables["histograms"] if all(row[name] == cyst[name] for name in _KEY)]
        if found:
            yield _histogram(which, cyst, found)


def _histogram(which: str, cyst: Record, regions: Sequence[Record]) -> vl.Chart:
    bars = []
    for row in regions:
        lowest, highest = _number(row, "lowest"), _number(row, "highest")
        counts = [_number(row, f"bin_{number}") for number in range(1, 26)]
        width, pixels = (highest - lowest) / len(counts), sum(counts)
        for position, count in enumerate(counts):
            if count:
                ends = {"from": lowest + width * position, "to": lowest + width * (position + 1)}
                bars.append({"region": row["region"], **ends, "share": count / pixels})
    x, y, distinction = (_number(cyst, name) for name in ("x", "y", "distinction"))
    encoding = {
        **vl.binned("intensity"),
        "y": vl.quantitative("share", title="share of pixels", stack=None),
        "color": vl.nominal("region", title=None, scale=_REGIONS),
        "tooltip": vl.tooltip("region", numbers=("from", "to", "share")),
    }
    return vl.Chart(
        f"{which}-distinct-cyst",
        f"The {which} distinct cyst of the supervisor: D = {distinction:.2f}",
        f"Intensities inside the cyst and in the ring of 15 pixels around it, volume {cyst['volume']}, "
        f"B-scan {cyst['b_scan']:g}, at x = {x:.0f}, y = {y:.0f}, confidence {cyst['confidence']:g}. "
        "Where the two overlap, the cyst cannot be told from its surroundings (Eq. 1).",
        {"bars": bars},
        vl.layer("bars", {"type": "bar", "opacity": 0.6}, **encoding) | {"height": 220},
        "Fig. 5 of the cyst benchmark",
    )


def _distributions(rows: Sequence[Record]) -> vl.Chart:
    bins = [name for name in rows[0] if name.startswith(("below_", "from_", "above_"))]
    bars = [
        {
            "annotator": f"{row['reader']}, {row['stage']}",
            "confidence": f"confidence {row['confidence']:g}",
            "from": (position - 1) / 20,
            "to": position / 20,
            "cysts": _numeric(row, name),
        }
        for row in rows
        for position, name in enumerate(bins)
    ]
    in_order = list(dict.fromkeys(bar["annotator"] for bar in bars))
    return vl.Chart(
        "distributions",
        "Distinctions before and after the transform",
        "Number of cysts by distinction, of every annotator and confidence. After the transform (Eq. 2) "
        "every distribution has the supervisor's mean and variance. The outermost bars hold what lies below "
        "0 and above 1.",
        {"bars": bars},
        {
            "data": {"name": "bars"},
            "mark": {"type": "bar"},
            "encoding": {
                **vl.binned("distinction"),
                "y": vl.quantitative("cysts", title=None),
                "row": vl.nominal(
                    "annotator", title=None, sort=in_order, header={"labelAngle": 0, "labelAlign": "left"}
                ),
                "column": vl.nominal("confidence", title=None),
                "tooltip": vl.tooltip("annotator", "confidence", numbers=("from", "to", "cysts")),
            },
            "resolve": {"scale": {"y": "independent"}},
            # The width of one panel: a figure of panels cannot fit itself to the page.
            "autosize": "pad",
            "width": 110,
            "height": 60,
        },
        "Fig. 6 of the cyst benchmark",
        wide=True,
    )


def _means(rows: Sequence[Record]) -> vl.Chart:
    return vl.Chart(
        "means",
        "Mean distinction of every confidence",
        "Of both runs, before the transform. Cysts of higher confidence should stand out more.",
        {"means": rows},
        _lines("means", "mean", "mean distinction", rows, "variance", "cysts"),
        "Fig. 7a of the cyst benchmark",
    )


def _intervals(rows: Sequence[Record]) -> vl.Chart:
    bars = [
        {
            **row,
            "pair": f"{row['from_confidence']:g} – {row['to_confidence']:g}",
            "interval": _number(row, "to_mean") - _number(row, "from_mean"),
        }
        for row in sorted(rows, key=lambda row: _number(row, "from_confidence"))
    ]
    encoding = {
        "x": vl.category("pair", "confidences", axis={"labelAngle": 0}),
        "xOffset": vl.nominal("reader"),
        "y": vl.quantitative("interval", title="difference of means"),
        **_by_reader(rows, shape=False),
        "tooltip": vl.tooltip("reader", "pair", numbers=("from_mean", "to_mean", "interval")),
    }
    return vl.Chart(
        "intervals",
        "Intervals between neighbouring confidences",
        "The mean distinction of the higher confidence minus that of the lower one; a bar below zero: it "
        "falls. intervals.csv holds the sizes, as the paper defines them. Unequal bars of one annotator mean "
        "that the confidences are no equal steps; unequal annotators use them differently.",
        {"intervals": bars},
        vl.layer("intervals", {"type": "bar"}, **encoding) | {"height": 260},
        "Fig. 7b of the cyst benchmark",
    )


def _scale(rows: Sequence[Record]) -> vl.Chart:
    labels = list(_joined_labels(rows))
    colour = _by_reader(rows, shape=False)
    colour["color"]["legend"] = None
    mark = {"type": "text", "fontSize": 14, "fontWeight": "bold", "dy": -8}
    told = vl.tooltip("reader", "confidence", numbers=("mean", "cysts"))
    return vl.Chart(
        "scale",
        "Confidences on the scale of distinctions",
        "Every number is a confidence, every tick the mean distinction of an annotator's cysts of it.",
        {"means": rows, "labels": labels},
        {
            "encoding": {"x": vl.quantity("mean", "mean distinction"), "y": vl.names_down("reader")},
            "layer": [
                vl.layer("means", {"type": "line", "opacity": 0.4}, **colour),
                vl.layer("means", {"type": "tick", "thickness": 2, "size": 10}, **colour, tooltip=told),
                vl.layer("labels", mark, text=vl.nominal("label"), **colour),
            ],
            "height": 46 * len({str(row["reader"]) for row in rows}),
        },
        "Fig. 7c of the cyst benchmark",
    )


def _joined_labels(rows: Sequence[Record]) -> Iterator[Record]:
    """Yield the confidences of every annotator by ascending mean; those too near to be told apart as one."""
    means = [_number(row, "mean") for row in rows]
    nearest = 0.05 * (max(means) - min(means))
    for reader in dict.fromkeys(row["reader"] for row in rows):
        of_reader = sorted(
            (row for row in rows if row["reader"] == reader), key=lambda row: _number(row, "mean")
        )
        groups: list[list[Record]] = []
        for row in of_reader:
            if groups and _number(row, "mean") - _number(groups[-1][-1], "mean") < nearest:
                groups[-1].append(row)
            else:
                groups.append([row])
        for group in groups:
            middle = sum(_number(row, "mean") for row in group) / len(group)
            label = ", ".join(f"{row['confidence']:g}" for row in group)
            yield {"reader": reader, "mean": middle, "label": label}


# --- Figures of accuracy by confidence (Table 4) and of combined annotators (Figs. 9 to 12) ---

_MEASURES = {
    "accuracy": "Similarity to the supervisor (Eq. 3), over the voxels that either marked so in any run.",
    "reproducibility": "Similarity of an annotator's two runs (Eq. 3), over the voxels marked so in one.",
}
_METHODS = {"alone": (vl.GREY, "circle"), "average": (vl.OCHRE, "diamond"), "weighted": (vl.BLUE, "square")}


def _accuracy_charts(tables: BenchmarkTables) -> Iterator[vl.Chart]:
    for measure, against in _MEASURES.items():
        rows = [row for row in tables["accuracy"] if row["measure"] == measure]
        if rows:
            yield _by_confidence(measure, against, rows)


def _by_confidence(measure: str, against: str, rows: Sequence[Record]) -> vl.Chart:
    points = [
        {"reader": row["reader"], "confidence": confidence, "similarity": row[f"confidence_{confidence}"]}
        for row in rows
        for confidence in range(1, 6)
        if row[f"confidence_{confidence}"] is not None
    ]
    return vl.Chart(
        measure,
        f"{measure.capitalize()} by confidence",
        against,
        {"points": points},
        _lines("points", "similarity", measure, rows),
        "Table 4 of the cyst benchmark" if measure == "accuracy" else "",
    )


def _combinations(rows: Sequence[Record]) -> vl.Chart:
    of_method = vl.nominal("method", title=None)
    colours, shapes = zip(*_METHODS.values(), strict=True)
    encoding = {
        "x": vl.quantity("overall", "similarity"),
        "y": vl.names_down("readers"),
        "color": {**of_method, "scale": {"domain": list(_METHODS), "range": list(colours)}},
        "shape": {**of_method, "scale": {"domain": list(_METHODS), "range": list(shapes)}},
        "tooltip": vl.tooltip("readers", "method", numbers=("overall", "cysts", "found", "false")),
    }
    mark = {"type": "point", "filled": True, "size": 100, "opacity": 0.9}
    return vl.Chart(
        "combinations",
        "Combined annotators against the supervisor",
        "Similarity to the supervisor on the evaluation set (Eq. 3): annotators alone, pairs and all "
        "together, combined by Eq. 4 (weighted) and by the plain average. The weights come from the same "
        "B-scans.",
        {"combinations": rows},
        vl.layer("combinations", mark, **encoding)
        | {"height": 34 * len({str(row["readers"]) for row in rows})},
        "Figs. 9 to 12 of the cyst benchmark",
        wide=True,
    )


# --- The sections of the page of a cyst benchmark ---

BANNER = "Holds figures and pictures of the annotations: for the organisers of the challenge alone."
_ONLY_WITH_CYST = (
    "a and b change a value only with --interval cyst. By default a confidence has the mean of its "
    "transformed distinctions, and Eq. 2 makes that the supervisor's mean."
)
_WHOLE = frozenset(
    {"confidence", "cysts", "found", "false", "volumes", "b_scans", "parts", "part", "from", "to", "pixels"}
    | {"pooled_with"}
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
    everything = [row for row in tables["combinations"] if row["column"] == "all"]
    groups = [row for row in tables["combinations"] if row["column"] in ("vendor", "quality")]
    distinctions: list[Block] = [
        *_distinction_charts(tables),
        *_table("values", "Value of every confidence", tables["levels"]),
        *_table("transforms", "Transforms (Eq. 2)", tables["transforms"], _ONLY_WITH_CYST),
    ]
    accuracy: list[Block] = [
        *_accuracy_charts(tables),
        *_table("accuracies", "Reproducibility and accuracy", tables["accuracy"]),
        *_table("groups", "By vendor and quality", tables["accuracy_by_group"]),
        *_table("effect", "Effect of --interval", tables["interval_effect"]),
        *([pictures.runs] if pictures.runs else []),
    ]
    combinations: list[Block] = [
        *([_combinations(everything)] if everything else []),
        *_table("combined", "On all B-scans", everything),
        *_table("combined-groups", "By vendor and quality", groups),
        *([pictures.combinations] if pictures.combinations else []),
    ]
    work: list[Block] = [
        *_table("scanners", "Scanners", tables["scanners"]),
        *_table("parts", "Parts and their annotators", tables["assignment"]),
        *_table("workload", "Work of every annotator", tables["workload"]),
        *([pictures.parts] if pictures.parts else []),
    ]
    sections = (
        ("distinctions", "Distinctions", distinctions),
        ("accuracy", "Accuracy", accuracy),
        ("combinations", "Combinations", combinations),
        ("work", "Volumes and work", work),
    )
    return Page(
        title="Cyst benchmark",
        subtitle=tables.folder.name,
        banner=BANNER,
        facts=tuple(_facts(tables)),
        answer=tuple(_answer(everything)),
        sections=tuple(
            Section(name, title, tuple(blocks) or (Text(("This step was not run.",)),))
            for name, title, blocks in sections
        ),
    )


def _answer(combinations: Sequence[Record]) -> Iterator[str]:
    """Yield which combination is the most similar to the supervisor, beside the best single annotator."""
    ordered = sorted(combinations, key=lambda row: -_number(row, "overall"))
    if ordered:
        best, alone = ordered[0], next((row for row in ordered if row["method"] == "alone"), None)
        against = f", {alone['readers']} alone at {_number(alone, 'overall'):.3f}" if alone else ""
        yield (
            f"{best['readers']} ({best['method']}) comes nearest to the supervisor: similarity "
            f"{_number(best, 'overall'):.3f}{against}."
        )


def _facts(tables: BenchmarkTables) -> Iterator[tuple[str, str]]:
    cysts = tables["distinctions"]
    if cysts:
        yield "Annotators", ", ".join(sorted({str(row["reader"]) for row in cysts}))
        yield "Marked cysts", str(len(cysts))
        yield "Volumes of the evaluation set", str(len({row["volume"] for row in cysts}))


def _table(name: str, title: str, rows: Sequence[Record], note: str = "") -> Iterator[Table]:
    """Yield the table of rows as they are, numbers to three decimals; none without rows."""
    if rows:
        names = list(rows[0])
        columns = (Column(_in_words(column), 0 if _is_whole(column) else 3) for column in names)
        cells = ([_in_words(row[name]) if name == "voxels" else row[name] for name in names] for row in rows)
        yield Table.of(name, title, columns, cells, note)


def _in_words(name: Any) -> str:
    return str(name).replace("b_scan", "B-scan").replace("_", " ").replace(" um ", " µm ")


def _is_whole(column: str) -> bool:
    return column in _WHOLE or column.endswith("_pixels") or column.startswith("quality_")
