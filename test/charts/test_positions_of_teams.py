"""Where figures of teams have their marks, by hand."""

import numpy as np
import pytest

from evaluation.charts.chart import BLUE, OCHRE, VERMILION, Estimated, marks_of
from evaluation.organiser.ranking.across import Merge
from evaluation.organiser.ranking.stability import Influence, PlaceDistribution
from evaluation.organiser.report.charts.matrices import (
    Axes,
    HeatmapCell,
    TestedPair,
    confusion_chart,
    heatmap_chart,
    significance_chart,
)
from evaluation.organiser.report.charts.teams import (
    SubgroupMeans,
    blob_chart,
    dendrogram_chart,
    influence_chart,
    place_lines_chart,
    podium_chart,
    ranks_by_case,
    subgroup_means_chart,
    team_values_chart,
    times_chart,
    value_changes_chart,
)
from evaluation.organiser.rescoring.changes import Change
from test.charts.picture import Axis, axis, by_hand, layer, marks, names

# "b" is the better team, and comes before "a" wherever there is an order; by the alphabet "a" is blue.
MARKS = marks_of(["a", "b"])
B_THEN_A = [Estimated("b", 0.9, 0.8, 0.95), Estimated("a", 0.5)]


@by_hand(team_values_chart)
def test_teams_are_from_top_to_bottom_with_lines_from_lower_to_upper():
    chart = team_values_chart("t", "T", "By team.", B_THEN_A, MARKS, "Dice", line=0.7)
    assert names(chart, "y") == ["b", "a"]
    points = marks(chart, "point", "teams", "y", "x", "color", "shape")
    assert points == [("b", 0.9, VERMILION, "square"), ("a", 0.5, BLUE, "circle")]
    assert marks(chart, "rule", "intervals", "y", "x", "x2", "color") == [("b", 0.8, 0.95, VERMILION)]
    assert marks(chart, "rule", "line", "x") == [0.7]
    assert axis(chart, "x") == Axis("Dice")


@by_hand(team_values_chart)
def test_places_are_whole_numbers_between_half_a_place_on_either_side():
    places = [Estimated("b", 1, 1, 2), Estimated("a", 2, 1, 2)]
    chart = team_values_chart("t", "T", "By team.", places, MARKS, "place", places=2)
    assert axis(chart, "x") == Axis("place", (0.5, 2.5))
    assert layer(chart, "point", "teams").encoding["x"]["axis"]["values"] == [1, 2]
    assert marks(chart, "rule", "intervals", "y", "x", "x2") == [("b", 1, 2), ("a", 1, 2)]


@by_hand(times_chart)
def test_values_are_upwards_over_times_and_the_front_goes_from_fast_to_slow():
    values = [*B_THEN_A, Estimated("c", 0.4, 0.3, 0.6)]
    seconds = {"b": 2.0, "a": 0.1, "c": 0.5}
    chart = times_chart("t", "T", "By team.", values, seconds, ["b", "a"], marks_of("abc"), "Dice")
    assert marks(chart, "point", "teams", "x", "y", "color")[0] == (0.1, 0.5, BLUE)
    assert marks(chart, "point", "teams", "x", "y") == [(0.1, 0.5), (0.5, 0.4), (2, 0.9)]
    assert marks(chart, "rule", "intervals", "x", "y", "y2") == [(0.5, 0.3, 0.6), (2, 0.8, 0.95)]
    assert marks(chart, "line", "front", "x", "y") == [(0.1, 0.5), (2, 0.9)]
    # Between two teams of the front the faster one is the best, until the slower one is there.
    assert layer(chart, "line", "front").mark["interpolate"] == "step-after"
    assert axis(chart, "x") == Axis("seconds per case", kind="log")
    assert axis(chart, "y") == Axis("Dice")


@by_hand(value_changes_chart)
def test_changes_go_from_the_hollow_value_before_to_the_full_value_now():
    changes = {"b": Change(0.9, 0.8), "a": Change(None, 0.5), "c": Change(0.3, None)}
    chart = value_changes_chart("v", "V", "By team.", changes, marks_of("abc"), "Dice")
    assert names(chart, "y") == ["b", "a", "c"]
    assert marks(chart, "point", "before", "y", "x") == [("b", 0.9), ("c", 0.3)]
    assert marks(chart, "point", "now", "y", "x", "color") == [("b", 0.8, VERMILION), ("a", 0.5, BLUE)]
    assert [layer(chart, "point", when).mark["filled"] for when in ("before", "now")] == [False, True]
    assert marks(chart, "rule", "lines", "y", "x", "x2") == [("b", 0.9, 0.8)]


