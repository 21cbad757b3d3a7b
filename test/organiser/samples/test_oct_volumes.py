from collections import Counter

import numpy as np
import pytest

from evaluation.organiser.samples.cysts import (
    INTERVAL,
    VENDOR_OF_CASE,
    VENDORS,
    combine,
    draw_cases,
    draw_image,
    read_cysts,
)


def drawn(count=26, scale=0.1, seed=0):
    return draw_cases(count, scale, np.random.default_rng(seed))


def test_26_volumes_have_the_vendors_of_the_paper():
    assert Counter(case.vendor for case in drawn()) == {
        "cirrus": 9,
        "nidek": 3,
        "spectralis": 3,
        "topcon": 11,
    }
    assert set(VENDOR_OF_CASE[:4]) == set(VENDORS)  # so that few cases hold all of them


def test_full_sizes_are_those_of_the_paper():
    cases = drawn(4, scale=1.0)
    shapes = {case.vendor: case.geometry.shape for case in cases}
    assert shapes["cirrus"] == (128, 1024, 512)
    assert min(shape[0] for shape in shapes.values()) == 5
    assert max(shape[0] for shape in shapes.values()) == 256
    (cirrus,) = (case for case in cases if case.vendor == "cirrus")
    # 2 mm in depth: 2 µm a pixel; 6 mm in width: 12 µm a pixel.
    assert cirrus.geometry.spacing_mm == pytest.approx((0.012, 0.002, 0.047), abs=5e-4)


@pytest.mark.parametrize(("count", "scale"), [(0, 1), (1, 0), (1, 1.5)])
def test_arguments_out_of_range(count, scale):
    with pytest.raises(ValueError, match="expected at least one case"):
        drawn(count, scale)


def test_an_unerring_annotator_marks_every_cyst_with_its_level():
    for case in drawn(4):
        levels = read_cysts(case, np.random.default_rng(0), missed=0, deviation=0, level_deviation=0)
        assert levels.shape == case.geometry.shape
        assert levels.max() == max(cyst.level for cyst in case.cysts)
        assert 0 < np.count_nonzero(levels) < levels.size / 4


def test_cysts_are_darker_than_what_is_around_them_and_the_image_is_speckled():
    case = drawn(1, scale=0.25)[0]
    image = draw_image(case, np.random.default_rng(0))
    marked = read_cysts(case, np.random.default_rng(0), missed=0, deviation=0, level_deviation=0)
    rows = np.flatnonzero((marked == 5).any(axis=(0, 2)))
    band = image[:, rows]
    assert image.dtype == np.uint8
    assert band[marked[:, rows] == 5].mean() < 0.6 * band[marked[:, rows] == 0].mean()
    vitreous = image[:, :10].astype(float)
    assert vitreous.std() / vitreous.mean() == pytest.approx(0.5, abs=0.1)  # four looks: 1 / √4


def test_combination_by_hand():
    first, second = np.array([[[0, 0, 5, 1, 2]]], np.uint8), np.array([[[0, 1, 5, 0, 4]]], np.uint8)
    confidence, level = combine([first, second])
    half = INTERVAL[1] / 2
    # 0.62 lies halfway between 0.5 and 0.74, which is level 3.
    assert confidence[0, 0].tolist() == pytest.approx([0, half, INTERVAL[5], half, 0.62])
    assert level[0, 0].tolist() == [0, 1, 5, 1, 3]
