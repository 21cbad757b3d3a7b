"""Metrics of teams by subgroup against scikit-learn and hand arithmetic (ADAM, Table 11)."""

import math
from dataclasses import replace

import pytest
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from evaluation.core.case_table import CaseTable
from evaluation.core.class_estimators import RocArea
from evaluation.core.metric import Metric, mean_metric
from evaluation.organiser.ranking.difficulty import associations, divided, values_by_subgroup
from evaluation.organiser.ranking.resampling import TeamCases
from evaluation.organiser.ranking.results import RankingError
from evaluation.phase.config import Subgroup
from evaluation.phase.scores import RecordedColumns
from test.faults import faulted

NAMES = tuple("abcdefgh")
AMD = [1, 1, 1, 1, 0, 0, 0, 0]
SEVERITY = ("early", "early", "late", "late", "", "", "", "")
AGE = ("30", "40", "59.9", "60", "100", "9", "", "60")
LIKELIHOOD = {"x": [0.5, 0.6, 0.7, 0.1, 0.2, 0.55, 0.3, 0.4], "y": [0.9, 0.8, 0.2, 0.3, 0.1, 0.1, 0.25, 0.85]}
DICE = {"x": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, math.nan, 0.8], "y": [1.0] * 8}
METRICS = {
    "classification.auc": Metric("auc", "AUC", RocArea("likelihood", "amd"), 1, 0),
    "disc.dice": mean_metric("dice", "Dice", 1, 0),
}


@pytest.fixture
def cases() -> TeamCases:
    tables = []
    for team in "xy":
        rows = zip(LIKELIHOOD[team], AMD, strict=True)
        tables.append(
            {
                "classification": CaseTable(NAMES, [{"likelihood": a, "amd": b} for a, b in rows]),
                "disc": CaseTable(NAMES, [{"dice": value} for value in DICE[team]]),
            }
        )
    return TeamCases(("x", "y"), tuple(tables))


def columns(*subgroups: Subgroup) -> RecordedColumns:
    given = {subgroup.column: subgroup for subgroup in subgroups}
    return RecordedColumns(NAMES, {"severity": SEVERITY, "age": AGE}, given)


def test_positives_of_a_severity_against_all_negatives(cases):
    severity = Subgroup(column="severity", compare="positives")
    found = values_by_subgroup(METRICS, cases, columns(severity), ["severity"])
    areas = [row for row in found if row.metric == "classification.auc"]
    assert [(row.subgroup, row.team) for row in areas] == [
        ("early", "x"),
        ("early", "y"),
        ("late", "x"),
        ("late", "y"),
    ]
    # A mean has no classes and takes the cases of the subgroup.
    means = [(row.subgroup, row.compare, row.cases, row.value) for row in found if row.team == "x"][2:]
    assert means == [("early", "cases", 2, pytest.approx(0.15)), ("late", "cases", 2, pytest.approx(0.35))]
    for row in areas:
        chosen = [i for i in range(8) if SEVERITY[i] == row.subgroup or not AMD[i]]
        expected = roc_auc_score([AMD[i] for i in chosen], [LIKELIHOOD[row.team][i] for i in chosen])
        assert row.value == pytest.approx(expected)
        assert (row.compare, row.cases, row.positives) == ("positives", 6, 2)


def test_bins_of_the_phase_in_their_order_or_the_values_of_a_column(cases):
    age = Subgroup(column="age", bins=(40, 60))
    found = values_by_subgroup(METRICS, cases, columns(age), ["age"])
    means = {
        row.subgroup: (row.cases, row.value) for row in found if row.metric == "disc.dice" and row.team == "x"
    }
    # 30 and 9; 40 and 59.9; 60, 100 and 60. The age of the case without a Dice is unknown.
    assert list(means) == ["below 40", "40 to 60", "60 and above"]
    assert means["below 40"] == (2, pytest.approx((0.1 + 0.6) / 2))
    assert means["40 to 60"] == (2, pytest.approx((0.2 + 0.3) / 2))
    assert means["60 and above"] == (3, pytest.approx((0.4 + 0.5 + 0.8) / 3))
    found = values_by_subgroup(METRICS, cases, columns(), ["severity"])
    assert {row.subgroup for row in found} == {"early", "late"}
    # Without all negatives there is one class only, and so no AUC.
    assert {row.metric for row in found} == {"disc.dice"}


def test_values_per_case_and_a_column_of_numbers(cases):
    found = {one.team: one for one in associations(METRICS, cases, columns(), ["age"])}
    # Case g has no Dice and no age; the seven others of x have both, and those of y never vary.
    kept = [i for i in range(8) if AGE[i] and not math.isnan(DICE["x"][i])]
    expected = spearmanr([float(AGE[i]) for i in kept], [DICE["x"][i] for i in kept])
    assert found["x"].cases == 7
    assert (found["x"].correlation, found["x"].p_value) == pytest.approx(tuple(expected))
    assert (found["y"].correlation, found["y"].lower, found["y"].p_value) == (None, None, None)
    with faulted(RankingError, "severity", "'early'"):
        associations(METRICS, cases, columns(), ["severity"])
    with faulted(RankingError, "height"):
        associations(METRICS, cases, columns(), ["height"])


def test_columns_of_many_values_are_divided_or_lose_the_rare_ones():
    names = tuple(f"C{case}" for case in range(60))
    ages = tuple(str(20 + case % 37) for case in range(60))
    sites = tuple("hospital" if case < 48 else f"practice {case}" for case in range(60))
    columns = RecordedColumns(names, {"age": ages, "site": sites, "eye": ("left", "right") * 30})
    found, notices = divided(columns, ("age", "site", "eye"))
    sizes = [found.labels("age").count(label) for label in found.values("age")]
    assert len(sizes) == 4
    assert min(sizes) > 10
    assert (found.values("site"), found.values("eye")) == (("hospital",), ("left", "right"))
    assert [notice.split(",")[0] for notice in notices] == [
        "subgroups by age: 37 different values",
        "subgroups by site: 13 different values",
    ]
    bins = replace(columns, subgroups={"age": Subgroup(column="age", bins=(30, 50))})
    assert len(divided(bins, ("age",))[0].values("age")) == 3
