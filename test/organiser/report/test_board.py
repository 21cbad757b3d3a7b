"""The report of a leaderboard and of its changes: numbers, figures in a browser, hostile names, size."""

import math
import shutil
from dataclasses import replace

import numpy as np
import pytest

import evaluation
from evaluation.charts.chart import Chart
from evaluation.core.fault import PhaseError
from evaluation.organiser.describe import describe
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.comparisons import Comparisons
from evaluation.organiser.ranking.leaderboard import CHOSEN_HERE
from evaluation.organiser.ranking.leaderboard_file import (
    FinalTeam,
    OrganiserPart,
)
from evaluation.organiser.report.board.leaderboard import BANNER, leaderboard_page, reported_phases
from evaluation.organiser.report.board.metrics import time_charts
from evaluation.organiser.report.board.reading import identifier, read_leaderboard
from evaluation.organiser.report.data import data_section
from evaluation.organiser.report.page import (
    Section,
    SortableCaseTable,
    Table,
    render_page,
    shown,
)
from evaluation.organiser.report.sentences import names_in, names_of
from evaluation.platform.result_file import as_written
from test.challenges.declared.phases import declared_phase, write_table
from test.charts.vega_lite import invalid
from test.faults import faulted
from test.organiser.report.boards import ranked_results, ranked_teams
from test.organiser.report.browser import WIDTHS, opened
from test.organiser.report.declared import declared
from test.organiser.report.test_render import HOSTILE
from test.phases import loaded_phase, tiny_cases

KINDS = (
    *("by-team", "boxes", "podium", "rank-counts", "blobs"),
    *("method-places", "significance", "roc", "left-right"),
)


@pytest.fixture(scope="module")
def twelve(tmp_path_factory):
    """Twelve teams, some of which have names that hold programs."""
    # A folder has no slash in its name.
    hostile = [name.replace("/", "∕") for name in HOSTILE]
    teams = [*(f"team {number}" for number in range(12 - len(hostile))), *hostile]
    return ranked_teams(tmp_path_factory.mktemp("twelve"), teams, 120)


@pytest.fixture(scope="module")
def page(twelve):
    return leaderboard_page(*read_leaderboard(twelve.folder))


@pytest.fixture(scope="module")
def board_in_browser(chromium, page, tmp_path_factory):
    """Open the page once; return it at a width, where its figures are drawn again if it had another one."""
    path = tmp_path_factory.mktemp("board") / "board.html"
    path.write_text(render_page(page), encoding="utf-8")
    board = opened(chromium, path, WIDTHS[0])

    def at(width):
        if board.page.viewport_size["width"] != width:
            board.redraw(width)
        return board

    return at


def blocks_of(page, kind):
    return {
        getattr(block, "name", section.name): block
        for section in page.sections
        for block in section.blocks
        if isinstance(block, kind)
    }


def test_readers_and_ratios_stand_beside_the_teams(page, twelve):
    tables = blocks_of(page, Table)
    points = tables["annotator-points"].rows
    assert len(points) == 2 * 12
    for *_, lower, upper, _, _, p_value, corrected in points:
        assert (lower > 0 or upper < 0) == (p_value < 0.05)
        assert corrected >= p_value
    # Each team has two ratios, and three pairs with its likelihood, over two figures of the ROC curve.
    assert len(tables["classifiers"].rows) == 12 * 3 * 2
    assert len(tables["classifier-tests"].rows) == 12 * 3
    # The ratio of the reference is the same for all teams, and so one curve. Two readers gave scores: a curve
    # each, the average reader alone and each team beside it; two decided.
    (chart,) = (chart for chart in page.charts() if chart.name.endswith("roc"))
    assert len({row["name"] for row in chart.data["curves"]}) == 12 + 1 + 2
    curve = [row for row in chart.data["curves"] if row["name"] == "scorer 1"]
    x, y = ([row[axis] for row in curve] for axis in ("false_positive_rate", "sensitivity"))
    area = twelve.board.phases[0].annotators.classifiers["scorer 1"]["classification.auc"]
    assert area == pytest.approx(np.trapezoid(y, x), abs=0.005)
    alone = [row[0] for row in tables["readers"].rows if row[1] is None]
    assert sorted(alone) == ["AUC", "sensitivity", "specificity"]
    assert len(tables["readers"].rows) == 13 + 2 + 12


