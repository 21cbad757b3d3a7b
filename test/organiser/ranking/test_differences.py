"""Teams beside others: variants, groups by method, other schemes, and teams without a place."""

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kendalltau, mannwhitneyu, wilcoxon

from evaluation.core.fault import PhaseError
from evaluation.core.scheme import Board, Place, Rank, Scheme
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.leaderboard import (
    CHOSEN_HERE,
    Selection,
    against_first_place,
    leaderboard_of,
    rank_all,
    rank_phase,
)
from evaluation.organiser.ranking.leaderboard_file import PhaseLeaderboard
from evaluation.organiser.ranking.leaderboard_writing import (
    method_groups,
    methods_rows,
    read_methods,
    write_differences,
    write_methods,
)
from evaluation.organiser.ranking.result_tables import MetricDefinition
from evaluation.organiser.ranking.results import RankingError, read_results
from evaluation.organiser.ranking.robustness import left_out_metrics, other_weights
from evaluation.phase.places import scheme_of
from test.faults import faulted
from test.organiser.ranking.teams import CUP, labels, ranked_table, refuge_columns, write_team

HIGHER, LOWER = (MetricDefinition(better=better) for better in ("higher", "lower"))


def test_a_variant_is_shown_beside_its_original_and_not_ranked(tmp_path):
    """Variants of ADAM's Table 13 and section 4.3; `reproduce.sh` has the others."""
    phase = ranked_table(
        tmp_path,
        "team,variant_of,exudate_dice,distance\n"
        "Airamatrix,,0.2606,26.1720\nAiramatrix alone,Airamatrix,0.2574,\n"
        "VUNO,,,18.5538\nVUNO alone,VUNO,,24.9309\nVoxelcloud,,,25.2316\n",
        {"exudate_dice": HIGHER, "distance": LOWER},
        Scheme((Board("overall", (Rank("results.distance"),)),), "overall"),
    )
    found = {row.team: (round(row.relative_change_percent, 2), row.outcome) for row in phase.variants}
    assert found == {"Airamatrix alone": (-1.23, "worse"), "VUNO alone": (34.37, "worse")}
    rows = {team.team: team for team in phase.board.teams}
    assert rows["VUNO alone"].note == "variant of VUNO"
    boards = {name: (team.eligible, team.boards["overall"]) for name, team in rows.items()}
    assert [boards["VUNO alone"][0], boards["VUNO alone"][1].place] == [False, None]
    would_be = [boards[name][1].would_be_place for name in ("VUNO alone", "Airamatrix alone")]
    assert (would_be, boards["Voxelcloud"][1].place) == ([2, None], 2)


