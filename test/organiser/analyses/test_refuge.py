"""The rim of drawn discs, whose widths follow from the circles, and the eyes of patients."""

from __future__ import annotations

from itertools import pairwise
from math import cos, isnan, nan, pi, sin, sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad
from sklearn.metrics import roc_auc_score

from evaluation.challenges.refuge import CUP, DISC, ELSEWHERE, RATIO, RefugeOptions
from evaluation.core.form import CaseForm
from evaluation.core.resampling import Resampling
from evaluation.io.kinds.label_map import LabelMap
from evaluation.io.kinds.points import point_at
from evaluation.organiser.analyses.analysis import analyses_of, results_of
from evaluation.organiser.analyses.refuge import ANALYSES, rim_of
from evaluation.organiser.report.case_views import OpenCase
from test.io.memory import read_image
from test.phases import FIELDS

KIND = LabelMap({CUP: "cup", DISC: "disc"}, ELSEWHERE, dimensions=2)
RIM, ASYMMETRY = ANALYSES
PHASE = SimpleNamespace(
    config=SimpleNamespace(name="P"),
    challenge=SimpleNamespace(name="refuge"),
    tasks=[SimpleNamespace(name="t", fields=FIELDS, extended=())],
)


def circles(cup_radius=50, x=0.0, y=0.0, disc_radius=100, side=241):
    """Return the mask of a disc in the middle of an image and a cup that lies (x, y) from its centre."""
    rows, columns = np.mgrid[:side, :side] - side // 2
    mask = np.full((side, side), ELSEWHERE, np.uint8)
    mask[np.hypot(rows, columns) <= disc_radius] = DISC
    mask[(np.hypot(rows - y, columns - x) <= cup_radius) & (mask == DISC)] = CUP
    return mask


def case(submitted, reference, glaucoma=1, fovea=(10, 120), name="A", **cells):
    given = {} if submitted is None else {"segmentation": read_image(KIND, submitted)}
    known = {"segmentation": read_image(KIND, reference), "glaucoma_risk": glaucoma}
    known |= {"fovea": point_at(*fovea)} if fovea else {}
    return OpenCase(CaseForm(name, 241, 241), cells, given, known, RefugeOptions())


def measures(opened, column="submitted", analysis="rim"):
    return {row.part: row.values[column] for row in RIM.measure(opened) if row.analysis == analysis}


def rim_mean(first_degree, cup_radius, y, disc_radius=100):
    """Return the mean over 90° of (R − r(θ)) / 2R for a cup whose centre lies y below that of the disc."""

    def width(angle):
        return disc_radius - y * sin(angle) - sqrt(cup_radius**2 - (y * cos(angle)) ** 2)

    start = first_degree * pi / 180
    return quad(width, start, start + pi / 2)[0] / (pi / 2) / (2 * disc_radius)


@pytest.mark.parametrize(("cup_radius", "y"), [(50, 0), (50, 20), (70, 25), (30, -25)])
def test_the_rim_of_two_circles_follows_from_their_radii(cup_radius, y):
    rim = rim_of(read_image(KIND, circles(cup_radius, y=y)))
    assert rim.narrowest == pytest.approx((100 - cup_radius - abs(y)) / 200, abs=0.006)
    for name, first in {"right": -45, "inferior": 45, "left": 135, "superior": 225}.items():
        assert rim.quadrant(name) == pytest.approx(rim_mean(first, cup_radius, y), abs=0.003)


def test_rims_without_a_cup_without_a_disc_and_of_several():
    assert rim_of(read_image(KIND, circles(0, x=500))).narrowest == pytest.approx(0.5, abs=0.01)
    assert rim_of(read_image(KIND, circles(100))).narrowest == 0
    assert rim_of(read_image(KIND, np.full((9, 9), ELSEWHERE, np.uint8))) is None
    mask = circles(50)
    mask[:5, :5] = DISC
    assert rim_of(read_image(KIND, mask)).narrowest == pytest.approx(0.25, abs=0.006)


@pytest.mark.parametrize(
    ("fovea", "eye", "nasal"),
    [
        ((10, 120), "", 0.35),
        ((230, 120), "", 0.15),
        ((10, 120), "left", 0.15),
        (None, "OD", 0.35),
        (None, "", nan),
    ],
)
def test_the_nasal_side_is_that_of_the_column_or_turned_away_from_the_fovea(fovea, eye, nasal):
    # 20 pixels to the left: on the right the rim is 70 pixels wide at its middle, on the left 30.
    mask = circles(50, x=-20)
    found = measures(case(mask, mask, fovea=fovea, eye=eye))
    assert found["nasal"] == pytest.approx(nasal, abs=0.02, nan_ok=True)
    assert isnan(found["isnt"]) == isnan(nasal)


