"""Leaderboards of one phase and of two, what changed between them, and the place among known teams."""

import json
import math
import shutil
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from scipy.stats import norm

import evaluation
from evaluation.challenges.refuge import CHALLENGE, RefugeOptions, ranking
from evaluation.core.challenge import metrics_of
from evaluation.core.fault import PhaseError
from evaluation.core.scheme import Board, Scheme, Term
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.comparisons import Margin
from evaluation.organiser.ranking.leaderboard import (
    RankedPhase,
    change_between,
    generalisation,
    rank_phase,
    rank_phases,
    write_leaderboard,
)
from evaluation.organiser.ranking.leaderboard_file import (
    FORMAT,
    BoardOfTeam,
    Leaderboard,
    MetricOfPhase,
    MetricOfTeam,
    PhaseLeaderboard,
    Team,
    leaderboard_schema,
)
from evaluation.organiser.ranking.results import read_results
from evaluation.phase.leaderboard import TeamValues, read_leaderboard
from evaluation.phase.places import place_among, scheme_of
from evaluation.stats.figure import Figure
from test.challenges.declared.phases import declared_phase, write_table
from test.faults import faulted
from test.in_process import library_in_process
from test.organiser.ranking.teams import CUP, DISC, ERROR, labels, ranked, refuge_columns, write_team
from test.repository import REPOSITORY

GLAUCOMA = labels(60, 20)
QUALITY = {"alpha": (2.0, 0.9), "beta": (1.8, 0.88), "gamma": (1.0, 0.8), "delta": (0.3, 0.6)}


