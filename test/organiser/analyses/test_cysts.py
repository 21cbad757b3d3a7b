"""Heights of drawn cysts and volumes by ring, by arithmetic, and the tables of analyses."""

from types import SimpleNamespace

import numpy as np
import pytest

from evaluation.challenges.cysts.rules import CystsOptions
from evaluation.core.form import CaseForm
from evaluation.metrics.crops import crop
from evaluation.organiser.analyses.analysis import AnalysisFigure
from evaluation.organiser.analyses.cysts import ANALYSES, heights_of
from evaluation.organiser.analyses.section import figures_table
from evaluation.organiser.report.case_views import OpenCase

HEIGHTS, RINGS = ANALYSES


def opened(marked, levels, spacing="0.5 0.1 1", **cells):
    depth, height, width = levels.shape
    columns = {"b_scans": str(depth), "spacing_mm": spacing, "origin_mm": "0 0 0"}
    columns["direction"] = "1 0 0 0 1 0 0 0 1"
    planes = SimpleNamespace(planes=lambda: (crop(plane, 0) for plane in levels))
    given = {} if marked is None else {"cysts": [crop(plane, 0) for plane in marked]}
    form = CaseForm("V", width, height, columns)
    return OpenCase(form, cells, given, {"level": planes}, CystsOptions())


def volume(*boxes, shape=(3, 8, 9)):
    """Return levels of 2 in boxes (B-scans, rows, columns)."""
    made = np.zeros(shape, np.uint8)
    for box in boxes:
        made[box] = 2
    return made


def test_cysts_by_height():
    """Voxels are 0.1 mm deep: four rows are 400 µm, three 300 µm; B-scans 1 mm apart are not joined."""
    levels = volume(np.s_[0, 1:5, 1:3], np.s_[1, 1:4, 1:3], np.s_[2, 0:2, 7])
    marked = np.zeros_like(levels)
    marked[0, 4, 2] = 1
    marked[2, 5, 5] = marked[0, 7, 0] = 1  # beyond all cysts
    rows = [row for row in HEIGHTS.measure(opened(marked, levels)) if row.analysis == "heights"]
    assert [row.part for row in rows] == ["high", "low", "low"]
    assert [row.values["height_um"] for row in rows] == pytest.approx([400, 300, 200])
    assert [row.values["found"] for row in rows] == [1, 0, 0]
    both = [(height, found) for height, found in heights_of(levels > 0, marked > 0, 100, True)]
    # Joined over B-scans, the first two are one cyst of rows 1 to 4.
    assert both == [(400, True), (200, False)]


def test_volumes_by_ring():
    """Columns are 0.5 mm wide, B-scans 1 mm apart, voxels 0.05 mm³; the middle is column 4 of B-scan 2."""
    levels = volume(np.s_[1, 0:2, 4], np.s_[1, 0, 5], np.s_[1, 0, 6], np.s_[0, 0:3, 4], np.s_[1, 0, 0])
    rows = [row for row in HEIGHTS.measure(opened(np.zeros_like(levels), levels)) if row.analysis == "rings"]
    assert [row.part for row in rows] == ["centre", "inner", "outer", "beyond"]
    # Distances: 0 and 0.5 mm; 1 and 1 mm; 2 mm; nothing farther.
    assert [row.values["reference"] / 0.05 for row in rows] == pytest.approx([3, 4, 1, 0])
    assert [row.values["difference"] / 0.05 for row in rows] == pytest.approx([-3, -4, -1, 0])
    assert {row.values["fovea_known"] for row in rows} == {0}
    # From column 0 of B-scan 2: 0; none; √(1² + 2²), 2, 2.5 and 3 mm; none.
    case = opened(np.zeros_like(levels), levels, fovea_x="0", fovea_b_scan="2")
    rows = [row for row in HEIGHTS.measure(case) if row.analysis == "rings"]
    assert [row.values["reference"] / 0.05 for row in rows] == pytest.approx([1, 0, 7, 0])
    assert {row.values["fovea_known"] for row in rows} == {1}


def test_an_empty_reference_and_a_missing_volume():
    empty = np.zeros((2, 4, 4), np.uint8)
    rows = list(HEIGHTS.measure(opened(empty, empty)))
    assert {(row.analysis, row.values["error"]) for row in rows} == {("rings", 0)}
    rows = list(HEIGHTS.measure(opened(None, empty)))
    assert [(row.analysis, row.left_out is None) for row in rows] == [("heights", False), ("rings", False)]


HEIGHT = "Mean height in µm"
KNOWN = AnalysisFigure("Up to 380 µm", HEIGHT, 26, 157, 147.74, 131.96, 164.48, "percentile")
UNKNOWN = AnalysisFigure("Above 380 µm", HEIGHT, 4, 5, 0.25, None, None, "fewer than 10 cases")
SOME, NONE = "In brackets: 95 % intervals.", "Figures without an interval: 1 (fewer than 10 cases)."


def test_a_table_says_which_figures_have_an_interval():
    table = figures_table(ANALYSES[0], {"": [KNOWN, UNKNOWN]})
    assert [list(row) for row in table.rows] == [
        ["Up to 380 µm", 26, "147.7 (131.9 to 164.5)"],
        ["Above 380 µm", 4, "0.250"],
    ]
    assert table.note.endswith(f" {SOME} {NONE}")
    assert SOME not in figures_table(ANALYSES[0], {"": [UNKNOWN]}).note
