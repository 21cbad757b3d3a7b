import math

import pytest

import evaluation
from evaluation.challenges.refuge import CHALLENGE, RefugeOptions, ranking
from evaluation.core.challenge import metrics_of
from evaluation.phase.leaderboard import TeamValues, read_leaderboard
from evaluation.phase.places import place_among
from test.challenges.declared.phases import declared_phase, write_table
from test.in_process import library_in_process
from test.repository import REPOSITORY

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
    assert ranking["composites"] == {"score": pytest.approx(score, abs=5e-5)}
    # The second in both; or as shares of the way from the best to the worst team.
    mean = 2.0 if method == "mean-then-rank" else ((score - 1) / 3 + (errors - 1) / 3) / 2
    places = ranking["places"]["overall"]
    assert (places["place"], places["teams"]) == (2, 4)
    assert places["score"] == pytest.approx(mean, abs=5e-5)
