"""Metrics: pure functions on arrays, without files and without policy.

The names listed in ``__all__`` are the public ones: they take plain arrays and return floats, for use in a
notebook or another evaluation. They call the same code that `evaluate` runs. The prediction is always the
first argument and the reference the second one.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluation.metrics.agreement import cohen_kappa, fleiss_kappa
    from evaluation.metrics.distance import euclidean_distance
    from evaluation.metrics.intervals import wilson_interval
    from evaluation.metrics.plain_average_precision import box_average_precision, mean_average_precision
    from evaluation.metrics.plain_box_fusion import non_maximum_suppression, weighted_boxes_fusion
    from evaluation.metrics.plain_boxes import box_iou, mean_detection_iou
    from evaluation.metrics.plain_classes import (
        accuracy,
        balanced_accuracy,
        matthews_correlation,
        mean_f1,
    )
    from evaluation.metrics.plain_classification import (
        auc,
        average_precision,
        roc_curve,
        sensitivity_at_specificity,
    )
    from evaluation.metrics.plain_components import (
        false_negative_volume,
        false_positive_volume,
        lesion_difference,
        lesion_f1,
        panoptic_quality,
    )
    from evaluation.metrics.plain_confidence import weighted_dice
    from evaluation.metrics.plain_confusion import confusion_matrix
    from evaluation.metrics.plain_correlations import (
        intraclass_correlation,
        pearson_correlation,
        spearman_correlation,
    )
    from evaluation.metrics.plain_cup_to_disc import cup_to_disc_ratio
    from evaluation.metrics.plain_decisions import f1_score, hamming_distance, sensitivity, specificity
    from evaluation.metrics.plain_errors import (
        bias,
        mean_absolute_error,
        normalised_absolute_error,
        root_mean_squared_error,
    )
    from evaluation.metrics.plain_froc import froc_curve, froc_sensitivity
    from evaluation.metrics.plain_label_distances import (
        label_average_surface_distance,
        label_hausdorff_distance,
    )
    from evaluation.metrics.plain_lesions import detection_ratio, false_components
    from evaluation.metrics.plain_partial_roc import partial_auc, specificity_at_sensitivity
    from evaluation.metrics.plain_points import match_points, mean_radial_error, success_detection_rate
    from evaluation.metrics.plain_probabilities import brier_score, expected_calibration_error, macro_auc
    from evaluation.metrics.plain_segmentation import dice, f_beta, jaccard, precision, recall
    from evaluation.metrics.plain_surface_dice import label_surface_dice, surface_dice
    from evaluation.metrics.plain_surfaces import (
        average_symmetric_surface_distance,
        hausdorff_distance,
        modified_hausdorff_distance,
    )
    from evaluation.metrics.plain_survival import concordance_index
    from evaluation.metrics.sample_sizes import auc_sample_size, wilson_sample_size

__all__ = [
    "accuracy",
    "auc",
    "auc_sample_size",
    "average_precision",
    "average_symmetric_surface_distance",
    "balanced_accuracy",
    "bias",
    "box_average_precision",
    "box_iou",
    "brier_score",
    "cohen_kappa",
    "concordance_index",
    "confusion_matrix",
    "cup_to_disc_ratio",
    "detection_ratio",
    "dice",
    "euclidean_distance",
    "expected_calibration_error",
    "f1_score",
    "f_beta",
    "false_components",
    "false_negative_volume",
    "false_positive_volume",
    "fleiss_kappa",
    "froc_curve",
    "froc_sensitivity",
    "hamming_distance",
    "hausdorff_distance",
    "intraclass_correlation",
    "jaccard",
    "label_average_surface_distance",
    "label_hausdorff_distance",
    "label_surface_dice",
    "lesion_difference",
    "lesion_f1",
    "macro_auc",
    "match_points",
    "matthews_correlation",
    "mean_absolute_error",
    "mean_average_precision",
    "mean_detection_iou",
    "mean_f1",
    "mean_radial_error",
    "modified_hausdorff_distance",
    "non_maximum_suppression",
    "normalised_absolute_error",
    "panoptic_quality",
    "partial_auc",
    "pearson_correlation",
    "precision",
    "recall",
    "roc_curve",
    "root_mean_squared_error",
    "sensitivity",
    "sensitivity_at_specificity",
    "spearman_correlation",
    "specificity",
    "specificity_at_sensitivity",
    "success_detection_rate",
    "surface_dice",
    "weighted_boxes_fusion",
    "weighted_dice",
    "wilson_interval",
    "wilson_sample_size",
]

# Imported on first use: `evaluate` needs none of these modules at its start.
_MODULES = {
    "agreement": "cohen_kappa fleiss_kappa",
    "distance": "euclidean_distance",
    "intervals": "wilson_interval",
    "plain_average_precision": "box_average_precision mean_average_precision",
    "plain_box_fusion": "non_maximum_suppression weighted_boxes_fusion",
    "plain_boxes": "box_iou mean_detection_iou",
    "plain_classes": "accuracy balanced_accuracy matthews_correlation mean_f1",
    "plain_classification": "auc average_precision roc_curve sensitivity_at_specificity",
    "plain_components": (
        "false_negative_volume false_positive_volume lesion_difference lesion_f1 panoptic_quality"
    ),
    "plain_confidence": "weighted_dice",
    "plain_confusion": "confusion_matrix",
    "plain_correlations": "intraclass_correlation pearson_correlation spearman_correlation",
    "plain_cup_to_disc": "cup_to_disc_ratio",
    "plain_decisions": "f1_score hamming_distance sensitivity specificity",
    "plain_errors": "bias mean_absolute_error normalised_absolute_error root_mean_squared_error",
    "plain_froc": "froc_curve froc_sensitivity",
    "plain_label_distances": "label_average_surface_distance label_hausdorff_distance",
    "plain_lesions": "detection_ratio false_components",
    "plain_partial_roc": "partial_auc specificity_at_sensitivity",
    "plain_points": "match_points mean_radial_error success_detection_rate",
    "plain_probabilities": "brier_score expected_calibration_error macro_auc",
    "plain_segmentation": "dice f_beta jaccard precision recall",
    "plain_surface_dice": "label_surface_dice surface_dice",
    "plain_surfaces": "average_symmetric_surface_distance hausdorff_distance modified_hausdorff_distance",
    "plain_survival": "concordance_index",
    "sample_sizes": "auc_sample_size wilson_sample_size",
}


def __getattr__(name: str) -> Any:
    for module, names in _MODULES.items():
        if name in names.split():
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
