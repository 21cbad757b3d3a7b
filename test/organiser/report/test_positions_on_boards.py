"""Where the figures of a leaderboard's report have their marks, computed by hand from a few numbers.

"b" is the better team everywhere, so that no order is that of the alphabet; there "a" is blue.
"""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.charts.chart import BLUE, GREY, OCHRE, VERMILION, Chart, marks_of
from evaluation.organiser.ranking.annotators import AnnotatorsSection, OperatingPoint
from evaluation.organiser.ranking.classifiers import Classifiers
from evaluation.organiser.ranking.comparisons import Comparison, Comparisons
from evaluation.organiser.ranking.difficulty import SubgroupTest
from evaluation.organiser.ranking.leaderboard_file import (
    BoardOfTeam,
    CaseValues,
    CurvePoints,
    FinalTeam,
    FrocPoints,
    Leaderboard,
    MetricOfPhase,
    MetricOfTeam,
    OrganiserPart,
    PhaseLeaderboard,
    Team,
)
from evaluation.organiser.ranking.robustness import Variation
from evaluation.organiser.ranking.stability import (
    PlaceDistribution,
    RankingAgreement,
)
from evaluation.organiser.report.board import metrics, rankings
from evaluation.organiser.report.board.reading import ReportedPhase
from evaluation.organiser.report.charts.curves import froc_chart, roc_chart
from evaluation.organiser.report.charts.matrices import rank_counts_chart, significance_chart
from evaluation.organiser.report.charts.teams import (
    blob_chart,
    place_lines_chart,
    podium_chart,
    subgroup_means_chart,
    team_values_chart,
    times_chart,
)
from evaluation.organiser.report.charts.values import distribution_chart
from evaluation.stats.figure import Difference, Figure
from test.charts.picture import Axis, axis, by_hand, layer, marks, names

METRICS, RANKINGS = "organiser/report/board/metrics.py", "organiser/report/board/rankings.py"
FIRST = PlaceDistribution(1, 1, 2, 1.25, {2: 0.25, 1: 0.75})
SECOND = PlaceDistribution(1, 2, 2, 1.75, {2: 0.75, 1: 0.25})
DICE = MetricOfPhase("Dice", "higher", "", in_ranking=True)
ERROR = MetricOfPhase("Error", "lower", "mm", in_ranking=True)


def team(name: str, place: int, dice: MetricOfTeam, error: MetricOfTeam, **more: Any) -> Team:
    distribution = FIRST if place == 1 else SECOND
    boards = {"overall": BoardOfTeam(place, place, str(place), distribution=distribution)}
    return Team(name, True, f"{name}-1", 1, {"t.dice": dice, "t.error": error}, boards, **more)


TEAMS = (
    team(
        "b",
        1,
        MetricOfTeam(Figure(0.75, 0.5, 0.875), 1),
        MetricOfTeam(Figure(2.0, 1.0, 4.0), 2),
        seconds_per_case=3.0,
    ),
    team("a", 2, MetricOfTeam(Figure(0.5), 2), MetricOfTeam(Figure(1.0), 1), seconds_per_case=0.5),
)
VALUES = {
    "t.dice": CaseValues(("x", "y", "z"), {"a": (0.25, 0.5, None), "b": (0.75, 0.5, 1.0)}),
    "t.error": CaseValues(("x", "y", "z"), {"a": (1.0, 3.0, 1.0), "b": (2.0, 1.0, 6.0)}),
}


def phase(part: OrganiserPart | None = None, **more: Any) -> ReportedPhase:
    """Return a phase of two metrics with what else a section needs."""
    scheme = {"boards": [{"name": "overall"}], "overall": "overall"}
    given: dict[str, Any] = {"metrics": {"t.dice": DICE, "t.error": ERROR}, "teams": TEAMS, **more}
    board = PhaseLeaderboard("declared", "p", "0", scheme, cases=3, **given)
    return ReportedPhase(board, part or OrganiserPart(values=VALUES), marks_of(["a", "b"]))


def charts(blocks: Any) -> dict[str, Chart]:
    return {block.name: block for block in blocks if isinstance(block, Chart)}


@by_hand(team_values_chart, distribution_chart, page=METRICS)
def test_metrics_by_team_have_the_best_one_first():
    found = charts(metrics.metrics_section(phase()).blocks)
    dice, error = found["t-dice-by-team"], found["t-error-by-team"]
    assert marks(dice, "point", "teams", "y", "x", "color") == [("b", 0.75, VERMILION), ("a", 0.5, BLUE)]
    assert marks(dice, "rule", "intervals", "y", "x", "x2") == [("b", 0.5, 0.875)]
    assert marks(error, "point", "teams", "y", "x") == [("a", 1), ("b", 2)]
    assert marks(error, "rule", "intervals", "y", "x", "x2") == [("b", 1, 4)]
    assert (axis(dice, "x").title, axis(error, "x").title) == ("Dice", "Error in mm")
    assert dice.title == "Dice: b has the best value"
    # Of the errors 2, 1 and 6 of "b", the quartiles are 1.5 and 4, and of 1, 3 and 1 of "a" 1 and 2.
    boxes = marks(found["t-error-boxes"], "bar", "boxes", "y", "x", "x2")
    assert boxes == [("a", 1, 2), ("b", 1.5, 4)]
    points = [(row["name"], row["case"], row["value"]) for row in found["t-dice-boxes"].data["points"]]
    assert points == [("b", "x", 0.75), ("b", "y", 0.5), ("b", "z", 1), ("a", "x", 0.25), ("a", "y", 0.5)]


