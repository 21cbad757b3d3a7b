"""Geometry of files and of the case table."""

import math
from dataclasses import replace

import numpy as np
import pytest

from evaluation.core.fault import PhaseError, ReadError
from evaluation.core.form import CaseForm
from evaluation.io.volume_header import (
    B_SCAN_COLUMNS,
    DEPTH,
    GEOMETRY_COLUMNS,
    UPRIGHT,
    Geometry,
    check_geometry,
    geometry_columns,
    geometry_of,
    header_of,
    plane_geometry_of,
)
from test.faults import faulted

EXPECTED = Geometry((5, 512, 256), (0.01, 0.004, 0.12))


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        (Geometry((256, 512, 5)), "the axes are exchanged"),
        (Geometry((5, 256, 512)), "the axes are exchanged"),
        (
            Geometry((5, 256, 128), (0.02, 0.008, 0.12)),
            "resampled? A prediction has the voxels of the original volume",
        ),
        (Geometry((5, 256, 128), (0.01, 0.004, 0.12)), None),
        (Geometry((5, 256, 128)), None),
    ],
)
def test_what_a_wrong_shape_probably_is(found, hint):
    assert check_geometry(found, EXPECTED)[0].hint == hint


PLACED = Geometry((5, 5, 5), (0.5, 0.5, 2.0), (-100.0, -80.0, 30.0), UPRIGHT)


@pytest.mark.parametrize(
    ("found", "hint"),
    [
        (replace(PLACED, spacing_mm=(2.0, 0.5, 0.5)), "the axes are exchanged"),
        (replace(PLACED, spacing_mm=(0.5, 0.5, 1.0)), None),
        (replace(PLACED, spacing_mm=(0.5001, 0.5, 2.0)), None),
        (replace(PLACED, origin_mm=(-99.99, -80.0, 30.0)), None),
        (Geometry((5, 5, 5), None, (30.0, -80.0, -100.0)), "the axes are exchanged"),
        (Geometry((5, 5, 5), None, (100.0, 80.0, 30.0)), "some axes point the other way"),
        (Geometry((5, 5, 5), None, (0.0, 0.0, 0.0)), None),
        (Geometry((5, 5, 5), None, None, (0, 0, 1, 0, 1, 0, 1, 0, 0)), "the axes are exchanged"),
        (Geometry((5, 5, 5), None, None, (-1, 0, 0, 0, -1, 0, 0, 0, 1)), "some axes point the other way"),
        (Geometry((5, 5, 5), None, None, (0.8, -0.6, 0, 0.6, 0.8, 0, 0, 0, 1)), None),
    ],
)
def test_what_a_wrong_position_probably_is(found, hint):
    (problem,) = check_geometry(found, PLACED)
    assert problem.hint == hint


def test_a_file_with_a_spacing_alone_is_upright_at_the_origin():
    found = Geometry((5, 5, 5), (0.5, 0.5, 2.0))
    assert [problem.found for problem in check_geometry(found, PLACED)] == ["0, 0, 0 mm"]
    assert check_geometry(found, replace(PLACED, origin_mm=(0.0, 0.0, 0.0))) == []
    assert check_geometry(found, Geometry((5, 5, 5), (0.5, 0.5, 2.0))) == []


@pytest.mark.parametrize(("cosine", "faults"), [(0.9991, 0), (0.9989, 1)])
def test_the_tolerance_of_directions(cosine, faults):
    found = Geometry((5, 5, 5), None, None, (cosine, *UPRIGHT[1:]))
    assert len(check_geometry(found, PLACED)) == faults


def tilted(degrees):
    """Return the direction of a gantry tilt: the z axis leans along y."""
    angle = math.radians(degrees)
    return (1, 0, 0, 0, 1, math.sin(angle), 0, 0, math.cos(angle))


@pytest.mark.parametrize(
    ("direction", "found"),
    [
        (tilted(20), "axes y and z at 70°"),
        (tilted(-20), "axes y and z at 110°"),
        (tilted(0.1), "axes y and z at 89.9°"),
        (tilted(0.05), None),
        ((2, 0, 0, 0, 1, 0, 0, 0, 1), "an axis x of length 2"),
        ((1, 0, 0, 0, 1, 0, 0, 0, 0.998), "an axis z of length 0.998"),
        ((0.8, -0.6, 0, 0.6, 0.8, 0, 0, 0, 1), None),
        ((-1, 0, 0, 0, -1, 0, 0, 0, 1), None),
        ((0, 0, 1, 0, 1, 0, 1, 0, 0), None),
        (UPRIGHT, None),
    ],
)
def test_axes_that_are_not_orthonormal_are_refused(direction, found):
    """In files and in the case table: lengths along such axes do not follow from the spacings."""
    columns = {"depth": "1", "spacing_mm": "1 1 1", "direction": " ".join(map(str, direction))}
    case = CaseForm("V1", 4, 3, columns)
    if found is None:
        assert header_of((4, 3, 1), np.dtype("u1"), (1, 1, 1), None, direction, "a volume")
        assert geometry_of(case).direction == direction
        return
    with pytest.raises(ReadError) as caught:
        header_of((4, 3, 1), np.dtype("u1"), (1, 1, 1), None, direction, "a volume")
    assert (caught.value.found, bool(caught.value.hint)) == (found, True)
    with faulted(PhaseError, "cases.csv, V1, direction", found):
        geometry_of(case)


@pytest.mark.parametrize("spacing_mm", [0.001, 0.5, 3])
@pytest.mark.parametrize("position", [1000.0, 1234.56789, -77.7, 12345678.9])
def test_an_origin_that_single_precision_rounds_is_equal(position, spacing_mm):
    rounded = float(np.float32(position))
    expected = Geometry((5, 5, 5), (spacing_mm,) * 3, (position, 0.0, 5.0))
    assert check_geometry(Geometry((5, 5, 5), (spacing_mm,) * 3, (rounded, 0.0, 5.0)), expected) == []
    further = Geometry((5, 5, 5), (spacing_mm,) * 3, (position + 0.02 * spacing_mm + 2, 0.0, 5.0))
    assert len(check_geometry(further, expected)) == 1


def test_zero_has_no_sign():
    cells = geometry_columns(
        Geometry((1, 1, 1), (1, 1, 1), (-0.0, 0.0, 0.0), (1, -0.0, 0, 0, 1, 0, -0.0, 0, 1))
    )
    assert (cells["origin_mm"], cells["direction"]) == ("0 0 0", "1 0 0 0 1 0 0 0 1")


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
    ("column", "columns"),
    [
        ("b_scans", {"b_scans": ""}),
        ("b_scans", {"b_scans": "2.5"}),
        ("spacing_mm", {"spacing_mm": "1 1"}),
        ("spacing_mm", {"spacing_mm": "1 0 1"}),
        ("direction", {"direction": "1 0 0"}),
        ("origin_mm", {"origin_mm": "a b c"}),
        ("depth", {"b_scans": None}),
        ("depth", {"b_scans": None, "depth": "0"}),
    ],
)
def test_faults_of_the_case_table(column, columns):
    given = {name: text for name, text in (COLUMNS | columns).items() if text is not None}
    with faulted(PhaseError, f"cases.csv, V1, {column}", repr(columns.get(column, ""))):
        geometry_of(CaseForm("V1", 4, 3, given))


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
