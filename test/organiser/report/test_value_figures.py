"""Figures of scores, detections, numbers and times: against scikit-learn, plain resampling and by hand."""

from dataclasses import replace

import numpy as np
import pytest

import evaluation
from evaluation.core.fault import PhaseError
from evaluation.metrics.free_response import Candidates, FrocTable
from evaluation.organiser.report.case_images import Request, read_cases
from evaluation.organiser.report.charts.curves import froc_band
from evaluation.organiser.report.classification import classification_charts, detection_charts
from evaluation.organiser.report.results import results_of
from evaluation.organiser.report.submission import organiser_page
from evaluation.organiser.report.value_figures import size_charts
from evaluation.phase.phase import load_phase
from test.challenges.declared.phases import write_table
from test.challenges.declared.scalars import sealed
from test.faults import faulted
from test.organiser.report.declared import SURVIVAL, declared


def charts(results):
    return {chart.name: chart for chart in classification_charts(results)}


def cells_of(chart):
    return [row["cases"] for row in chart.data["cells"]]


def test_a_likelihood_has_named_points_and_a_band(bundled_phase):
    results = bundled_phase("refuge-onsite").results
    roc = charts(results)["classification-glaucoma-roc"].data
    sensitivity = results.estimates["classification"]["reference_sensitivity"].value
    assert roc["points"][0]["name"] == "Sensitivity at 85 % specificity"
    assert roc["points"][0]["sensitivity"] == pytest.approx(sensitivity)
    assert roc["points"][0]["false_positive_rate"] <= 0.15
    none = replace(results, resampling=replace(results.resampling, resamples=0))
    assert "band" in roc
    assert "band" not in charts(none)["classification-glaucoma-roc"].data


def test_decisions_are_points_of_the_curve(bundled_phase):
    results = bundled_phase("justraigs-phase2").results
    found = charts(results)
    named = {point["name"]: point for point in found["referral-referable-roc"].data["points"]}
    decision = results.estimates["decision"]
    assert named["Binary decision on referral"]["sensitivity"] == pytest.approx(decision["sensitivity"].value)
    right = 1 - named["Binary decision on referral"]["false_positive_rate"]
    assert right == pytest.approx(decision["specificity"].value)
    table = results.tables["decision"]
    right, missed = table["not_referred"], table["referred"]
    counts = [np.nansum(right), np.nansum(1 - right), np.nansum(1 - missed), np.nansum(missed)]
    assert cells_of(found["decision-confusion"]) == counts


CLASSES = ("BE", "suspicious", "HGD", "cancer", "polyp")


@pytest.fixture(scope="module")
def bundled_figures(bundled_phase):
    """Return the results of EDD2020's bundled submission, and its figures by name."""
    results = bundled_phase("edd2020").results
    return results, figures_of(results)


@pytest.fixture(scope="module")
def of_declared(tmp_path_factory):
    return declared(tmp_path_factory.mktemp("declared")).results


def figures_of(results):
    return {block.name: block for block in detection_charts(results)}


def test_the_band_of_a_free_response_curve_holds_95_percent_of_plain_resamples():
    generator = np.random.default_rng(5)
    case = generator.integers(0, 30, 120)
    hit = generator.random(120) < 0.4
    references = np.bincount(case[hit], minlength=30) + generator.integers(0, 2, 30)
    confidence = np.round(generator.random(120) + 0.3 * hit, 2)
    candidates = Candidates(case, confidence, hit, references)
    weights = generator.multinomial(30, np.full(30, 1 / 30), size=200).astype(float)
    band = froc_band("one", FrocTable(candidates), [weights[:120], weights[120:]])

    def sensitivity(row, rate):
        """Return the highest sensitivity of a threshold with so many false positives per case or fewer."""
        found = [0.0]
        for threshold in np.unique(confidence):
            above = confidence >= threshold
            if row[case[above & ~hit]].sum() / row.sum() <= rate:
                found.append(row[case[above & hit]].sum() / (row @ references))
        return max(found)

    at = 20
    plain = [sensitivity(row, band.x[at]) for row in weights]
    # The band's curves are linear between their points, the plain ones are steps below them.
    lower, upper = np.quantile(plain, (0.025, 0.975))
    assert lower <= band.lower[at] <= lower + 0.05
    assert upper <= band.upper[at] <= upper + 0.05


