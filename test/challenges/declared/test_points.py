"""Declared points: of objects of classes, and in lesions of masks (CAMELYON16) by hand and SciPy."""

import numpy as np
import pytest
import SimpleITK
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy import ndimage

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.metrics.points import match_in_lesions
from test.challenges.declared.phases import declared_phase, figures_of, write_table
from test.challenges.declared.scalars import rehearsed
from test.faults import faulted

CELLS = """\
[fields.cells]
kind = "points"
dimensions = 2
unit = "pixels"
classes = ["mitotic figure", "other"]
probability = true

[tasks.detection.metrics]
point_f1 = { radius = 5, matching = "by_confidence" }
"""
CASES = {"name": ["a", "b"], "width": [100, 100], "height": [80, 80]}
REFERENCE = {
    "case": ["a", "a", "a"],
    "x": [10, 20, 50],
    "y": [10, 20, 50],
    "class": ["mitotic figure", "other", "other"],
}
FOUND = {
    "case": ["a", "a", "a", "b"],
    "x": [10, 20, 47, 1],
    "y": [10, 20, 46, 1],
    # The second is near an object of the other class only; the third is just near enough.
    "class": ["mitotic figure", "mitotic figure", "other", "other"],
    "probability": [0.9, 0.8, 0.4, 0.7],
}


def scored(folder, tables, reference, found, cases=CASES, **further):
    phase = declared_phase(folder / "phase", tables, cases)
    write_table(phase / "cells.csv", reference)
    for name, table in further.items():
        write_table(phase / f"{name}.csv", table)
    return figures_of(phase, folder, found)


def test_points_hit_objects_of_their_class(tmp_path):
    figures = scored(tmp_path, CELLS, REFERENCE, FOUND)
    # Mitotic figures: one hit, one false. Others: one hit, one false, one missed.
    assert figures == pytest.approx(
        {
            "point_f1": 4 / 7,
            "point_f1_mitotic_figure": 2 / 3,
            "point_f1_other": 0.5,
        },
        abs=5e-5,
    )
    assert rehearsed(tmp_path / "phase").problems == ()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"case": ["a", "a", "c"]}, ("line 4", "case", "'c'")),
        ({"class": ["other", "other", "cell"]}, ("line 4", "class", '"cell"')),
        ({"x": [10, 20, 150]}, ("line 4", "x, y, class", "150")),
        ({"class": None}, ("'class'",)),
        (None, ("cells.csv",)),
    ],
)
def test_a_reference_is_validated_when_the_phase_is_sealed(tmp_path, changed, told):
    phase = declared_phase(tmp_path, CELLS, CASES)
    if changed is not None:
        table = {**REFERENCE, **changed}
        write_table(phase / "cells.csv", {name: cells for name, cells in table.items() if cells is not None})
    with faulted(PhaseError, "cells.csv", *told):
        evaluation.seal(phase)


SLIDES = """\
[fields.tumour]
kind = "points"
dimensions = 2
unit = "mm"
probability = true
lesions = [1]
excluded_lesions = [2]

[tasks.detection.metrics]
froc = {{ radius = {radius}, reading = "step", false_positives_per_case = [1, 2] }}
point_recall = {{ radius = {radius}, matching = "any" }}
point_precision = {{ radius = {radius}, matching = "any" }}
"""


def slide_phase(folder, radius, changed=("", "")):
    """Two slides of 0.01 mm a pixel: in the first a lesion, one of a single pixel, and an ignored one."""
    phase = declared_phase(
        folder / "phase",
        SLIDES.format(radius=radius).replace(*changed),
        {"name": ["a", "b"], "width": [100, 100], "height": [50, 50], "spacing_mm": ["0.01 0.01"] * 2},
    )
    slide = np.zeros((50, 100), np.uint8)
    slide[10:20, 10:20], slide[40, 90], slide[30:34, 60:64] = 1, 1, 2
    (phase / "tumour").mkdir()
    for name, image in (("a", slide), ("b", np.zeros_like(slide))):
        Image.fromarray(image).save(phase / "tumour" / f"{name}.png")
    return phase


def test_doubles_ignored_lesions_and_the_tolerance(tmp_path):
    # Pixel (x, y) has its centre at 0.01 (x + 0.5) mm. In slide a: two points in the large lesion, the second
    # more probable; one 7 pixels right of its last column; one 8 pixels right; one in the ignored lesion and
    # one 7 pixels above it; one 30 pixels from everything. In slide b one false point.
    x = [12, 15, 26, 27, 61, 61, 60, 5]
    y = [12, 15, 15, 15, 31, 23, 2, 5]
    found = {
        "case": ["a"] * 7 + ["b"],
        "x": [(number + 0.5) / 100 for number in x],
        "y": [(number + 0.5) / 100 for number in y],
        "probability": [0.5, 0.9, 0.8, 0.7, 0.95, 0.99, 0.6, 0.85],
    }
    phase = slide_phase(tmp_path, 0.075)
    figures = figures_of(phase, tmp_path, found)
    # Hit: one of two lesions, at 0.9. False: 0.85 (b), 0.7 and 0.6 (a). Neither: the double, the near one,
    # the two of the ignored lesion. Rates per slide: 0.5 after 0.85, 1.5 after all, so both rates have 0.5.
    assert figures == pytest.approx(
        {
            "froc": 0.5,
            "froc_at_1": 0.5,
            "froc_at_2": 0.5,
            "point_recall": 1 / 2,
            "point_precision": 1 / 4,
        }
    )


