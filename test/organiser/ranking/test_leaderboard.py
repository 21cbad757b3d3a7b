import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from evaluation.core.scheme import Board, Place, Rank, Scheme
from evaluation.organiser.ranking.analysis import RankOptions
from evaluation.organiser.ranking.comparisons import Margin
from evaluation.organiser.ranking.leaderboard import RankedPhase, rank_phase, rank_phases
from evaluation.organiser.ranking.leaderboard_file import FORMAT, Leaderboard, leaderboard_schema
from evaluation.organiser.ranking.leaderboard_writing import write_leaderboard
from evaluation.organiser.ranking.results import RankingError, read_results
from evaluation.phase.leaderboard import read_leaderboard
from evaluation.phase.places import scheme_of
from test.faults import faulted
from test.organiser.ranking.teams import CUP, DISC, ERROR, labels, refuge_columns, write_team
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


def ranked(folder: Path, **choices: object) -> RankedPhase:
    results = read_results(folder)
    return rank_phase(results, scheme_of(results.challenge, results.options), RankOptions(**choices))


def places(phase: RankedPhase, board: str = "overall") -> dict[str, int | None]:
    return {team.team: team.boards[board].place for team in phase.board.teams}


def test_order_places_ranks_and_probabilities(four_teams):
    phase = ranked(four_teams)
    assert places(phase) == {"alpha": 1, "beta": 2, "gamma": 3, "delta": 4}
    first = phase.board.teams[0]
    assert {name: metric.rank for name, metric in first.metrics.items() if metric.rank} == {
        "classification.auc": 1,
        f"segmentation.{CUP}": 1,
        f"segmentation.{DISC}": 1,
        f"segmentation.{ERROR}": 1,
    }
    # The reference sensitivity is shown and not ranked.
    assert first.metrics["classification.reference_sensitivity"].rank is None
    for team in phase.board.teams:
        distribution = team.boards["overall"].distribution
        assert distribution is not None
        assert sum(distribution.probabilities.values()) == pytest.approx(1)
        assert distribution.mean == pytest.approx(
            sum(place * share for place, share in distribution.probabilities.items())
        )
    last = phase.board.teams[-1]
    assert last.team == "delta"
    assert last.boards["overall"].distribution.probabilities == {4: 1.0}
    assert 0 < phase.board.agreement["overall"].lower <= 1


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
    results = read_results(tmp_path)
    boards = tuple(
        Board(name, (Rank(metric),))
        for name, metric in (("cup", f"segmentation.{CUP}"), ("fovea", "fovea.distance"))
    )
    both = Board("both", (Place("cup"), Place("fovea")))
    phase = rank_phase(results, Scheme((*boards, both), "both"), RankOptions(tests=False))
    for team in phase.board.teams:
        shares = [team.boards[name].distribution.probabilities for name in ("cup", "fovea", "both")]
        assert shares[0] == shares[1] == shares[2]
        assert 0 < shares[0][1] < 1


def test_a_team_in_one_task(four_teams, tmp_path):
    folder = copied(four_teams, tmp_path)
    columns = refuge_columns(GLAUCOMA, np.random.default_rng(9), 5.0, 0.9)
    write_team(folder / "classifier", {"classification": columns["classification"]})
    phase = ranked(folder)
    assert places(phase, "classification")["classifier"] == 1
    assert places(phase, "classification")["alpha"] == 2
    assert places(phase, "segmentation") == {
        "alpha": 1,
        "beta": 2,
        "gamma": 3,
        "delta": 4,
        "classifier": None,
    }
    assert places(phase)["classifier"] is None
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
    assert phase.board.teams[0].metrics["classification.auc"].lower is not None
    assert any("no results per case" in notice and "delta" in notice for notice in phase.notices)


def test_margins_to_an_annotator_and_covariates_of_a_phase(four_teams):
    cup = f"segmentation.{CUP}"
    phase = ranked(
        four_teams,
        margins=(Margin(cup, 0.1, "expert"), Margin(cup, 0.1, "beta")),
        annotator_scores=lambda names: {"expert": {cup: 0.88}},
        covariates=("glaucoma",),
        prevalence=0.1,
    )
    assert len(phase.margins) == 4 + 3
    # The qualities are 0.9, 0.88, 0.8 and 0.6 beside 0.88.
    shown = {test.team: test.conclusion for test in phase.margins if test.reference == "expert"}
    assert (shown["alpha"], shown["gamma"], shown["delta"]) == ("equivalent", "not shown", "not shown")
    assert any("margin 0.1 to expert (one-sided tests at 2.5 %): " in notice for notice in phase.notices)
    assert {one.cases for one in phase.board.associations} == {60}
    # REFUGE has no operating point.
    assert phase.organiser.predictive_values == ()
    with faulted(RankingError, "margin of other", "refuge-test"):
        ranked(four_teams, margins=(Margin("other", 0.1, "beta"),))
    with faulted(RankingError, "margin of segmentation.dice_cup", "nobody"):
        ranked(four_teams, margins=(Margin(cup, 0.1, "nobody"),))


