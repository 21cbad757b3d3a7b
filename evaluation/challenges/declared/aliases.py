"""Usual names of metrics, and the metrics that are meant by them, with the keys that make them so.

Messages, the catalogue and the command `score` read this table. Several metrics share a name where it means
something else for each kind of field.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.challenges.declared.declarable import FIELDS, METRICS


@dataclass(frozen=True)
class Meant:
    """A metric with a usual name: its name, keys of its table as TOML, and what else there is to say."""

    metric: str
    keys: str = ""
    note: str = ""

    def __str__(self) -> str:
        """Return the metric as it is written into a task."""
        declared = f'metric = "{self.metric}"{", " * bool(self.keys)}{self.keys}'
        return (f"{{ {declared} }}" if self.keys else f"'{self.metric}'") + f" ({self.note})" * bool(
            self.note
        )


_PERCENTILE = "percentile = 95"
_TOLERANCE = Meant("surface_dice", "tolerance_mm = 1", "your own tolerance")
_DISTANCES = 'this is the ASSD; directions = "mean" makes it the MASD'
_AVERAGE_DISTANCE = Meant("average_surface_distance", note=_DISTANCES)
_RECALL = tuple(Meant(name) for name in ("sensitivity", "voxel_sensitivity", "point_recall", "box_recall"))
_PRECISION = tuple(
    Meant(name) for name in ("precision", "voxel_precision", "point_precision", "box_precision")
)
_F1 = tuple(Meant(name) for name in ("f1", "box_f1", "point_f1", "lesion_f1"))
_JACCARD = (Meant("jaccard"), Meant("box_iou"))
_AREA = (Meant("auc"), Meant("macro_auc"), Meant("case_auc"))
_MEAN_PRECISION = (Meant("box_average_precision"), Meant("macro_average_precision"))
_AVERAGE_PRECISION = (
    *(Meant("average_precision"), Meant("box_average_precision"), Meant("lesion_average_precision")),
    Meant("macro_average_precision"),
)
_MEAN_ABSOLUTE_ERROR = (Meant("mean_absolute_error"), Meant("image_mean_absolute_error"))
_ROOT_MEAN_SQUARED_ERROR = (Meant("root_mean_squared_error"), Meant("image_root_mean_squared_error"))
_BRIER = (Meant("brier_score"),)

USUAL_NAMES: Mapping[str, Sequence[Meant]] = {
    "dsc": (Meant("dice"),),
    "dice_coefficient": (Meant("dice"),),
    "dice_score": (Meant("dice"),),
    "iou": _JACCARD,
    "jaccard_index": _JACCARD,
    "jaccard": _JACCARD,
    "nsd": (_TOLERANCE,),
    "normalized_surface_distance": (_TOLERANCE,),
    "normalised_surface_distance": (_TOLERANCE,),
    "normalized_surface_dice": (_TOLERANCE,),
    "hd": (Meant("hausdorff_distance"),),
    "hausdorff": (Meant("hausdorff_distance"),),
    "hd95": (Meant("hausdorff_distance", _PERCENTILE),),
    "hausdorff95": (Meant("hausdorff_distance", _PERCENTILE),),
    "assd": (_AVERAGE_DISTANCE,),
    "asd": (_AVERAGE_DISTANCE,),
    "masd": (Meant("average_surface_distance", 'directions = "mean"'),),
    "cldice": (Meant("centreline_dice"),),
    "centerline_dice": (Meant("centreline_dice"),),
    "recall": _RECALL,
    "tpr": _RECALL,
    "sensitivity": _RECALL,
    "ppv": _PRECISION,
    "precision": _PRECISION,
    "npv": (Meant("negative_predictive_value"),),
    "tnr": (Meant("specificity"),),
    "roc_auc": _AREA,
    "auroc": _AREA,
    "auc": _AREA,
    "auprc": _AVERAGE_PRECISION,
    "pr_auc": _AVERAGE_PRECISION,
    "ap": _AVERAGE_PRECISION,
    "average_precision": _AVERAGE_PRECISION,
    "map": _MEAN_PRECISION,
    "mean_average_precision": _MEAN_PRECISION,
    "f1_score": _F1,
    "f1": _F1,
    "micro_f1": (Meant("accuracy", note="the micro F1 of one class a case is the accuracy"),),
    "mcc": (Meant("matthews_correlation"),),
    "kappa": (Meant("cohen_kappa"),),
    "qwk": (Meant("cohen_kappa", 'disagreement = "quadratic"'),),
    "quadratic_weighted_kappa": (Meant("cohen_kappa", 'disagreement = "quadratic"'),),
    "ece": (
        Meant("calibration_error"),
        Meant("top_label_calibration_error"),
        Meant("voxel_calibration_error"),
    ),
    "brier": _BRIER,
    "brier_score": _BRIER,
    "rmse": _ROOT_MEAN_SQUARED_ERROR,
    "root_mean_squared_error": _ROOT_MEAN_SQUARED_ERROR,
    "mae": _MEAN_ABSOLUTE_ERROR,
    "mean_absolute_error": _MEAN_ABSOLUTE_ERROR,
    "psnr": (Meant("peak_signal_to_noise_ratio"),),
    "ssim": (Meant("structural_similarity"),),
    "ms_ssim": (Meant("multi_scale_structural_similarity"),),
    "pq": (Meant("panoptic_quality"),),
    "rq": (Meant("recognition_quality"),),
    "sq": (Meant("segmentation_quality"),),
    "aji": (Meant("aggregated_jaccard"),),
    "cindex": (Meant("concordance_index"),),
    "c_index": (Meant("concordance_index"),),
    "icc": (Meant("intraclass_correlation"),),
    "tre": (Meant("target_registration_error"),),
    "mre": (Meant("mean_radial_error"),),
    "sdr": (Meant("success_detection_rate"),),
    "rvd": (Meant("volume_difference", "relative = true"),),
    "avd": (Meant("volume_difference"),),
    "crps": (Meant("volume_crps"),),
}
"""The metrics that a name may mean, by that name in small letters."""

_SPELLED = {
    "brier": "Brier score",
    "c_index": "C-index",
    "cindex": "C-index",
    "cldice": "clDice",
    "f1_score": "F1 score",
    "hausdorff95": "Hausdorff95",
    "iou": "IoU",
    "kappa": "kappa",
    "map": "mAP",
    "micro_f1": "micro F1",
    "ms_ssim": "MS-SSIM",
    "pr_auc": "PR AUC",
    "recall": "recall",
    "roc_auc": "ROC AUC",
}
_LONGEST_ABBREVIATION = 5


def key_of_name(name: str) -> str:
    """Return the key of a name in `USUAL_NAMES`, however it is spelled: ``"clDice"`` gives ``"cldice"``."""
    return name.strip().casefold().replace("-", "_").replace(" ", "_").replace("@", "_")


def meant_by(name: str, kind: str | None = None) -> tuple[Meant, ...]:
    """Return the metrics that a name may mean, for a field of a kind only those that score it.

    A name that is a metric of the kind itself means that one. Nothing for an unknown name.
    """
    key, table = key_of_name(name), None if kind is None else FIELDS.named(kind)
    found = tuple(USUAL_NAMES.get(key, ()))
    if table is None:
        return found
    scoring = tuple(
        one for one in found if (of := METRICS.named(one.metric)) is not None and issubclass(table, of.kinds)
    )
    own = METRICS.named(key)
    return (Meant(key),) if own is not None and issubclass(table, own.kinds) else scoring


def in_words(name: str) -> str:
    """Return a usual name as people write it: ``"hd95"`` gives "HD95"."""
    own = name.upper() if len(name) <= _LONGEST_ABBREVIATION else name.replace("_", " ")
    return _SPELLED.get(name, own)