@by_hand(podium_chart, rank_counts_chart, page=METRICS)
def test_ranks_in_cases_are_counted_over_the_cases_of_all_teams():
    found = charts(metrics.metrics_section(phase()).blocks)
    # Of Dice "a" has no value in z. In x "b" is better, in y both are equal; each rank is 0.8 wide.
    half = [(pytest.approx(0.8), 0.75), (pytest.approx(0.8), 0.5), (pytest.approx(2.2), 0.25)]
    assert marks(found["t-dice-podium"], "point", "values", "x", "y")[:3] == half
    assert marks(found["t-dice-rank-counts"], "rect", "cells", "y", "x", "color") == [
        ("b", "1", 2),
        ("a", "1", 1),
        ("a", "2", 1),
    ]
    # Errors are better where they are lower: "b" is first in y alone.
    counts = found["t-error-rank-counts"]
    assert marks(counts, "rect", "cells", "y", "x", "color") == [
        ("b", "1", 1),
        ("b", "2", 2),
        ("a", "1", 2),
        ("a", "2", 1),
    ]
    assert names(counts, "x") == ["1", "2"]
    assert layer(counts, "rect", "cells").encoding["color"]["scale"]["domain"] == [0, 2]


@by_hand(times_chart, page=METRICS)
def test_times_are_to_the_right_and_the_front_has_whoever_is_better_or_faster():
    found = charts(metrics.time_charts(phase()))
    dice, error = found["t-dice-times"], found["t-error-times"]
    assert marks(dice, "point", "teams", "x", "y", "color") == [(0.5, 0.5, BLUE), (3, 0.75, VERMILION)]
    assert marks(dice, "line", "front", "x", "y") == [(0.5, 0.5), (3, 0.75)]
    # In errors "a" is better and faster.
    assert marks(error, "line", "front", "x", "y") == [(0.5, 1)]
    assert marks(error, "rule", "intervals", "x", "y", "y2") == [(3, 1, 4)]


ROC = {
    "a": CurvePoints((0.0, 0.5, 1.0), (0.0, 0.75, 1.0)),
    "b": CurvePoints((0.0, 0.25, 1.0), (0.0, 1.0, 1.0)),
}


@by_hand(roc_chart, page=METRICS)
def test_annotators_stand_at_one_minus_their_specificity_in_the_roc_of_all_teams():
    points = {
        "reader": OperatingPoint(9, 10, 8, 10, sensitivity=0.875, specificity=0.75, accuracy=0.85),
        "no negatives": OperatingPoint(9, 10, 0, 0, sensitivity=0.875, specificity=None, accuracy=0.9),
    }
    ratio = dict.fromkeys("ab", CurvePoints((0.0, 0.5, 1.0), (0.0, 0.5, 1.0)))
    own = {one: CurvePoints((0.0, x, 1.0), (0.0, 1.0, 1.0)) for one, x in (("a", 0.1), ("b", 0.2))}
    part = OrganiserPart(
        curves={"t.auc": ROC},
        reader_curves={"scorer": CurvePoints((0.0, 0.125, 1.0), (0.0, 0.625, 1.0))},
        classifiers=Classifiers(curves={"t.ratio": ratio, "t.own": own}),
    )
    (chart,) = charts(
        metrics.curve_blocks(phase(part, annotators=AnnotatorsSection("l", points, (), {})))
    ).values()
    # Specificity 0.75 is 0.25 from the left, and sensitivity 0.875 near the top.
    assert marks(chart, "point", "points", "x", "y") == [(0.25, 0.875)]
    assert axis(chart, "x").title == "1 − specificity"
    assert marks(chart, "line", "curves", "x", "y", "color") == [
        *((0, 0, VERMILION), (0.25, 1, VERMILION), (1, 1, VERMILION)),
        *((0, 0, BLUE), (0.5, 0.75, BLUE), (1, 1, BLUE)),
        *((0, 0, GREY), (0.125, 0.625, GREY), (1, 1, GREY)),
        *((0, 0, GREY), (0.5, 0.5, GREY), (1, 1, GREY)),  # the ratio, which is the same for both teams
    ]


