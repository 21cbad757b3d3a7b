"""Teams ranked by declared metrics of every family: intervals, tests, subgroups, variations of a ranking."""

import numpy as np
import pytest

import evaluation
from test.challenges.declared.phases import declared_phase, write_table

CLASSES = ["none", "mild", "severe"]
TABLES = """\
[[subgroups]]
column = "sex"

[fields.grade]
kind = "class"
classes = ["none", "mild", "severe"]

[fields.likelihood]
kind = "number"
minimum = 0
maximum = 1
reference = "grade"
positive = ["severe"]
negative = ["none", "mild"]

[fields.age]
kind = "number"
minimum = 0
maximum = 120

[fields.survival]
kind = "survival"

[tasks.all.metrics]
kappa = { metric = "cohen_kappa", field = "grade", disagreement = "quadratic" }
macro_f1 = { field = "grade" }
accuracy = { field = "grade" }
partial_auc = { field = "likelihood", min_specificity = 0.8 }
specificity_at_sensitivity = { field = "likelihood", sensitivity = 0.9 }
average_precision = { field = "likelihood" }
calibration_error = { field = "likelihood" }
brier_score = { field = "likelihood" }
mean_absolute_error = { field = "age" }
pearson_correlation = { field = "age" }
concordance_index = { field = "survival" }

[ranking]
metrics = [
  "all.kappa", "all.partial_auc", "all.brier_score", "all.pearson_correlation", "all.concordance_index"
]
weights = { "all.kappa" = 2 }
"""
NOISE = {"good": 0.2, "fair": 0.6, "bad": 1.2}
CASES = 150


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    """Return the results of three teams, of which the bad one lacks three cases, and their leaderboard."""
    folder = tmp_path_factory.mktemp("teams")
    random = np.random.default_rng(9)
    names = [f"c{number:03d}" for number in range(CASES)]
    grade, age, time = (random.integers(*bounds, CASES) for bounds in ((0, 3), (20, 90), (1, 60)))
    cases = {
        "name": names,
        "sex": np.array(["f", "m"])[random.integers(0, 2, CASES)],
        "grade": np.array(CLASSES)[grade],
        "age": age,
        "time": time,
        "event": random.integers(0, 2, CASES),
    }
    phase = declared_phase(folder / "phase", TABLES, cases, keys='missing = "worst"\nresamples = 200')
    evaluation.seal(phase)
    results = {}
    for team, noise in NOISE.items():
        guess = np.where(random.random(CASES) < noise, random.integers(0, 3, CASES), grade)
        columns = {
            "case": names,
            "grade": np.array(CLASSES)[guess],
            "likelihood": np.clip(random.normal(0.3 + 0.4 * (grade == 2), 0.5 * noise), 0, 1),
            "age": np.clip(age + random.normal(0, 30 * noise, CASES), 0, 120),
            "survival": time + random.normal(0, 30 * noise, CASES),
        }
        kept = CASES - 3 if team == "bad" else CASES
        table = {name: list(column)[:kept] for name, column in columns.items()}
        write_table(folder / team / "predictions.csv", table)
        results[team] = evaluation.evaluate(phase, folder / team, workers=0)
        results[team].write(folder / "results" / team)
    return results, evaluation.rank(folder / "results").leaderboard.phases[0]


def test_every_figure_has_an_interval_and_subgroups(ranked):
    results, _ = ranked
    for team, result in results.items():
        content = result.to_dict()
        for name, figure in content["aggregates"]["all"].items():
            # Where a figure has no interval, it says why, for all teams alike.
            assert ("confidence_interval" in figure) == (name != "calibration_error"), (team, name)
            assert ("interval" in figure) == (name == "calibration_error"), (team, name)
            for sex in ("f", "m"):
                assert name in content["subgroups"]["sex"][sex]["all"], (team, name)


def test_the_better_team_is_better_in_every_figure(ranked):
    results, _ = ranked
    values = {
        team: {name: figure["value"] for name, figure in result.to_dict()["aggregates"]["all"].items()}
        for team, result in results.items()
    }
    # Calibration is no order of these teams: a score can tell the classes apart and be no probability.
    for name in values["good"].keys() - {"calibration_error"}:
        sign = -1 if name in {"brier_score", "mean_absolute_error"} else 1
        assert sign * values["good"][name] > sign * values["bad"][name], name


def test_teams_are_ranked_with_tests_and_variations(ranked):
    _, phase = ranked
    assert [team.team for team in phase.teams] == ["good", "fair", "bad"]
    in_ranking = {name: metric for name, metric in phase.metrics.items() if metric.in_ranking}
    assert len(in_ranking) == 5
    for name, metric in in_ranking.items():
        assert metric.no_intervals is None, name
        assert {pair.method for pair in metric.comparisons.pairs} == {
            "equal means" if name == "all.brier_score" else "randomisation"
        }
        (apart,) = [pair for pair in metric.comparisons.pairs if (pair.first, pair.second) == ("good", "bad")]
        assert apart.significant, name
    assert any(variation.change == "all.kappa" for variation in phase.robustness)