def test_the_ensemble_of_adams_table_10_beside_the_first_places(tmp_path):
    """Tables 3, 5 and 7: 0.9702 < 0.9714, 0.9519 > 0.9486, 17.8173 < 18.5538 (a distance)."""
    tasks = {"auc": "classification", "dice": "disc", "distance": "fovea"}
    boards = tuple(Board(task, (Rank(f"results.{metric}"),)) for metric, task in tasks.items())
    phase = ranked_table(
        tmp_path,
        "team,eligible,auc,dice,distance\n"
        "VUNO,,0.9714,0.9437,18.5538\n"
        "XxlzT,,0.9287,0.9486,284.0345\n"
        "Voxelcloud,,,,25.2316\n"
        "ensemble,no,0.9702,0.9519,17.8173\n",
        {"auc": HIGHER, "dice": HIGHER, "distance": LOWER},
        Scheme(boards),
    )
    rows = [(row.board, row.other, row.outcome) for row in phase.first_place if row.team == "ensemble"]
    assert rows == [
        ("classification", "VUNO", "worse"),
        ("disc", "XxlzT", "better"),
        ("fovea", "VUNO", "better"),
    ]
    assert all(row.team != row.other for row in phase.first_place)
    # Voxelcloud took part in the localisation of the fovea alone.
    assert {row.board for row in phase.first_place if row.team == "Voxelcloud"} == {"fovea"}
    (path,) = write_differences(phase, tmp_path, "-onsite")
    assert path.name == "first-place-onsite.csv"
    with path.open(encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert len(written) == len(phase.first_place)
    (row,) = (row for row in written if (row["team"], row["metric"]) == ("ensemble", "results.dice"))
    expected = ("0.9519", "XxlzT", "0.0033", "better")
    assert (row["value"], row["other"], row["difference"], row["outcome"]) == expected


def test_equal_values_a_shared_first_place_and_a_value_of_zero(tmp_path):
    text = "team,dice,error\na,0.3,0\nb,0.3,0\nc,0.1,0.5\n"
    boards = (
        Board("dice", (Rank("results.dice"),)),
        Board("overall", (Place("dice"), Rank("results.error"))),
    )
    phase = ranked_table(tmp_path, text, {"dice": HIGHER, "error": LOWER}, Scheme(boards, "overall"))
    rows = {(row.board, row.metric, row.team, row.other): row for row in phase.first_place}
    # The overall board adds what its parts do not rank.
    assert list(rows) == [
        (board, f"results.{board if board == 'dice' else 'error'}", "c", other)
        for board in ("dice", "overall")
        for other in ("a", "b")
    ]
    worse = rows["dice", "results.dice", "c", "a"]
    assert (worse.difference, worse.outcome) == (-0.2, "worse")
    assert worse.relative_change_percent == pytest.approx(-200 / 3)
    of_zero = rows["overall", "results.error", "c", "a"]
    assert (of_zero.outcome, of_zero.relative_change_percent) == ("worse", None)


# Team: AUC (Table 4), architectures and post-processing (Table 3).
PAPER = {
    "VRT": (0.9885, "Custom", "None"),
    "SDSAIRC": (0.9817, "ResNet", "None"),
    "CUHKMED": (0.9644, "", "None"),
    "NKSG": (0.9587, "SENet", "None"),
    "Mammoth": (0.9555, "ResNet; CatGAN", "None"),
    "Masker": (0.9524, "ResNet", "Ensemble"),
    "SMILEDeepDR": (0.9508, "DeepLabv3+", "None"),
    "BUCT": (0.9348, "Xception", "None"),
    "WinterFell": (0.9327, "ResNet; DenseNet", "Ensemble"),
    "NightOwl": (0.9101, "Custom", "Ensemble"),
    "Cvblab": (0.8806, "VGG19; Inception; ResNet; Xception", "Ensemble"),
    "AIML": (0.8458, "ResNet", "Ensemble"),
}


def refuge_board(tmp_path: Path) -> PhaseLeaderboard:
    rows = [f"{team},{row[0]}" for team, row in PAPER.items()]
    text = "\n".join(["team,auc", *rows]) + "\n"
    return ranked_table(tmp_path, text, {"auc": MetricDefinition(better="higher")}).board


def methods(tmp_path: Path, *more: str):
    path = tmp_path / "teams.csv"
    rows = [f"{team},,{row[1]},{row[2]}" for team, row in PAPER.items()]
    header = "team,eligible,architecture,post-processing"
    path.write_text("\n".join([header, *rows, *more]) + "\n", encoding="utf-8")
    return read_methods(path)


def test_post_processing_of_the_paper(tmp_path):
    groups = method_groups(refuge_board(tmp_path), methods(tmp_path), ["post-processing"])
    assert [(group.metric, group.value, group.teams) for group in groups] == [
        ("results.auc", "None", 7),
        ("results.auc", "Ensemble", 5),
    ]
    values = [[auc for auc, _, post in PAPER.values() if post == name] for name in ("None", "Ensemble")]
    for group, of_value in zip(groups, values, strict=True):
        assert (group.mean, group.median) == pytest.approx((np.mean(of_value), np.median(of_value)))
    assert (groups[0].best, groups[0].best_team, groups[0].worst) == (0.9885, "VRT", 0.9348)
    assert (groups[1].best, groups[1].best_team, groups[1].worst) == (0.9524, "Masker", 0.8458)
    expected = mannwhitneyu(*values).pvalue
    assert groups[0].p_value == groups[1].p_value == pytest.approx(expected)
    assert groups[0].p_holm == pytest.approx(2 * expected)
    phase, table = refuge_board(tmp_path), methods(tmp_path)
    paths = write_methods(groups, methods_rows(phase, table), tmp_path, "-onsite")
    assert [path.name for path in paths] == ["methods-onsite.csv", "method-groups-onsite.csv"]
    with paths[0].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["team"] for row in rows] == list(PAPER)
    assert rows[4]["architecture"] == "ResNet; CatGAN"
    assert (rows[0]["overall place"], rows[0]["results.auc"]) == ("1", "0.9885")
    assert "eligible" not in rows[0]


