"""Charts of a leaderboard: the data that they draw."""

import re

import numpy as np
import pytest
import vl_convert
from scipy.stats import gaussian_kde

from evaluation.charts.chart import complete
from evaluation.organiser.charts.teams import ranks_by_case
from evaluation.organiser.charts.values import density
from test.charts.board_examples import board_examples

EXAMPLES = board_examples()


def rows(name, table):
    return EXAMPLES[name].data[table]


def test_a_team_without_an_interval_has_no_line():
    assert [row["team"] for row in rows("team-values", "teams")] == ["one", "two"]
    assert [row["team"] for row in rows("team-values", "intervals")] == ["one"]


def test_a_team_that_is_new_has_a_value_now_and_no_line():
    assert [(row["team"], row["before"], row["now"]) for row in rows("value-changes", "lines")] == [
        ("one", 0.9, 0.8)
    ]
    assert [row["team"] for row in rows("value-changes", "before")] == ["one"]
    assert [row["team"] for row in rows("value-changes", "now")] == ["one", "two"]


def test_a_bar_of_frequencies_goes_from_the_first_place_to_the_last():
    parts = [(one["label"], one["place"], one["from"], one["to"]) for one in rows("frequencies", "places")]
    assert parts == [
        ("one, overall", 1, 0.0, 0.75),
        ("one, overall", 2, 0.75, 1.0),
        ("two, overall", 2, 0.0, 1.0),
        ("two, speed", 1, 0.0, 1.0),
    ]


def test_a_podium_stands_at_the_rank_of_the_team_in_the_case():
    found = {(row["team"], row["case"]): (row["rank"], row["position"]) for row in rows("podium", "values")}
    # Within a rank, which is 0.8 wide, "one" is in the middle of the left half and "two" of the right one.
    assert found == {
        ("one", "a"): (1, pytest.approx(0.8)),
        ("two", "a"): (2, pytest.approx(2.2)),
        ("one", "b"): (1, pytest.approx(0.8)),
        ("two", "b"): (1, pytest.approx(1.2)),
        ("one", "c"): (2, pytest.approx(1.8)),
        ("two", "c"): (1, pytest.approx(1.2)),
    }
    assert EXAMPLES["podium"].single_cases


def test_a_podium_of_many_values_holds_no_single_case():
    assert not EXAMPLES["podium-binned"].single_cases
    assert [(row["team"], row["rank"], row["cases"]) for row in rows("podium-binned", "values")] == [
        ("one", 1, 4_001),
        ("two", 2, 4_001),
    ]


@pytest.mark.parametrize(("better", "expected"), [("higher", [3, 1, 1]), ("lower", [1, 2, 2])])
def test_equal_values_share_the_lowest_rank_of_a_case(better, expected):
    assert ranks_by_case(np.array([[0.1], [0.7], [0.7]]), better)[:, 0].tolist() == expected


def test_a_heat_map_writes_white_on_dark_cells_alone():
    # Half of the scale from 0 to 4 is 2; on the scale from 1 to 0, lower values are darker.
    assert [row["dark"] for row in rows("heatmap", "cells")] == [False, True, False]
    assert [row["dark"] for row in rows("heatmap-cases", "cells")] == [True, False]
    assert EXAMPLES["heatmap"].specification["encoding"]["x"]["scale"]["domain"] == ["1", "2"]


def test_blobs_are_the_shares_of_the_places():
    assert [(row["team"], row["place"], row["share"]) for row in rows("blobs", "blobs")] == [
        ("one", 1, 0.75),
        ("one", 2, 0.25),
        ("two", 1, 0.25),
        ("two", 2, 0.75),
    ]


@pytest.mark.parametrize(("theme_name", "colour"), [("light", "#1a1a1a"), ("dark", "#ececec")])
def test_medians_of_places_have_the_colour_of_text_in_both_themes(theme_name, colour):
    specification = complete(EXAMPLES["blobs"], theme_name, width=420)
    svg = vl_convert.vegalite_to_svg(specification, vl_version="5.21")
    assert len(re.findall(rf'<path aria-label="place: [^>]*fill="{colour}"', svg)) == 2


def test_a_violin_is_a_gaussian_kernel_density():
    values = np.array([0.2, 0.4, 0.6, 0.8, 0.8])
    # Silverman's rule takes the smaller of the standard deviation and the quartile distance over 1.34.
    spread = min(values.std(ddof=1), 0.4 / 1.34)
    bandwidth = 0.9 * spread * 5**-0.2
    grid = np.linspace(0, 1, 11)
    expected = gaussian_kde(values, bandwidth / values.std(ddof=1))(grid)
    assert density(values, grid) == pytest.approx(expected)
    assert np.isfinite(density(np.array([1.0, 1.0]), grid)).all()


def test_a_violin_is_widest_where_it_is_densest_and_never_beyond_its_line():
    outline = rows("violins", "outlines")
    widths = [row["to"] - row["from"] for row in outline]
    assert max(widths) == pytest.approx(0.8)
    assert outline[int(np.argmax(widths))]["value"] == pytest.approx(0.5, abs=0.02)
    assert rows("violins", "boxes")[0]["median"] == pytest.approx(0.5)


def test_a_significance_map_shows_every_pair_from_both_sides():
    found = {(row["row"], row["column"]): row for row in rows("significance", "pairs")}
    assert {pair: (row["verdict"], row["difference"]) for pair, row in found.items()} == {
        ("one", "two"): ("row is better", 0.25),
        ("two", "one"): ("column is better", -0.25),
    }
    assert {row["p_value"] for row in found.values()} == {0.01}
    assert len({row["sign"] for row in found.values()}) == 2  # not by colour alone


def test_a_dendrogram_joins_groups_in_their_middle():
    # Leaves from top to bottom are c, a, b; a and b join at 0.2 in the middle of 1 and 2.
    assert [row["leaf"] for row in rows("dendrogram", "leaves")] == ["c", "a", "b"]
    lines = [(row["x"], row["x_end"], row["y"], row["y_end"]) for row in rows("dendrogram", "lines")]
    assert lines == [
        (0, 0.2, 1, 1),
        (0, 0.2, 2, 2),
        (0.2, 0.2, 1, 2),
        (0, 0.6, 0, 0),
        (0.2, 0.6, 1.5, 1.5),
        (0.6, 0.6, 0, 1.5),
    ]
