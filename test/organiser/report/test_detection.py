"""Curves of detections, by hand and against plain resampling."""

from dataclasses import replace

import numpy as np
import pytest

from evaluation.metrics.froc import Candidates, FrocTable
from evaluation.organiser.report.classification import detection_charts, froc_band
from evaluation.organiser.report.objects import case_hits
from test.organiser.report.declared import declared

CLASSES = ("BE", "suspicious", "HGD", "cancer", "polyp")


@pytest.fixture(scope="module")
def bundled_figures(bundled_phase):
    """Return the results of EDD2020's bundled submission, and its figures by name."""
    results = bundled_phase("edd2020").results
    return results, figures_of(results)


@pytest.fixture(scope="module")
def of_declared(tmp_path_factory):
    return declared(tmp_path_factory.mktemp("declared")).results


def test_the_curves_end_where_all_boxes_are_counted(bundled_figures):
    results, figures = bundled_figures
    rows = figures["detection-froc"].data["curves"]
    table = results.tables["detection"]
    sides = [*zip(table.objects("predicted"), table.objects("reference"), strict=True)]
    hits = [case_hits(predicted, reference, 0.5, False) for predicted, reference in sides]
    for position, name in enumerate(CLASSES):
        of_class = [predicted[:, 0] == position for predicted, _ in sides]
        false = sum(int((~hit[own]).sum()) for hit, own in zip(hits, of_class, strict=True))
        last = [row for row in rows if row["name"] == name][-1]
        assert last["false_positives_per_case"] * len(table) == false


def figures_of(results):
    return {block.name: block for block in detection_charts(results)}


def test_declared_detections_have_curves_by_hand(of_declared):
    figures = figures_of(of_declared)
    # Nodules by falling probability: hit 0.9, hit 0.8, false 0.5 (that of 0.7 does not count); three in all.
    froc = figures["nodules-froc"].data["curves"]
    points = [(row["false_positives_per_case"], row["sensitivity"]) for row in froc]
    np.testing.assert_allclose(points, [(0, 0), (0, 2 / 3), (1 / 3, 2 / 3)])
    curve = [(row["recall"], row["precision"]) for row in figures["nodules-precision-recall"].data["curves"]]
    np.testing.assert_allclose(curve, [(0, 1), (1 / 3, 1), (2 / 3, 1), (2 / 3, 2 / 3)])
    assert {"polyps-precision-recall-50", "polyps-precision-recall-75", "polyps-froc"} <= set(figures)
    # Both polyps are found, the cancer is missed at a false box, so that it has no point of precision.
    curve = figures["polyps-precision-recall-50"].data["curves"]
    assert [(row["name"], row["recall"], row["precision"]) for row in curve] == [
        ("polyp", 0, 1),
        ("polyp", 0.5, 1),
        ("polyp", 1, 1),
    ]
    froc = figures["polyps-froc"].data["curves"]
    assert [row["sensitivity"] for row in froc if row["name"] == "cancer"][-1] == 0


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
    assert len(widths) == 5
    assert sorted(widths.values(), reverse=True) == list(widths.values())  # later ones lie on wider ones
    assert len(set(widths.values())) == 5
    for name in widths:
        recall, precision = (
            np.array([row[c] for row in rows if row["name"] == name]) for c in ("recall", "precision")
        )
        area = float((np.diff(recall) * precision[1:]).sum())
        # the three thresholds of the bundled phase give one AP
        assert area == pytest.approx(results.estimates["detection"][f"ap_{name}"].value, abs=0.005)


def test_the_confusion_of_classes_counts_every_box_of_the_reference_once(bundled_figures):
    results, figures = bundled_figures
    chart = figures["detection-class-confusion"]
    cells = {(row["true"], row["predicted"]): row["cases"] for row in chart.data["cells"]}
    table = results.tables["detection"]
    for position, name in enumerate(CLASSES):
        true, submitted = (
            sum(int((boxes[:, 0] == position).sum()) for boxes in table.objects(side))
            for side in ("reference", "predicted")
        )
        assert sum(count for (of, _), count in cells.items() if of == name) == true
        # Predicted boxes are hits, lie on a box of another class, or on none.
        assert sum(count for (_, called), count in cells.items() if called == name) == submitted
    assert cells["no box", "no box"] == 0


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