def test_a_team_is_in_every_group_of_its_cell(tmp_path):
    found = method_groups(refuge_board(tmp_path), methods(tmp_path), ["architecture"])
    groups = {group.value: group for group in found}
    assert set(groups) == {name for _, cell, _ in PAPER.values() for name in cell.split("; ") if name}
    resnet = [auc for auc, network, _ in PAPER.values() if "ResNet" in network]
    # CUHKMED used no network, and is not among the others.
    others = [auc for auc, network, _ in PAPER.values() if network and "ResNet" not in network]
    assert (groups["ResNet"].teams, len(others)) == (6, 5)
    assert groups["ResNet"].mean == pytest.approx(np.mean(resnet))
    assert groups["ResNet"].p_value == pytest.approx(mannwhitneyu(resnet, others).pvalue)


def test_faults(tmp_path):
    with pytest.raises(RankingError) as error:
        method_groups(refuge_board(tmp_path), methods(tmp_path), ["network", "eligible"])
    assert error.value.problems == (
        "network: no column of teams.csv; it has architecture, post-processing",
        "eligible: no column of teams.csv; it has architecture, post-processing",
    )
    with faulted(PhaseError, "teams.csv, line 14, team", "VRT"):
        methods(tmp_path, "VRT,,Custom,None")


# a leads on the mean but fails once; b is best in most cases; all differ by site.
DICE = {
    "a": [0.90, 0.90, 0.90, 0.90, 0.90, 0.90],
    "b": [0.95, 0.95, 0.95, 0.95, 0.95, 0.20],
    "c": [0.80, 0.80, 0.80, 0.80, 0.80, 0.95],
}
DISTANCE = {"a": 3, "b": 2, "c": 1}
SITE = ["north"] * 5 + ["south"]


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    lines = [
        f"{team},C{case},{site},{value},{DISTANCE[team]}\n"
        for team, values in DICE.items()
        for case, (value, site) in enumerate(zip(values, SITE, strict=True))
    ]
    text = "team,case,site,dice,distance\n" + "".join(lines)
    metrics = {
        "dice": MetricDefinition(better="higher", weight="0.7"),
        "distance": MetricDefinition(better="lower", weight="0.3"),
    }
    return ranked_table(tmp_path_factory.mktemp("table"), text, metrics, subgroups=("site",)).board


def variation(board, kind, change):
    return next(v for v in board.robustness if (v.kind, v.change) == (kind, change))


def test_the_scheme_in_force(board):
    # Mean Dice 0.900, 0.825, 0.825: ranks 1, 2, 2; distances 3, 2, 1. 0.7 + 0.9, 1.4 + 0.6, 1.4 + 0.3.
    found = [(team.team, team.boards["overall"].exact_score) for team in board.teams]
    assert found == [("a", "1.6"), ("c", "1.7"), ("b", "2")]
    assert [v.change for v in board.robustness if v.kind == "subgroup"] == ["site = north"]


@pytest.mark.parametrize(
    ("kind", "change", "places"),
    [
        # Medians 0.90, 0.95, 0.80: 0.7·(2, 1, 3) + 0.3·(3, 2, 1).
        ("method", "median-then-rank", {"a": 2, "b": 1, "c": 3}),
        # Mean ranks by case (2·6, 1·5 + 3, 3·5 + 1) and the same distances in every case.
        ("method", "rank-then-mean", {"a": 2, "b": 1, "c": 3}),
        ("without metric", "results.distance", {"a": 1, "b": 2, "c": 2}),
        ("without metric", "results.dice", {"a": 3, "b": 2, "c": 1}),
        # 0.35·(1, 2, 2) + 0.3·(3, 2, 1) = 1.25, 1.3, 1.0.
        ("weight", "overall: results.dice − 50 %", {"a": 2, "b": 3, "c": 1}),
        ("weight", "overall: results.distance + 50 %", {"a": 2, "b": 3, "c": 1}),
        # Northern Dice 0.90, 0.95, 0.80: ranks 2, 1, 3.
        ("subgroup", "site = north", {"a": 2, "b": 1, "c": 3}),
    ],
)
def test_places_by_hand(board, kind, change, places):
    found = variation(board, kind, change)
    assert (found.board, found.places) == ("overall", places)
    expected = kendalltau([1, 3, 2], [places[team] for team in "abc"]).statistic
    assert found.tau_b == pytest.approx(expected)


SCHEME = Scheme(
    (
        Board("disc", (Rank("disc.f1", Fraction("0.4")), Rank("disc.dice", Fraction("0.6")))),
        Board("fovea", (Rank("fovea.distance"),)),
        Board("overall", (Place("disc"), Place("fovea", Fraction(0))), ties=(Rank("fovea.distance"),)),
    ),
    overall="overall",
)


