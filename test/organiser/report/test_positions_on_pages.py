"""Where the figures of a submission's report, and those that a phase publishes, have their marks, by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import evaluation
from evaluation.charts.chart import BLUE, VERMILION, Chart
from evaluation.charts.intervals import forest_chart, metric_intervals_chart
from evaluation.charts.published import coarse_roc_chart, documents
from evaluation.core.case_table import CaseTable
from evaluation.evaluate import evaluate
from evaluation.organiser.describe import (
    Description,
    Grouping,
    QuantityValues,
)
from evaluation.organiser.describe_data import Quantity
from evaluation.organiser.report.case_images import CaseReading
from evaluation.organiser.report.charts.curves import (
    calibration_chart,
    froc_chart,
    precision_recall_chart,
    roc_chart,
    survival_chart,
)
from evaluation.organiser.report.charts.matrices import confusion_chart
from evaluation.organiser.report.charts.teams import team_values_chart
from evaluation.organiser.report.charts.values import (
    bland_altman_chart,
    distribution_chart,
    error_cloud_chart,
)
from evaluation.organiser.report.classification import classification_charts, detection_charts
from evaluation.organiser.report.data import data_section
from evaluation.organiser.report.objects import Location
from evaluation.organiser.report.overlays import ComparedNumber
from evaluation.organiser.report.results import CaseRecord, SubmissionResults, results_of
from evaluation.organiser.report.sentences import names_in
from evaluation.organiser.report.submission import metric_blocks, run_times
from evaluation.organiser.report.survival import survival_blocks
from evaluation.organiser.report.value_figures import size_charts, subgroup_blocks, value_charts
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import declared_phase, write_table
from test.charts.picture import axis, by_hand, layer, marks, names
from test.organiser.report.declared import SURVIVAL

REPORT = "organiser/report"
CHARTS = ", ".join(f'"chart-{name}.json" = "chart-{name}"' for name in ("metrics", "subgroups", "roc"))
PUBLISHED = f'outputs = {{ {CHARTS} }}\npublish_label_subgroups = ["eye"]\nsubgroup_minimum = 1\n'
PHASE = """\
[fields.likelihood]
kind = "number"
minimum = 0
maximum = 1
reference_column = "class"
positive = ["ill"]
negative = ["well"]

[fields.age]
kind = "number"
unit = "years"
table = "ages.csv"

[fields.grade]
kind = "class_probabilities"
classes = ["low", "high"]
table = "grades.csv"

[tasks.screening.metrics]
auc = { field = "likelihood" }
sensitivity_at_specificity = { field = "likelihood", specificity = 0.9 }

[tasks.ages.metrics]
mean_absolute_error = { field = "age", worst = 10 }

[tasks.grading.metrics]
macro_auc = { field = "grade" }
balanced_accuracy = { field = "grade" }