def test_a_class_with_few_cases_is_not_resampled(tmp_path):
    for team, seed in (("a", 1), ("b", 2)):
        columns = refuge_columns(labels(60, 9), np.random.default_rng(seed), 1.0, 0.8)
        write_team(tmp_path / team, columns)
    phase = ranked(tmp_path)
    assert phase.board.metrics["classification.auc"].no_intervals == "fewer than 10 cases of class 1"
    assert all(team.boards["overall"].distribution is None for team in phase.board.teams)
    assert all(team.boards["segmentation"].distribution for team in phase.board.teams)
    # Nine positives: no DeLong.
    assert phase.board.metrics["classification.auc"].comparisons.pairs[0].method == "randomisation"


def two_phases(tmp_path: Path, **changes) -> dict[str, RankedPhase]:
    rng = np.random.default_rng(6)
    phases = {}
    for role, teams in {"offline": ("a", "b", "c"), "onsite": ("b", "a")}.items():
        for position, team in enumerate(teams):
            write_team(
                tmp_path / role / team,
                refuge_columns(GLAUCOMA, rng, 4.0 - 1.5 * position, 0.9 - 0.2 * position),
                phase=f"refuge-{role}",
            )
        results = read_results(tmp_path / role)
        scheme = scheme_of(results.challenge, results.options)
        phases[role] = rank_phase(results, replace(scheme, **changes), RankOptions(), role)
    return phases


def test_two_phases(tmp_path):
    phases = two_phases(tmp_path)
    scheme = scheme_of(
        *[getattr(read_results(tmp_path / "offline"), name) for name in ("challenge", "options")]
    )
    board = rank_phases(phases, scheme)
    assert board.final is not None
    # a: 0.3·1 + 0.7·2 = 1.7; b: 0.3·2 + 0.7·1 = 1.3; c was in one phase only.
    assert [(row.team, row.place, row.exact_score) for row in board.final] == [
        ("b", 1, "1.3"),
        ("a", 2, "1.7"),
        ("c", None, None),
    ]
    assert board.final[0].distribution.probabilities == {1: 1.0}
    assert any(notice.endswith("not placed in every phase: c") for notice in board.notices)
    # Two teams are in both phases; the phase's intervals give the change one.
    areas = {one.team: one for one in board.generalisation.changes if one.metric == "classification.auc"}
    values = [{t.team: t.metrics["classification.auc"].value for t in p.board.teams} for p in phases.values()]
    assert {team: one.change for team, one in areas.items()} == pytest.approx(
        {team: values[1][team] - values[0][team] for team in "ab"}
    )
    assert all(one.lower < one.change < one.upper for one in areas.values())
    assert {path.name for path in write_leaderboard(board, tmp_path / "written")} >= {
        "generalisation.csv",
        "development-gaps.csv",
    }
    with faulted(RankingError, "offline, onsite", "offline"):
        rank_phases({"offline": phases["offline"]}, scheme)
    without = rank_phases(phases, replace(scheme, phases={}, phase_ties={}))
    assert without.final is None
    assert any("phases = { offline = …, onsite = … }" in notice for notice in without.notices)


@pytest.mark.parametrize(("ties", "places"), [({}, (1, 1)), ({"offline": "classification"}, (1, 2))])
def test_a_tie_of_two_phases_is_broken_in_every_resample(tmp_path, ties, places):
    # a and b are first in one phase and second in the other, with equal weights: 1.5 each.
    changes = {"phases": {"offline": Fraction(1, 2), "onsite": Fraction(1, 2)}, "phase_ties": ties}
    phases = two_phases(tmp_path, **changes)
    results = read_results(tmp_path / "offline")
    board = rank_phases(phases, replace(scheme_of(results.challenge, results.options), **changes))
    assert board.final is not None
    assert [(row.team, row.place) for row in board.final[:2]] == list(zip("ab", places, strict=True))
    assert [row.exact_score for row in board.final[:2]] == ["1.5", "1.5"]
    tie = phases["offline"].tie_resampled
    ordered = 0 if tie is None else np.mean(tie.places[:, 0] < tie.places[:, 1])
    assert (tie is not None) == (ordered > 0.5) == bool(ties)
    assert board.final[1].distribution.probabilities.get(2, 0) == pytest.approx(ordered)