def test_schemes_without_a_metric_and_with_other_weights():
    without = dict(left_out_metrics(SCHEME))["fovea.distance"]
    assert [board.name for board in without.boards] == ["disc", "overall"]
    assert (without.boards[1].terms, without.boards[1].ties) == ((Place("disc"),), ())
    found = {change: scheme for change, _, scheme in other_weights(SCHEME)}
    # Weights of zero, and those of boards with one term, change nothing.
    changed = ("disc: disc.f1", "disc: disc.dice", "overall: disc")
    assert list(found) == [f"{name} {sign} 50 %" for name in changed for sign in "−+"]
    assert found["disc: disc.f1 + 50 %"].boards[0].terms[0].weight == Fraction("0.6")
    assert found["overall: disc − 50 %"].boards[2].terms[0].weight == Fraction(1, 2)
    terms = (Rank("a.b"), Rank("a.c"))
    mean, median = (Scheme((Board("overall", terms, combination=name),)) for name in ("mean", "median"))
    (changed,) = next(scheme for _, _, scheme in other_weights(mean)).boards
    assert (changed.combination, changed.terms) == ("sum", (Rank("a.b", Fraction(1, 2)), Rank("a.c")))
    assert list(other_weights(median)) == []


FIVE = ("a", "b", "c", "ensemble", "grader")
OPTIONS = RankOptions(resamples=0, means="signed-rank", influence=False)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(8)
    glaucoma = labels(60, 20)
    for number, team in enumerate(FIVE):
        write_team(tmp_path / team, refuge_columns(glaucoma, rng, 1.0 + 0.3 * number, 0.7 + 0.01 * number))
    return tmp_path


def ranked(folder, teams_csv, **options):
    (folder / "teams.csv").write_text(teams_csv, encoding="utf-8")
    results = read_results(folder)
    scheme = scheme_of(results.challenge, results.options)
    choices = RankOptions(**{**vars(OPTIONS), **options})
    return results, rank_phase(results, scheme, choices).board


def by_pair(comparisons):
    return {frozenset((pair.first, pair.second)): pair for pair in comparisons}


def test_an_ensemble_is_tested_against_its_members_alone(folder):
    results, board = ranked(folder, "team,eligible,compare_with\nensemble,no,a; b\ngrader,no,\n")
    name = f"segmentation.{CUP}"
    found = by_pair(board.metrics[name].unranked)
    assert found.keys() == {frozenset(("ensemble", "a")), frozenset(("ensemble", "b"))}
    column = {one.team: one.tables["segmentation"][CUP] for one in results.submissions}
    p_values = {team: wilcoxon(column["ensemble"], column[team]).pvalue for team in "ab"}
    first, second = sorted(p_values, key=p_values.get)
    # Holm for two tests: twice the smaller p; the larger one is at least as large.
    holm = {first: min(1, 2 * p_values[first])}
    holm[second] = max(holm[first], p_values[second])
    for team in "ab":
        pair = found[frozenset(("ensemble", team))]
        assert pair.p_value == pytest.approx(p_values[team], rel=1e-9)
        assert pair.p_holm == pytest.approx(holm[team], rel=1e-9)
        better = "ensemble" if column["ensemble"].mean() > column[team].mean() else team
        assert pair.first == better


def test_an_ensemble_chosen_on_the_cases_of_the_phase_is_marked(folder):
    text = "team,eligible,variant_of,chosen_on\nensemble,no,a,other; refuge-test\nb,,,other\n"
    results, board = ranked(folder, text)
    assert results.phase == "refuge-test"
    marked = {team.team: (team.chosen_here, team.note) for team in board.teams}
    assert marked.pop("ensemble") == (True, f"variant of a; {CHOSEN_HERE}")
    assert set(marked.values()) == {(False, None)}
    scheme = scheme_of(results.challenge, results.options)
    first = against_first_place(board, scheme, dict.fromkeys(results.figures, "higher"))
    assert {row.note for row in first if row.team == "ensemble"} == {f"variant of a; {CHOSEN_HERE}"}


