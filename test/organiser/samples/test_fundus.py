from dataclasses import replace
from math import hypot, isclose

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from evaluation.organiser.synthesis import (
    Ellipse,
    Laterality,
    Point,
    Quality,
    draw_cases,
    predicted_fovea,
    predicted_mask,
    reference_fovea,
    reference_mask,
)

SIZES = [(1634, 1634), (64, 64), (200, 64), (64, 200)]


def draw(count=30, width=160, height=160, fraction=0.25, seed=0, prefix="T", **further):
    return draw_cases(count, width, height, fraction, np.random.default_rng(seed), prefix, **further)


def border(ellipse, points=90):
    """Points on the border of an ellipse, complex: x + iy."""
    angle = np.linspace(0, 2 * np.pi, points)
    untilted = ellipse.semi_axis_x * np.cos(angle) + 1j * ellipse.semi_axis_y * np.sin(angle)
    return complex(ellipse.center_x, ellipse.center_y) + untilted * np.exp(1j * ellipse.tilt_radians)


def form(ellipse, points):
    own = (points - complex(ellipse.center_x, ellipse.center_y)) * np.exp(-1j * ellipse.tilt_radians)
    return (own.real / ellipse.semi_axis_x) ** 2 + (own.imag / ellipse.semi_axis_y) ** 2


def dice(first, second):
    return 2 * np.count_nonzero(first & second) / (np.count_nonzero(first) + np.count_nonzero(second))


def vertical_ratio(mask):
    return (mask == 0).sum(axis=0).max() / (mask < 255).sum(axis=0).max()


@pytest.mark.parametrize(
    ("count", "fraction", "expected"),
    [(400, 0.1, 40), (40, 0.25, 10), (30, 1 / 3, 10), (7, 0.5, 4), (5, 0.0, 0), (5, 1.0, 5), (1, 0.1, 0)],
)
def test_count_of_glaucomatous_cases_is_exact(count, fraction, expected):
    cases = draw(count, fraction=fraction)
    assert len(cases) == count
    assert sum(case.glaucoma for case in cases) == expected


@pytest.mark.parametrize(
    ("count", "prefix", "first", "last"),
    [(3, "T", "T0001", "T0003"), (400, "V", "V0001", "V0400"), (10000, "x", "x00001", "x10000")],
)
def test_names_sort_in_order(count, prefix, first, last):
    names = [case.name for case in draw(count, prefix=prefix)]
    assert (names[0], names[-1]) == (first, last)
    assert names == sorted(set(names))


@pytest.mark.parametrize(("width", "height"), SIZES)
def test_anatomy(width, height):
    for case in draw(60, width, height):
        assert (case.width, case.height) == (width, height)
        assert form(case.disc, border(case.cup)).max() < 1
        outline = border(case.disc)
        assert outline.real.min() > 0
        assert outline.real.max() < width - 1
        assert outline.imag.min() > 0
        assert outline.imag.max() < height - 1
        diameter = 2 * case.disc.semi_axis_y
        assert 1 / 8 <= diameter / min(width, height) <= 1 / 6
        assert 0 <= case.fovea_x <= width - 1
        assert 0 <= case.fovea_y <= height - 1
        assert (
            2.3 < hypot(case.fovea_x - case.disc.center_x, case.fovea_y - case.disc.center_y) / diameter < 2.7
        )
        assert (case.fovea_x < case.disc.center_x) == (case.eye is Laterality.RIGHT)
        assert (case.disc.center_x > width / 2) == (case.eye is Laterality.RIGHT)


def test_vertical_ratio_separates_the_classes_as_in_refuge():
    rng = np.random.default_rng(3)
    cases = draw_cases(400, 200, 200, 0.25, rng, "T")
    ratios = np.array([vertical_ratio(reference_mask(case, rng)) for case in cases])
    glaucoma = np.array([case.glaucoma for case in cases])
    assert ratios[glaucoma].mean() == pytest.approx(0.68, abs=0.05)
    assert ratios[~glaucoma].mean() == pytest.approx(0.46, abs=0.05)
    assert ratios[~glaucoma].max() > ratios[glaucoma].min()
    # The reference ratio of the real data is a good classifier, and not a perfect one.
    assert 0.88 < roc_auc_score(glaucoma, ratios) < 0.99