def test_curves_have_bands_unless_the_phase_draws_no_resamples(bundled_figures):
    results, figures = bundled_figures
    for name in ("detection-froc", "detection-precision-recall-50"):
        curves, band = (figures[name].data[part] for part in ("curves", "band"))
        assert {row["name"] for row in band} == {row["name"] for row in curves}
        assert all(row["lower"] <= row["upper"] for row in band)
    without = figures_of(replace(results, resampling=replace(results.resampling, resamples=0)))
    assert not any("band" in chart.data for chart in without.values())


def test_the_area_below_the_steps_is_the_average_precision_and_no_class_is_hidden(bundled_figures):
    results, figures = bundled_figures
    rows = figures["detection-precision-recall-50"].data["curves"]
    widths = {row["name"]: row["width"] for row in rows}
    assert sorted(set(widths.values()), reverse=True) == list(widths.values())  # later ones lie on wider ones
    for name in CLASSES:
        own = [row for row in rows if row["name"] == name]
        recall, precision = (np.array([row[c] for row in own]) for c in ("recall", "precision"))
        area = float((np.diff(recall) * precision[1:]).sum())
        # The three thresholds of the bundled phase give one AP.
        assert area == pytest.approx(results.estimates["detection"][f"ap_{name}"].value, abs=0.005)


def test_metrics_of_the_same_hits_share_their_curves(of_declared):
    results = of_declared
    task = next(one for one in results.tasks if one.name == "nodules")
    once = [block.name for block in detection_charts(replace(results, tasks=(task,)))]
    metric = next(one for one in task.metrics if one.estimator.detections)
    twin = replace(metric, name="again", title="Another figure of the same hits")
    estimates = results.estimates["nodules"] | {"again": results.estimates["nodules"][metric.name]}
    twice = replace(
        results,
        tasks=(replace(task, metrics=(*task.metrics, twin)),),
        estimates={"nodules": estimates},
    )
    assert [block.name for block in detection_charts(twice)] == once


NAMES = [f"case{number:02d}" for number in range(30)]
TIMES = np.arange(1.0, 31)
NUMBER = """\
[fields.age]
kind = "number"
minimum = 0
maximum = 100
unit = "years"

[tasks.age]
metrics = ["mean_absolute_error", "bias"]
"""


def scored_results(folder, tables, cases, column, values):
    """Return the results of a submission."""
    phase = sealed(folder / "phase", tables, {"name": NAMES, **cases})
    write_table(folder / "submission" / "predictions.csv", {"case": NAMES, column: values})
    scored = evaluation.evaluate(phase, folder / "submission", workers=0)
    return results_of(load_phase(phase), scored.to_dict(), scored.records)


def test_a_horizon_needs_a_probability(tmp_path):
    with faulted(PhaseError, "fields.survival: horizon", "12"):
        sealed(tmp_path, SURVIVAL.format(more="horizon = 12\n"), {"name": NAMES})


def test_numbers_agree_with_their_references_and_a_bias_has_no_place_between_worst_and_best(tmp_path):
    found = scored_results(tmp_path, NUMBER, {"age": TIMES}, "age", TIMES + 2)
    request = Request(tmp_path / "phase", tmp_path / "submission", {}, None, workers=0)
    (agreement,) = size_charts(found, read_cases(request, lambda done: None))
    assert [row["y"] for row in agreement.data["points"]] == pytest.approx([2] * 30)
    assert agreement.title == "Age: too large by 2 years on average"
    chart, table = organiser_page(found).sections[0].blocks
    assert [row["metric"] for row in chart.data["numbers"]] == ["Mean absolute error ↓"]
    assert {row[0]: row[-2] for row in table.rows}["Bias"] is None