def test_every_kind_of_figure_is_drawn_at_two_widths(board_in_browser, page):
    names = [chart.name for chart in page.charts()]
    assert [kind for kind in KINDS if not any(name.endswith(kind) for name in names)] == []
    for width in WIDTHS:
        shown = board_in_browser(width)
        assert shown.problems(figures=len(names)) == []
        assert shown.overflow() <= 0


def test_every_figure_is_valid_by_the_schema_of_vega_lite_5(page):
    assert invalid(page.charts()) == []


def test_names_that_hold_programs_are_shown_as_text(board_in_browser, twelve):
    shown = board_in_browser(WIDTHS[1])
    cells = shown.page.eval_on_selector_all(
        "#table-ranking tbody tr td:first-child", "all => all.map(one => one.textContent)"
    )
    assert cells == [team.team for team in twelve.board.phases[0].teams]
    labels = " ".join(shown.page.locator("#figure-classification-auc-by-team").all_text_contents())
    assert "<script>alert(1)<" in labels
    for mark in shown.page.locator(
        "#figure-classification-auc-by-team path[aria-roledescription=point]"
    ).all():
        mark.hover()
    assert shown.errors == []


def chart_of(page, name):
    return next(chart for chart in page.charts() if chart.name == name)


def test_the_page_shows_the_places_and_values_of_the_files(page, twelve):
    phase = twelve.board.phases[0]
    places = {row[0]: row[1:4] for row in blocks_of(page, Table)["ranking"].rows}
    for team in phase.teams:
        board = team.boards["overall"]
        low, high = board.distribution.lower, board.distribution.upper
        interval = str(low) if low == high else f"{low}–{high}"
        assert places[team.team] == (board.place, interval, as_written(board.score))
    values = {(row[0], row[2]): row[3] for row in blocks_of(page, Table)["metrics"].rows}
    assert values["AUC", phase.teams[0].team] == as_written(
        phase.teams[0].metrics["classification.auc"].value
    )


TITLED = """\
subgroups = [{ column = "eye_side" }]
[fields]
apex = { kind = "point", table = "apex.csv", dimensions = 2, unit = "pixels" }
[tasks]
apex.metrics.mean_radial_error = { field = "apex", worst = 100 }
[titles]
case = "eye"
cases = "eyes"
eye_side = "side"
"eye_side=1" = "right eyes"
"eye_side=2" = "left eyes"
"apex.mean_radial_error" = "Distance of the apex"
overall = "all apexes"
"""


def test_words_of_a_declared_phase_reach_its_leaderboard_with_its_units(tmp_path):
    names = [f"C{number:02}" for number in range(12)]
    at = {"apex_x": [20] * 12, "apex_y": [30] * 12, "eye_side": [1, 2] * 6}
    size = {"name": names, "width": [90] * 12, "height": [80] * 12}
    folder = declared_phase(tmp_path / "phase", TITLED, size | at)
    evaluation.seal(folder)
    for team, moved in (("near", 1), ("far", 4)):
        found = {"case": names, "x": [20 + moved + case % 3 for case in range(12)], "y": [30] * 12}
        write_table(tmp_path / team / "apex.csv", found)
        evaluation.evaluate(folder, tmp_path / team, workers=0).write(tmp_path / "results" / team)
    options = RankOptions(subgroups=("eye_side",))
    evaluation.rank(tmp_path / "results", options=options).write(tmp_path / "board")
    page = leaderboard_page(*read_leaderboard(tmp_path / "board"))
    assert page.subtitle == "declared: 2 teams, 12 eyes"
    by_team = chart_of(page, "apex-mean-radial-error-by-team")
    assert by_team.title == "Distance of the apex: near has the best value"
    assert by_team.subtitle == "in pixels, lower is better"
    assert f'<p class="subtitle">{by_team.subtitle}</p>' in render_page(page)
    means = chart_of(page, "apex-mean-radial-error-eye-side-1-2")
    assert means.title == "Distance of the apex by side"
    assert {row["group"] for row in means.data["means"]} == {"right eyes", "left eyes"}
    tests = blocks_of(page, Table)["subgroup-tests"].rows
    assert {row[2:5] for row in tests} == {("side", "right eyes", "left eyes")}
    changes = {row[2] for row in blocks_of(page, Table)["robustness"].rows}
    assert {"right eyes", "left eyes"} <= changes


