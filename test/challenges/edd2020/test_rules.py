"""EDD2020's figures on images worked out by hand, and what its options change."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evaluation.challenges.edd2020.rules import CHALLENGE, Edd2020Options, ranking
from evaluation.core.aggregation import metric_values
from evaluation.core.case_table import CaseTable
from evaluation.core.form import CaseForm
from evaluation.io.kinds.boxes import Boxes
from evaluation.phase.places import place_teams
from evaluation.phase.validation import InvalidTableError, read_table

BE, SUSPICIOUS, HGD, CANCER, POLYP = range(5)
INSIDE, OUTSIDE = ({"set": name} for name in ("in-sample", "out-of-sample"))
ONE, OTHER = (0, 0, 9, 9), (50, 50, 69, 69)


def boxes(*rows):
    return Boxes(np.array(rows, dtype=np.float64).reshape(-1, 6))


def task(name, **options):
    return next(task for task in CHALLENGE.tasks(Edd2020Options(**options)) if task.name == name)


def values(images, name="detection", **options):
    """Return the metrics of images (predicted boxes or None, reference boxes[, out of sample])."""
    of_task = task(name, **options)
    return metric_values(of_task.metrics, table_of(images, of_task))


def table_of(images, of_task):
    rows = []
    for predicted, reference, *outside in images:
        field = "generalisation_boxes" if outside == [True] else "detection_boxes"
        true = {field: boxes(*((label, 1, *corners) for label, *corners in reference))}
        if predicted is None:
            form = CaseForm("E", 100, 100, OUTSIDE if outside == [True] else INSIDE)
            rows.append(of_task.worst_row(form, true))
        else:
            rows.append(of_task.score({field: boxes(*predicted)}, true))
    return CaseTable([f"E{number}" for number in range(len(rows))], rows)


def test_figures_by_hand():
    # BE: IoU 0.6 with one box of two (true up to threshold 0.60) and a less confident false one.
    # polyp: one of one, exactly. HGD: never in the reference.
    found = values(
        [
            (
                [(BE, 0.9, 0, 0, 9, 5), (BE, 0.5, 80, 80, 89, 89), (POLYP, 0.8, *OTHER)],
                [(BE, *ONE), (BE, *OTHER), (POLYP, *OTHER)],
            ),
            ([(HGD, 0.7, *ONE), (HGD, 0.6, *OTHER)], []),
        ]
    )
    below = [True] * 8 + [False] * 3  # 0.25 to 0.60, and 0.65 to 0.75
    maps = [(0.5 + 1) / 2 if true else 0.5 for true in below]
    ious = [(0.6 / 2 + 1) / 2 if true else 0.5 for true in below]
    with_missed = [(0.6 / 3 + 1) / 2 if true else 0.5 for true in below]
    assert found["map_d"] == pytest.approx(np.mean(maps))
    assert found["iou_d"] == pytest.approx(np.mean(ious))
    assert found["iou_d_with_missed"] == pytest.approx(np.mean(with_missed))
    assert found["score_d"] == pytest.approx(0.6 * np.mean(maps) + 0.4 * np.mean(ious))
    assert found["sigma_score_d"] == pytest.approx(np.std(maps))
    assert [found[f"map_{percent}"] for percent in (25, 50, 75)] == pytest.approx([0.75, 0.75, 0.5])
    assert found["ap_BE"] == pytest.approx(0.5 * 8 / 11)
    assert found["ap_polyp"] == 1
    assert math.isnan(found["ap_HGD"])
    assert found["boxes_of_absent_classes"] == 2


@pytest.mark.parametrize(
    ("options", "metric", "expected"),
    [
        # Of boxes 10 and 6 pixels high with inclusive corners, 9 and 5 without.
        ({}, "map_d", 8 / 11),
        ({"inclusive_corners": False}, "map_d", 7 / 11),
        ({"iou_thresholds": (0.6,)}, "map_d", 1),
        ({"iou_thresholds": (0.65, 0.6)}, "map_d", 0.5),
        ({"iou_thresholds": (0.6,)}, "map_50", 1),
        ({"iou_thresholds": (0.6,)}, "score_d", 0.6 + 0.4 * 0.6),
    ],
)
def test_options(options, metric, expected):
    assert values([([(BE, 0.9, 0, 0, 9, 5)], [(BE, *ONE)])], **options)[metric] == pytest.approx(expected)


def test_missed_boxes_can_enter_the_score():
    images = [([(BE, 0.9, *ONE)], [(BE, *ONE), (BE, *OTHER)])]
    assert values(images)["score_d"] == pytest.approx(0.6 * 0.5 + 0.4)
    assert values(images, iou_of_score="iou_d_with_missed")["score_d"] == pytest.approx(0.6 * 0.5 + 0.4 * 0.5)


@pytest.mark.parametrize(
    "options",
    [
        {"classes": []},
        {"classes": ["BE", "BE"]},
        {"classes": ["a.b"]},
        {"iou_thresholds": [0.5, 0.5]},
        {"iou_thresholds": [0.0]},
        {"iou_thresholds": [1.5]},
        {"outside": "ignore"},
        {"unknown": 1},
    ],
)
def test_refused_options(options):
    with pytest.raises(InvalidTableError):
        read_table(Edd2020Options, options)


def test_missing_image_by_hand():
    image = ([(BE, 0.9, *ONE)], [(BE, *ONE)])
    found = values([image, (None, [(BE, *ONE), (BE, *OTHER)])])
    # One of three boxes is found, and each of the two missed counts as a prediction with IoU 0.
    assert found["map_d"] == pytest.approx(1 / 3)
    assert found["iou_d"] == pytest.approx(1 / 3)
    assert values([image, ([], [(BE, *ONE), (BE, *OTHER)])])["iou_d"] == 1


def test_generalisation_by_hand():
    # In sample: BE 1, polyp 0.5. Out of sample: BE 0.5, and HGD 1, which the first set lacks.
    images = [
        ([(BE, 0.9, *ONE), (POLYP, 0.9, *ONE)], [(BE, *ONE), (POLYP, *ONE), (POLYP, *OTHER)]),
        ([(BE, 0.9, *ONE), (HGD, 0.9, *ONE)], [(BE, *ONE), (BE, *OTHER), (HGD, *ONE)], True),
    ]
    found = values(images, "generalisation")
    assert found == {
        "map_g": pytest.approx(0.75),
        "dev_g": pytest.approx(0),
        "dev_g_signed": pytest.approx(0),
        "dev_g_common_classes": pytest.approx(0.5),
    }
    worse = values([images[0], (None, images[1][1], True)], "generalisation")
    assert worse["map_g"] == 0
    assert worse["dev_g"] == worse["dev_g_signed"] == pytest.approx(0.75)
    better = values([(None, images[0][1]), images[1]], "generalisation")
    assert better["dev_g_signed"] == -better["dev_g"] == pytest.approx(-0.75)


def estimators(name):
    return {metric.name: metric.estimator for metric in task(name).metrics}


def test_images_are_drawn_within_those_that_a_figure_tells_apart():
    of_class = table_of(
        [([], [(BE, *ONE)]), ([], [(POLYP, *ONE)]), ([], [(BE, *ONE), (BE, *OTHER)])], task("detection")
    )
    assert estimators("detection")["ap_BE"].strata(of_class).tolist() == [1, 0, 1]
    assert estimators("detection")["ap_HGD"].strata(of_class).tolist() == [0, 0, 0]
    both = [([], [(BE, *ONE)]), ([], [(BE, *ONE)], True), ([], [(BE, *ONE)])]
    of_sets = table_of(both, task("generalisation"))
    # The mAP out of sample is of those images alone, and a gap has as many of each set in each resample.
    assert estimators("generalisation")["map_g"].strata(of_sets).tolist() == [-1, 0, -1]
    for gap in ("dev_g", "dev_g_signed", "dev_g_common_classes"):
        assert estimators("generalisation")[gap].strata(of_sets).tolist() == [0, 1, 0]


def test_curves_of_all_classes_are_those_at_an_overlap_of_one_half():
    chosen = [metric for metric in task("detection").metrics if metric.estimator.detections]
    assert [metric.name for metric in chosen] == ["score_d"]
    # Of 9 of 10 rows, of 6, of 4: the last one is no hit.
    rows = [(BE, confidence, 0, 0, 9, height - 1) for confidence, height in ((0.9, 9), (0.8, 6), (0.7, 4))]
    table = table_of([([row], [(BE, *ONE)]) for row in rows], task("detection"))
    candidates = chosen[0].estimator.detections.candidates(table)
    assert dict(zip(candidates.confidence.tolist(), candidates.hit.tolist(), strict=True)) == {
        0.9: True,
        0.8: True,
        0.7: False,
    }


def test_the_organiser_learns_which_classes_a_set_lacks():
    images = [([], [(BE, *ONE), (POLYP, *ONE)]), ([], [(BE, *ONE), (HGD, *ONE)], True)]
    generalisation = task("generalisation")
    assert list(generalisation.notices(table_of(images, generalisation))) == [
        "the in-sample set has no box of HGD, so that dev_g compares means over different classes",
        "the out-of-sample set has no box of polyp, so that dev_g compares means over different classes",
    ]
    detection = task("detection")
    assert list(detection.notices(table_of(images[:1], detection))) == [
        f"the reference has no box of {name}; mAP is the mean over the other classes"
        for name in ("suspicious", "HGD", "cancer")
    ]


def test_deviation_of_the_segmentation_is_the_mean_of_four():
    rows = [
        dict.fromkeys(("precision", "recall", "f1", "f2", "score"), value) | {"recall": 1.0}
        for value in (0.25, 0.75)
    ]
    metric = next(metric for metric in task("segmentation").metrics if metric.name == "sigma_score_s")
    table = CaseTable(["E1", "E2"], rows)
    # ddof = 0: 0.25 for three of the figures and 0 for the fourth.
    assert metric_values([metric], table)["sigma_score_s"] == pytest.approx(3 * 0.25 / 4)


# mAP in sample, mAP out of sample and their gap, of four submissions.
SUBMISSIONS = {
    "perfect": (1, 1, 0),
    "good": (0.919, 0.882, 0.037),
    "poor": (0.477, 0.256, 0.221),
    "random": (0.005, 0.006, 0.001),
}


def test_by_default_useless_boxes_do_not_win_by_their_small_gap():
    assert ranking(Edd2020Options()) == ranking(Edd2020Options(generalisation_ranks="map_d_map_g_and_dev_g"))


@pytest.mark.parametrize(
    ("ranks", "scores", "places"),
    [
        # Random boxes are last by their mAP, but second by the gap, where poor ones are last.
        ("map_g_and_dev_g", (1, Fraction(5, 2), Fraction(7, 2), 3), [1, 2, 4, 3]),
        # The gap no longer outweighs the mAPs: equal means, and the higher mAP out of sample comes first.
        ("map_d_map_g_and_dev_g", (1, Fraction(7, 3), Fraction(10, 3), Fraction(10, 3)), [1, 2, 3, 4]),
    ],
)
def test_generalisation_ranked_with_and_without_the_map_in_sample(ranks, scores, places):
    scheme = ranking(Edd2020Options(generalisation_ranks=ranks))
    names = ("detection.map_d", "generalisation.map_g", "generalisation.dev_g")
    columns = dict(zip(names, np.array([[row] for row in SUBMISSIONS.values()]).T, strict=True))
    better = dict(zip(names, ("higher", "higher", "lower"), strict=True))
    board = place_teams(scheme, columns, better).boards["generalisation"]
    assert tuple(board.score(team) for team in range(4)) == scores
    assert board.places.tolist() == [places]