def test_files(four_teams, tmp_path):
    phase = ranked(four_teams)
    board = Leaderboard(FORMAT, (phase.board,))
    write_leaderboard(board, tmp_path)
    document = (tmp_path / "leaderboard.json").read_bytes()
    assert list(Draft202012Validator(leaderboard_schema()).iter_errors(json.loads(document))) == []
    lines = (tmp_path / "leaderboard.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 5
    assert lines[1].startswith("alpha,yes,1,1,")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "comparisons.csv",
        "leaderboard.csv",
        "leaderboard.json",
        "robustness.csv",
    ]
    rows = read_leaderboard(tmp_path / "leaderboard.csv", tuple(phase.board.metrics))
    assert {row.team for row in rows} == set(QUALITY)
    assert rows[0].values["classification.auc"] == phase.board.teams[0].metrics["classification.auc"].value


def test_the_published_schema_is_that_of_the_types():
    published = json.loads((REPOSITORY / "schemas" / "leaderboard.schema.json").read_text(encoding="utf-8"))
    assert published == leaderboard_schema(), (
        "run: python -m evaluation schema leaderboard > schemas/leaderboard.schema.json"
    )
    Draft202012Validator.check_schema(published)


def test_too_few_permutations_are_said_to_be_so(tmp_path):
    for team, seed in (("a", 1), ("b", 2), ("c", 3)):
        columns = refuge_columns(labels(60, 9), np.random.default_rng(seed), 1.0, 0.8)
        write_team(tmp_path / team, columns)
    # Three pairs: the smallest p after Holm is 3/50, or 3/100.
    assert any(
        "49 permutations are too few for 3 pairs" in n for n in ranked(tmp_path, permutations=49).notices
    )
    assert not any("too few" in notice for notice in ranked(tmp_path, permutations=99).notices)


def test_influence_names_the_case_that_decides(tmp_path):
    # b leads by one case: without it, a does.
    even = np.full(20, 0.8)
    lucky = even.copy()
    lucky[3] = 1.0
    steady = np.full(20, 0.805)
    likelihood = labels(20, 10) * 1.0
    for team, cup in {"a": steady, "b": lucky}.items():
        write_team(
            tmp_path / team,
            {
                "classification": {"likelihood": likelihood, "glaucoma": labels(20, 10)},
                "segmentation": {CUP: cup, DISC: even, ERROR: even},
            },
        )
    phase = ranked(tmp_path)
    assert places(phase) == {"b": 1, "a": 2}
    moved = [influence for influence in phase.organiser.influences if influence.board == "segmentation"]
    assert [(influence.case, influence.winners, influence.teams_moved) for influence in moved] == [
        ("C0003", ("a",), 2)
    ]
    assert moved[0].tau_b == -1


def test_difficulty_by_hand(tmp_path):
    # Two teams, positives C0000 and C0001. Team a: C0000 loses to one of two negatives; team b: to both.
    glaucoma = np.array([1.0, 1.0, 0.0, 0.0])
    dice = np.array([0.1, 0.9, 0.5, 0.7])
    for team, likelihood in {"a": [0.5, 0.9, 0.6, 0.1], "b": [0.0, 0.9, 0.6, 0.1]}.items():
        write_team(
            tmp_path / team,
            {
                "classification": {"likelihood": np.array(likelihood), "glaucoma": glaucoma},
                "segmentation": {CUP: dice, DISC: dice, ERROR: dice},
            },
            {"glaucoma": ["1", "1", "0", "0"]},
        )
    found = ranked(tmp_path, subgroups=("glaucoma",)).organiser
    auc = [(row.case, row.value) for row in found.difficulties if row.metric == "classification.auc"]
    # Positives lose (1/2 + 2/2)/2 and 0; C0002 loses to one of two positives for both teams, C0003 for b.
    assert auc == [("C0000", 0.75), ("C0002", 0.5), ("C0003", 0.25), ("C0001", 0.0)]
    cup = [row.case for row in found.difficulties if row.metric == f"segmentation.{CUP}"]
    error = [row.case for row in found.difficulties if row.metric == f"segmentation.{ERROR}"]
    assert cup == ["C0000", "C0002", "C0003", "C0001"]
    assert error == cup[::-1]
    groups = {(row.metric, row.value): (row.cases, row.mean) for row in found.groups}
    assert groups[f"segmentation.{CUP}", "1"] == (2, pytest.approx(0.5))
    assert groups[f"segmentation.{CUP}", "0"] == (2, pytest.approx(0.6))


def test_subgroups_within_a_team(four_teams):
    found = ranked(four_teams, subgroups=("glaucoma",)).board.subgroup_tests
    assert {(row.team, row.first, row.second) for row in found} == {(team, "0", "1") for team in QUALITY}
    assert {row.metric for row in found} == {f"segmentation.{name}" for name in (CUP, DISC, ERROR)}
    assert all(row.p_value is not None and 0 <= row.p_value <= 1 for row in found)
    with faulted(RankingError, "vendor"):
        ranked(four_teams, subgroups=("vendor",))
