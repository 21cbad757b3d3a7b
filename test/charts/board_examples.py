"""One example of every chart of a leaderboard, with data that can be checked by hand."""

from __future__ import annotations

import numpy as np

from evaluation.charts.chart import Chart, Estimated, marks_of
from evaluation.organiser.ranking.comparisons import Comparison
from evaluation.organiser.ranking.difficulty import SubgroupTest
from evaluation.organiser.ranking.stability import PlaceDistribution
from evaluation.organiser.report.charts.matrices import rank_counts_chart, significance_chart
from evaluation.organiser.report.charts.teams import (
    blob_chart,
    place_lines_chart,
    podium_chart,
    subgroup_means_chart,
    team_values_chart,
    times_chart,
)
from evaluation.stats.figure import Difference

TEAMS = ("one", "two")
MARKS = marks_of(TEAMS)


def board_examples() -> dict[str, Chart]:
    """Return the example charts by name."""
    charts = (
        team_values_chart(
            "team-values",
            "Dice",
            "By team.",
            [Estimated("one", 0.9, 0.8, 0.95), Estimated("two", 0.5)],
            MARKS,
            "Dice",
        ),
        # "two" is worse and faster: both are on the front.
        times_chart(
            "times",
            "Dice and time",
            "By team.",
            [Estimated("one", 0.9, 0.8, 0.95), Estimated("two", 0.5)],
            {"one": 2.0, "two": 0.1},
            TEAMS,
            MARKS,
            "Dice",
        ),
        # "one" is first in a, both share the first rank in b, "two" is first in c.
        podium_chart(
            "podium",
            "Podium",
            np.array([[0.9, 0.5, 0.1], [0.8, 0.5, 0.2]]),
            TEAMS,
            ("a", "b", "c"),
            "higher",
            MARKS,
            "Dice",
        ),
        rank_counts_chart("rank-counts", "Ranks", {"one": {2: 0, 1: 4}, "two": {1: 1}}),
        blob_chart(
            "blobs",
            "Places",
            {
                "one": PlaceDistribution(1, 1, 2, 1.25, {1: 0.75, 2: 0.25}),
                "two": PlaceDistribution(1, 2, 2, 1.75, {1: 0.25, 2: 0.75}),
            },
            MARKS,
        ),
        significance_chart(
            "significance",
            "Significance",
            "Test.",
            [Comparison("one", "two", Difference(0.25, p_value=0.01), 0.01, True, "one")],
            TEAMS,
        ),
        place_lines_chart(
            "place-lines",
            "Robustness",
            "Places.",
            {"in force": {"one": 1, "two": 2}, "median": {"one": 2, "two": 1}},
            MARKS,
        ),
        subgroup_means_chart(
            "subgroup-means",
            "Subgroups",
            ("left", "right"),
            [SubgroupTest("dice", "one", "side", "left", "right", 0.7, 0.9, 0.03, None)],
            "Dice",
        ),
    )
    return {chart.name: chart for chart in charts}