[[subgroups]]
column = "eye"
"""
CASES = {
    "name": ["p", "q", "r", "s"],
    "class": ["ill", "well", "ill", "well"],
    "age": [50, 60, 70, 80],
    "grade": ["low", "high", "low", "high"],
    "eye": ["right", "right", "left", "left"],
}
LIKELIHOODS = [0.55, 0.6, 0.9, 0.2]
AGES = [51, 62, 76, 87]
LOW = [0.75, 0.75, 0.625, 0.25]


def scored(folder: Path, tables: str, cases: Mapping[str, Sequence[Any]], keys: str, **written: Any) -> Any:
    """Score tables of predictions by declared tables, and return their folder and the results."""
    phase = declared_phase(folder / "phase", tables, cases, keys=f"resamples = 0\nvalue_digits = 9\n{keys}")
    evaluation.seal(phase)
    for name, columns in written.items():
        write_table(folder / "submission" / f"{name}.csv", {"case": cases["name"]} | columns)
    scores = evaluation.evaluate(phase, folder / "submission", workers=0)
    return folder / "submission", results_of(load_phase(phase), scores.to_dict(), scores.records)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return scored(
        tmp_path_factory.mktemp("pages"),
        PHASE,
        CASES,
        PUBLISHED,
        predictions={"likelihood": LIKELIHOODS},
        ages={"age": AGES},
        grades={"low": LOW, "high": [1 - one for one in LOW]},
    )


@pytest.fixture(scope="module")
def results(both: Any) -> SubmissionResults:
    return cast(SubmissionResults, both[1])


def table_of(column: str, **values: float) -> CaseTable:
    return CaseTable(list(values), [{column: value} for value in values.values()])


def charts(blocks: Any) -> dict[str, Chart]:
    return {block.name: block for block in blocks if isinstance(block, Chart)}


@by_hand(
    roc_chart,
    precision_recall_chart,
    calibration_chart,
    confusion_chart,
    page=f"{REPORT}/classification.py",
)
def test_figures_of_scores(results):
    found = charts(classification_charts(results))
    of = {name.removeprefix("screening-likelihood-class-"): one for name, one in found.items()}
    # By falling likelihood: ill, well, ill, well.
    assert marks(of["roc"], "line", "curves", "x", "y") == [(0, 0), (0, 0.5), (0.5, 0.5), (0.5, 1), (1, 1)]
    # At a specificity of 0.9 no well one may be called; from ½ on, one of them is, and both ill ones.
    assert marks(of["roc"], "point", "points", "x", "y") == [(0, 0.5), (0.5, 1)]
    precision = of["precision-recall"]
    thirds = (1, pytest.approx(2 / 3))
    assert marks(precision, "line", "curves", "x", "y") == [(0, 1), (0.5, 1), (0.5, 0.5), thirds, (1, 0.5)]
    assert marks(precision, "rule", "chance", "y") == [0.5]
    bins = [(0.2, 0, 1), (0.55, 1, 1), (0.6, 0, 1), (0.9, 1, 1)]
    assert marks(of["calibration"], "point", "bins", "x", "y", "size") == bins
    # |0 − 0.2|, |1 − 0.55|, |0 − 0.6| and |1 − 0.9| by case, and their squares.
    told = f"Expected calibration error {1.35 / 4:.3f}, Brier score {(0.04 + 0.2025 + 0.36 + 0.01) / 4:.3f}."
    assert of["calibration"].description.endswith(told)
    confusion = of["confusion"]
    assert marks(confusion, "text", "cells", "text") == ["1 (50 %)", "1 (50 %)", "0 (0 %)", "2 (100 %)"]
    assert confusion.title.endswith("right in 3 of 4 cases")


@by_hand(roc_chart, calibration_chart, confusion_chart, page=f"{REPORT}/classification.py")
def test_figures_of_classes(results):
    found = charts(classification_charts(results))
    # "low", "high", "low", "high" with 0.75, 0.75, 0.625 and 0.25 for "low": the second is wrong.
    confusion = found["grading-grade-confusion-matrix"]
    assert (names(confusion, "y"), names(confusion, "x")) == (["low", "high"], ["low", "high"])
    assert marks(confusion, "rect", "cells", "y", "x", "color") == [
        *(("low", "low", 1), ("low", "high", 0)),
        *(("high", "low", 0.5), ("high", "high", 0.5)),
    ]
    roc = found["grading-grade-classes-roc"]
    colours = marks(roc, "line", "curves", "x", "y", "color")
    assert [row[:2] for row in colours if row[2] == VERMILION] == [(0, 0), (0.5, 0.5), (0.5, 1), (1, 1)]
    # "high" is the first in the alphabet, and its curve is turned by half a turn.
    assert [row[:2] for row in colours if row[2] == BLUE] == [(0, 0), (0, 0.5), (0.5, 0.5), (1, 1)]
    low = found["grading-grade-low-calibration"]
    assert marks(low, "point", "bins", "x", "y", "size") == [(0.25, 0, 1), (0.625, 1, 1), (0.75, 0.5, 2)]


@by_hand(roc_chart, confusion_chart, page=f"{REPORT}/classification.py")
def test_a_case_without_probabilities_is_ranked_wrong_and_has_a_column_of_its_own(tmp_path):
    tables = PHASE[PHASE.index("[fields.grade]") : PHASE.index("[tasks.screening")]
    tables += PHASE[PHASE.index("[tasks.grading") : PHASE.index("[[subgroups]]")]
    cases = {name: CASES[name] for name in ("name", "grade")}
    given = {"case": list("qrs"), "low": LOW[1:], "high": [1 - one for one in LOW[1:]]}
    _, results = scored(tmp_path, tables, cases, 'missing = "worst"', grades=given)
    found = charts(classification_charts(results))
    # Of "low", "p" is found at no threshold; of "high" it is above all.
    roc = marks(found["grading-grade-classes-roc"], "line", "curves", "x", "y", "color")
    assert [row[:2] for row in roc if row[2] == VERMILION] == [(0, 0), (0.5, 0), (0.5, 0.5), (1, 0.5)]
    assert [row[:2] for row in roc if row[2] == BLUE] == [(0, 0), (0.5, 0), (0.5, 0.5), (1, 0.5), (1, 1)]
    confusion = found["grading-grade-confusion-matrix"]
    labels = ["1 (50 %)", "0 (0 %)", "1 (50 %)", "1 (50 %)", "1 (50 %)", "0 (0 %)"]
    assert marks(confusion, "text", "cells", "text") == labels
    assert names(confusion, "x") == ["low", "high", "no result"]


@by_hand(distribution_chart, forest_chart, page=f"{REPORT}/value_figures.py")
def test_figures_of_errors_in_cases(results):
    # The errors are 1, 2, 6 and 7 years: quartiles 1.75 and 6.25, median 4.
    found = charts(value_charts(results))
    boxes = found["ages-distribution-1"]
    assert marks(boxes, "bar", "boxes", "x", "x2") == [(1.75, 6.25)]
    assert marks(boxes, "rule", "boxes", "x", "x2") == [(1, 7)]
    assert marks(boxes, "tick", "boxes", "x") == [4]
    assert marks(boxes, "point", "points", "x") == [1, 2, 6, 7]
    forests = charts(subgroup_blocks(results))
    (auc,) = (one for name, one in forests.items() if "screening-auc" in name)
    # Of four pairs three are in order; the only one of the right eyes is not, and that of the left ones is.
    assert [value for _, value in marks(auc, "square", "subgroups", "y", "x")] == [0.75, 0, 1]
    assert marks(auc, "rule", "overall", "x") == [0.75]
    assert [name[-2] for name in names(auc, "y")] == ["4", "2", "2"]


@by_hand(metric_intervals_chart, distribution_chart, page=f"{REPORT}/submission.py")
def test_metrics_and_run_times(results):
    chart = charts(metric_blocks(results))["metric-intervals"]
    places = dict(marks(chart, "point", "metrics", "y", "x"))
    # Of the pairs of grades two and a half of four are won; all of one grade and half of the other are right.
    assert [places[name] for name in places if name.startswith("AUC")] == [0.75]
    assert sorted(places.values()) == [0.5, 0.625, 0.75, 0.75]
    # A mean error of 4 of at most 10 years does not go from 0 to 1.
    assert [text.split()[0] for text in marks(chart, "text", "numbers", "text")] == ["4"]
    times = [CaseRecord(name, {}, (), None, of) for name, of in zip("abcde", SECONDS, strict=True)]
    (chart,) = run_times(cast(SubmissionResults, SimpleNamespace(cases=times)))
    points = [(row["case"], row["value"]) for row in layer(chart, "point", "points").rows]
    assert points == [("a", 1), ("b", 2), ("d", 2), ("e", 6)]
    assert marks(chart, "tick", "boxes", "x") == [2]
    assert chart.title == "Run times: median 2 s, in all 11 s"


SECONDS = (1.0, 2.0, None, 2.0, 6.0)


@by_hand(coarse_roc_chart, metric_intervals_chart, forest_chart, page="charts/published.py")
def test_published_figures(both):
    scores = evaluate(both[1].phase, both[0], 0)
    files = documents(scores, scores.metrics, scores.phase.config.outputs)
    metrics, subgroups, curve = map(json.loads, files.values())
    # Without a well one half of the ill are called, and with one of two all.
    found = marks(curve, "point", "curves", "x", "y")
    assert found == [(step / 10, 0.5 if 0 < step < 5 else float(step > 0)) for step in range(11)]
    boxes = marks(curve, "rect", "between", "x", "x2", "y", "y2")
    assert (boxes[0], boxes[4]) == ((0, 0.1, 0, 0.5), (0.4, 0.5, 0.5, 1))
    assert sorted(marks(metrics, "point", "metrics", "x")) == [0.5, 0.625, 0.75, 0.75]
    assert [text.split()[0] for text in marks(metrics, "text", "numbers", "text")] == ["4"]
    rows = marks(subgroups, "square", "subgroups", "y", "x")
    assert rows == [("all cases", 0.75), ("eye: right", 0), ("eye: left", 1)]


READINGS = [
    CaseReading(
        name,
        (ComparedNumber("liver", size + more, size, "ml"),),
        (ComparedNumber("Age", size + more, size, "years"),),
        {"age": Location((10.0 + x, 20.0 + y), (10.0, 20.0))},
        {},
    )
    for name, size, more, x, y in (
        ("p", 10.0, 2.0, 3.0, 4.0),
        ("q", 20.0, 0.0, 0.0, 0.0),
        ("r", 30.0, 1.0, -6.0, 8.0),
    )
]


@by_hand(bland_altman_chart, error_cloud_chart, page=f"{REPORT}/value_figures.py")
def test_sizes_and_positions_are_predicted_against_true_ones(results):
    found = charts(size_charts(results, READINGS))
    # The differences 2, 0 and 1 have the mean 1 and the deviation 1.
    for name in ("liver-agreement", "age-agreement"):
        assert marks(found[name], "point", "points", "x", "y") == [(11, 2), (20, 0), (30.5, 1)]
        assert marks(found[name], "rule", "lines", "y") == pytest.approx([1, -0.96, 2.96])
    cloud = found["age-errors"]
    assert marks(cloud, "point", "points", "x", "y") == [(3, 4), (0, 0), (-6, 8)]
    # The distances are 5, 0 and 10: half is 5, and nine tenths are 0.8 of the way on to 10.
    assert axis(cloud, "y").downwards
    rings = {ring: math.hypot(x, y) for ring, x, y in marks(cloud, "line", "rings", "detail", "x", "y")}
    assert rings == {"50 %": pytest.approx(5), "90 %": pytest.approx(9)}


NODULES = """\
[fields.nodules]
kind = "points"
table = "nodules.csv"
probability = true
diameter = true

