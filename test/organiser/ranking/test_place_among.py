import math

import pytest

import evaluation
from evaluation.challenges.refuge import CHALLENGE, RefugeOptions, ranking
from evaluation.core.challenge import metrics_of
from evaluation.evaluate import Result, evaluate
from evaluation.phase.leaderboard import TeamValues, read_leaderboard
from evaluation.phase.manifest import scan
from evaluation.phase.phase import load_phase
from evaluation.phase.places import place_among
from test.challenges.declared.phases import declared_phase, write_table
from test.repository import REPOSITORY

ON_SITE = REPOSITORY / "ground-truth/refuge-onsite"
SCHEME = ranking(RefugeOptions())
BETTER = {name: metric.better for name, metric in metrics_of(CHALLENGE.tasks(RefugeOptions())).items()}
TEAMS = {team.team: team for team in read_leaderboard(ON_SITE / "leaderboard.csv", tuple(BETTER))}

# Segmentation: Table 6; overall: 0.4 × the rank of Table 4 + 0.6 × the rank of Table 6.
PUBLISHED = {
    "CUHKMED": ("1.75", "1.8"),
    "VRT": ("5.4", "3.4"),
    "Masker": ("2.5", "3.6"),
    "NKSG": ("4.6", "4.0"),
    "BUCT": ("3", "5.0"),
    "Mammoth": ("7.1", "6.2"),
    "SDSAIRC": ("9.15", "6.8"),
    "SMILEDeepDR": ("7.45", "7.6"),
    "AIML": ("5.45", "8.4"),
    "NightOwl": ("8.6", "9.4"),
    "WinterFell": ("12", "10.8"),
    "Cvblab": ("11", "11.0"),
}


@pytest.mark.parametrize(("place", "team"), list(enumerate(PUBLISHED, 1)))
def test_a_published_team_that_enters_anew_takes_its_published_place_and_scores(place, team):
    others = [row for name, row in TEAMS.items() if name != team]
    found = place_among(others, TEAMS[team].values, SCHEME, BETTER)
    segmentation, overall = PUBLISHED[team]
    assert found.boards["segmentation"].score == float(segmentation)
    assert found.boards["overall"].score == float(overall)
    assert (found.boards["overall"].place, found.boards["overall"].teams) == (place, 12)


def test_a_perfect_submission_wins_and_an_empty_one_has_no_place():
    perfect = {name: 1.0 if better == "higher" else 0.0 for name, better in BETTER.items()}
    found = place_among(tuple(TEAMS.values()), perfect, SCHEME, BETTER)
    assert {board.place for board in found.boards.values()} == {1}
    assert found.boards["overall"].score == 1
    assert place_among(tuple(TEAMS.values()), {}, SCHEME, BETTER).boards == {}


def test_a_submission_without_one_task_has_a_place_in_the_other_only():
    found = place_among(tuple(TEAMS.values()), {"classification.auc": 0.9885}, SCHEME, BETTER)
    assert list(found.boards) == ["classification"]
    assert found.ranks == {"classification.auc": 1}  # a tie with VRT
    assert (found.boards["classification"].place, found.boards["classification"].tied) == (1, 1)


def test_ineligible_teams_take_no_rank():
    teams = [TeamValues("A", {"classification.auc": 1.0}, eligible=False)]
    found = place_among(teams, {"classification.auc": 0.5}, SCHEME, BETTER)
    assert found.boards["classification"].place == 1
    assert found.boards["classification"].teams == 1


def test_the_place_in_the_result_of_the_bundled_submission():
    phase = load_phase(ON_SITE, scan(ON_SITE))
    result = evaluate(phase, REPOSITORY / "test/input/refuge-onsite", workers=0)
    assert isinstance(result, Result)
    metrics = result.metrics
    # Its AUC lies between those of the seventh and the eighth of Table 4.
    auc = metrics.ranking.components["classification"]["auc"]
    assert (
        TEAMS["BUCT"].values["classification.auc"] < auc < TEAMS["SMILEDeepDR"].values["classification.auc"]
    )
    assert metrics.ranking.ranks is not None
    assert metrics.ranking.places is not None
    assert metrics.ranking.ranks["classification"]["auc"] == 8
    ranks = metrics.ranking.ranks["segmentation"]
    assert metrics.ranking.places["segmentation"].score == pytest.approx(
        0.35 * ranks["dice_cup"]
        + 0.25 * ranks["dice_disc"]
        + 0.4 * ranks["vertical_cup_to_disc_ratio_error"],
        abs=1e-12,
    )
    overall = metrics.ranking.places["overall"]
    assert overall.score == pytest.approx(
        0.4 * 8 + 0.6 * metrics.ranking.places["segmentation"].place, abs=1e-12
    )
    assert overall.teams == 13


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
    assert ranking["composites"] == {"score": pytest.approx(score, abs=5e-5)}
    # The second in both; or as shares of the way from the best to the worst team.
    mean = 2.0 if method == "mean-then-rank" else ((score - 1) / 3 + (errors - 1) / 3) / 2
    places = ranking["places"]["overall"]
    assert (places["place"], places["teams"]) == (2, 4)
    assert places["score"] == pytest.approx(mean, abs=5e-5)