def test_free_response_curves_of_all_teams_stand_in_one_figure(tmp_path):
    results = declared(tmp_path).phase.parent / "results"
    (results / "team").rename(results / "one")
    shutil.copytree(results / "one", results / "two")
    page = leaderboard_page(*read_leaderboard(ranked_results(results, tmp_path / "board").folder))
    # By falling probability: two hits, then a false one; of three nodules, on three scans.
    rows = chart_of(page, "nodules-froc-froc").data["curves"]
    points = [(row["name"], row["false_positives_per_case"], row["sensitivity"]) for row in rows]
    at = [(0, 0), (0, pytest.approx(2 / 3)), (pytest.approx(1 / 3), pytest.approx(2 / 3))]
    assert points == [(team, *place) for team in ("one", "two") for place in at]
    assert chart_of(page, "polyps-box-average-precision-froc").data["curves"]


def test_the_first_page_answers_and_the_rest_is_folded(board_in_browser, page):
    board = board_in_browser(WIDTHS[1]).page
    board.click("#unfold")  # folds what the tests opened
    height = board.evaluate("document.documentElement.scrollHeight")
    board.click("#unfold")
    assert height < 6_000 < board.evaluate("document.documentElement.scrollHeight") / 3
    headlines = {section.name: [block.name for block in section.headline] for section in page.sections}
    assert headlines["ranking"] == ["ranking"]
    # A figure of each task, and no others.
    assert headlines["metrics"] == ["classification-auc-by-team", "segmentation-dice-cup-by-team"]
    assert headlines["stability"] == headlines["cases"] == []


def test_the_page_says_who_is_first_and_who_cannot_be_told_apart(twelve):
    phase = twelve.board.phases[0]
    first, second, *others = (team.team for team in phase.teams)
    shares = {first: 0.9, second: 0.09, **dict.fromkeys(others, 0.001)}
    teams = tuple(_first_at_times(team, shares[team.team]) for team in phase.teams)
    board = replace(twelve.board, phases=(replace(phase, teams=teams),))
    answer = leaderboard_page(board, twelve.parts).answer
    assert answer[0] == f"{first} is first of 12 teams; it is first in 90 of 100 resamples of these cases."
    assert answer[2] == f"{second} cannot be told apart from {first} by these 120 images."


def test_the_page_says_why_it_is_not_known_how_sure_places_are(twelve):
    phase = twelve.board.phases[0]
    ranked = [name for name, metric in phase.metrics.items() if metric.in_ranking]
    reasons = dict.fromkeys(ranked[:2], "few cases") | {ranked[2]: "biased"}
    metrics = {name: replace(one, no_intervals=reasons.get(name)) for name, one in phase.metrics.items()}
    teams = tuple(
        replace(team, boards={name: replace(one, distribution=None) for name, one in team.boards.items()})
        for team in phase.teams
    )

    def answer(**given):
        board = replace(twelve.board, phases=(replace(phase, metrics=metrics, **given),))
        return leaderboard_page(board, twelve.parts).answer

    told = f"How sure these places are cannot be told: 3 of the {len(ranked)} metrics behind them rest on"
    assert (
        answer(teams=teams)[-1]
        == f"{told} too little, such as “{phase.metrics[ranked[0]].title}” (few cases)."
    )
    assert not any(told in one for one in answer())


