"""The section on the data of phases in the report of a leaderboard."""

import numpy as np
import pytest

from evaluation.charts.chart import Chart
from evaluation.organiser.describe import describe
from evaluation.organiser.ranking.leaderboard_file import OrganiserPart
from evaluation.organiser.report.board.leaderboard import BANNER, leaderboard_page
from evaluation.organiser.report.board.methods import data_section
from test.organiser.report.boards import ranked_teams
from test.phases import loaded_phase, tiny_cases


@pytest.fixture
def described(tmp_path):
    """Two sets of twelve and fourteen cases: the ages of the second are higher, its foveas are not."""
    ages = {"train": range(20, 32), "test": range(50, 64)}
    phases = [
        loaded_phase(
            tmp_path / name,
            tiny_cases(len(numbers), positives=4),
            keys={"name": name},
            columns={"age": numbers, "site": ["a", "b"] * (len(numbers) // 2)},
        )
        for name, numbers in ages.items()
    ]
    return describe(phases, by=["site"])


def figures(section):
    return {block.title: block for block in section.blocks if isinstance(block, Chart)}


def test_each_quantity_is_shown_by_phase_and_where_groups_differ(described):
    section = data_section(described)
    shown = figures(section)
    # Ages differ by phase alone: the cases with glaucoma are the first four of both.
    assert {"Age by phase", "Area of optic disc by phase"} <= set(shown)
    assert not any(title.endswith("by site") for title in shown)
    points = shown["Age by phase"].data["points"]
    assert sorted(point["value"] for point in points if point["name"] == "test") == list(range(50, 64))
    assert shown["Age by phase"].follows == "figure 4 of Orlando et al. 2020 (REFUGE)"
    boxes = {box["name"]: box for box in shown["Age by phase"].data["boxes"]}
    assert boxes["train"]["median"] == np.median(range(20, 32))
    assert len({chart.name for chart in shown.values()}) == len(shown)


def test_without_groups_the_whole_is_shown(tmp_path):
    phase = loaded_phase(tmp_path / "phase", tiny_cases(4, positives=0))
    shown = figures(data_section(describe([phase])))
    assert set(shown) >= {"Area of optic disc"}
    (box,) = shown["Area of optic disc"].data["boxes"]
    assert (box["name"], box["cases"]) == ("all cases", 4)


def test_the_page_of_a_leaderboard_takes_the_section_and_says_that_it_is_secret(described, tmp_path):
    teams = ranked_teams(tmp_path / "teams", ["A", "B"], 24, resamples=0)
    page = leaderboard_page(teams.board, (OrganiserPart(),), data_section(described))
    assert "data" in [section.name for section in page.sections]
    assert page.banner == BANNER
    assert leaderboard_page(teams.board, (OrganiserPart(),)).banner == ""