[tasks.nodules.metrics]
froc = { field = "nodules" }
"""


@by_hand(precision_recall_chart, froc_chart, page=f"{REPORT}/classification.py")
def test_curves_of_detections(tmp_path):
    phase = declared_phase(tmp_path / "phase", NODULES, {"name": ["p", "q"]}, keys="resamples = 0")
    at = {"x": [10, 50], "y": [10, 50], "z": [0, 0]}
    write_table(phase / "nodules.csv", {"case": ["p", "p"], **at, "diameter": [8, 8]})
    evaluation.seal(phase)
    # By falling probability: found, false in the other case, found.
    at = {"x": [11, 70, 50], "y": [10, 70, 52], "z": [0, 0, 0]}
    found = {"case": ["p", "q", "p"], **at, "probability": [0.9, 0.8, 0.7]}
    write_table(tmp_path / "submission" / "nodules.csv", found)
    scores = evaluation.evaluate(phase, tmp_path / "submission", workers=0)
    drawn = charts(detection_charts(results_of(load_phase(phase), scores.to_dict(), scores.records)))
    (froc,) = (one for name, one in drawn.items() if name.endswith("froc"))
    assert marks(froc, "line", "curves", "x", "y") == [(0, 0), (0, 0.5), (0.5, 0.5), (0.5, 1)]
    (precision,) = (one for name, one in drawn.items() if "precision-recall" in name)
    points = [(0, 1), (0.5, 1), (0.5, 0.5), (1, pytest.approx(2 / 3))]
    assert marks(precision, "line", "curves", "x", "y") == points


POLYPS = """\
[fields.polyps]
kind = "boxes"
classes = ["polyp"]
table = "polyps.csv"
probability = true

