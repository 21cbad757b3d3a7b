from math import cos, pi, sin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.io.pixels import Size
from evaluation.organiser.samples.images import Ellipse, draw_eye, marked, rasterise

ellipses = st.builds(
    Ellipse,
    center_x=st.floats(-20, 60),
    center_y=st.floats(-20, 60),
    semi_axis_x=st.floats(0.3, 40),
    semi_axis_y=st.floats(0.3, 40),
    tilt_radians=st.floats(-2 * pi, 2 * pi),
)


def mask_of(text):
    return np.array([[character == "#" for character in row] for row in text.split()])


def quadratic_form(ellipse, width, height):
    """Value at every pixel in the ellipse's own frame: below 1 inside, above 1 outside."""
    y, x = np.mgrid[:height, :width]
    x, y = x - ellipse.center_x, y - ellipse.center_y
    along = x * cos(ellipse.tilt_radians) + y * sin(ellipse.tilt_radians)
    across = y * cos(ellipse.tilt_radians) - x * sin(ellipse.tilt_radians)
    return (along / ellipse.semi_axis_x) ** 2 + (across / ellipse.semi_axis_y) ** 2


BY_HAND = {
    "circle of radius 2, border included": (
        Ellipse(2, 2, 2, 2),
        5,
        5,
        "..#.. .###. ##### .###. ..#..",
    ),
    "wide": (Ellipse(3, 1, 3, 1), 7, 3, "...#... ####### ...#..."),
    "a quarter turn makes it tall": (Ellipse(1, 3, 3.01, 1.01, pi / 2), 3, 7, ".#. .#. .#. ### .#. .#. .#."),
    "positive tilt goes right and down": (
        Ellipse(2, 2, 3, 0.5, pi / 4),
        5,
        5,
        "#.... .#... ..#.. ...#. ....#",
    ),
    "clipped at the last corner": (Ellipse(3, 2, 2, 2), 4, 3, "...# ..## .###"),
    "covers a tiny image": (Ellipse(0, 0, 9, 9), 2, 1, "##"),
    "between the pixels": (Ellipse(0.5, 0.5, 0.4, 0.4), 2, 2, ".. .."),
    "outside, right": (Ellipse(10, 1, 2, 2), 3, 3, "... ... ..."),
}


@pytest.mark.parametrize(("ellipse", "width", "height", "expected"), BY_HAND.values(), ids=BY_HAND.keys())
def test_rasterise_by_hand(ellipse, width, height, expected):
    np.testing.assert_array_equal(
        rasterise(ellipse, Size(width, height)).whole((height, width)), mask_of(expected)
    )


@settings(max_examples=40)
@given(ellipse=ellipses, width=st.integers(1, 50), height=st.integers(1, 50))
def test_rasterise_agrees_with_the_quadratic_form(ellipse, width, height):
    mask = rasterise(ellipse, Size(width, height)).whole((height, width))
    form = quadratic_form(ellipse, width, height)
    assert mask[form < 1 - 1e-6].all()
    assert not mask[form > 1 + 1e-6].any()


@given(
    seed=st.integers(0, 2**32), ratio=st.floats(0.2, 0.9), is_right=st.booleans(), width=st.integers(64, 300)
)
def test_an_eye_lies_in_its_image_and_the_cup_in_the_disc(seed, ratio, is_right, width):
    size = Size(width, width * 7 // 8 if width > 80 else 64)
    eye = draw_eye(size, ratio, is_right, np.random.default_rng(seed))
    for outline in (eye.disc, eye.fovea):
        longest = max(outline.semi_axis_x, outline.semi_axis_y)
        assert longest <= outline.center_x <= size.width - longest
        assert longest <= outline.center_y <= size.height - longest
    assert (eye.fovea.center_x < eye.disc.center_x) == is_right
    assert not (marked([eye.cup], size) & ~marked([eye.disc], size)).any()
