"""One example of every chart of a leaderboard, with data that can be checked by hand."""

from __future__ import annotations

import numpy as np

from evaluation.charts.blob import Places, blob_chart
from evaluation.charts.chart import Chart
from evaluation.charts.dendrogram import Join, dendrogram_chart
from evaluation.charts.heatmap import Axes, Cell, heatmap_chart
from evaluation.charts.influence import CaseInfluence, influence_chart
from evaluation.charts.place_lines import place_lines_chart
from evaluation.charts.podium import podium_chart
from evaluation.charts.significance import TestedPair, significance_chart
from evaluation.charts.subgroup_means import SubgroupMeans, subgroup_means_chart
from evaluation.charts.team_values import TeamValue, team_values_chart
from evaluation.charts.theme import marks_of
from evaluation.charts.value_changes import ValueChange, value_changes_chart
from evaluation.charts.violin import Sample, violin_chart

TEAMS = ("one", "two")
MARKS = marks_of(TEAMS)


def board_examples() -> dict[str, Chart]:
    """Return the example charts by name."""
    charts = (
        team_values_chart(
            "team-values",
            "Dice",
            "By team.",
            [TeamValue("one", 0.9, 0.8, 0.95), TeamValue("two", 0.5)],
            MARKS,
            "Dice",
        ),
        value_changes_chart(
            "value-changes",
            "Dice",
            "By team.",
            [ValueChange("one", 0.9, 0.8), ValueChange("two", None, 0.5)],
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
        podium_chart(
            "podium-binned",
            "Podium",
            np.array([np.full(700, 0.9), np.full(700, 0.1)]),
            TEAMS,
            [str(case) for case in range(700)],
            "higher",
            MARKS,
            "Dice",
        ),
        heatmap_chart(
            "heatmap",
            "Ranks",
            "Counts.",
            [Cell("one", "2", 0, "0"), Cell("one", "1", 4, "4"), Cell("two", "1", 1, "1")],
            Axes("rank", "cases", (0, 4), digits=0),
            columns=("1", "2"),
        ),
        heatmap_chart(
            "heatmap-cases",
            "Hardest",
            "Values.",
            [Cell("one", "a", 0.2), Cell("one", "b", 0.9)],
            Axes("case", "Dice", (1, 0)),
            columns_are_cases=True,
        ),
        blob_chart(
            "blobs",
            "Places",
            [Places("one", {1: 0.75, 2: 0.25}, 1, 1, 2), Places("two", {1: 0.25, 2: 0.75}, 1, 2, 2)],
            MARKS,
        ),
        violin_chart(
            "violins", "Agreement", "τ.", [Sample("overall", np.array([0.2, 0.4, 0.6, 0.8]))], "τ-b"
        ),
        significance_chart(
            "significance",
            "Significance",
            "Test.",
            [TestedPair("one", "two", "row is better", 0.25, 0.01)],
            TEAMS,
            "",
        ),
        place_lines_chart(
            "place-lines",
            "Robustness",
            "Places.",
            {"in force": {"one": 1, "two": 2}, "median": {"one": 2, "two": 1}},
            MARKS,
        ),
        influence_chart("influence", "Influence", [CaseInfluence("a", 2, 1, "two")]),
        subgroup_means_chart(
            "subgroup-means", "Subgroups", ("left", "right"), [SubgroupMeans("one", 0.7, 0.9, 0.03)], "Dice"
        ),
        dendrogram_chart(
            "dendrogram",
            "Similarity",
            "Average linkage.",
            [Join(("a",), ("b",), 0.2), Join(("c",), ("a", "b"), 0.6)],
            "distance",
        ),
    )
    return {chart.name: chart for chart in charts}