@by_hand(subgroup_means_chart)
def test_means_of_two_subgroups_are_joined():
    means = [SubgroupMeans("b", 0.7, 0.9, 0.03), SubgroupMeans("a", 0.6, 0.5, None)]
    chart = subgroup_means_chart("s", "S", ("right", "left"), means, "Dice")
    assert names(chart, "y") == ["b", "a"]
    assert marks(chart, "point", "means", "y", "x", "color", "shape") == [
        ("b", 0.7, BLUE, "circle"),
        ("b", 0.9, OCHRE, "diamond"),
        ("a", 0.6, BLUE, "circle"),
        ("a", 0.5, OCHRE, "diamond"),
    ]
    assert layer(chart, "point", "means").encoding["color"]["scale"]["domain"] == ["right", "left"]
    assert marks(chart, "rule", "lines", "y", "x", "x2") == [("b", 0.7, 0.9), ("a", 0.6, 0.5)]
    assert [row["p_value"] for row in chart.data["means"]] == [0.03, 0.03, None, None]


@by_hand(place_lines_chart)
def test_the_first_place_is_at_the_top_and_schemes_are_from_left_to_right():
    places = {"now": {"b": 1, "a": 2, "c": 2}, "median": {"b": 3, "a": 1, "c": 2}}
    chart = place_lines_chart("p", "P", "Places.", places, marks_of("abc"))
    shared = place_lines_chart("p", "P", "Places.", {"now": dict.fromkeys("abc", 1)}, marks_of("abc"))
    assert marks(shared, "text", "first", "text") == ["a + 2"]
    assert names(chart, "x") == ["now", "median"]
    assert axis(chart, "y") == Axis("place", (0.5, 3.5), downwards=True)
    assert layer(chart, "line", "places").encoding["y"]["axis"]["values"] == [1, 2, 3]
    found = [("now", 1), ("now", 2), ("now", 2), ("median", 3), ("median", 1), ("median", 2)]
    assert marks(chart, "point", "places", "x", "y") == found
    colours = marks(chart, "line", "places", "x", "y", "color")
    assert colours[:2] == [("now", 1, VERMILION), ("now", 2, BLUE)]
    assert marks(chart, "text", "first", "x", "y", "text") == [("now", 1, "b"), ("now", 2, "a, c")]
    assert marks(chart, "text", "last", "x", "y", "text") == [
        ("median", 1, "a"),
        ("median", 2, "c"),
        ("median", 3, "b"),
    ]
    assert [layer(chart, "text", end).mark["align"] for end in ("first", "last")] == ["right", "left"]


@by_hand(podium_chart)
def test_a_podium_stands_at_the_rank_of_the_team_in_the_case():
    # "b" is first in x, both share the first rank in y, "a" is first in z.
    values = np.array([[0.9, 0.5, 0.1], [0.8, 0.5, 0.2]])
    chart = podium_chart("p", "P", values, ["b", "a"], ["x", "y", "z"], "higher", MARKS, "Dice")
    # Within a rank, which is 0.8 wide, "b" is in the middle of the left half and "a" of the right one.
    assert marks(chart, "point", "values", "x", "y", "color") == [
        (pytest.approx(0.8), 0.9, VERMILION),
        (pytest.approx(0.8), 0.5, VERMILION),
        (pytest.approx(1.8), 0.1, VERMILION),
        (pytest.approx(2.2), 0.8, BLUE),
        (pytest.approx(1.2), 0.5, BLUE),
        (pytest.approx(1.2), 0.2, BLUE),
    ]
    assert [(row["case"], row["rank"]) for row in chart.data["values"]] == [
        *(("x", 1), ("y", 1), ("z", 2)),
        *(("x", 2), ("y", 1), ("z", 1)),
    ]
    assert marks(chart, "line", "values", "detail", "order", "y")[:2] == [("x", 0.8, 0.9), ("y", 0.8, 0.5)]
    assert marks(chart, "rule", "separators", "x") == [1.5]
    assert axis(chart, "x") == Axis("rank in the case", (0.5, 2.5))
    assert axis(chart, "y") == Axis("Dice")
    lower = podium_chart("p", "P", values, ["b", "a"], ["x", "y", "z"], "lower", MARKS, "mm")
    assert [row["rank"] for row in lower.data["values"]] == [2, 1, 1, 1, 1, 2]
    assert lower.single_cases


