"""The report of a leaderboard: its numbers, its figures in a browser, hostile names, size and time."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.organiser.annotators.ensemble import IN_WORDS, EnsembleGain, Gain, write_gain
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.certainty import Superiority
from evaluation.organiser.ranking.leaderboard import CHOSEN_HERE
from evaluation.organiser.ranking.leaderboard_file import (
    FinalTeam,
    GapTrend,
    Generalisation,
    OrganiserPart,
    PhaseChange,
)
from evaluation.organiser.report.board.cases import clustered
from evaluation.organiser.report.board.leaderboard import (
    BANNER,
    leaderboard_page,
    reported_phases,
)
from evaluation.organiser.report.board.metrics import times_section
from evaluation.organiser.report.board.reading import identifier, read_gains, read_leaderboard
from evaluation.organiser.report.page import Column, SortableCaseTable, Table, Text, render_page, shown
from evaluation.platform.result_file import as_written
from test.challenges.declared.phases import declared_phase, write_table
from test.charts.vega_lite import invalid
from test.faults import faulted
from test.organiser.report.boards import ranked_results, ranked_teams
from test.organiser.report.browser import WIDTHS, opened
from test.organiser.report.declared import declared
from test.organiser.report.test_render import HOSTILE

KINDS = (
    *("places", "by-team", "boxes", "podium", "rank-counts", "blobs", "frequencies", "kendall-tau"),
    "superiority",
    *("method-places", "without-metric-places", "weight-places", "subgroup-places", "significance", "roc"),
    *("hardest-cases", "influence", "left-right", "dendrogram-tasks", "agreement-tasks"),
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


def test_readers_and_ratios_stand_beside_the_curves_of_the_teams(page, twelve):
    tables = blocks_of(page, Table)
    (part,) = twelve.parts
    points = tables["annotator-points"].rows
    assert len(points) == 2 * 12
    for *_, team_alone, reader_alone, p_value, corrected in points:
        sides = min(team_alone, reader_alone), team_alone + reader_alone
        assert p_value == pytest.approx(binomtest(*sides).pvalue if sides[1] else 1)
        assert corrected >= p_value
    # Each team has two ratios, and three pairs with its likelihood, over two figures of the ROC curve.
    assert len(tables["classifiers"].rows) == 12 * 3 * 2
    assert len(tables["classifier-tests"].rows) == 12 * 3
    # The ratio of the reference is the same for all teams, and so one curve.
    (chart,) = (chart for chart in page.charts() if chart.name.endswith("roc"))
    of_ratio = "reference vertical cup to disc ratio"
    curve = [row for row in chart.data["curves"] if row["name"] == of_ratio]
    x, y = ([row[axis] for row in curve] for axis in ("false_positive_rate", "sensitivity"))
    areas = {
        one.value
        for one in part.classifiers.values
        if one.classifier.endswith(of_ratio.replace(" ", "_")) and one.metric == "classification.auc"
    }
    assert list(areas) == [pytest.approx(np.trapezoid(y, x), abs=0.005)]
    # Two readers gave scores: a curve each, the average reader alone and each team beside it; two decided.
    assert len({row["name"] for row in chart.data["curves"]}) == 12 + 1 + 2
    curve = [row for row in chart.data["curves"] if row["name"] == "scorer 1"]
    x, y = ([row[axis] for row in curve] for axis in ("false_positive_rate", "sensitivity"))
    area = twelve.board.phases[0].annotators.classifiers["scorer 1"]["classification.auc"]
    assert area == pytest.approx(np.trapezoid(y, x), abs=0.005)
    rows = tables["readers"].rows
    assert [(row[0], sum(row[0] == one[0] for one in rows)) for row in rows if row[1] is None] == [
        ("AUC", 13),
        ("sensitivity", 1),
        ("specificity", 1),
    ]
    assert len(rows) == 13 + 2 + 12


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
    labels = " ".join(shown.page.locator("#figure-overall-places").all_text_contents())
    assert "<script>alert(1)<" in labels
    for mark in shown.page.locator("#figure-overall-places path[aria-roledescription=point]").all():
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
    values = twelve.parts[0].values["segmentation.vertical_cup_to_disc_ratio_error"]
    means = np.mean(list(values.teams.values()), axis=0)
    expected = {values.cases[i] for i in np.argsort(-means)[:40]}
    chart = chart_of(page, "segmentation-vertical-cup-to-disc-ratio-error-hardest-cases")
    assert {cell["case"] for cell in chart.data["cells"]} == expected


TITLED = """\
[fields.apex]
kind = "point"
table = "apex.csv"
axes = 2
unit = "pixels"

