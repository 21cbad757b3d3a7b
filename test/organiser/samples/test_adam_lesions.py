import numpy as np
import pytest

from evaluation.organiser.samples.adam import (
    STYLES,
    draw_lesions,
    empty_mask,
    predicted_lesions,
    reference_lesions,
    roughen,
)
from evaluation.organiser.synthesis import Quality, draw_cases


def generator(seed=0):
    return np.random.Generator(np.random.PCG64(seed))


def cases(count=12, side=80):
    return draw_cases(count, side, side, 0.0, generator(), "T")


def test_without_lesions_the_reference_is_empty():
    (case,) = cases(1)
    assert (reference_lesions((), case, generator()) == 255).all()
    assert (empty_mask(case) == 255).all()


@pytest.mark.parametrize("quality", [Quality.GOOD, Quality.POOR, Quality.RANDOM])
def test_a_prediction_of_lesions_is_never_empty(quality):
    rng = generator(3)
    for case in cases(side=64):
        for style in STYLES.values():
            for lesions in ((), draw_lesions(style, case, rng)):
                assert (predicted_lesions(style, lesions, case, quality, rng) == 0).any()


def test_a_perfect_prediction_is_not_drawn():
    with pytest.raises(ValueError, match=r"^quality:"):
        predicted_lesions(STYLES["scar"], (), cases(1)[0], Quality.PERFECT, generator())


def test_roughening_flips_the_share_inside_the_bounding_box_only():
    mask = np.full((300, 400), 255, dtype=np.uint8)
    mask[50:250, 100:300] = 0
    mask[50:150, 100:200] = 255
    rough = roughen(mask, 0.2, generator(4))
    flipped = rough != mask
    assert set(np.unique(rough)) == {0, 255}
    assert abs(np.count_nonzero(flipped) / (200 * 200) - 0.2) < 0.01
    flipped[50:250, 100:300] = False
    assert not flipped.any()


def test_roughening_never_empties_a_mask_and_leaves_an_empty_one():
    dot = np.full((5, 5), 255, dtype=np.uint8)
    np.testing.assert_array_equal(roughen(dot, 0.4, generator()), dot)
    dot[2, 3] = 0
    for seed in range(20):
        np.testing.assert_array_equal(roughen(dot, 0.4, generator(seed)), dot)
    assert roughen(dot, 0.0, generator()) is dot
