"""Where figures of teams have their marks, by hand."""

import numpy as np
import pytest

from evaluation.charts.chart import BLUE, VERMILION, marks_of
from evaluation.organiser.report.charts.matrices import confusion_chart, rank_counts_chart
from evaluation.organiser.report.charts.teams import (
    place_lines_chart,
    podium_chart,
    ranks_by_case,
)
from test.charts.picture import Axis, axis, by_hand, marks, names

# "b" is the better team, and comes before "a" wherever there is an order; by the alphabet "a" is blue.
MARKS = marks_of(["a", "b"])


@by_hand(place_lines_chart)
def test_the_first_place_is_at_the_top_and_schemes_are_from_left_to_right():
    places = {"now": {"b": 1, "a": 2, "c": 2}, "median": {"b": 3, "a": 1, "c": 2}}
    chart = place_lines_chart("p", "P", "Places.", places, marks_of("abc"))
    assert axis(chart, "y") == Axis("place", (0.5, 3.5), downwards=True)
    assert names(chart, "x") == ["now", "median"]
    assert marks(chart, "point", "places", "x", "y") == [
        *(("now", 1), ("now", 2), ("now", 2)),
        *(("median", 3), ("median", 1), ("median", 2)),
    ]


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


@pytest.mark.parametrize(("better", "expected"), [("higher", [3, 1, 1]), ("lower", [1, 2, 2])])
def test_equal_values_share_the_lowest_rank_of_a_case(better, expected):
    assert ranks_by_case(np.array([[0.1], [0.7], [0.7]]), better)[:, 0].tolist() == expected


@by_hand(rank_counts_chart)
def test_numbers_are_white_on_the_dark_end_of_a_scale():
    # The middle of the scale, 2, is not dark yet.
    chart = rank_counts_chart("h", "H", {"b": {2: 2, 1: 4}, "a": {1: 1}})
    assert marks(chart, "rect", "cells", "y", "x", "color") == [("b", "1", 4), ("b", "2", 2), ("a", "1", 1)]
    assert [row["dark"] for row in chart.data["cells"]] == [True, False, False]


@by_hand(confusion_chart)
def test_a_class_without_cases_has_no_shares():
    nobody = confusion_chart("c", "C", np.array([[0, 0], [0, 2]]), ("well", "ill"), "")
    assert marks(nobody, "text", "cells", "text") == ["0", "0", "0 (0 %)", "2 (100 %)"]
