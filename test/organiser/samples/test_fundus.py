from dataclasses import replace

import numpy as np
import pytest

from evaluation.io.kinds.points import Point
from evaluation.organiser.samples.fundus import (
    Quality,
    draw_cases,
    predicted_fovea,
    predicted_mask,
    reference_fovea,
    reference_mask,
)

SIZES = [(64, 64), (200, 64), (64, 200)]


def draw(count=30, width=160, height=160, fraction=0.25, seed=0, prefix="T", **further):
    return draw_cases(count, width, height, fraction, np.random.default_rng(seed), prefix, **further)


@pytest.mark.parametrize(
    ("count", "fraction", "expected", "last"),
    [(400, 0.1, 40, "T0400"), (30, 1 / 3, 10, "T0030"), (7, 0.5, 4, "T0007"), (10_000, 0, 0, "T10000")],
)
def test_count_of_glaucomatous_cases_is_exact_and_names_sort_in_order(count, fraction, expected, last):
    cases = draw(count, fraction=fraction)
    assert sum(case.glaucoma for case in cases) == expected
    names = [case.name for case in cases]
    assert (len(names), names[-1]) == (count, last)
    assert names == sorted(set(names))


@pytest.mark.parametrize("quality", Quality)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_prediction_is_valid(quality, width, height):
    rng = np.random.default_rng(4)
    for case in draw(20, width, height):
        reference = reference_mask(case, rng)
        far = 4 * max(case.disc.semi_axis_x, case.disc.semi_axis_y)
        wide = replace(case, cup=replace(case.disc, semi_axis_x=far, semi_axis_y=far))
        # The cup of each grader is clipped to the disc.
        assert set(np.unique(reference_mask(wide, rng)).tolist()) == {0, 255}
        mask = predicted_mask(case, reference, quality, rng)
        assert mask.shape == (height, width)
        assert mask.dtype == np.uint8
        assert set(np.unique(mask).tolist()) <= {0, 128, 255}
        assert (mask < 255).any()
        assert mask is not reference
        at_the_corner = replace(case, fovea_x=0.0, fovea_y=height - 1.0)
        point = reference_fovea(at_the_corner, rng)
        for found in (point, predicted_fovea(case, Point(0.0, height - 1.0), quality, rng)):
            assert 0 <= found.x <= width - 1
            assert 0 <= found.y <= height - 1