[tasks.apex.metrics]
mean_radial_error = { field = "apex", worst = 100 }

[[subgroups]]
column = "eye_side"

[titles]
case = "eye"
cases = "eyes"
eye_side = "side"
"eye_side=1" = "right eyes"
"eye_side=2" = "left eyes"
"apex.mean_radial_error" = "Distance of the apex"
overall = "all apexes"
"""


def test_words_of_a_declared_phase_reach_its_leaderboard_with_its_units(tmp_path, capsys):
    names = [f"C{number:02}" for number in range(12)]
    at = {"apex_x": [20] * 12, "apex_y": [30] * 12, "eye_side": [1, 2] * 6}
    folder = declared_phase(
        tmp_path / "phase", TITLED, {"name": names, "width": [90] * 12, "height": [80] * 12} | at
    )
    evaluation.seal(folder)
    for team, moved in (("near", 1), ("far", 4)):
        found = {"case": names, "x": [20 + moved + case % 3 for case in range(12)], "y": [30] * 12}
        write_table(tmp_path / team / "apex.csv", found)
        evaluation.evaluate(folder, tmp_path / team, workers=0).write(tmp_path / "results" / team)
    evaluation.rank(tmp_path / "results", options=RankOptions(subgroups=("eye_side",))).write(
        tmp_path / "board"
    )
    board, parts = read_leaderboard(tmp_path / "board")
    page = leaderboard_page(board, parts)
    assert page.facts == (("Phase", "declared: 2 teams, 12 eyes"),)
    by_team = chart_of(page, "apex-mean-radial-error-by-team")
    assert (by_team.title, by_team.subtitle) == (
        "Distance of the apex: near has the best value",
        "in pixels, lower is better",
    )
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
    teams = ranked_results(results, tmp_path / "board")
    (part,) = read_leaderboard(teams.folder)[1]
    assert part.free_response == teams.parts[0].free_response
    page = leaderboard_page(*read_leaderboard(teams.folder))
    # By falling probability: two hits, then a false one; of three nodules, on three scans.
    rows = chart_of(page, "nodules-froc-froc").data["curves"]
    for team in ("one", "two"):
        points = [
            (row["false_positives_per_case"], row["sensitivity"]) for row in rows if row["name"] == team
        ]
        np.testing.assert_allclose(points, [(0, 0), (0, 2 / 3), (1 / 3, 2 / 3)])
    assert chart_of(page, "polyps-box-average-precision-froc").data["curves"]


def test_the_methods_name_what_was_computed(page, twelve):
    text = " ".join(blocks_of(page, Text)["methods"].paragraphs)
    agreement = twelve.board.phases[0].agreement["overall"]
    pairs = twelve.board.phases[0].metrics["segmentation.dice_cup"].comparisons.pairs
    significant = sum(pair.significant for pair in pairs)
    for told in (
        *("12 teams", "120 cases", "100 resamples", "by eye", "Wiesenfarth et al. 2021"),
        *("0.4 × the place", "0.6 × the place", f"τ-b is {agreement.median:.3f}"),
        *("66 of 66 pairs", "(DeLong 1988)", f"(equal means), and {significant} differ"),
    ):
        assert told in text
    assert "Borda" not in text
    assert "quantile" not in text


def test_the_first_page_answers_and_the_rest_is_folded(board_in_browser, page):
    board = board_in_browser(WIDTHS[1]).page
    board.click("#unfold")  # folds what the tests opened
    height = board.evaluate("document.documentElement.scrollHeight")
    board.click("#unfold")
    assert height < 6_000 < board.evaluate("document.documentElement.scrollHeight") / 3
    headlines = {section.name: len(section.headline) for section in page.sections}
    assert headlines["ranking"] == 2
    # A figure of each task, and no others.
    metrics = next(section for section in page.sections if section.name == "metrics")
    assert [block.name for block in metrics.headline] == [
        "classification-auc-by-team",
        "segmentation-dice-cup-by-team",
    ]
    assert headlines["stability"] == headlines["cases"] == 0


def test_the_page_says_who_is_first_and_who_cannot_be_told_apart(twelve):
    phase = twelve.board.phases[0]
    first, second, *others = (team.team for team in phase.teams)
    ahead = (0.5, 0.9, *[0.99] * len(others))
    found = Superiority((first, second, *others), (ahead,) * 12)
    board = replace(twelve.board, phases=(replace(phase, superiority={"overall": found}),))
    answer = leaderboard_page(board, twelve.parts).answer
    assert answer[0].startswith(f"{first} is first of 12 teams; with other cases of the same kind it would")
    assert answer[1] == f"{second} cannot be told apart from {first} by these 120 images."
    assert answer[2].endswith(f"and 7 more would be behind {first} at least 97 times in 100.")
    assert not [sentence for sentence in answer if "resampl" in sentence]


def test_the_page_says_why_it_is_not_known_how_sure_places_are(twelve):
    phase = twelve.board.phases[0]
    metrics = {
        name: replace(one, no_intervals="fewer than 10 cases") if one.in_ranking else one
        for name, one in phase.metrics.items()
    }
    parts = {name: one for name, one in phase.superiority.items() if name == "classification"}
    board = replace(twelve.board, phases=(replace(phase, metrics=metrics, superiority=parts),))
    _, why, of_part = leaderboard_page(board, twelve.parts).answer
    assert "cannot be told" in why
    assert why.endswith("(fewer than 10 cases).")
    assert of_part.startswith("For classification, ")


def test_without_the_organisers_files_no_single_case_is_shown(twelve):
    page = leaderboard_page(twelve.board, (OrganiserPart(),))
    assert page.banner == ""
    assert not any(chart.single_cases for chart in page.charts())
    assert blocks_of(page, SortableCaseTable) == {}
    assert leaderboard_page(twelve.board, twelve.parts).banner == BANNER
    order = clustered(np.array([[0.0, 1.0, 0.05, 0.95]]))
    assert {frozenset(order[:2]), frozenset(order[2:])} == {frozenset((0, 2)), frozenset((1, 3))}


def test_phases_of_one_name_have_figures_of_different_names(twelve):
    phase = replace(twelve.board.phases[0], role="a b")
    board = replace(twelve.board, phases=(phase, replace(phase, role="a-b")))
    page = leaderboard_page(board, twelve.parts * 2)
    names = [chart.name for chart in page.charts()]
    assert (
        len(names) == len(set(names)) == 2 * len(list(leaderboard_page(twelve.board, twelve.parts).charts()))
    )
    assert len({section.name for section in page.sections}) == len(page.sections)


def test_changes_between_phases_have_a_section(twelve):
    name = "classification.auc"
    teams = [team.team for team in twelve.board.phases[0].teams]
    changes = tuple(
        PhaseChange(name, team, "offline", "onsite", 0.9, 0.8, -0.1, -0.2, 0.05, 0.04, 0.08) for team in teams
    )
    trend = GapTrend(name, "offline", "onsite", None, 12, 0.5, -0.1, 0.8, 0.1)
    board = replace(twelve.board, generalisation=Generalisation(changes, (), (trend,)))
    page = leaderboard_page(board, twelve.parts)
    (section,) = [one for one in page.sections if one.name == "generalisation"]
    figure, *tables = section.blocks
    assert [one["team"] for one in figure.data["teams"]] == teams
    assert [len(table.rows) for table in tables] == [len(teams), 1]
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)


def test_what_ensembles_gain_has_a_section(twelve, tmp_path):
    """Two members of 0.6 and 0.8 beside an ensemble of 0.7 in the first metric of the ranking."""
    name = next(iter(reported_phases(twelve.board, twelve.parts)[0].ranked_metrics))
    pairs = ((team, value) for team, value in (("one", 0.6), ("two", 0.8)))
    gains = tuple(Gain(name, team, 0.7, of, 0.7 - of, None, None, None, None, None) for team, of in pairs)
    (tmp_path / "both").mkdir()
    write_gain(tmp_path / "both", EnsembleGain(gains, (), (), "on these cases"))
    found = read_gains(tmp_path)
    assert found == {"both": EnsembleGain(gains, (), (), "on these cases")}
    page = leaderboard_page(twelve.board, twelve.parts, gains=found)
    (section,) = [one for one in page.sections if one.name == "ensembles"]
    chart, table = section.blocks
    assert [row["value"] for row in chart.data["teams"]] == [0.6, 0.8]
    assert chart.data["line"] == [{"value": 0.7}]
    assert all(IN_WORDS["on these cases"] in text for text in (chart.description, table.note))
    assert [row[1:4] for row in table.rows] == [("one", 0.7, 0.6), ("two", 0.7, 0.8)]
    assert page.banner == BANNER


def test_an_ensemble_chosen_on_the_same_cases_is_marked_wherever_its_results_stand(twelve):
    first, *others = twelve.board.phases[0].teams
    teams = (replace(first, eligible=False, chosen_here=True), *others)
    phase = replace(twelve.board.phases[0], teams=teams)
    blocks = [
        block
        for section in leaderboard_page(replace(twelve.board, phases=(phase,)), twelve.parts).sections
        for block in section.blocks
        if getattr(block, "name", "") in ("ranking", "boards", "metrics")
        or getattr(block, "name", "").endswith("by-team")
    ]
    texts = [block.note if isinstance(block, Table) else block.description for block in blocks]
    assert len(texts) > 4
    assert all(text.endswith(f" {first.team}: {CHOSEN_HERE}.") for text in texts)


def test_teams_on_the_front_of_value_and_time_are_named(twelve):
    """The best team takes 8 s, the second 1 s, the third 2 s, an unranked one 0.1 s; others are not timed."""
    phase = reported_phases(twelve.board, twelve.parts)[0]
    name = next(name for name, one in phase.ranked_metrics.items() if one.better == "higher")
    best, second, third, last, *_ = (team.team for team in phase.by_value(name))
    seconds = {best: 8.0, second: 1.0, third: 2.0, last: 0.1}
    teams = tuple(
        replace(team, eligible=team.team != last, seconds_per_case=seconds.get(team.team))
        for team in phase.board.teams
    )
    phase = replace(phase, board=replace(phase.board, teams=teams, clusters=7))
    assert phase.front(name) == [best, second]
    section = times_section(phase)
    chart = next(block for block in section.blocks if block.name == phase.identifier(name, "times"))
    assert f"{best} and {second}; no other" in chart.description
    assert "95 % intervals over 7 clusters" in chart.description
    assert [row["team"] for row in chart.data["front"]] == [second, best]
    assert [row["seconds"] for row in chart.data["teams"]] == [0.1, 1.0, 2.0, 8.0]
    assert times_section(reported_phases(twelve.board, twelve.parts)[0]) is None


def test_a_small_number_is_not_shown_as_zero():
    cells = [(0.00004, 4), (0.0, 4), (-0.00004, 4), (0.00005, 4), (0.00004, None)]
    texts = ["< 0.0001", "0.0000", "−0.0000", "0.0001", "4e−05"]
    assert [shown(*cell) for cell in cells] == texts


def test_final_places_stand_first_with_their_distribution(twelve):
    phase = replace(twelve.board.phases[0], role="onsite")
    final = tuple(
        FinalTeam(
            team.team, place, float(place), str(place), {"onsite": place}, team.boards["overall"].distribution
        )
        for place, team in enumerate(phase.teams, start=1)
    )
    page = leaderboard_page(replace(twelve.board, phases=(phase,), final=final), twelve.parts)
    assert page.sections[0].name == "final"
    table, figure = page.sections[0].blocks
    assert [row[:2] for row in table.rows] == [(team.place, team.team) for team in final]
    shares = {(row["team"], row["place"]): row["share"] for row in figure.data["blobs"]}
    assert shares == {
        (team.team, place): share
        for team in final
        for place, share in team.distribution.probabilities.items()
    }


def test_latex_shows_special_signs_as_they_are():
    table = Table("t", "T", (Column("team"), Column("value", 2)), (("a_b & {50 %}", 0.5), ("c", None)))
    assert table.latex.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"team & value \\",
        r"\midrule",
        r"a\_b \& \{50 \%\} & 0.50 \\",
        r"c & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


@pytest.mark.parametrize(
    ("words", "expected"), [(("a.b", "Roc curve"), "a-b-roc-curve"), (("", "x"), "x"), (("❦",), "unnamed")]
)
def test_identifiers_are_plain(words, expected):
    assert identifier(*words) == expected


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("leaderboard.json", None, ("leaderboard.json",)),
        ("leaderboard.json", "{}", ("leaderboard.json",)),
        ("organiser.json", '{"format": "x"}', ("organiser.json",)),
        ("difficulty.csv", "metric,place\na,b\n", ("organiser.json",)),
    ],
)
def test_files_that_cannot_be_read_are_named(twelve, tmp_path, name, content, told):
    shutil.copytree(twelve.folder, tmp_path / "board")
    (tmp_path / "board" / name).unlink()
    if content is not None:
        (tmp_path / "board" / name).write_text(content, encoding="utf-8")
    with faulted(PhaseError, *told):
        read_leaderboard(tmp_path / "board")