@by_hand(podium_chart)
def test_a_podium_of_many_values_holds_bins_and_no_single_case():
    values = np.array([np.full(4_001, 24.0), np.full(4_001, 0.0)])
    chart = podium_chart("p", "P", values, ["b", "a"], [""] * 4_001, "higher", MARKS, "Dice")
    # 24 bins of 0 … 24: the last and the first one, at their middles.
    assert marks(chart, "circle", "values", "x", "y", "size", "color") == [
        (pytest.approx(0.8), 23.5, 4_001, VERMILION),
        (pytest.approx(2.2), 0.5, 4_001, BLUE),
    ]
    assert not chart.single_cases


@pytest.mark.parametrize(("better", "expected"), [("higher", [3, 1, 1]), ("lower", [1, 2, 2])])
def test_equal_values_share_the_lowest_rank_of_a_case(better, expected):
    assert ranks_by_case(np.array([[0.1], [0.7], [0.7]]), better)[:, 0].tolist() == expected


@by_hand(blob_chart)
def test_blobs_have_the_area_of_the_share_of_their_place():
    places = {
        "b": PlaceDistribution(1, 1, 2, 1.25, {2: 0.25, 1: 0.75}),
        "a": PlaceDistribution(1, 3, 3, 2.5, {1: 0.25, 3: 0.75}),
    }
    chart = blob_chart("b", "B", places, MARKS)
    assert names(chart, "y") == ["b", "a"]
    assert marks(chart, "circle", "blobs", "y", "x", "size", "color") == [
        ("b", 1, 0.75, VERMILION),
        ("b", 2, 0.25, VERMILION),
        ("a", 1, 0.25, BLUE),
        ("a", 3, 0.75, BLUE),
    ]
    # "size" is the area in Vega-Lite: none for a share of 0.
    size = layer(chart, "circle", "blobs").encoding["size"]["scale"]
    assert (size["domain"], size["range"][0]) == ([0, 1], 0)
    assert marks(chart, "rule", "spans", "y", "x", "x2") == [("b", 1, 2), ("a", 1, 3)]
    assert marks(chart, "point", "spans", "y", "x") == [("b", 1), ("a", 3)]
    assert axis(chart, "x") == Axis("place", (0.5, 3.5))


@by_hand(dendrogram_chart)
def test_a_dendrogram_joins_groups_in_their_middle_from_left_to_right():
    joins = [Merge(("a",), ("b",), 0.2), Merge(("c",), ("a", "b"), 0.6)]
    chart = dendrogram_chart("d", "D", "Linkage.", joins, "distance")
    # Leaves from top to bottom are c, a, b; a and b join at 0.2 in the middle of 1 and 2. Names stand above.
    assert marks(chart, "text", "leaves", "text", "y") == [("c", -0.25), ("a", 0.75), ("b", 1.75)]
    assert marks(chart, "rule", "lines", "x", "x2", "y", "y2") == [
        (0, 0.2, 1, 1),
        (0, 0.2, 2, 2),
        (0.2, 0.2, 1, 2),
        (0, 0.6, 0, 0),
        (0.2, 0.6, 1.5, 1.5),
        (0.6, 0.6, 0, 1.5),
    ]
    assert axis(chart, "x") == Axis("distance", (0, 0.6))
    assert axis(chart, "y") == Axis("", (-0.6, 2.4), downwards=True)


@by_hand(influence_chart)
def test_bars_of_influence_count_the_teams_that_move():
    chart = influence_chart(
        "i", "I", [Influence("d", "y", 3, 1, ("b",), 0.5), Influence("d", "x", 1, 2, ("a", "b"), 0.5)]
    )
    assert names(chart, "y") == ["y", "x"]
    assert marks(chart, "bar", "cases", "y", "x") == [("y", 3), ("x", 1)]
    assert axis(chart, "x").title == "teams that change their place"
    bars = layer(chart, "bar", "cases")
    assert bars.encoding["x"]["axis"]["values"] == [0, 1, 2, 3]
    assert bars.encoding["x"]["scale"]["domainMin"] == 0
    assert [(row["max_move"], row["winners"]) for row in bars.rows] == [(1, "b"), (2, "a, b")]


