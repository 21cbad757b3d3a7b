"""How good single cases are."""

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.organiser.report.pictures import goodness_of_cases
from test.organiser.report.declared import declared


def test_the_goodness_of_a_case_is_its_mean_place_between_worst_and_best(bundled_phase):
    results = bundled_phase("refuge-onsite").results
    task = next(task for task in results.tasks if task.name == "segmentation")
    row = {"dice_cup": 0.5, "dice_disc": 0.9, "vertical_cup_to_disc_ratio_error": 0.2}
    changed = type(results)(**{**vars(results), "tables": {"segmentation": CaseTable(["a"], [row])}})
    assert goodness_of_cases(changed, task) == pytest.approx([(0.5 + 0.9 + 0.8) / 3])


def test_the_goodness_of_boxes_is_their_f1(bundled_phase):
    results = bundled_phase("edd2020").results
    task = next(task for task in results.tasks if task.name == "detection")
    box = [0.0, 1.0, 0.0, 0.0, 10.0, 10.0]
    other = [1.0, 0.9, 50.0, 50.0, 60.0, 60.0]
    rows = [
        {
            "predicted": np.array([box, other]),
            "reference": np.array([box]),
            "missing": 0,
        },  # one hit, one false
        {"predicted": np.empty((0, 6)), "reference": np.array([box]), "missing": 0},
        {"predicted": np.empty((0, 6)), "reference": np.empty((0, 6)), "missing": 0},
    ]
    changed = type(results)(**{**vars(results), "tables": {"detection": CaseTable(list("abc"), rows)}})
    np.testing.assert_allclose(goodness_of_cases(changed, task), [2 / 3, 0, np.nan])


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        # By hand: "a" has a hit, a false and a missed cell; "b" a hit; "c" neither.
        ("cells", [2 / 4, 1, np.nan]),
        # "a" has a hit, a false one and a missed one; that near an ignored object does not count.
        ("nodules", [2 / 4, 1, np.nan]),
        # of both classes, at the first threshold
        ("polyps", [2 / 4, np.nan, 1]),
        ("tumours", [2 / 3, 0, np.nan]),
    ],
)
def test_the_goodness_of_declared_detections_is_their_f1(tmp_path, task, expected):
    results = declared(tmp_path).results
    (found,) = [one for one in results.tasks if one.name == task]
    np.testing.assert_allclose(goodness_of_cases(results, found), expected)