@by_hand(froc_chart, page=METRICS)
def test_free_response_curves_have_false_positives_along_x():
    given = {"a": FrocPoints((0.0, 4.0), (0.25, 0.5)), "b": FrocPoints((0.0, 0.5), (0.5, 0.75))}
    (chart,) = charts(metrics.curve_blocks(phase(OrganiserPart(free_response={"t.froc": given})))).values()
    assert marks(chart, "line", "curves", "x", "y", "color") == [
        *((0, 0.5, VERMILION), (0.5, 0.75, VERMILION)),
        *((0, 0.25, BLUE), (4, 0.5, BLUE)),
    ]
    # From 2 on the axis is logarithmic.
    assert axis(chart, "x") == Axis("false positives per case", (0, 4), kind="symlog")
    assert layer(chart, "line", "curves").encoding["x"]["axis"]["values"] == [0, 0.125, 0.25, 0.5, 1, 2, 4]


@by_hand(subgroup_means_chart, page=METRICS)
def test_the_first_subgroup_is_blue_and_teams_have_the_order_of_the_leaderboard():
    tests = (
        SubgroupTest("t.dice", "a", "eye", "right", "left", 0.25, 0.5, 0.5, None),
        SubgroupTest("t.dice", "b", "eye", "right", "left", 0.875, 0.625, 0.125, "right"),
    )
    (chart,) = charts(metrics.subgroup_blocks(phase(subgroup_tests=tests))).values()
    assert marks(chart, "point", "means", "y", "x", "color") == [
        *(("b", 0.875, BLUE), ("b", 0.625, OCHRE)),
        *(("a", 0.25, BLUE), ("a", 0.5, OCHRE)),
    ]
    assert [(row["group"], row["p_value"]) for row in chart.data["means"]][:2] == [
        ("right", 0.125),
        ("left", 0.125),
    ]


BLOBS = [("b", 1, 0.75), ("b", 2, 0.25), ("a", 1, 0.25), ("a", 2, 0.75)]


@by_hand(blob_chart, page=RANKINGS)
def test_resampled_places_are_drawn_by_their_shares():
    found = charts(
        rankings.stability_blocks(
            phase(
                agreement={"overall": RankingAgreement(-1, 0.5, 1, 0.25, (-1.0, 0.0, 1.0, 1.0))},
            )
        )
    )
    assert marks(found["overall-blobs"], "circle", "blobs", "y", "x", "size") == BLOBS
    assert marks(found["overall-blobs"], "point", "spans", "y", "x") == [("b", 1), ("a", 2)]


@by_hand(blob_chart, page=RANKINGS)
def test_final_places_are_drawn_by_their_shares():
    final = (
        FinalTeam("b", 1, 1.0, "1", {"one": 1}, FIRST),
        FinalTeam("a", 2, 2.0, "2", {"one": 2}, SECOND),
    )
    (chart,) = charts(rankings.final_blocks(Leaderboard("leaderboard/1", (), final), marks_of("ab"))).values()
    assert marks(chart, "circle", "blobs", "y", "x", "size") == BLOBS
    assert marks(chart, "rule", "spans", "y", "x", "x2") == [("b", 1, 2), ("a", 1, 2)]


@by_hand(place_lines_chart, page=RANKINGS)
def test_the_scheme_in_force_is_on_the_left_of_other_schemes():
    variations = tuple(
        Variation("overall", "method", name, places, tau)
        for name, places, tau in (("median", {"b": 2, "a": 1}, -1.0), ("mean", {"b": 1, "a": 2}, 1.0))
    )
    (chart,) = (
        one
        for name, one in charts(rankings.stability_blocks(phase(robustness=variations))).items()
        if "method" in name
    )
    schemes = names(chart, "x")
    assert schemes[0] == rankings.IN_FORCE
    places = marks(chart, "point", "places", "x", "y", "color")
    assert [(schemes.index(scheme), place, colour) for scheme, place, colour in places] == [
        *((0, 1, VERMILION), (0, 2, BLUE)),
        *((1, 2, VERMILION), (1, 1, BLUE)),
        *((2, 1, VERMILION), (2, 2, BLUE)),
    ]
    assert chart.title == "b stays first in 1 of 2 rankings under other methods"


def compared(favours: str | None, significant: bool | None) -> str:
    """Return the sign in the row of "b" and the column of "a"."""
    pair = Comparison("b", "a", Difference(0.25, p_value=0.01, method="test"), 0.02, significant, favours)
    metric = MetricOfPhase("Dice", "higher", "", True, comparisons=Comparisons((pair,), None))
    (chart,) = charts(rankings.significance_blocks(phase(metrics={"t.dice": metric}))).values()
    assert (names(chart, "y"), names(chart, "x")) == (["b", "a"], ["b", "a"])
    signs = {(row, column): sign for row, column, sign in marks(chart, "text", "pairs", "y", "x", "text")}
    assert [(row["row"], row["difference"], row["p_value"]) for row in chart.data["pairs"]] == [
        ("b", 0.25, 0.02),
        ("a", -0.25, 0.02),
    ]
    return signs["b", "a"]


@by_hand(significance_chart, page=RANKINGS)
def test_signs_point_to_the_team_that_the_test_finds_better():
    assert compared("b", True) == "▲"
    assert compared("a", True) == "▽"
    assert compared(None, True) == "·"
    assert compared("b", False) == "·"
    assert compared(None, None) == "?"
