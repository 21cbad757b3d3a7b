"""Which cases are shown."""

import numpy as np
import pytest

from evaluation.core.case_table import CaseTable
from evaluation.report.pictures import MOST_PICTURES, chosen_cases, goodness_of_cases
from test.report.submissions import PHASES


@pytest.mark.parametrize("name", PHASES)
def test_at_most_twelve_pictures_in_all(bundled_phase, name):
    chosen = chosen_cases(bundled_phase(name).results)
    assert sum(map(len, chosen.values())) <= MOST_PICTURES


def test_the_worst_and_the_best_are_those_of_the_task(bundled_phase):
    results = bundled_phase("refuge-onsite").results
    table = results.tables["fovea"]
    chosen = chosen_cases(results)["fovea"]
    by_rank = {rank: name for name, rank in chosen.items()}
    assert by_rank["worst"] == table.names[int(np.argmax(table["distance"]))]
    assert by_rank["best"] == table.names[int(np.argmin(table["distance"]))]


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
        {"predicted": np.array([box, other]), "reference": np.array([box])},  # one hit, one false
        {"predicted": np.empty((0, 6)), "reference": np.array([box])},
        {"predicted": np.empty((0, 6)), "reference": np.empty((0, 6))},
    ]
    changed = type(results)(**{**vars(results), "tables": {"detection": CaseTable(list("abc"), rows)}})
    np.testing.assert_allclose(goodness_of_cases(changed, task), [2 / 3, 0, np.nan])
