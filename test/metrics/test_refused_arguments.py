"""Arguments that do not fit are refused by the name of the argument, whichever function is given them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from evaluation import metrics
from evaluation.metrics import (
    classification,
    confusion,
    intervals,
    lesions,
    operating_points,
    points,
    segmentation,
    surfaces,
)
from evaluation.stats import areas, bootstrap, unseen
from evaluation.stats import intervals as stats_intervals

NAN, INF = math.nan, math.inf
SQUARE = [[0, 0, 1, 1]]
ONE_BOX = SQUARE, [0.5], [1], SQUARE, [1]
TABLE = classification.roc_table([0, 1], [True, False])
ONES = np.ones((1, 2))
IN_SCAN_A = {"reference_points": [[0, 0, 0]], "reference_images": ["a"], "radius": 1, "all_images": ["a"]}

OF_SCORES = [
    ("labels", lambda: metrics.auc([0, 1], [0.1, 0.9])),  # exchanged
    ("score", lambda: metrics.auc([0.5, NAN], [0, 1])),
    ("score and positive", lambda: metrics.auc([0.5], [0, 1])),
    ("weights", lambda: metrics.auc([0.5, 1], [0, 1], weights=[1, -1])),
    ("weights", lambda: metrics.roc_curve([0.5, 1], [0, 1], weights=[1])),
    ("weights", lambda: classification.weighted_auc(TABLE, np.ones((1, 3)))),
    ("weights_row", lambda: classification.roc_points(TABLE, ONES)),
    ("score, truth and weights", lambda: classification.weighted_macro_auc(np.ones((2, 3)) / 3, [0], ONES)),
    ("specificity", lambda: metrics.sensitivity_at_specificity([0.5], [1], 1.5)),
    ("definition", lambda: metrics.sensitivity_at_specificity([0.5], [1], 0.9, definition="best")),
    ("target", lambda: operating_points.weighted_sensitivity_at_specificity(TABLE, ONES, Fraction(95))),
    ("target", lambda: operating_points.weighted_interpolated_sensitivity(TABLE, ONES, Fraction(95))),
    ("sensitivity", lambda: metrics.specificity_at_sensitivity([0.5, 1], [0, 1], NAN)),
    ("min_specificity", lambda: metrics.partial_auc([0.5, 1], [0, 1], 90)),
    ("specificities", lambda: metrics.partial_auc([0.5, 1], [0, 1], 0.9, 0.9)),
    ("specificities", lambda: classification.weighted_partial_auc(TABLE, ONES, Fraction(-1, 2), Fraction(1))),
    ("probabilities", lambda: metrics.brier_score([1.5], [1])),
    ("labels", lambda: metrics.brier_score([0.5], [2])),
    ("labels", lambda: metrics.brier_score([[0.5, 0.5]], [2])),
    ("labels", lambda: metrics.brier_score([0.5, 0.5], [1])),
    ("bins", lambda: metrics.calibration_error([0.5], [1], bins=0)),
    ("probabilities", lambda: metrics.calibration_error([[0.5, 0.5]], [1])),
    ("scores", lambda: metrics.macro_auc([0.5], [1])),
    ("scores", lambda: metrics.macro_auc([[0.5, NAN]], [1])),
]
OF_DECISIONS_AND_NUMBERS = [
    ("predicted and reference", lambda: metrics.f1([1, 0], [1])),
    ("predicted", lambda: metrics.f1([2], [1])),
    ("predicted and reference", lambda: metrics.hamming_distance([1], [1, 0])),
    ("labels", lambda: metrics.hamming_distance([0.5], [1])),
    (r"zip\(\)", lambda: confusion.label_errors((True,), (True, False))),
    ("classes", lambda: metrics.confusion_matrix(["mild"], ["severe"], classes=["severe"])),
    ("predicted and reference", lambda: metrics.accuracy([1], [1, 2])),
    ("truth, predicted and weights", lambda: confusion.weighted_confusion([0, 1], [0], ONES, 2)),
    ("truth, predicted and weights", lambda: confusion.weighted_confusion([0, 1], [0, 1], [[1]], 2)),
    ("truth", lambda: confusion.weighted_confusion([0, 2], [0, 1], ONES, 2)),
    ("predicted", lambda: confusion.weighted_confusion([0, 1], [0.5, 1], ONES, 2)),
    (".*found 1 and 2", lambda: metrics.cohen_kappa([0], [0, 1])),
    ("disagreement", lambda: metrics.cohen_kappa([0, 1], [1, 2], disagreement="cubic")),
    ("classes", lambda: metrics.cohen_kappa([0, 1], [1, 2], disagreement="linear")),
    ("classes", lambda: metrics.cohen_kappa([0, 1], [1, 2], classes=[0, 1])),
    ("weights", lambda: metrics.cohen_kappa([0, 1], [1, 2], weights=[1])),
]
OF_INTERVALS = [
    ("values", lambda: stats_intervals.percentile_interval([NAN])),
    ("values", lambda: stats_intervals.percentile_interval([])),
    ("level", lambda: stats_intervals.percentile_interval([1, 2], 95)),
    ("successes of total", lambda: intervals.wilson_interval(0, 0)),
    ("successes of total", lambda: intervals.wilson_interval(5, 4)),
    ("successes of total", lambda: intervals.wilson_interval(-1, 4)),
    (".*expected", lambda: unseen.share_interval(3, 2, 0.95)),
    (".*expected", lambda: unseen.share_interval(0, 0, 0.95)),
    ("level", lambda: unseen.share_interval(1, 2, 1.0)),
    ("area", lambda: areas.score_interval(1.1, 10, 10)),
    ("score and positive", lambda: areas.components([1.0, NAN], np.array([True, False]))),
    ("score and positive", lambda: areas.components([1.0, 2.0], np.array([True, False, True]))),
    ("proportion", lambda: intervals.wilson_sample_size(1.1, 0.1)),
    ("half_width", lambda: intervals.wilson_sample_size(0.5, 0.0)),
    ("half_width", lambda: intervals.wilson_sample_size(0.5, 0.5)),
    ("half_width", lambda: intervals.wilson_sample_size(0.5, 1e-9)),
    ("level", lambda: intervals.wilson_sample_size(0.5, 0.1, 1.0)),
    ("auc", lambda: intervals.auc_sample_size(-0.1, 0.1, 0.5)),
    ("prevalence", lambda: intervals.auc_sample_size(0.9, 0.1, 0.0)),
    ("prevalence", lambda: intervals.auc_sample_size(0.9, 0.1, 1)),
    ("half_width", lambda: intervals.auc_sample_size(0.9, 0.6, 0.5)),
    ("strata", lambda: bootstrap.bootstrap_of([0, -2], None, 1, 5)),
    ("strata and clusters", lambda: bootstrap.bootstrap_of([0, 0], [1], 1, 5)),
    ("resamples", lambda: bootstrap.bootstrap_of([0, 0], None, 1, 0)),
]
OF_MASKS = [
    ("prediction", lambda: metrics.dice([0, 255], [0, 1])),
    ("reference", lambda: metrics.dice([0, 1], [0, NAN])),
    ("prediction", lambda: metrics.voxel_sensitivity([0, 1], [0, 1, 1])),
    ("beta", lambda: metrics.f_beta([1], [1], 0)),
    ("beta", lambda: metrics.f_beta([1], [1], INF)),
    ("prediction", lambda: metrics.weighted_dice([1.5], [1])),
    ("reference", lambda: metrics.weighted_dice([1], [NAN])),
    (".*one shape", lambda: metrics.weighted_dice([1], [1, 1])),
    ("definition", lambda: segmentation.vertical_diameter(np.ones((1, 1), bool), "area")),
    ("prediction", lambda: segmentation.count_overlap(np.zeros((3, 2), bool), np.zeros((2, 3), bool))),
    ("masks", lambda: segmentation.count_overlap(np.zeros((2, 2), np.uint8), np.zeros((2, 2), bool))),
    ("region", lambda: segmentation.vertical_diameter(np.full((2, 2), 255, np.uint8), "extent")),
    ("region", lambda: segmentation.vertical_diameter(np.ones((2, 2, 1), bool), "extent")),
    ("prediction", lambda: segmentation.count_label_overlap(np.uint8([[1, 1]]), np.uint8([[1]]), 2)),
    ("label maps", lambda: segmentation.count_label_overlap(np.int64([[1]]), np.uint8([[1]]), 2)),
    ("label maps", lambda: segmentation.count_label_overlap(np.uint8([[3]]), np.uint8([[1]]), 2)),
    (".*one shape", lambda: metrics.lesion_f1([1], [1])),
    (".*one shape", lambda: metrics.detected_lesions([[1]], [[1, 1]])),
    ("prediction", lambda: metrics.false_lesions([[3]], [[1]])),
    ("prediction", lambda: lesions.find_lesions(np.zeros((1, 2), bool), np.zeros((2, 1), bool))),
    ("spacing_mm", lambda: metrics.false_positive_volume(np.eye(3), np.eye(3), spacing_mm=(1.0,))),
    ("spacing_mm", lambda: metrics.false_positive_volume(np.eye(3), np.eye(3), spacing_mm=(1.0, 0.0))),
    ("spacing_mm", lambda: metrics.false_positive_volume(np.eye(3), np.eye(3), spacing_mm=(1.0, NAN))),
    ("dilations", lambda: metrics.lesion_wise_dice([[1]], [[1]], dilations=-1)),
    ("percentile", lambda: metrics.lesion_wise_hausdorff_distance([[1]], [[1]], percentile=101)),
    ("spacing_mm", lambda: metrics.lesion_wise_hausdorff_distance([[1]], [[1]], (1, 0))),
]
OF_SURFACES = [
    (".*found", lambda: metrics.hausdorff_distance([1], [1])),
    (".*one shape", lambda: metrics.hausdorff_distance([[1]], [[1, 1]])),
    ("spacing_mm", lambda: metrics.hausdorff_distance([[1]], [[1]], (1, 1, 1))),
    ("spacing_mm", lambda: metrics.hausdorff_distance([[1]], [[1]], (1, 0))),
    ("percentile", lambda: metrics.hausdorff_distance([[1]], [[1]], percentile=101)),
    ("directions", lambda: metrics.hausdorff_distance([[1]], [[1]], directions="both")),
    ("percentile", lambda: metrics.hausdorff_distance([[1]], [[1]], percentile_method="linear")),
    ("directions", lambda: metrics.average_surface_distance([[1]], [[1]], directions="both")),
    (".*expected 0 and 1 only", lambda: metrics.average_surface_distance([[1]], [[NAN]])),
    ("percentile", lambda: surfaces.check_percentile("elements", "linear")),
    ("mask", lambda: surfaces.element_codes(np.ones(3, dtype=bool))),
    ("spacing_mm", lambda: surfaces.element_sizes((1.0,))),
    (".*found", lambda: metrics.surface_dice([1], [1], 1)),
    (".*one shape", lambda: metrics.surface_dice([[1]], [[1, 1]], 1)),
    ("prediction", lambda: metrics.surface_dice([[2]], [[1]], 1)),
    ("tolerance_mm", lambda: metrics.surface_dice([[1]], [[1]], -1)),
    ("spacing_mm", lambda: metrics.surface_dice([[1]], [[1]], 1, (1, 0))),
    ("surface", lambda: metrics.surface_dice([[1]], [[1]], 1, surface="pixels")),
    ("surface_neighbours", lambda: metrics.surface_dice([[1]], [[1]], 1, surface_neighbours="all")),
    (
        "surface_neighbours",
        lambda: metrics.surface_dice([[1]], [[1]], 1, surface="voxels", surface_neighbours="edges"),
    ),
]
OF_BOXES_AND_POINTS = [
    ("first", lambda: metrics.box_iou([0, 0, 1], [0, 0, 1, 1])),
    ("second", lambda: metrics.box_iou([0, 0, 1, 1], [2, 0, 1, 1])),
    ("first", lambda: metrics.box_iou([0, 0, 1, NAN], [0, 0, 1, 1])),
    ("scores", lambda: metrics.box_average_precision(SQUARE, [0.5, 0.5], [1], SQUARE, [1])),
    ("scores", lambda: metrics.box_average_precision(SQUARE, [NAN], [1], SQUARE, [1])),
    ("images", lambda: metrics.box_average_precision(SQUARE, [0.5], [1, 2], SQUARE, [1])),
    ("matching", lambda: metrics.box_average_precision(*ONE_BOX, matching="greedy")),
    ("curve", lambda: metrics.box_average_precision(*ONE_BOX, curve="line")),
    ("max_detections", lambda: metrics.box_average_precision(*ONE_BOX, max_detections=0)),
    (".*above 0 and at most 1", lambda: metrics.box_average_precision(*ONE_BOX, iou_thresholds=[0])),
    (".*above 0 and at most 1", lambda: metrics.box_average_precision(*ONE_BOX, iou_thresholds=(1.5,))),
    (".*above 0 and at most 1", lambda: metrics.box_average_precision(*ONE_BOX, iou_thresholds=[[0.5]])),
    (".*above 0 and at most 1", lambda: metrics.box_average_precision(*ONE_BOX, iou_thresholds=())),
    ("predicted and reference", lambda: metrics.match_points([[0, 0]], [[0, 0, 0]], 1)),
    ("predicted", lambda: metrics.match_points([[0, NAN]], [[0, 0]], 1)),
    ("predicted", lambda: metrics.match_points([0, 0], [[0, 0]], 1)),
    ("matching", lambda: metrics.match_points([[0, 0]], [[0, 0]], 1, matching="greedy")),
    ("confidence", lambda: metrics.match_points([[0, 0]], [[0, 0]], 1, matching="any")),
    ("confidence", lambda: metrics.match_points([[0, 0]], [[0, 0]], 1, matching="by_confidence")),
    ("boundary", lambda: metrics.match_points([[0, 0]], [[0, 0]], 1, boundary="open")),
    ("confidences", lambda: metrics.match_points([[0, 0]], [[0, 0]], 1, confidences=[1, 2])),
    ("radius", lambda: metrics.match_points([[0, 0]], [[0, 0]], [1, 2])),
    ("radius", lambda: metrics.match_points([[0, 0]], [[0, 0]], -0.5)),
    ("radius", lambda: metrics.match_points([[0, 0]], [[0, 0]], [NAN])),
    ("radius", lambda: metrics.success_detection_rate([[0, 0]], [[0, 0]], -1)),
    ("predicted and reference", lambda: metrics.mean_radial_error([[0, 0]], [[0, 0, 0]])),
    ("points", lambda: points.euclidean_distance(np.zeros((2, 3)), np.zeros(2))),
    ("points", lambda: points.euclidean_distance(np.zeros(()), np.zeros(()))),
    ("images", lambda: metrics.froc([[0, 0, 0]], [1], ["z"], **IN_SCAN_A)),
    (
        ".*found 1 points, 2 confidences",
        lambda: metrics.froc([[0, 0, 0]], [1, 2], ["a"], **IN_SCAN_A),
    ),
    ("reading", lambda: metrics.froc([[0, 0, 0]], [1], ["a"], **IN_SCAN_A, reading="stairs")),
]
ALL = [
    *OF_SCORES,
    *OF_DECISIONS_AND_NUMBERS,
    *OF_INTERVALS,
    *OF_MASKS,
    *OF_SURFACES,
    *OF_BOXES_AND_POINTS,
]


@pytest.mark.parametrize(("name", "call"), ALL)
def test_is_refused_by_its_name(name, call):
    with pytest.raises(ValueError, match=f"^{name}"):
        call()
