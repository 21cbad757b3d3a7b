"""Intervals and tests of arrays and frames, against the commands and by hand."""

import json

import numpy as np
import pandas as pd
import pytest

import evaluation
from test.in_process import library_in_process
from test.repository import REPOSITORY
from test.started import run

__all__ = ["library_in_process"]
RNG = np.random.default_rng(8)
LABEL = (np.arange(80) < 30).astype(int)
PATIENT = [f"P{case // 2}" for case in range(80)]
DICE = {"a": RNG.uniform(0.7, 0.95, 80).round(4), "b": RNG.uniform(0.5, 0.9, 80).round(4)}


@pytest.mark.parametrize("clusters", [None, PATIENT])
def test_means_are_those_of_rank_on_a_table(clusters, tmp_path):
    table = tmp_path / "dice.csv"
    cases = [f"{case:09}" for case in range(80)]
    frames = [pd.DataFrame({"team": team, "case": cases, "dice": dice}) for team, dice in DICE.items()]
    frame = pd.concat(frames)
    if clusters:
        frame["cluster"] = clusters * 2
    frame.to_csv(table, index=False)
    completed = run(
        "rank", table, "--metric", "dice=higher", "--margin", "results.dice=0:b", "--output", tmp_path
    )
    assert completed.returncode == 0
    content = json.loads((tmp_path / "leaderboard.json").read_text(encoding="utf-8"))
    assert evaluation.rank(table, metrics={"dice": "higher"}).to_dict()["phases"] == content["phases"]
    (phase,) = content["phases"]
    (pair,) = phase["metrics"]["results.dice"]["comparisons"]["pairs"]
    found = evaluation.compare(DICE["a"], DICE["b"], clusters=clusters)
    assert (found.p_value, found.method, found.null) == (
        pytest.approx(pair["p_value"]),
        pair["method"],
        pair["null"],
    )
    margins = pd.read_csv(tmp_path / "margins.csv")
    assert [found.lower, found.upper] == pytest.approx(margins[["lower", "upper"]].iloc[0].tolist())
    for team, one in zip(phase["teams"], (found.first, found.second), strict=True):
        figure = team["metrics"]["results.dice"]
        assert [one.value, one.lower, one.upper] == pytest.approx(
            [figure["value"], figure["lower"], figure["upper"]]
        )
    assert found.first.clusters == (40 if clusters else None)


def test_an_area_is_that_of_evaluate():
    phase, submission = "refuge-onsite", REPOSITORY / "test" / "input" / "refuge-onsite"
    evaluation.seal(REPOSITORY / "ground-truth" / phase)
    result = evaluation.evaluate(REPOSITORY / "ground-truth" / phase, submission)
    known = result.figures().loc[("classification", "auc")]
    cases = result.cases("classification")
    found = evaluation.interval("likelihood", "glaucoma", data=cases, metric="auc")
    assert [found.value, found.lower, found.upper] == pytest.approx(
        known[["value", "lower", "upper"]].tolist()
    )


def test_decisions_are_compared_where_they_are_right():
    first, second = LABEL.copy(), LABEL.copy()
    second[:9] = 0
    found = evaluation.compare(first, second, LABEL, metric="sensitivity")
    assert (found.first.value, found.second.value, found.first.cases) == (1.0, 21 / 30, 30)
    # Nine differences, each of the whole range: twice 2⁻⁹.
    assert found.p_value == pytest.approx(2 * 0.5**9, rel=0.3)
    assert found.second.method == "Clopper-Pearson"
    assert evaluation.interval(second, LABEL, metric="specificity").value == 1.0


def test_an_error_is_better_where_it_is_smaller_and_the_difference_keeps_its_sign():
    errors = RNG.uniform(1, 2, 60)
    found = evaluation.compare(errors + 1, errors, best=0, worst=20)
    assert found.difference == pytest.approx(1)
    assert found.lower < 1 < found.upper
    few = evaluation.interval([0.5, 0.7])
    assert (few.value, few.lower, few.reason) == (pytest.approx(0.6), None, "fewer than 10 cases")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.1, 0.2], [0, 1, 1], "auc"), "^reference:"),
        (([0.1, 0.2], None, "auc"), "^reference:"),
        (([0.1, 0.2], [0, 1], "mean"), "mean takes no reference"),
        (([0.1, 0.2], [0, 1], "AUC"), "^metric:"),
        (([np.nan], None, "mean"), "^values:"),
    ],
)
def test_what_cannot_be_computed_is_named(arguments, words):
    values, reference, metric = arguments
    with pytest.raises(ValueError, match=words):
        evaluation.interval(values, reference, metric=metric)
