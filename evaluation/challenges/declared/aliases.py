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


def _any(*names: str) -> tuple[Meant, ...]:
    return tuple(map(Meant, names))


_MEANT: Mapping[str, Sequence[Meant]] = {
    "dsc dice_coefficient dice_score": _any("dice"),
    "iou jaccard_index jaccard": _any("jaccard", "box_iou"),
    "nsd normalized_surface_distance normalised_surface_distance normalized_surface_dice": (
        Meant("surface_dice", "tolerance_mm = 1", "your own tolerance"),
    ),
    "hd hausdorff": _any("hausdorff_distance"),
    "hd95 hausdorff95": (Meant("hausdorff_distance", "percentile = 95"),),
    "assd asd": (
        Meant("average_surface_distance", note='this is the ASSD; directions = "mean" makes it the MASD'),
    ),
    "masd": (Meant("average_surface_distance", 'directions = "mean"'),),
    "cldice centerline_dice": _any("centreline_dice"),
    "recall tpr sensitivity": _any("sensitivity", "voxel_sensitivity", "point_recall", "box_recall"),
    "ppv precision": _any("precision", "voxel_precision", "point_precision", "box_precision"),
    "npv": _any("negative_predictive_value"),
    "tnr": _any("specificity"),
    "roc_auc auroc auc": _any("auc", "macro_auc", "case_auc"),
    "auprc pr_auc ap average_precision": _any(
        "average_precision", "box_average_precision", "lesion_average_precision", "macro_average_precision"
    ),
    "map mean_average_precision": _any("box_average_precision", "macro_average_precision"),
    "f1_score f1": _any("f1", "box_f1", "point_f1", "lesion_f1"),
    "micro_f1": (Meant("accuracy", note="the micro F1 of one class a case is the accuracy"),),
    "mcc": _any("matthews_correlation"),
    "kappa": _any("cohen_kappa"),
    "qwk quadratic_weighted_kappa": (Meant("cohen_kappa", 'disagreement = "quadratic"'),),
    "ece": _any("calibration_error", "top_label_calibration_error", "voxel_calibration_error"),
    "brier brier_score": _any("brier_score"),
    "rmse root_mean_squared_error": _any("root_mean_squared_error"),
    "mae mean_absolute_error": _any("mean_absolute_error", "image_mean_absolute_error"),
    "psnr": _any("peak_signal_to_noise_ratio"),
    "ssim": _any("structural_similarity"),
    "ms_ssim": _any("multi_scale_structural_similarity"),
    "pq": _any("panoptic_quality"),
    "rq": _any("recognition_quality"),
    "sq": _any("segmentation_quality"),
    "aji": _any("aggregated_jaccard"),
    "cindex c_index": _any("concordance_index"),
    "icc": _any("intraclass_correlation"),
    "tre": _any("target_registration_error"),
    "mre": _any("mean_radial_error"),
    "sdr": _any("success_detection_rate"),
    "rvd": (Meant("volume_difference", "relative = true"),),
    "avd": _any("volume_difference"),
    "crps": _any("volume_crps"),
}
"""The metrics that names may mean, several names apart by spaces and in small letters."""

USUAL_NAMES: Mapping[str, Sequence[Meant]] = {
    name: meant for names, meant in _MEANT.items() for name in names.split()
}
"""The metrics that a name may mean, by that name in small letters."""


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