def _first_at_times(team, share):
    board = team.boards["overall"]
    places = replace(board.distribution, probabilities={1: share})
    return replace(team, boards={**team.boards, "overall": replace(board, distribution=places)})


@pytest.mark.parametrize(
    ("as_stored", "method", "said"),
    [
        (True, "DeLong", "0.0123 (−0.0012 to 0.0256)"),
        (False, "DeLong", "0.0123 (−0.0012 to 0.0256)"),
        (True, "Wilcoxon signed-rank", "0.0123, their cases by a shift of −0.0012 to 0.0256"),
    ],
)
def test_the_page_says_by_how_much_a_team_is_first(twelve, as_stored, method, said):
    phase = twelve.board.phases[0]
    teams, name = phase.teams, "classification.auc"
    of_both = [teams[place].metrics[name] for place in (0, 1)]
    pairs = phase.metrics[name].comparisons.pairs
    names = {teams[0].team, teams[1].team}
    (pair,) = [one for one in pairs if {one.first, one.second} == names]
    found = replace(pair.difference, value=0.0123, lower=-0.0012, upper=0.0256, method=method)
    pair = replace(pair, difference=found, p_holm=0.0503)
    if not as_stored:  # teams with one value may stand in either order
        pair = replace(pair, first=pair.second, second=pair.first, difference=found.reversed())
    metric = replace(phase.metrics[name], comparisons=Comparisons((pair,), ()))
    board = replace(twelve.board, phases=(replace(phase, metrics={**phase.metrics, name: metric}),))
    told = leaderboard_page(board, twelve.parts).answer[1]
    (section,) = (one for one in leaderboard_page(board, twelve.parts).sections if one.name == "metrics")
    table = next(one for one in section.blocks if isinstance(one, Table))
    for team, one in zip(teams, of_both, strict=False):
        (row,) = [row for row in table.shown if "AUC" in row[0] and team.team in row]
        value, lower, upper = row[3:6]
        assert f"{team.team} has {value} ({lower} to {upper})" in told
        assert math.isclose(float(value), one.value, abs_tol=5e-5)
    assert told.endswith(f"; they differ by {said}, p 0.0503, corrected.")


def test_without_the_organisers_files_no_single_case_is_shown(twelve):
    page = leaderboard_page(twelve.board, (OrganiserPart(),))
    assert page.banner == ""
    assert not any(chart.single_cases for chart in page.charts())
    assert blocks_of(page, SortableCaseTable) == {}
    assert leaderboard_page(twelve.board, twelve.parts).banner == BANNER
    data = Section("data", "Data", ())
    assert leaderboard_page(twelve.board, (OrganiserPart(),), data).banner == BANNER


def test_an_ensemble_chosen_on_the_same_cases_is_marked_wherever_its_results_stand(twelve):
    first, *others = twelve.board.phases[0].teams
    teams = (replace(first, eligible=False, chosen_here=True), *others)
    phase = replace(twelve.board.phases[0], teams=teams)
    page = leaderboard_page(replace(twelve.board, phases=(phase,)), twelve.parts)
    blocks = blocks_of(page, Table) | blocks_of(page, Chart)
    names = [name for name in blocks if name in ("ranking", "boards", "metrics") or name.endswith("by-team")]
    texts = [getattr(blocks[name], "note", "") or blocks[name].description for name in names]
    assert len(texts) > 4
    assert all(text.endswith(f" {first.team}: {CHOSEN_HERE}.") for text in texts)