def test_cup_of_every_grader_is_clipped_to_the_disc():
    case = replace(draw(1)[0], disc=Ellipse(80, 80, 12, 12), cup=Ellipse(80, 80, 40, 40))
    mask = reference_mask(case, np.random.default_rng(0))
    assert set(np.unique(mask).tolist()) == {0, 255}
    assert np.count_nonzero(mask == 0) == pytest.approx(np.pi * 12**2, rel=0.25)


def test_fovea_is_the_mean_of_the_graders():
    case = draw(1, 1634, 1634)[0]

    def deviation(graders):
        rng = np.random.default_rng(2)
        points = [reference_fovea(case, rng, graders) for _ in range(1000)]
        return np.std([point.x - case.fovea_x for point in points])

    # The standard error of a mean falls with the root of the number of graders.
    assert isclose(deviation(1) / deviation(9), 3.0, rel_tol=0.1)


def test_fovea_stays_in_the_image():
    case = replace(draw(1)[0], fovea_x=0.0, fovea_y=159.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        point = reference_fovea(case, rng)
        assert 0 <= point.x <= 159
        assert 0 <= point.y <= 159


@pytest.mark.parametrize(("size", "seed"), [(64, 0), (160, 1)])
def test_qualities_are_in_order(size, seed):
    rng = np.random.default_rng(seed)
    cases = draw(30, size, size, seed=seed)
    masks = [reference_mask(case, rng) for case in cases]
    foveas = [reference_fovea(case, rng) for case in cases]
    figures = {}
    for quality in Quality:
        predictions = [
            predicted_mask(case, mask, quality, rng) for case, mask in zip(cases, masks, strict=True)
        ]
        points = [
            predicted_fovea(case, point, quality, rng) for case, point in zip(cases, foveas, strict=True)
        ]
        pairs = list(zip(masks, predictions, strict=True))
        figures[quality] = (
            np.mean([dice(first < 255, second < 255) for first, second in pairs]),
            np.mean([dice(first == 0, second == 0) for first, second in pairs]),
            -np.mean([abs(vertical_ratio(first) - vertical_ratio(second)) for first, second in pairs]),
            -np.mean([hypot(a.x - b.x, a.y - b.y) for a, b in zip(foveas, points, strict=True)]),
        )
    assert figures[Quality.PERFECT] == (1, 1, 0, 0)
    for better, worse in [("perfect", "good"), ("good", "poor"), ("poor", "random")]:
        assert np.all(np.array(figures[Quality(better)]) > figures[Quality(worse)]), (better, worse)


@pytest.mark.parametrize("quality", Quality)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_prediction_is_valid(quality, width, height):
    rng = np.random.default_rng(4)
    for case in draw(2 if width > 1000 else 40, width, height):
        reference = reference_mask(case, rng)
        mask = predicted_mask(case, reference, quality, rng)
        assert mask.shape == (height, width)
        assert mask.dtype == np.uint8
        assert set(np.unique(mask).tolist()) <= {0, 128, 255}
        assert (mask < 255).any()
        assert mask is not reference
        point = predicted_fovea(case, Point(0.0, height - 1.0), quality, rng)
        assert 0 <= point.x <= width - 1
        assert 0 <= point.y <= height - 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": 0}, "^count:"),
        ({"fraction": -0.1}, "^glaucoma_fraction:"),
        ({"fraction": 1.5}, "^glaucoma_fraction:"),
        ({"fraction": float("nan")}, "^glaucoma_fraction:"),
        ({"width": 63}, "^size:"),
        ({"height": 63}, "^size:"),
    ],
)
def test_draw_cases_refuses(change, message):
    with pytest.raises(ValueError, match=message):
        draw(**change)


@pytest.mark.parametrize("function", [reference_mask, reference_fovea])
def test_reference_needs_a_grader(function):
    with pytest.raises(ValueError, match=r"^graders:"):
        function(draw(1)[0], np.random.default_rng(0), 0)
