"""Lesions drawn as circles and squares at known distances from the fovea."""

from __future__ import annotations

import itertools
from math import pi
from types import SimpleNamespace

import numpy as np
import pytest

from evaluation.challenges.adam import ELSEWHERE, LESIONS, STRUCTURE, AdamOptions
from evaluation.core.form import CaseForm
from evaluation.core.resampling import Resampling
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.kinds.points import point_at
from evaluation.organiser.analyses.adam import ANALYSES, RINGS, pixels_by_ring
from evaluation.organiser.analyses.analysis import results_of
from evaluation.organiser.report.case_views import OpenCase
from test.io.memory import read_image

(GRID,) = ANALYSES
KIND = LabelMap({STRUCTURE: "structure"}, ELSEWHERE, dimensions=2)
SIDE, FOVEA = 321, point_at(160, 160)
FIELDS = [SimpleNamespace(name=name) for name in ("disc", "fovea", *LESIONS)]
PHASE = SimpleNamespace(
    config=SimpleNamespace(name="P"),
    challenge=SimpleNamespace(name="adam"),
    tasks=[SimpleNamespace(name="t", fields=FIELDS)],
)


def drawn(*squares):
    """Return a mask of rectangles (left, top, right, bottom), right and bottom outside."""
    mask = np.full((SIDE, SIDE), ELSEWHERE, np.uint8)
    for left, top, right, bottom in squares:
        mask[top:bottom, left:right] = STRUCTURE
    return read_image(KIND, mask)


def circle(x, y, radius):
    rows, columns = np.mgrid[:SIDE, :SIDE]
    inside = np.hypot(rows - y, columns - x) <= radius
    return read_image(KIND, np.where(inside, STRUCTURE, ELSEWHERE).astype(np.uint8))


DISC = circle(50, 160, 30)


def case(submitted, reference, fovea=FOVEA, disc=DISC, name="A"):
    known = {"disc": disc, "fovea": fovea, **dict.fromkeys(LESIONS, drawn()), "drusen": reference}
    given = {} if submitted is None else {**dict.fromkeys(LESIONS, drawn()), "drusen": submitted}
    return OpenCase(CaseForm(name, SIDE, SIDE), {}, given, known, AdamOptions())


def measured(opened):
    return {row.part: row.values for row in GRID.measure(opened)}


def test_a_lesion_over_the_grid_has_the_areas_of_the_rings():
    # A disc with a diameter of 60 pixels: circles of 20, 60 and 120 pixels.
    whole = circle(160, 160, 140)
    counts = pixels_by_ring(whole.region(1), FOVEA, 60)
    radii = [0, 20, 60, 120, 140]
    expected = [pi * (outer**2 - inner**2) for inner, outer in itertools.pairwise(radii)]
    assert counts.tolist() == pytest.approx(expected, rel=0.02)
    found = measured(case(whole, whole))
    for ring, area in zip(RINGS, expected, strict=True):
        row = found[f"drusen_{ring}"]
        assert row["reference"] == pytest.approx(area / (pi * 30**2), rel=0.03)
        assert (row["dice"], row["sensitivity"], row["error"]) == (1, 1, 0)


def test_errors_are_those_of_the_pixels_in_each_ring():
    # The reference: 10 × 10 pixels at the fovea. Submitted: half of it, and 5 × 4 pixels in the outer ring.
    row = measured(case(drawn((155, 155, 165, 160), (250, 160, 255, 164)), drawn((155, 155, 165, 165))))
    disc = np.count_nonzero(DISC.positions)
    centre, inner, outer = (row[f"drusen_{ring}"] for ring in ("centre", "inner", "outer"))
    assert centre["dice"] == pytest.approx(2 * 50 / 150)
    assert centre["sensitivity"] == 0.5
    assert (centre["difference"], centre["error"]) == pytest.approx((-50 / disc, 50 / disc))
    assert (outer["difference"], outer["error"]) == pytest.approx((20 / disc, 20 / disc))
    assert np.isnan([outer["dice"], outer["reference"], *inner.values()]).all()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"disc": drawn()}, "the reference has no optic disc"),
        ({"fovea": point_at(0, 0)}, "the fovea of the reference is invisible"),
        ({"disc": circle(10, 160, 30)}, "the border of the image cuts the optic disc"),
    ],
)
def test_a_case_without_a_grid_or_a_mask_is_left_out_with_the_reason(changed, reason):
    (row,) = GRID.measure(case(drawn(), drawn(), **changed))
    assert (row.left_out, row.values) == (reason, None)
    reasons = [row.left_out for row in GRID.measure(case(None, drawn()))]
    assert reasons == [f"no mask of {lesion} was submitted" for lesion in LESIONS]


def test_figures_are_means_over_the_cases_that_have_the_lesion():
    square = (155, 155, 165, 165)
    opened = [
        case(drawn(square), drawn(square), name="A"),
        case(drawn((155, 155, 165, 160)), drawn(square), name="B"),
        case(drawn(), drawn(), name="C"),
    ]
    rows = [row for one in opened for row in GRID.measure(one)]
    (found,) = results_of(PHASE, rows, Resampling(1, 100, 2))
    (dice,) = (one for one in found.figures if (one.part, one.metric) == ("Drusen, centre", "Dice"))
    assert dice.value == pytest.approx((1 + 2 * 50 / 150) / 2)
    assert (dice.cases, dice.rows, dice.interval) == (2, 2, "BCa")
    assert {part for row in rows if (part := row.part)} == set(GRID.texts["parts"])
