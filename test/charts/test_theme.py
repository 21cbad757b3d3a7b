"""Colours: the palette, and that a team keeps its marks."""

import re
from itertools import combinations

import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from evaluation.charts.chart import PALETTE, complete, marks_of, scale_of, theme
from test.charts.board_examples import board_examples

NAMES = [f"team {number}" for number in range(35)]


@pytest.mark.parametrize("name", ["light", "dark"])
def test_colours_of_teams_and_text_can_be_seen_on_both_backgrounds(name):
    # WCAG 2.2: at least 3 : 1 for graphics (1.4.11), and 7 : 1 for text (1.4.6).
    config = theme(name)
    for colour, least in (*((colour, 3) for colour in PALETTE), (config["text"]["color"], 7)):
        low, high = sorted((_luminance(config["background"]), _luminance(colour)))
        assert (high + 0.05) / (low + 0.05) >= least, colour


@given(st.permutations(NAMES[:20]))
def test_marks_do_not_depend_on_the_order_of_the_names(names):
    assert marks_of(names) == marks_of(NAMES[:20])


def test_no_two_of_35_look_the_same():
    marks = list(marks_of(NAMES).values())
    assert all(first != second for first, second in combinations(marks, 2))
    # nor by shape and colour, as points have no dashes
    assert len({(mark.colour, mark.shape) for mark in marks}) == 35


def test_scales_give_each_name_its_own():
    marks = marks_of(["b", "a"])
    assert scale_of(marks, "colour") == {
        "domain": ["a", "b"],
        "range": [marks["a"].colour, marks["b"].colour],
    }
    assert scale_of(marks, "shape")["range"] == ["circle", "square"]
    assert scale_of(marks, "dash")["range"] == [(1, 0), (1, 0)]


def _luminance(colour: str) -> float:
    channels = (int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(("theme_name", "colour"), [("light", "#1a1a1a"), ("dark", "#ececec")])
def test_medians_of_places_have_the_colour_of_text_in_both_themes(theme_name, colour):
    specification = complete(board_examples()["blobs"], theme_name, width=420)
    svg = vl_convert.vegalite_to_svg(specification, vl_version="5.21")
    assert len(re.findall(rf'<path aria-label="place: [^>]*fill="{colour}"', svg)) == 2