def test_teams_on_the_front_of_value_and_time_are_named(twelve):
    """The best team takes 8 s, the second 1 s, the third 2 s, an unranked one 0.1 s; others are not timed."""
    phase = reported_phases(twelve.board, twelve.parts)[0]
    assert [*time_charts(phase)] == []
    name = next(name for name, one in phase.ranked_metrics.items() if one.better == "higher")
    best, second, third, last, *_ = (team.team for team in phase.by_value(name))
    seconds = {best: 8.0, second: 1.0, third: 2.0, last: 0.1}
    teams = tuple(
        replace(team, eligible=team.team != last, seconds_per_case=seconds.get(team.team))
        for team in phase.board.teams
    )
    phase = replace(phase, board=replace(phase.board, teams=teams, clusters=7))
    assert phase.front(name) == [best, second]
    blocks = time_charts(phase)
    chart = next(block for block in blocks if block.name == phase.identifier(name, "times"))
    assert f"{best} and {second}; no other" in chart.description
    assert "95 % intervals over 7 clusters" in chart.description
    assert [row["seconds"] for row in chart.data["teams"]] == [0.1, 1.0, 2.0, 8.0]


def test_a_small_number_is_not_shown_as_zero():
    cells = [(0.00004, 4), (0.0, 4), (-0.00004, 4), (0.00005, 4), (0.00004, None)]
    texts = ["< 0.0001", "0.0000", "−0.0000", "0.0001", "4e−05"]
    assert [shown(*cell) for cell in cells] == texts


def test_final_places_stand_first(twelve):
    phase = replace(twelve.board.phases[0], role="onsite")
    final = tuple(
        FinalTeam(team.team, place, float(place), str(place), {"onsite": place})
        for place, team in enumerate(phase.teams, start=1)
    )
    page = leaderboard_page(replace(twelve.board, phases=(phase,), final=final), twelve.parts)
    assert page.sections[0].name == "final"
    assert [row[:2] for row in page.sections[0].blocks[0].rows] == [(team.place, team.team) for team in final]


@pytest.mark.parametrize(
    ("words", "expected"), [(("a.b", "Roc curve"), "a-b-roc-curve"), (("", "x"), "x"), (("❦",), "unnamed")]
)
def test_identifiers_are_plain(words, expected):
    assert identifier(*words) == expected


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("leaderboard.json", None, "leaderboard.json"),
        ("leaderboard.json", "{}", "leaderboard.json"),
        ("organiser.json", '{"format": "x"}', "organiser.json"),
    ],
)
def test_files_that_cannot_be_read_are_named(twelve, tmp_path, name, content, told):
    shutil.copytree(twelve.folder, tmp_path / "board")
    (tmp_path / "board" / name).unlink()
    if content is not None:
        (tmp_path / "board" / name).write_text(content, encoding="utf-8")
    with faulted(PhaseError, told):
        read_leaderboard(tmp_path / "board")


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


def charts_of(section):
    return {block.title: block for block in section.blocks if isinstance(block, Chart)}


def test_each_quantity_is_shown_by_phase_and_where_groups_differ(described):
    section = data_section(described, names_in(described.challenge))
    shown = charts_of(section)
    # Ages differ by phase alone: the cases with glaucoma are the first four of both.
    assert {"Age by phase", "Area of optic disc by phase"} <= set(shown)
    assert not any(title.endswith("by site") for title in shown)
    points = shown["Age by phase"].data["points"]
    assert sorted(point["value"] for point in points if point["name"] == "test") == list(range(50, 64))
    boxes = {box["name"]: box for box in shown["Age by phase"].data["boxes"]}
    assert boxes["train"]["median"] == np.median(range(20, 32))
    assert len({chart.name for chart in shown.values()}) == len(shown)


def test_without_groups_the_whole_is_shown(tmp_path):
    phase = loaded_phase(tmp_path / "phase", tiny_cases(4, positives=0))
    shown = charts_of(data_section(describe([phase]), names_of(phase)))
    assert set(shown) >= {"Area of optic disc"}
    (box,) = shown["Area of optic disc"].data["boxes"]
    assert (box["name"], box["cases"]) == ("all cases", 4)