def test_each_broken_relation_of_the_isnt_rule_is_counted():
    # Fovea on the left, so that nasal is right: a cup that lies above leaves the inferior rim thick.
    for x, y, broken in ((-20, -30, 1), (-20, 30, 1), (20, 30, 2)):
        mask = circles(50, x, y)
        widths = [measures(case(mask, mask))[name] for name in ("inferior", "superior", "nasal", "temporal")]
        expected = sum(second > first for first, second in pairwise(widths))
        assert measures(case(mask, mask))["isnt"] == expected == broken


@pytest.mark.parametrize(
    ("submitted", "reference", "reason"),
    [
        (None, circles(), "no mask was submitted"),
        (circles(disc_radius=-1), circles(), "the submitted mask has no optic disc"),
        (circles(), circles(disc_radius=-1), "the reference has no optic disc"),
    ],
)
def test_a_case_without_a_disc_is_left_out_with_the_reason(submitted, reference, reason):
    (row,) = RIM.measure(case(submitted, reference))
    assert (row.left_out, row.values) == (reason, None)


def test_errors_and_classifiers_are_those_of_the_rows():
    cups, glaucoma = [30, 35, 40, 45, 50, 55, 60, 65], [0, 0, 1, 0, 0, 1, 1, 1]
    rows = []
    for number, (cup, label) in enumerate(zip(cups, glaucoma, strict=True)):
        opened = case(circles(cup, y=10 * (number % 2)), circles(cup), label, name=f"C{number}")
        rows += RIM.measure(opened)
    (found,) = results_of(PHASE, rows, Resampling(1, 200, 3))
    figures = {one.metric: one for one in found.figures if one.part == "Rim-to-disc ratio"}
    error, auc = figures["Absolute error"], figures["AUC of the reference"]
    # Every second cup lies 10 pixels too low: 10 / 200 in half of the cases.
    assert error.value == pytest.approx(0.025, abs=0.003)
    assert error.lower <= error.value <= error.upper
    assert auc.value == roc_auc_score(glaucoma, cups)
    assert (auc.cases, auc.interval) == (8, "logit-DeLong")


def test_patients_with_both_eyes_are_compared_and_others_are_not():
    cups = {"P1": (50, 60), "P2": (40, 40), "P3": (30, 40, 50), "P4": (30,), "": (30, 70), "P5": (30, 70)}
    rows, clusters = [], {}
    for patient, own in cups.items():
        for number, cup in enumerate(own):
            name = f"{patient}-{number}"
            clusters[name] = patient
            # Both images of P5 show the right eye.
            fovea = (10, 120) if patient == "P5" or number % 2 else (230, 120)
            rows += RIM.measure(case(circles(cup), circles(cup), patient == "P1" and number, fovea, name))
    pairs = ASYMMETRY.joined([row for row in rows if row.analysis == "asymmetry"], clusters)
    found = {(row.case, row.part): row.values for row in pairs}
    assert {name for name, _ in found} == {"P1-0", "P2-0"}
    # Cups of 101 and 121 rows in a disc of 201; radii of 50 and 60 in a diameter of 200.
    assert found["P1-0", RATIO]["submitted"] == pytest.approx(20 / 201)
    assert found["P1-0", "narrowest_rim"]["reference"] == pytest.approx(0.05, abs=0.006)
    assert [found[name, RATIO]["glaucoma"] for name in ("P1-0", "P2-0")] == [1, 0]


def test_every_part_has_a_title_and_a_phase_without_masks_no_analysis():
    rows = list(RIM.measure(case(circles(), circles())))
    for analysis in ANALYSES:
        parts = [row.part for row in rows if row.analysis == analysis.name]
        assert parts == list(analysis.texts["parts"])
    assert [one.name for one in analyses_of(PHASE)] == ["rim", "asymmetry"]
    task = SimpleNamespace(fields=[field for field in FIELDS if field.name != "segmentation"])
    assert analyses_of(SimpleNamespace(challenge=PHASE.challenge, tasks=[task])) == ()
