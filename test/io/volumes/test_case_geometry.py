import pytest

from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.io.volume_header import (
    B_SCAN_COLUMNS,
    DEPTH,
    GEOMETRY_COLUMNS,
    UPRIGHT,
    Geometry,
    geometry_columns,
    geometry_of,
    plane_geometry_of,
)
from test.faults import faulted

GEOMETRY = Geometry((2, 3, 4), (0.5, 0.25, 0.125), (1.0, 2.0, 3.0), UPRIGHT)
COLUMNS = geometry_columns(GEOMETRY)


@pytest.mark.parametrize(
    ("columns", "names"),
    [(COLUMNS, B_SCAN_COLUMNS), (geometry_columns(GEOMETRY, DEPTH), GEOMETRY_COLUMNS)],
)
def test_the_columns_of_a_geometry_read_back(columns, names):
    assert set(columns) == {"width", "height", *names}
    assert geometry_of(CaseForm("V1", 4, 3, columns)) == GEOMETRY


def test_a_position_that_is_not_given_is_not_compared():
    case = CaseForm("V1", 4, 3, {"depth": "2", "spacing_mm": "0.5 0.25 0.125"})
    assert geometry_of(case) == Geometry((2, 3, 4), (0.5, 0.25, 0.125))


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("b_scans", ""),
        ("b_scans", "2.5"),
        ("spacing_mm", "1 1"),
        ("spacing_mm", "1 0 1"),
        ("direction", "1 0 0"),
        ("origin_mm", "a b c"),
    ],
)
def test_faults_of_the_case_table(column, text):
    with faulted(PhaseError, f"cases.csv, V1, {column}", repr(text)):
        geometry_of(CaseForm("V1", 4, 3, {**COLUMNS, column: text}))


@pytest.mark.parametrize("columns", [{}, {"depth": "0"}])
def test_a_volume_needs_a_number_of_planes(columns):
    with faulted(PhaseError, "cases.csv, V1, depth"):
        geometry_of(CaseForm("V1", 4, 3, {"spacing_mm": "1 1 1", **columns}))


@pytest.mark.parametrize(
    ("columns", "spacing"),
    [
        ({}, None),
        ({"spacing_mm": ""}, None),
        ({"spacing_mm": "1 1 1"}, None),
        ({"spacing_mm": "0.5 0.25"}, (0.5, 0.25, 1.0)),
    ],
)
def test_an_image_has_one_plane(columns, spacing):
    assert plane_geometry_of(CaseForm("V1", 4, 3, columns)) == Geometry((1, 3, 4), spacing)


@pytest.mark.parametrize("text", ["1", "1 -1"])
def test_faults_of_the_spacing_of_an_image(text):
    with faulted(PhaseError, "cases.csv, V1, spacing_mm", repr(text)):
        plane_geometry_of(CaseForm("V1", 4, 3, {"spacing_mm": text}))