@by_hand(heatmap_chart)
def test_cells_of_a_heat_map_are_in_their_row_and_column_and_white_on_dark_ones():
    cells = [HeatmapCell("b", "2", 2, "2"), HeatmapCell("b", "1", 4, "4"), HeatmapCell("a", "1", 1, "1")]
    chart = heatmap_chart("h", "H", "", cells, Axes("rank", "cases", (0, 4)), columns=("1", "2", "3"))
    assert (names(chart, "x"), names(chart, "y")) == (["1", "2", "3"], ["b", "a"])
    found = [("b", "2", 2), ("b", "1", 4), ("a", "1", 1)]
    assert marks(chart, "rect", "cells", "y", "x", "color") == found
    assert marks(chart, "text", "cells", "y", "x", "text") == [
        (row, x, str(value)) for row, x, value in found
    ]
    colours = layer(chart, "rect", "cells").encoding["color"]["scale"]
    assert (colours["domain"], colours["range"][1]) == ([0, 4], BLUE)
    # The middle of the scale, 2, is not dark yet.
    assert [row["dark"] for row in chart.data["cells"]] == [False, True, False]
    assert layer(chart, "rect", "cells").encoding["x"]["title"] == "rank"


@by_hand(heatmap_chart)
def test_columns_of_cases_have_the_order_of_the_cells_and_a_scale_that_falls():
    cells = [HeatmapCell("b", "y", 0.2), HeatmapCell("b", "x", 0.9)]
    chart = heatmap_chart("h", "H", "", cells, Axes("case", "Dice", (1, 0)), columns_are_cases=True)
    assert names(chart, "x") == ["y", "x"]
    assert layer(chart, "rect", "cells").encoding["color"]["scale"]["domain"] == [1, 0]
    # From 1 to 0, lower values are darker.
    assert [row["dark"] for row in chart.data["cells"]] == [True, False]
    assert (chart.single_cases, chart.wide) == (True, True)


@by_hand(confusion_chart)
def test_a_confusion_matrix_has_a_row_for_each_class_of_the_reference():
    # Of three sick cases, one is called sick, two have no result.
    chart = confusion_chart("c", "C", np.array([[3, 1, 0], [0, 1, 2]]), ("well", "ill"), "", ("none",))
    assert names(chart, "y") == ["well", "ill"]
    assert names(chart, "x") == ["well", "ill", "none"]
    assert layer(chart, "rect", "cells").encoding["y"]["title"] == "reference"
    assert layer(chart, "rect", "cells").encoding["x"]["title"] == "predicted"
    assert marks(chart, "rect", "cells", "y", "x", "color") == [
        *(("well", "well", 0.75), ("well", "ill", 0.25), ("well", "none", 0)),
        *(("ill", "well", 0), ("ill", "ill", pytest.approx(1 / 3)), ("ill", "none", pytest.approx(2 / 3))),
    ]
    labels = ["3 (75 %)", "1 (25 %)", "0 (0 %)", "0 (0 %)", "1 (33 %)", "2 (67 %)"]
    assert marks(chart, "text", "cells", "text") == labels
    colours = layer(chart, "rect", "cells").encoding["color"]["scale"]
    assert (colours["domain"], colours["range"][1]) == ([0, 1], BLUE)
    nobody = confusion_chart("c", "C", np.array([[0, 0], [0, 2]]), ("well", "ill"), "")
    assert marks(nobody, "text", "cells", "text") == ["0", "0", "0 (0 %)", "2 (100 %)"]


@by_hand(significance_chart)
def test_a_significance_map_shows_every_pair_from_both_sides():
    pairs = [
        TestedPair("b", "a", "row is better", 0.25, 0.01),
        TestedPair("c", "b", "no significant difference", 0.125, 0.5),
    ]
    chart = significance_chart("s", "S", "Test.", pairs, ["c", "b", "a"], "")
    assert (names(chart, "y"), names(chart, "x")) == (["c", "b", "a"], ["c", "b", "a"])
    assert marks(chart, "text", "pairs", "y", "x", "text") == [
        ("c", "b", "·"),
        ("b", "c", "·"),
        ("b", "a", "▲"),
        ("a", "b", "▽"),
    ]
    verdicts = [
        (row["row"], row["verdict"], row["difference"], row["p_value"]) for row in chart.data["pairs"]
    ]
    assert verdicts == [
        ("c", "no significant difference", 0.125, 0.5),
        ("b", "no significant difference", -0.125, 0.5),
        ("b", "row is better", 0.25, 0.01),
        ("a", "column is better", -0.25, 0.01),
    ]
    colours = marks(chart, "rect", "pairs", "color")
    assert colours[0] == colours[1]
    assert len(set(colours)) == 3
