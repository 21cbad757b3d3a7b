"""Which cases are shown, and how good single cases are."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from evaluation.core.case_table import CaseTable
from evaluation.organiser.report.case_images import Request, read_cases
from evaluation.organiser.report.page import Gallery
from evaluation.organiser.report.pictures import (
    MOST_PICTURES,
    chosen_cases,
    classified_cases,
    galleries,
    goodness_of_cases,
)
from evaluation.organiser.report_library import submission_page
from test.organiser.report.declared import declared


@pytest.mark.parametrize("name", ["edd2020", "refuge-onsite"])
def test_at_most_twelve_pictures_in_all(bundled_phase, name):
    chosen = chosen_cases(bundled_phase(name).results)
    assert 0 < sum(map(len, chosen.values())) <= MOST_PICTURES


def test_the_worst_and_the_best_are_those_of_the_task(bundled_phase):
    results = bundled_phase("refuge-onsite").results
    table = results.tables["fovea"]
    chosen = chosen_cases(results)["fovea"]
    by_rank = {rank: name for name, rank in chosen.items()}
    assert by_rank["worst"] == table.names[int(np.argmax(table["distance"]))]
    assert by_rank["best"] == table.names[int(np.argmin(table["distance"]))]
    two = {name: CaseTable(table.names[:2], table.rows[:2]) for name, table in results.tables.items()}
    for of_task in chosen_cases(replace(results, tables=two)).values():
        assert list(of_task.values()) == ["worst", "best"]


def test_cases_of_another_set_are_not_shown_for_a_task(bundled_phase):
    results = bundled_phase("edd2020").results
    table = results.tables["generalisation"]
    outside = {name for name, out in zip(table.names, table["out_of_sample"], strict=True) if out}
    chosen = chosen_cases(results)["generalisation"]
    assert len(chosen) > 1
    assert set(chosen) <= outside < set(table.names)


def test_pictures_say_what_their_colours_and_numbers_mean(tmp_path):
    bundled = declared(tmp_path)
    chosen = chosen_cases(bundled.results)
    wanted = {task: tuple(cases) for task, cases in chosen.items()}
    values = read_cases(Request(bundled.phase, bundled.submission, wanted, None, 0), lambda done: None)
    shown = {block.title: block for block in galleries(bundled.results, chosen, values)}
    assert len(shown) == 7
    assert "metric “FROC score”" in shown["Nodules"].note
    assert shown["Polyps"].note.startswith("A predicted box hits from an intersection over union of 0.5")
    assert "Numbers: 1 sella, 2 nasion." in shown["Skull"].pictures[0].caption
    assert "seen along z, seen along y, seen along x." in shown["Tumours"].pictures[0].alternative


def test_photographs_of_the_extremes_of_a_classification(bundled_phase, tmp_path):
    bundled = bundled_phase("refuge-onsite")
    table = bundled.results.tables["classification"]
    chosen = classified_cases(bundled.results)["classification"]
    score = dict(zip(table.names, table["likelihood"], strict=True))
    label = dict(zip(table.names, table["glaucoma"], strict=True))
    named = {rank.partition(" (")[0]: name for name, rank in chosen.items()}
    ill, healthy = ([name for name in score if label[name] == of] for of in (1, 0))
    assert named["true positive"] == max(ill, key=score.get)
    assert named["false negative"] == min(ill, key=score.get)
    assert named["false positive"] == max(healthy, key=score.get)
    assert named["true negative"] == min(healthy, key=score.get)
    for case in bundled.results.phase.cases.forms:
        Image.new("RGB", (case.width, case.height), (90, 40, 10)).save(tmp_path / f"{case.name}.png")
    page = submission_page(bundled.results, bundled.submission, tmp_path, 0)
    (gallery,) = [
        block
        for section in page.sections
        for block in section.blocks
        if isinstance(block, Gallery) and len(block.legend) == 0
    ]
    assert [picture.case for picture in gallery.pictures] == list(chosen)
    assert gallery.note.endswith("Follows figure 6 of Orlando et al. 2020 (REFUGE).")


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