def test_pixels_have_their_centre_at_a_half(tmp_path):
    phase = slide_phase(tmp_path, 7, ('unit = "mm"', 'unit = "pixels"'))
    # The lesion's last column is 19: pixel 26 is 7 away from it, and pixel 27 is not.
    found = {"case": ["a", "a"], "x": [26.99, 27.0], "y": [15.5, 15.5], "probability": [0.8, 0.9]}
    figures = figures_of(phase, tmp_path, found)
    assert (figures["point_recall"], figures["point_precision"]) == (0.5, 0.5)


def test_without_a_radius_a_point_lies_in_the_lesion(tmp_path):
    phase = slide_phase(tmp_path, 0.075, ("radius = 0.075, ", ""))
    found = {"case": ["a", "a"], "x": [0.905, 0.915], "y": [0.405, 0.405], "probability": [0.9, 0.8]}
    figures = figures_of(phase, tmp_path, found)
    assert (figures["point_recall"], figures["point_precision"]) == (0.5, 0.5)


def test_volumes_are_measured_in_world_millimetres(tmp_path):
    tables = """\
[fields.nodules]
kind = "points"
probability = true
lesions = [7]

[tasks.detection.metrics]
point_f1 = { matching = "any" }
"""
    turned = "0 -1 0 1 0 0 0 0 1"
    phase = declared_phase(
        tmp_path / "phase",
        tables,
        {
            "name": ["a"],
            "width": [8],
            "height": [6],
            "depth": [4],
            "spacing_mm": ["0.5 1 2"],
            "origin_mm": ["10 20 30"],
            "direction": [turned],
        },
    )
    mask = np.zeros((4, 6, 8), np.uint8)
    mask[2, 3, 5] = mask[3, 4, 6] = 7  # diagonal neighbours: one lesion
    mask[0, 0, 0] = 7
    image = SimpleITK.GetImageFromArray(mask)
    image.SetSpacing((0.5, 1, 2))
    image.SetOrigin((10, 20, 30))
    image.SetDirection([float(number) for number in turned.split()])
    (phase / "nodules").mkdir()
    SimpleITK.WriteImage(image, str(phase / "nodules" / "a.mha"))
    places = [image.TransformIndexToPhysicalPoint(index) for index in ((6, 4, 3), (0, 0, 0), (6, 3, 2))]
    found = dict(zip("xyz", np.transpose(places).tolist(), strict=True))
    figures = figures_of(phase, tmp_path, {"case": ["a"] * 3, **found, "probability": [0.5, 0.6, 0.7]})
    assert figures["point_f1"] == pytest.approx(2 * 2 / (2 * 2 + 1))


@given(seed=st.integers(0, 2**32), radius=st.sampled_from([0.0, 0.4, 1.0, 1.6, 2.5]), strict=st.booleans())
def test_points_are_near_where_a_distance_transform_says_so(seed, radius, strict):
    random = np.random.default_rng(seed)
    lesions, count = ndimage.label(random.random((4, 7, 9)) < 0.06, np.ones((3, 3, 3)))
    spacing = (1.5, 0.7, 0.4)
    voxels = np.stack([random.integers(0, size, 30) for size in lesions.shape], axis=1)
    confidence = random.integers(0, 5, 30) / 4
    matches = match_in_lesions(voxels, lesions.astype(np.uint16), spacing, radius, confidence, strict)
    if not count:
        assert matches.false.all()
        assert not len(matches.hit)
        return
    distance = ndimage.distance_transform_edt(lesions == 0, spacing)[tuple(voxels.T)]
    # Sums of squares of tenths are told from the squared radius as whole hundredths.
    squared = np.round(distance**2 * 100)
    is_near = (
        (distance == 0)
        | (squared < round(radius**2 * 100))
        | ((not strict) & (squared == round(radius**2 * 100)))
    )
    assert (matches.false == ~is_near).all()
    hits = matches.hit[matches.hit >= 0]
    assert len(set(hits.tolist())) == len(hits)
    assert not matches.false[hits].any()
    inside = lesions[tuple(voxels.T)]
    for lesion in range(1, count + 1):
        own = np.flatnonzero(inside == lesion)
        if len(own):
            assert confidence[matches.hit[lesion - 1]] >= confidence[own].max()