@pytest.fixture(scope="module")
def four_teams(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("teams")
    rng = np.random.default_rng(1)
    for team, quality in QUALITY.items():
        write_team(
            folder / team,
            refuge_columns(GLAUCOMA, rng, *quality),
            {"glaucoma": [str(int(value)) for value in GLAUCOMA]},
        )
    return folder


def copied(folder: Path, target: Path) -> Path:
    return Path(shutil.copytree(folder, target / "teams"))


def places(phase: RankedPhase, board: str = "overall") -> dict[str, int | None]:
    return {team.team: team.boards[board].place for team in phase.board.teams}


def test_tasks_share_the_draws_of_their_cases(tmp_path):
    """Two tasks whose columns are the same have the same places in every resample, and their sum too."""
    rng = np.random.default_rng(4)
    for team in "ab":
        dice = rng.uniform(0.6, 0.9, 60)
        columns = {
            "classification": {"likelihood": rng.normal(size=60), "glaucoma": GLAUCOMA},
            "segmentation": {CUP: dice, DISC: dice, ERROR: dice},
            "fovea": {"distance": 1 - dice},
        }
        write_team(tmp_path / team, columns)
    boards = (
        Board("cup", (Term(rank=f"segmentation.{CUP}"),)),
        Board("fovea", (Term(rank="fovea.distance"),)),
        Board("both", (Term(place="cup"), Term(place="fovea"))),
    )
    phase = rank_phase(read_results(tmp_path), Scheme(boards, "both"), RankOptions())
    for team in phase.board.teams:
        shares = [team.boards[board.name].distribution.probabilities for board in boards]
        assert shares[0] == shares[1] == shares[2]
        assert 0 < shares[0][1] < 1


def test_a_team_in_one_task(four_teams, tmp_path):
    folder = copied(four_teams, tmp_path)
    columns = refuge_columns(GLAUCOMA, np.random.default_rng(9), 5.0, 0.9)
    write_team(folder / "classifier", {"classification": columns["classification"]})
    phase = ranked(folder)
    of_board = {
        name: places(phase, name)["classifier"] for name in ("classification", "segmentation", "overall")
    }
    assert of_board == {"classification": 1, "segmentation": None, "overall": None}
    assert places(phase, "segmentation")["delta"] == 4
    # 0.4·2 + 0.6·1: the place that it lost to the classifier stays lost.
    assert phase.board.teams[0].boards["overall"].exact_score == "1.4"


def test_rejected_teams_and_teams_without_results_per_case(four_teams, tmp_path):
    folder = copied(four_teams, tmp_path)
    (folder / "zeta").mkdir()
    (folder / "zeta" / "rejected.txt").write_text("Submission rejected, 1 fault\nmore\n", encoding="utf-8")
    (folder / "eta").mkdir()
    phase = ranked(folder)
    notes = {team.team: team.note for team in phase.board.teams if team.note}
    assert notes == {"zeta": "Submission rejected, 1 fault", "eta": "no metrics.json"}
    assert places(phase)["zeta"] is None
    (folder / "delta" / "cases.json").unlink()
    phase = ranked(folder)
    assert places(phase)["delta"] == 4
    assert phase.board.teams[0].boards["overall"].distribution is None
    assert phase.board.teams[0].metrics["classification.auc"].figure.lower is not None
    assert any("no results per case" in notice and "delta" in notice for notice in phase.notices)


def test_margins_to_an_annotator_and_a_team(four_teams):
    cup = f"segmentation.{CUP}"
    phase = ranked(
        four_teams,
        margins=(Margin(cup, 0.1, "expert"), Margin(cup, 0.1, "beta")),
        annotator_scores=lambda names: {"expert": {cup: 0.88}},
    )
    # The qualities are 0.9, 0.88, 0.8 and 0.6 beside 0.88.
    assert [test.reference for test in phase.margins].count("beta") == 3
    shown = {test.team: test.conclusion for test in phase.margins if test.reference == "expert"}
    assert (shown["alpha"], shown["gamma"], shown["delta"]) == ("equivalent", "not shown", "not shown")
    assert any("margin 0.1 to expert" in notice for notice in phase.notices)
    with faulted(PhaseError, "margin of other", "refuge-test"):
        ranked(four_teams, margins=(Margin("other", 0.1, "beta"),))


def test_a_class_with_few_cases_is_not_resampled(tmp_path):
    for team, seed in (("a", 1), ("b", 2), ("c", 3)):
        columns = refuge_columns(labels(60, 9), np.random.default_rng(seed), 1.0, 0.8)
        write_team(tmp_path / team, columns)
    phase = ranked(tmp_path)
    assert phase.board.metrics["classification.auc"].no_intervals == "fewer than 10 cases of class 1"
    assert all(team.boards["overall"].distribution is None for team in phase.board.teams)
    assert all(team.boards["segmentation"].distribution for team in phase.board.teams)


def two_phases(tmp_path: Path, **changes) -> tuple[dict[str, RankedPhase], Scheme]:
    """Return off-line places of a, b, c and on-site ones of b, a, and their scheme."""
    rng = np.random.default_rng(6)
    phases = {}
    for role, teams in {"offline": ("a", "b", "c"), "onsite": ("b", "a")}.items():
        for position, team in enumerate(teams):
            columns = refuge_columns(GLAUCOMA, rng, 4.0 - 1.5 * position, 0.9 - 0.2 * position)
            write_team(tmp_path / role / team, columns, phase=f"refuge-{role}")
        results = read_results(tmp_path / role)
        scheme = replace(scheme_of(results.challenge, results.options), **changes)
        phases[role] = rank_phase(results, scheme, RankOptions(), role)
    return phases, scheme


def test_two_phases(tmp_path):
    phases, scheme = two_phases(tmp_path)
    board = rank_phases(phases, scheme)
    # a: 0.3·1 + 0.7·2 = 1.7; b: 0.3·2 + 0.7·1 = 1.3; c was in one phase only.
    assert [(row.team, row.place, row.exact_score) for row in board.final] == [
        ("b", 1, "1.3"),
        ("a", 2, "1.7"),
        ("c", None, None),
    ]
    assert board.final[0].distribution.probabilities == {1: 1.0}
    assert any(notice.endswith("not placed in every phase: c") for notice in board.notices)
    # Two teams are in both phases; the phase's intervals give the change one.
    areas = {one.team: one.difference for one in board.generalisation if one.metric == "classification.auc"}
    before, after = (
        {team.team: team.metrics["classification.auc"].value for team in phase.board.teams}
        for phase in phases.values()
    )
    expected = {team: after[team] - before[team] for team in "ab"}
    assert {team: one.value for team, one in areas.items()} == pytest.approx(expected)
    assert all(one.lower < one.value < one.upper for one in areas.values())
    written = {path.name for path in write_leaderboard(board, tmp_path / "written")}
    assert "generalisation.csv" in written
    with faulted(PhaseError, "offline, onsite", "offline"):
        rank_phases({"offline": phases["offline"]}, scheme)
    without = rank_phases(phases, replace(scheme, phases={}, phase_ties={}))
    assert without.final is None
    assert any("phases = { offline = …, onsite = … }" in notice for notice in without.notices)


@pytest.mark.parametrize(("ties", "places"), [({}, (1, 1)), ({"offline": "classification"}, (1, 2))])
def test_a_tie_of_two_phases_is_broken_in_every_resample(tmp_path, ties, places):
    # a and b are first in one phase and second in the other, with equal weights: 1.5 each.
    weights = dict.fromkeys(("offline", "onsite"), Decimal("0.5"))
    phases, scheme = two_phases(tmp_path, phases=weights, phase_ties=ties)
    first, second, _ = rank_phases(phases, scheme).final
    assert [(row.team, row.place) for row in (first, second)] == list(zip("ab", places, strict=True))
    assert first.exact_score == second.exact_score == "1.5"
    tie = phases["offline"].resampled.get(ties.get("offline"))
    ordered = 0 if tie is None else np.mean(tie.places[:, 0] < tie.places[:, 1])
    assert (tie is not None) == (ordered > 0.5) == bool(ties)
    assert second.distribution.probabilities.get(2, 0) == pytest.approx(ordered)


def test_files(four_teams, tmp_path):
    phase = ranked(four_teams)
    # The reference sensitivity is shown and not ranked.
    ranks = {name: metric.rank for name, metric in phase.board.teams[0].metrics.items()}
    assert ranks.pop("classification.reference_sensitivity") is None
    assert set(ranks.values()) == {1}
    write_leaderboard(Leaderboard(FORMAT, (phase.board,)), tmp_path)
    document = json.loads((tmp_path / "leaderboard.json").read_bytes())
    assert list(Draft202012Validator(leaderboard_schema()).iter_errors(document)) == []
    lines = (tmp_path / "leaderboard.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5
    assert lines[1].startswith("alpha,yes,1,1,")
    names = {"comparisons.csv", "leaderboard.csv", "leaderboard.json", "robustness.csv"}
    assert {path.name for path in tmp_path.iterdir()} == names
    rows = read_leaderboard(tmp_path / "leaderboard.csv", tuple(phase.board.metrics))
    assert {row.team for row in rows} == set(QUALITY)
    assert rows[0].values["classification.auc"] == phase.board.teams[0].metrics["classification.auc"].value


def test_the_schema_is_one():
    Draft202012Validator.check_schema(leaderboard_schema())


def test_difficulty_by_hand(tmp_path):
    # Two teams, positives C0000 and C0001. Team a: C0000 loses to one of two negatives; team b: to both.
    glaucoma = np.array([1.0, 1.0, 0.0, 0.0])
    dice = np.array([0.1, 0.9, 0.5, 0.7])
    for team, likelihood in {"a": [0.5, 0.9, 0.6, 0.1], "b": [0.0, 0.9, 0.6, 0.1]}.items():
        columns = {
            "classification": {"likelihood": np.array(likelihood), "glaucoma": glaucoma},
            "segmentation": {CUP: dice, DISC: dice, ERROR: dice},
        }
        write_team(tmp_path / team, columns, {"glaucoma": ["1", "1", "0", "0"]})
    found = ranked(tmp_path, subgroups=("glaucoma",)).organiser
    auc = [(row.case, row.value) for row in found.difficulties if row.metric == "classification.auc"]
    # Positives lose (1/2 + 2/2)/2 and 0; C0002 loses to one of two positives for both teams, C0003 for b.
    assert auc == [("C0000", 0.75), ("C0002", 0.5), ("C0003", 0.25), ("C0001", 0.0)]
    cup = [row.case for row in found.difficulties if row.metric == f"segmentation.{CUP}"]
    assert cup == ["C0000", "C0002", "C0003", "C0001"]
    assert [row.case for row in found.difficulties if row.metric == f"segmentation.{ERROR}"] == cup[::-1]


def test_subgroups_within_a_team(four_teams):
    found = ranked(four_teams, subgroups=("glaucoma",)).board.subgroup_tests
    assert {(row.team, row.first, row.second) for row in found} == {(team, "0", "1") for team in QUALITY}
    assert {row.metric for row in found} == {f"segmentation.{name}" for name in (CUP, DISC, ERROR)}
    assert all(row.p_value is not None and 0 <= row.p_value <= 1 for row in found)
    with faulted(PhaseError, "vendor"):
        ranked(four_teams, subgroups=("vendor",))


__all__ = ["library_in_process"]

ON_SITE = REPOSITORY / "ground-truth/refuge-onsite"
SCHEME = ranking(RefugeOptions())
BETTER = {name: metric.better for name, metric in metrics_of(CHALLENGE.tasks(RefugeOptions())).items()}
TEAMS = {team.team: team for team in read_leaderboard(ON_SITE / "leaderboard.csv", tuple(BETTER))}


def test_a_perfect_an_empty_and_a_partial_submission():
    perfect = {name: 1.0 if better == "higher" else 0.0 for name, better in BETTER.items()}
    found = place_among(tuple(TEAMS.values()), perfect, SCHEME, BETTER)
    assert {board.place for board in found.boards.values()} == {1}
    assert found.boards["overall"].score == 1
    assert place_among(tuple(TEAMS.values()), {}, SCHEME, BETTER).boards == {}
    found = place_among(tuple(TEAMS.values()), {"classification.auc": 0.9885}, SCHEME, BETTER)
    assert list(found.boards) == ["classification"]
    assert found.ranks == {"classification.auc": 1}  # a tie with VRT
    assert (found.boards["classification"].place, found.boards["classification"].tied) == (1, 1)
    teams = [TeamValues("A", {"classification.auc": 1.0}, eligible=False)]
    found = place_among(teams, {"classification.auc": 0.5}, SCHEME, BETTER)
    assert found.boards["classification"].place == 1
    assert found.boards["classification"].teams == 1


COMPOSITE = """\
[fields.dose]
kind = "number"

[tasks.dose.metrics]
mean_absolute_error = { worst = 10 }
errors = { metric = "root_mean_squared_error", worst = 10 }

[composites.score]
weights = { "dose.mean_absolute_error" = 0.75, "dose.errors" = 0.25 }

[ranking]
metrics = ["score", "dose.errors"]
"""


@pytest.mark.parametrize("method", ["mean-then-rank", "min-max"])
def test_a_composite_is_ranked_among_teams_that_give_it_or_its_metrics(tmp_path, method):
    cases = {"name": ["a", "b"], "dose": [1, 1]}
    phase = declared_phase(tmp_path / "phase", COMPOSITE + f'method = "{method}"\n', cases)
    (phase / "leaderboard.csv").write_text(
        "team,dose.mean_absolute_error,dose.errors,score,score lower\n"
        "A,1,1,,a remark\nB,,2.3,2.4,\nC,4,4,,\n",
        encoding="utf-8",
    )
    evaluation.seal(phase)
    # Errors of 1.5 and 2.5: their mean is 2, the square root of their mean square √4.25.
    write_table(tmp_path / "submission" / "predictions.csv", {"case": ["a", "b"], "dose": [2.5, 3.5]})
    ranking = evaluation.evaluate(phase, tmp_path / "submission", workers=0).to_dict()["ranking"]
    errors = math.sqrt(4.25)
    score = 0.75 * 2 + 0.25 * errors
    assert ranking["composites"]["score"]["value"] == pytest.approx(score, abs=5e-5)
    # The second in both; or as shares of the way from the best to the worst team.
    mean = 2.0 if method == "mean-then-rank" else ((score - 1) / 3 + (errors - 1) / 3) / 2
    places = ranking["places"]["overall"]
    assert (places["place"], places["teams"]) == (2, 4)
    assert places["score"] == pytest.approx(mean, abs=5e-5)


NAME = "task.figure"


def board_of(values, better="higher", chosen=None, ineligible=()):
    """Return a leaderboard of one metric: value, lower and upper bound by team."""
    teams = tuple(
        Team(
            team,
            team not in ineligible,
            (chosen or {}).get(team, ""),
            1,
            {NAME: MetricOfTeam(Figure(value, lower, upper), 1)},
            {"overall": BoardOfTeam()},
        )
        for team, (value, lower, upper) in values.items()
    )
    metric = MetricOfPhase("Figure", better, "", True)
    return PhaseLeaderboard("any", "any", "", {}, {NAME: metric}, teams, cases=10)


def test_changes_of_proportions_and_of_symmetric_intervals():
    def changed(*of_phases):
        return change_between(*(Figure(*figure) for figure in of_phases))

    # Newcombe 1998, Table II, (a): 56/70 − 48/80 has the interval 0.0524 to 0.3339.
    found = changed(*((k / n, *wilson(k, n)) for k, n in ((48, 80), (56, 70))))
    assert found.value == pytest.approx(0.2)
    assert (found.lower, found.upper) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    # Standard errors 0.03 and 0.04 give one of 0.05.
    z = NormalDist().inv_cdf(0.975)
    found = changed(*((v, v - z * e, v + z * e) for v, e in ((0.9, 0.03), (0.8, 0.04))))
    assert (found.lower, found.upper) == pytest.approx((-0.1 - z * 0.05, -0.1 + z * 0.05))
    assert found.p_value == pytest.approx(2 * norm.sf(2))
    assert changed((0.8, None, None), (0.9, 0.8, 1.0)).p_value is None
    assert changed((0.8, 0.7, 0.9), (0.8, 0.6, 0.9)).p_value == 1


def wilson(successes, total):
    z = norm.ppf(0.975)
    share = successes / total
    half = z * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    return [(share + z**2 / (2 * total) + side * half) / (1 + z**2 / total) for side in (-1, 1)]


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_ranked_teams_are_corrected_together(better):
    narrow, wide = (lambda v: (v, v - 0.01, v + 0.01)), (lambda v: (v, v - 0.3, v + 0.3))
    before = {"a": narrow(0.9), "b": wide(0.8), "listed": narrow(0.7), "left": narrow(0.5)}
    after = {"a": narrow(0.8), "b": wide(0.7), "listed": narrow(0.8), "new": narrow(0.9)}
    boards = {"offline": board_of(before, better), "onsite": board_of(after, better, ineligible=["listed"])}
    found = generalisation(boards)
    by_team = {one.team: one for one in found}
    changes = {team: round(one.difference.value, 9) for team, one in by_team.items()}
    assert changes == {"a": -0.1, "b": -0.1, "listed": 0.1}
    assert by_team["a"].p_holm == pytest.approx(2 * by_team["a"].difference.p_value)
    assert by_team["listed"].p_holm == by_team["listed"].difference.p_value
