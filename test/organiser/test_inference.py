"""Intervals and tests of arrays and frames, against the commands and by hand."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import pearsonr, spearmanr, ttest_rel
from sklearn.metrics import cohen_kappa_score, f1_score

import evaluation
from evaluation.core.intervals import intervals
from evaluation.organiser.ranking.comparisons import difference_of_pilot
from evaluation.organiser.ranking.differences import Compared
from evaluation.organiser.ranking.results import read_results
from test.in_process import library_in_process
from test.organiser.ranking.teams import CUP, refuge_columns, write_team
from test.repository import REPOSITORY
from test.started import run

__all__ = ["library_in_process"]
RNG = np.random.default_rng(8)
LABEL = (np.arange(80) < 30).astype(int)
PATIENT = [f"P{case // 2}" for case in range(80)]
DICE = {"a": RNG.uniform(0.7, 0.95, 80).round(4), "b": RNG.uniform(0.5, 0.9, 80).round(4)}


def table_of(folder, clusters):
    """Write the Dice of two teams as a table of results."""
    cases = [f"{case:09}" for case in range(80)]
    frames = [pd.DataFrame({"team": team, "case": cases, "dice": dice}) for team, dice in DICE.items()]
    frame = pd.concat(frames)
    if clusters:
        frame["cluster"] = clusters * 2
    frame.to_csv(folder / "dice.csv", index=False)
    return folder / "dice.csv"


def of_table(folder, clusters, expected):
    """Rank the table, and hold its difference, margins and figures against those of the library."""
    options = ("--margin", "results.dice=0:b", "--output", folder / "of-table")
    completed = run("rank", table_of(folder, clusters), "--metric", "dice=higher,worst=0,best=1", *options)
    assert completed.returncode == 0, completed.stderr
    content = json.loads((folder / "of-table" / "leaderboard.json").read_text(encoding="utf-8"))
    (phase,) = content["phases"]
    (pair,) = phase["metrics"]["results.dice"]["comparisons"]["pairs"]
    found = pair["difference"]
    assert (found["method"], found["null"]) == (expected.method, expected.null)
    for name in ("p_value", "lower", "upper", "detectable"):
        assert found[name] == pytest.approx(getattr(expected, name))
    unseen = [found["with_unseen_failures"][name] for name in ("lower", "upper")]
    further = expected.with_unseen_failures
    assert unseen == pytest.approx([further.lower, further.upper])
    margins = pd.read_csv(folder / "of-table" / "margins.csv")
    assert margins[["unseen_lower", "unseen_upper"]].iloc[0].tolist() == pytest.approx(unseen)
    for team, one in zip(phase["teams"], (expected.first, expected.second), strict=True):
        figure = team["metrics"]["results.dice"]["figure"]
        assert [figure[name] for name in ("value", "lower", "upper")] == pytest.approx(
            [one.value, one.lower, one.upper]
        )


@pytest.mark.parametrize("first", ["field", "any_distribution"])
@pytest.mark.parametrize("clusters", [None, PATIENT])
def test_phase_table_library_and_plan_ask_one_procedure(clusters, first, tmp_path):
    """The same values as results of a phase, as a table, and as arrays; the plan draws sets of them."""
    found = evaluation.compare(DICE["a"], DICE["b"], clusters=clusters, best=1, worst=0, method=first)
    if first == "field":
        of_table(tmp_path, clusters, found)
    assert found.first.n == (40 if clusters else 80)
    # A phase: the same values as the Dice of the optic disc.
    given = {"cluster": clusters} if clusters else None
    for team, dice in DICE.items():
        columns = refuge_columns(LABEL, np.random.default_rng(1), 1.0, 0.8)
        columns["segmentation"][CUP] = dice
        write_team(tmp_path / "teams" / team, columns, given)
    results = read_results(tmp_path / "teams")
    metric, tables = results.metrics[f"segmentation.{CUP}"], {}
    for one in results.submissions:
        tables[one.team] = one.tables["segmentation"]
    drawn = replace(results.resampling, interval=first)
    figures = intervals({f"segmentation.{CUP}": metric}, list(tables.values()), drawn).found
    of_teams = dict(zip(tables, figures[f"segmentation.{CUP}"], strict=True))
    of_phase = Compared(metric, tables, drawn, of_teams).difference("a", "b")
    assert of_phase.p_value == pytest.approx(found.p_value)
    assert (of_phase.lower, of_phase.upper) == pytest.approx((found.lower, found.upper))
    # Fewer cases would have shown this difference.
    planned = difference_of_pilot(results, ("a", "b"), f"segmentation.{CUP}", power=0.8)
    assert planned.method == "paired t"
    assert planned.needed <= 80


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
    assert (found.first.value, found.second.value, found.first.n) == (1.0, 21 / 30, 30)
    assert found.p_value == pytest.approx(ttest_rel(first[:30], second[:30]).pvalue)
    assert (found.second.method, found.second.with_unseen_failures.method) == ("Wilson", "Clopper-Pearson")
    assert evaluation.interval(second, LABEL, metric="specificity").value == 1.0


def test_an_error_is_better_where_it_is_smaller_and_the_difference_keeps_its_sign():
    errors = RNG.uniform(1, 2, 60)
    found = evaluation.compare(errors + RNG.uniform(0.8, 1.2, 60), errors, best=0, worst=20)
    assert found.value == pytest.approx(1, abs=0.1)
    assert 0.9 < found.lower < found.value < found.upper < 1.1
    assert found.with_unseen_failures.lower < found.lower
    assert found.first.value == pytest.approx(found.second.value + found.value)
    few = evaluation.interval([0.5, 0.7])
    assert (few.value, few.lower, few.reason) == (pytest.approx(0.6), None, "fewer than 10 cases")


def test_figures_of_pairs_and_of_decisions():
    rng = np.random.default_rng(3)
    true = rng.normal(size=60)
    made = true + rng.normal(0, 0.5, 60)
    for metric, oracle in (("pearson", pearsonr), ("spearman", spearmanr)):
        found = evaluation.interval(made, true, metric=metric)
        assert found.value == pytest.approx(oracle(made, true).statistic)
        assert 0.5 < found.lower < found.value < found.upper < 1
        assert found.with_unseen_failures.reason == "a single gross error may reverse a correlation"
    decided = np.where(np.arange(80) % 7 == 0, 1 - LABEL, LABEL)
    for metric, score in (("f1", f1_score), ("kappa", cohen_kappa_score)):
        found = evaluation.interval(decided, LABEL, metric=metric)
        assert found.value == pytest.approx(score(LABEL, decided))
        assert found.with_unseen_failures.lower <= found.lower < found.value < found.upper
    named = [["healthy", "ill"][label] for label in LABEL], [["healthy", "ill"][label] for label in decided]
    assert evaluation.interval(*named, metric="kappa").value == pytest.approx(cohen_kappa_score(*named))
    time = rng.exponential(size=60)
    found = evaluation.interval(-time, time, metric="concordance", event=np.ones(60))
    assert (found.value, found.method) == (1.0, "Wilson")
    assert evaluation.interval(made, metric="median", worst=-9).method == "order-statistics"


def test_a_level_and_the_order_of_the_intervals():
    found = evaluation.interval(DICE["a"], best=1, worst=0)
    wide = evaluation.interval(DICE["a"], best=1, worst=0, level=0.99)
    other = evaluation.interval(DICE["a"], best=1, worst=0, method="any_distribution")
    assert wide.lower < found.lower
    assert (other.lower, other.method) == (found.with_unseen_failures.lower, "Gaffke")
    assert evaluation.interval(DICE["a"]).with_unseen_failures.reason.startswith("no largest value")


ERRORS = np.array([0.1, 0.2, 0.4] * 8)


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([0.1, 0.2], [0, 1, 1]), {"metric": "auc"}, "values and reference: found 2 and 3 cases"),
        (([0.1, 0.2],), {"metric": "auc"}, "reference: auc takes one, found none"),
        (([0.1, 0.2], [0, 1]), {}, "reference: mean takes no reference"),
        (([0.1, 0.2], [0, 1]), {"metric": "AUC"}, "metric: expected one of mean, .*, found 'AUC'"),
        (([np.nan],), {}, "values: expected at least one case, found none"),
        (([0.1, 0.2], [1, 2]), {"metric": "average_precision"}, "reference: expected 0 and 1 only, found 2"),
        (([0, 255], [0, 1]), {"metric": "sensitivity"}, "values: expected 0 and 1 only, found 255 in row 1"),
        (([0.1, 0.2], [0, 1]), {"metric": "f1"}, "values: expected 0 and 1 only, found 0.1 in row 0"),
        ((ERRORS,), {"clusters": [np.nan, *"ab" * 11, "c"]}, "clusters: expected a value for each case"),
        (
            (ERRORS,),
            {"best": 0, "worst": 0.3},
            "values: expected numbers from 0 to 0.3 .* found 0.4",
        ),
        ((ERRORS,), {"best": 1, "worst": 1}, "worst: expected another number than best"),
        ((ERRORS,), {"level": 95}, "level: expected a number between 0 and 1"),
        ((ERRORS,), {"method": "bca"}, "method: expected one of field, any_distribution, found 'bca'"),
        ((["x", "y"],), {}, "values: expected numbers, found"),
        (
            ([0.1, np.nan], [0, 1]),
            {"metric": "auc"},
            "values: expected a value .* found none in row 1",
        ),
        (([0.1, 0.3], [0, np.nan]), {"metric": "auc"}, "reference: expected 0 and 1 only, found nan"),
        (([0.1, 0.3], [0, 1]), {"metric": "auc", "worst": 0}, "worst: expected none"),
        (
            ([0.1, 0.3], [0, 1]),
            {"metric": "auc", "event": [0, 1]},
            "event: expected with the metric concordance",
        ),
    ],
)
def test_what_cannot_be_computed_is_named(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        evaluation.interval(*arguments, **options)


def test_the_side_at_fault_is_named():
    with pytest.raises(ValueError, match=r"^second and clusters: found 23 and 24 cases"):
        evaluation.compare(ERRORS, ERRORS[1:], clusters=[str(case) for case in range(24)])
    with pytest.raises(ValueError, match=r"^second: expected a value for each case, found none in row 0"):
        evaluation.compare([0.1, 0.2], [np.nan, 0.2], [0, 1], metric="auc")
    with pytest.raises(ValueError, match=r"^second: expected values of the same cases as first"):
        evaluation.compare(ERRORS, ERRORS[1:])


def test_without_a_worst_value_an_interval_still_reaches_beyond_the_value():
    found = evaluation.interval(ERRORS, best=0)
    assert found.lower < found.value < found.upper
