"""Hits, false and missed boxes of one image, and the free-response curve."""

from dataclasses import replace

import numpy as np

from evaluation.core.case_table import CaseTable
from evaluation.report.detection import case_hits, detection_section

REFERENCE = np.array([[0, 1, 0, 0, 10, 10], [0, 1, 20, 20, 30, 30], [1, 1, 0, 0, 10, 10]], float)
PREDICTED = np.array(
    [
        [0, 0.9, 0, 0, 10, 10],  # hits the first
        [0, 0.8, 0, 0, 10, 9],  # the first is taken
        [0, 0.7, 20, 20, 30, 24],  # IoU 0.4
        [1, 0.6, 0, 0, 10, 10],  # hits the third
    ],
    float,
)


def test_hits_false_and_missed_boxes():
    found = case_hits(PREDICTED, REFERENCE, 0.5, False)
    assert found.hit.tolist() == [True, False, False, True]
    assert (found.found, found.false, found.missed) == (2, 2, 1)


def test_a_lower_threshold_finds_more():
    assert case_hits(PREDICTED, REFERENCE, 0.4, False).found == 3


def test_the_curves_end_where_all_boxes_are_counted(bundled_phase):
    results = bundled_phase("edd2020").results
    figures = {block.chart.name: block.chart for block in detection_section(results).blocks}
    rows = figures["detection-froc"].data["curves"]
    table = results.tables["detection"]
    for position, name in enumerate(("BE", "suspicious", "HGD", "cancer", "polyp")):
        hits = [
            case_hits(predicted, reference, 0.5, False)
            for predicted, reference in zip(
                table.objects("predicted"), table.objects("reference"), strict=True
            )
        ]
        of_class = [predicted[:, 0] == position for predicted in table.objects("predicted")]
        false = sum(int((~hit.hit[own]).sum()) for hit, own in zip(hits, of_class, strict=True))
        last = [row for row in rows if row["name"] == name][-1]
        assert last["false_positives_per_case"] * len(table) == false


def test_hits_that_a_declared_metric_counts_are_a_curve_too(bundled_phase):
    results = bundled_phase("refuge-onsite").results
    task = results.tasks[0]
    metric = replace(task.metrics[0], name="cpm", title="CPM")
    rows = [
        {"cpm_hits": np.array([0.9]), "cpm_false": np.array([0.5, 0.2]), "cpm_objects": 1},
        {"cpm_hits": np.array([0.4]), "cpm_false": np.zeros(0), "cpm_objects": 2},
    ]
    changed = replace(
        results, tasks=(replace(task, metrics=(metric,)),), tables={task.name: CaseTable(["a", "b"], rows)}
    )
    (figure,) = detection_section(changed).blocks
    points = [(row["false_positives_per_case"], row["sensitivity"]) for row in figure.chart.data["curves"]]
    # by falling confidence: hit, false, hit, false, of three objects and two images
    np.testing.assert_allclose(points, [(0, 0), (0, 1 / 3), (0.5, 1 / 3), (0.5, 2 / 3), (1, 2 / 3)])


def test_a_phase_without_boxes_has_no_section(bundled_phase):
    assert detection_section(bundled_phase("refuge-onsite").results) is None
