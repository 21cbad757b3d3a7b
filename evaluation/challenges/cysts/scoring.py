"""All columns of one volume: from its comparison with the reference, and the worst values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

from evaluation.challenges.cysts.comparison import ComparedVolume, VolumeComparison
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.fault import PhaseError
from evaluation.core.form import CaseForm
from evaluation.io.volumes.case_geometry import geometry_of
from evaluation.metrics.confidence import highest_binary_dice, weighted_dice
from evaluation.metrics.crop import EMPTY, Crop
from evaluation.metrics.overlap import OverlapCounts, dice, precision, recall
from evaluation.metrics.surface_convention import SurfaceConvention
from evaluation.metrics.surface_distance import surface_distances

LEVELS = (1, 2, 3, 4, 5)
OVERLAPS = {"dice": ("Dice", dice), "precision": ("Precision", precision), "recall": ("Recall", recall)}
"""Title and function of each overlap metric, by column."""

_BOTH_EMPTY = 1.0


@dataclass(frozen=True)
class VolumeScoring:
    """Scores volumes under the options of the same names; no ``surfaces``, no surface distances."""

    marked_from: float
    continuity_mm: float
    annotators: tuple[str, ...]
    surfaces: SurfaceConvention | None

    def score(self, prediction: Values, reference: Values) -> Row:
        """Return the columns of a submitted volume."""
        compared = self._compare(prediction["cysts"], reference)
        row = self._row(compared, reference)
        if self.surfaces is not None:
            case = reference["cysts"].case
            spacing = _spacing_zyx(case)
            distances = surface_distances(
                compared.predicted_planes,
                compared.reference_planes,
                spacing,
                _diagonal_mm(geometry_of(case).shape, spacing),
                self.surfaces,
            )
            row |= {"hausdorff_95_mm": distances.hausdorff_95, "mean_surface_distance_mm": distances.mean}
        return {**row, **_confidences(compared)}

    def worst(self, case: CaseForm, reference: Values) -> Row:
        """Return the worst values of a volume. The reference alone decides which of them are defined.

        No submission can be worse: only false voxels, as many false components as fit, and an error of the
        whole volume.
        """
        geometry, spacing = geometry_of(case), _spacing_zyx(case)
        voxels = math.prod(geometry.shape)
        nothing = self._compare([EMPTY] * geometry.shape[0], reference)
        empty_row = self._row(nothing, reference)
        row = {name: value if math.isnan(value) else 0.0 for name, value in empty_row.items()}
        depth, height, width = geometry.shape
        across = (depth + 1) // 2 if spacing[0] < self.continuity_mm else depth
        row |= {
            "prediction_squared": float(voxels),
            "reference_squared": nothing.sums.reference_squared,
            "highest_binary_weighted_dice": empty_row["highest_binary_weighted_dice"],
            "false_components": float(across * ((height + 1) // 2) * ((width + 1) // 2)),
            "volume_error_mm3": voxels * math.prod(spacing),
        }
        if self.surfaces is not None:
            distance = _diagonal_mm(geometry.shape, spacing) if nothing.overlap.reference else nan
            row |= {"hausdorff_95_mm": distance, "mean_surface_distance_mm": distance}
        return {**row, **_confidences(nothing)}

    def _compare(self, planes: Sequence[Crop], reference: Values) -> ComparedVolume:
        """Return the comparison of a volume with its reference, read plane by plane."""
        case = reference["cysts"].case
        annotators = [reference[annotator_field(name)] for name in self.annotators]
        streams = [volume.planes() for volume in annotators if volume is not None]
        across_planes = _spacing_zyx(case)[0] < self.continuity_mm
        comparison = VolumeComparison(case.width, self.marked_from, across_planes, len(streams))
        volumes = zip(planes, reference["level"].planes(), reference["cysts"].planes(), *streams, strict=True)
        for z, (prediction, level, confidence, *annotator_overlaps) in enumerate(volumes):
            try:
                comparison.add(prediction, level, confidence, annotator_overlaps)
            except ValueError as error:
                raise PhaseError(f"{reference['cysts'].path}, B-scan {z + 1}: {error}") from None
        return comparison.result()

    def _row(self, compared: ComparedVolume, reference: Values) -> dict[str, float]:
        """Return all columns except the distances; NaN where the reference defines no value."""
        sums = compared.sums
        row = {
            "weighted_dice": weighted_dice(sums),
            "product": sums.product,
            "prediction_squared": sums.prediction_squared,
            "reference_squared": sums.reference_squared,
            "highest_binary_weighted_dice": highest_binary_dice(
                compared.confidences, compared.voxels_of_confidence
            ),
        }
        row |= _overlaps("", compared.overlap)
        annotator_overlaps = iter(compared.annotator_overlaps)
        for name in self.annotators:
            present = reference[annotator_field(name)] is not None
            row |= _overlaps(f"_{name}", next(annotator_overlaps) if present else None)
        if self.annotators:
            row |= _overlaps("_intersection", compared.intersection_overlap)
        for level in LEVELS:
            row[f"recall_level_{level}"] = _share(compared.found[level], compared.voxels[level])
            touched, cysts = compared.cysts[level, 1], compared.cysts[level].sum()
            row[f"detection_ratio_level_{level}"] = _share(touched, cysts)
        row["detection_ratio"] = _share(compared.cysts[:, 1].sum(), compared.cysts.sum())
        row["false_components"] = float(compared.false_components)
        error = abs(compared.overlap.prediction - compared.overlap.reference)
        row["volume_error_mm3"] = error * math.prod(_spacing_zyx(reference["cysts"].case))
        return row


def annotator_field(annotator: str) -> str:
    """Return the name of the hidden field that holds a single annotator's levels."""
    return f"reader_{annotator}"


def _confidences(compared: ComparedVolume) -> Row:
    """Return the columns for the pooled maximum of binary masks, one array each."""
    return {
        "reference_confidences": compared.confidences,
        "reference_voxels": compared.voxels_of_confidence,
    }


def _overlaps(suffix: str, counts: OverlapCounts[int] | None) -> dict[str, float]:
    return {
        f"{name}{suffix}": nan if counts is None else metric(counts, both_empty=_BOTH_EMPTY)
        for name, (_, metric) in OVERLAPS.items()
    }


def _share(part: int, whole: int) -> float:
    return float(part) / float(whole) if whole else nan


def _spacing_zyx(case: CaseForm) -> tuple[float, float, float]:
    x, y, z = geometry_of(case).spacing_mm or (1.0, 1.0, 1.0)
    return z, y, x


def _diagonal_mm(shape: Sequence[int], spacing_mm: Sequence[float]) -> float:
    return math.hypot(*(size * step for size, step in zip(shape, spacing_mm, strict=True)))
