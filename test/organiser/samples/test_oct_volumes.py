import numpy as np
import pytest

from evaluation.organiser.samples.cysts import INTERVAL, combine, draw_cases


def drawn(count=26, scale=0.1, seed=0):
    return draw_cases(count, scale, np.random.default_rng(seed))


def test_full_sizes_are_those_of_the_paper():
    cases = drawn(4, scale=1.0)
    shapes = {case.vendor: case.geometry.shape for case in cases}
    assert shapes["cirrus"] == (128, 1024, 512)
    assert min(shape[0] for shape in shapes.values()) == 5
    assert max(shape[0] for shape in shapes.values()) == 256
    (cirrus,) = (case for case in cases if case.vendor == "cirrus")
    # 2 mm in depth: 2 µm a pixel; 6 mm in width: 12 µm a pixel.
    assert cirrus.geometry.spacing_mm == pytest.approx((0.012, 0.002, 0.047), abs=5e-4)


def test_combination_by_hand():
    first, second = np.array([[[0, 0, 5, 1, 2]]], np.uint8), np.array([[[0, 1, 5, 0, 4]]], np.uint8)
    confidence, level = combine([first, second])
    half = INTERVAL[1] / 2
    # 0.62 lies halfway between 0.5 and 0.74, which is level 3.
    assert confidence[0, 0].tolist() == pytest.approx([0, half, INTERVAL[5], half, 0.62])
    assert level[0, 0].tolist() == [0, 1, 5, 1, 3]