[tasks.polyps.metrics]
box_average_precision = { field = "polyps" }
"""


@by_hand(precision_recall_chart, page=f"{REPORT}/classification.py")
def test_the_precision_of_a_class_is_the_best_at_a_recall_or_above(tmp_path):
    phase = declared_phase(tmp_path / "phase", POLYPS, {"name": ["p", "q"]}, keys="resamples = 0")
    # By falling probability: false in the other case, found, found, false.
    table = {"case": ["q", "p", "p", "q"], "x1": [0, 0, 50, 50], "y1": [0, 0, 50, 50]}
    table |= {"x2": [9, 9, 59, 59], "y2": [9, 9, 59, 59], "class": ["polyp"] * 4}
    write_table(phase / "polyps.csv", {name: cells[1:3] for name, cells in table.items()})
    evaluation.seal(phase)
    found = table | {"probability": [0.9, 0.8, 0.7, 0.6]}
    write_table(tmp_path / "submission" / "polyps.csv", found)
    scores = evaluation.evaluate(phase, tmp_path / "submission", workers=0)
    drawn = charts(detection_charts(results_of(load_phase(phase), scores.to_dict(), scores.records)))
    thirds = [(one, pytest.approx(2 / 3)) for one in (0, 0.5, 1)]
    assert marks(drawn["polyps-precision-recall-50"], "line", "curves", "x", "y") == thirds


TEN = {"name": [f"c{number}" for number in range(10)], "time": range(1, 11), "event": [1] * 10}


@by_hand(survival_chart, page=f"{REPORT}/survival.py")
def test_survival_by_predicted_risk_and_predicted_survival(tmp_path):
    # Twice the true times: the five shortest are those with the highest risk.
    times = {"survival": [2 * time for time in TEN["time"]]}
    _, results = scored(tmp_path, SURVIVAL.format(more=""), TEN, "", predictions=times)
    groups, predicted = (one for one in survival_blocks(results) if isinstance(one, Chart))
    rows = marks(groups, "line", "curves", "x", "y", "color")
    # Of each five one has the event at each time. By the alphabet "high risk" is blue.
    shares = [1, 0.8, 0.6, 0.4, 0.2, 0]
    early, late = ([(x, y) for x, y, of in rows if of == colour] for colour in (BLUE, VERMILION))
    assert [x for x, _ in early] == [0, 1, 2, 3, 4, 5]
    assert [x for x, _ in late] == [0, 6, 7, 8, 9, 10]
    assert [y for _, y in early] == [y for _, y in late] == pytest.approx(shares)
    assert axis(groups, "x").title == "time in months"
    # Of ten predicted times 2, 4, … one falls away at each, as far as anyone was observed, up to 10.
    assert [row for row in marks(predicted, "line", "curves", "x", "y", "color") if row[2] == VERMILION] == [
        (2 * number, pytest.approx(1 - number / 10), VERMILION) for number in range(6)
    ]


@by_hand(calibration_chart, page=f"{REPORT}/survival.py")
def test_calibration_of_risks_at_their_horizon(tmp_path):
    # Four of the five cases of the higher risk have the event within 5 months, and one of the others, at 5.
    more = "risk = true\nminimum = 0\nmaximum = 1\nhorizon = 5\n"
    risks = {"survival": [0.75] * 4 + [0.25] * 5 + [0.75]}
    _, results = scored(tmp_path, SURVIVAL.format(more=more), TEN, "", predictions=risks)
    _, calibration = (one for one in survival_blocks(results) if isinstance(one, Chart))
    low, high = pytest.approx(0.2), pytest.approx(0.8)
    assert marks(calibration, "point", "bins", "x", "y", "size") == [(0.25, low, 5), (0.75, high, 5)]
    # Greenwood: d / (n · (n − d)) summed over the events, on the scale of log(−log) of the shares alive.
    ends = []
    for alive, greenwood in ((0.8, 1 / 20), (0.2, 1 / 20 + 1 / 12 + 1 / 6 + 1 / 2)):
        width = 1.959963984540054 * math.sqrt(greenwood) / -math.log(alive)
        ends.append([1 - alive ** math.exp(sign * width) for sign in (-1, 1)])
    assert marks(calibration, "rule", "bins", "y", "y2") == [pytest.approx(one) for one in ends]
    assert axis(calibration, "y").title == "share with the event within 5 months"
    assert "error 0.050" in calibration.description


@by_hand(team_values_chart, page="organiser/analyses/section.py")
def test_figures_of_a_further_analysis():
    leaf = pytest.importorskip("evaluation.organiser.analyses.section")
    metrics = tuple(SimpleNamespace(name=name, title=name.upper()) for name in ("near", "far"))
    analysis = SimpleNamespace(
        name="edges",
        texts={"title": "Edges", "note": "", "parts": {}},
        metrics=metrics,
        charted={"Dice": {"near": "at the edge", "far": "inside"}},
        fields=frozenset(),
        joined=None,
    )
    figures = (
        leaf.AnalysisFigure("left", "NEAR", 3, 3, 0.5, 0.25, 0.75, "BCa"),
        leaf.AnalysisFigure("left", "FAR", 3, 3, 0.875, None, None, "few"),
    )
    result = leaf.AnalysisResult("p", cast(Any, analysis), figures, ())
    (chart,) = charts(leaf.analysis_blocks([result])).values()
    assert names(chart, "y") == ["left (at the edge)", "left (inside)"]
    assert marks(chart, "point", "teams", "y", "x", "color") == [
        ("left (at the edge)", 0.5, VERMILION),
        ("left (inside)", 0.875, BLUE),
    ]
    assert marks(chart, "rule", "intervals", "y", "x", "x2") == [("left (at the edge)", 0.25, 0.75)]


@by_hand(distribution_chart, page=f"{REPORT}/data.py")
def test_data_of_phases_by_group():
    description = Description(
        "description/1",
        "declared",
        ("train", "test"),
        0.05,
        ("a", "b", "c", "d"),
        (Grouping("phase", ("train", "train", "train", "test"), ("train", "test")),),
        (),
        (),
        (),
        (),
        (QuantityValues(Quantity("age", "years"), (0, 1, 3), (10.0, 20.0, 40.0)),),
    )
    found = charts(data_section(description, names_in(description.challenge)).blocks)
    ages = found["data-age-phase"]
    assert marks(ages, "tick", "boxes", "y", "x") == [("train", 15), ("test", 40)]
    points = [(row["name"], row["case"], row["value"]) for row in ages.data["points"]]
    assert points == [("train", "a", 10), ("train", "b", 20), ("test", "d", 40)]