def test_the_tests_of_ranked_teams_stay_the_same(folder):
    roles = "team,eligible\nensemble,no\ngrader,no\n"
    _, without = ranked(folder, roles)
    _, with_tests = ranked(folder, roles, compare_with={"ensemble": ("*",), "grader": ("ensemble", "a")})
    for name, metric in without.metrics.items():
        assert metric.comparisons == with_tests.metrics[name].comparisons
        assert metric.unranked == ()
    found = with_tests.metrics["classification.auc"].unranked
    pairs = [*(("ensemble", team) for team in "abc"), ("grader", "ensemble"), ("grader", "a")]
    assert len(found) == len(pairs)
    assert by_pair(found).keys() == set(map(frozenset, pairs))
    assert [team.boards["overall"].place for team in with_tests.teams if not team.eligible] == [None, None]


@pytest.mark.parametrize(
    ("compared", "told"),
    [
        ({"a": ("b",)}, ("a",)),
        ({"d": ("b",)}, ("d",)),
        ({"ensemble": ("d",)}, ("ensemble", "d")),
        ({"ensemble": ("ensemble",)}, ("ensemble",)),
    ],
)
def test_comparisons_that_cannot_be(folder, compared, told):
    with faulted(RankingError, *told):
        ranked(folder, "team,eligible\nensemble,no\n", compare_with=compared)


def test_a_team_that_is_not_listed_is_nowhere(folder):
    """JustRAIGS, Participation c: members of the organisers' institutes are not listed in the leaderboard."""
    results, board = ranked(folder, "team,eligible,listed,compare_with\ngrader,no,no,a\nensemble,no,yes,\n")
    assert sorted(team.team for team in board.teams) == ["a", "b", "c", "ensemble"]
    assert (results.ineligible, results.compare_with) == (frozenset({"ensemble"}), {})
    with faulted(RankingError, "grader"):
        ranked(folder, "team,eligible,listed\ngrader,no,no\n", compare_with={"grader": ("a",)})


FEW = RankOptions(resamples=0, tests=False, influence=False)
ROLES = ("offline", "onsite")


def write(folder, qualities):
    """Write teams of both phases; ``qualities`` by team: the Dice, and a third of the separation, in each."""
    glaucoma = labels(30, 12)
    for team, of_team in qualities.items():
        for role, quality in zip(ROLES, of_team, strict=True):
            if quality is not None:
                # The same noise for all teams.
                columns = refuge_columns(glaucoma, np.random.default_rng(5), 3 * quality, quality)
                write_team(folder / role / team, columns, phase=f"refuge-{role}", with_cases=False)


def ranked_phases(folder, selection=None):
    results = {role: read_results(folder / role) for role in ROLES}
    schemes = {role: scheme_of(one.challenge, one.options) for role, one in results.items()}
    phases = rank_all(results, schemes, dict.fromkeys(ROLES, FEW), selection)
    return leaderboard_of(phases, schemes)


def final_places(board):
    return {row.team: row.place for row in board.final}


def test_only_the_first_have_a_place_on_site(tmp_path):
    """Off-line a, b, c, d; on-site d, c, b, a. Without a selection d has 0.3·4 + 0.7·1."""
    write(tmp_path, {"a": (0.9, 0.6), "b": (0.8, 0.7), "c": (0.7, 0.8), "d": (0.6, 0.9)})
    assert final_places(ranked_phases(tmp_path)) == {"d": 1, "c": 2, "b": 3, "a": 4}
    board = ranked_phases(tmp_path, Selection("offline", 2))
    # Of two on-site, b is first: 0.3·2 + 0.7·1 = 1.3 against 0.3·1 + 0.7·2 = 1.7.
    assert final_places(board) == {"b": 1, "a": 2, "c": None, "d": None}
    onsite = {team.team: team.boards["overall"] for team in board.phases[1].teams}
    assert [onsite[team].place for team in "abcd"] == [2, 1, None, None]
    assert onsite["d"].would_be_place == 1
    assert "offline: the first 2 teams are ranked in the other phases: a, b" in board.notices
    for role in ("on-line", ""):
        with faulted(RankingError, f"finalists of {role}"):
            ranked_phases(tmp_path, Selection(role, 2))


def test_teams_that_share_the_last_place_are_all_in(tmp_path):
    write(tmp_path, {"a": (0.9, 0.6), "b": (0.8, 0.7), "c": (0.8, 0.8), "d": (0.6, None)})
    board = ranked_phases(tmp_path, Selection("offline", 2))
    # Off-line 1, 2, 2; on-site 3, 2, 1: 0.3 + 2.1, 0.6 + 1.4 and 0.6 + 0.7.
    assert final_places(board) == {"c": 1, "b": 2, "a": 3, "d": None}
    assert any("the first 2 teams (3, since places are shared)" in notice for notice in board.notices)
