"""Figures as files: five formats, each of its kind."""

import json

from evaluation.organiser.report.page import csv_of, vector_files, write_figures
from test.charts.examples import examples

STARTS = {"svg": b"<svg", "pdf": b"%PDF-", "png": b"\x89PNG", "csv": b"table,", "vl.json": b"{"}


def test_every_format_is_written(tmp_path):
    chart = examples()["roc"]
    paths = write_figures([chart], tmp_path)
    assert [path.name for path in paths] == [
        f"roc.{ending}" for ending in ("vl.json", "csv", "svg", "pdf", "png")
    ]
    for ending, start in STARTS.items():
        assert (tmp_path / f"roc.{ending}").read_bytes().startswith(start)
    assert json.loads((tmp_path / "roc.vl.json").read_bytes())["width"] == 480


def test_a_csv_has_a_row_for_each_row_of_each_table_and_no_formula():
    chart = examples()["scatter"]
    assert csv_of(chart).splitlines() == [
        "table,case,x,y,group",
        "points,a,1,0.5,cup",
        "points,b,10,0.7,disc",
    ]
    named = type(chart)(**{**vars(chart), "data": {"points": [{"case": "=1+1", "x": -1.5}]}})
    assert csv_of(named).splitlines()[1] == "points,'=1+1,-1.5"


def test_a_drawing_has_the_same_bytes_every_time():
    groups = "".join(
        f'<g opacity="0.{n}"><path d="M{n} 0h9v9z"/><text y="9">{n}</text></g>' for n in range(1, 9)
    )
    drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">{groups}</svg>'
    first, *others = (vector_files(drawing)["pdf"] for _ in range(4))
    assert first.startswith(b"%PDF")
    assert others == [first] * 3
