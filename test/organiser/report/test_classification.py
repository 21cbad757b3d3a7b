"""Figures of classification, against scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

from evaluation.charts.chart import Chart
from evaluation.organiser.report.classification import classification_blocks
from evaluation.organiser.report.page import Text


def charts(results):
    return {block.name: block for block in classification_blocks(results) if isinstance(block, Chart)}


def test_the_figures_of_a_likelihood_and_its_named_points(bundled_phase):
    results = bundled_phase("refuge-onsite").results
    found = charts(results)
    table = results.tables["classification"]
    score, label = table["likelihood"], table["glaucoma"]
    curve = found["classification-glaucoma-roc"].data["curves"]
    area = np.trapezoid([row["sensitivity"] for row in curve], [row["false_positive_rate"] for row in curve])
    assert area == pytest.approx(metrics.roc_auc_score(label, score))
    cells = [row["cases"] for row in found["classification-glaucoma-confusion"].data["cells"]]
    assert cells == metrics.confusion_matrix(label, score >= 0.5).ravel().tolist()
    chance = found["classification-glaucoma-precision-recall"].data["chance"]
    assert chance == [{"precision": pytest.approx(label.mean())}]
    points = charts(results)["classification-glaucoma-roc"].data["points"]
    sensitivity = results.estimates["classification"]["reference_sensitivity"].value
    assert points[0]["name"] == "Sensitivity at 85 % specificity"
    assert points[0]["sensitivity"] == pytest.approx(sensitivity)
    assert points[0]["false_positive_rate"] <= 0.15
    none = replace(results, resampling=replace(results.resampling, resamples=0))
    assert "band" in charts(results)["classification-glaucoma-roc"].data
    assert "band" not in charts(none)["classification-glaucoma-roc"].data


def test_graders_and_decisions_are_points_of_the_curve(bundled_phase):
    results = bundled_phase("justraigs-phase2").results
    points = charts(results)["referral-referable-roc"].data["points"]
    named = {point["name"]: point for point in points}
    assert {"grader G1", "grader G2", "Binary decision on referral"} <= set(named)
    decision = results.estimates["decision"]
    assert named["Binary decision on referral"]["sensitivity"] == pytest.approx(decision["sensitivity"].value)
    right = 1 - named["Binary decision on referral"]["false_positive_rate"]
    assert right == pytest.approx(decision["specificity"].value)
    # by hand from the case table: of the eyes that G1 called RG or NRG
    cells = {case.name: case.cells for case in results.cases}
    table = results.tables["referral"]
    labels = dict(zip(table.names, table["referable"].tolist(), strict=True))
    called = [cells[name]["label_g1"] for name, label in labels.items() if label == 1]
    share = called.count("RG") / (called.count("RG") + called.count("NRG"))
    assert named["grader G1"]["sensitivity"] == pytest.approx(share)


def test_decisions_are_counted_by_what_they_should_be(bundled_phase):
    results = bundled_phase("adam-onsite").results
    cells = [row["cases"] for row in charts(results)["disc-f1-confusion"].data["cells"]]
    table = results.tables["disc"]
    assert (
        cells
        == metrics.confusion_matrix(table["present"], table["predicted"], labels=[0, 1]).ravel().tolist()
    )
    decided = [
        row["cases"]
        for row in charts(bundled_phase("justraigs-phase2").results)["decision-confusion"].data["cells"]
    ]
    table = bundled_phase("justraigs-phase2").results.tables["decision"]
    right, missed = table["not_referred"], table["referred"]
    assert decided == [np.nansum(right), np.nansum(1 - right), np.nansum(1 - missed), np.nansum(missed)]


def test_cases_without_a_label_are_named_once(bundled_phase):
    results = bundled_phase("justraigs-phase1").results
    (text,) = (block for block in classification_blocks(results) if isinstance(block, Text))
    (sentence,) = (one for one in text.paragraphs if "referable" in one)
    undecided = [case.name for case in results.cases if case.cells["final_label"] not in ("RG", "NRG")]
    assert f"{len(results.cases) - 1} of {len(results.cases)} cases" in sentence
    assert sentence.endswith(f": {undecided[0]}.")
