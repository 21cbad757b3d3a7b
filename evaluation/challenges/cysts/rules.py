"""Cysts in spectral-domain OCT volumes, against a benchmark of confidences.

"A novel benchmark model for intelligent annotation of spectral-domain optical coherence tomography scans
using the example of cyst annotation" (Vienna Reading Center and OPTIMA): confidences 1 to 5 of two annotators
are combined to one confidence per voxel, and maps of confidences are compared by Eq. 3. Overlap with single
annotators and with their intersection follows the OPTIMA cyst segmentation challenge of 2015.
"""

import math
from dataclasses import dataclass, replace
from math import inf, nan
from typing import Annotated

import numpy as np
from pydantic import AfterValidator

from evaluation.challenges.cysts.comparison import (
    ComparedVolume,
    compare_volumes,
    highest_binary_dice,
    pooled_highest_binary_dice,
    pooled_weighted_dice,
    surface_distances,
    weighted_dice_of_sums,
)
from evaluation.challenges.cysts.kinds import Confidences, Levels, ReferenceConfidences, StoredConfidences
from evaluation.core.case_table import Row
from evaluation.core.challenge import Challenge, Options, Task, Values
from evaluation.core.estimator import FunctionOfCases, one_stratum
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Files, HiddenField, Reference, Socket
from evaluation.core.form import CaseForm
from evaluation.core.keys import IN_FORM, Key
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.scheme import Board, Rank, Scheme
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.metrics import segmentation
from evaluation.metrics.crops import VolumeCrop, around, stack_of, together

CONFIDENCE_LEVELS = (1, 2, 3, 4, 5)
_LEVELS = {level: f"level {level}" for level in CONFIDENCE_LEVELS} | {1: "level 1 (also disputed)"}
"""A voxel that one of three annotators marks at 4 or 5, and the others leave out, gets level 1."""
OVERLAPS = {
    "dice": ("Dice", segmentation.dice_of_counts),
    "precision": ("Precision", segmentation.precision_of_counts),
    "recall": ("Recall", segmentation.recall_of_counts),
}
"""Title and function of each overlap metric, by column."""
_SUMS = ("product", "prediction_squared", "reference_squared")


@dataclass(frozen=True)
class VolumeScoring:
    """Scores volumes under the options of a phase."""

    options: "CystsOptions"

    def score(self, prediction: Values, reference: Values) -> Row:
        """Return the columns of a submitted volume."""
        compared = self._compare(prediction["cysts"].crop, reference)
        row = self._row(compared, reference)
        if self.options.surface_distances:
            distances = surface_distances(
                compared.marked, compared.annotated, _spacing_of(reference), _diagonal_mm(reference)
            )
            row |= {"hausdorff_95_mm": distances.hausdorff_95, "mean_surface_distance_mm": distances.mean}
        return {**row, **_confidences(compared)}

    def worst(self, case: CaseForm, reference: Values) -> Row:
        """Return the worst values of a volume. The reference alone decides which of them are defined.

        No submission can be worse: only false voxels, as many false components as fit, and an error of the
        whole volume.
        """
        depth, height, width = shape = reference["cysts"].shape
        spacing, voxels = _spacing_of(reference), math.prod(shape)
        nothing = self._compare(stack_of((), np.float32), reference)
        empty_row = self._row(nothing, reference)
        row = {name: value if math.isnan(value) else 0.0 for name, value in empty_row.items()}
        across = (depth + 1) // 2 if spacing[0] < self.options.continuity_mm else depth
        row |= {
            "prediction_squared": float(voxels),
            "reference_squared": nothing.reference_squared,
            "highest_binary_weighted_dice": empty_row["highest_binary_weighted_dice"],
            "false_components": float(across * ((height + 1) // 2) * ((width + 1) // 2)),
            "volume_error_mm3": voxels * math.prod(spacing),
        }
        if self.options.surface_distances:
            distance = _diagonal_mm(reference) if nothing.overlap.reference else nan
            row |= {"hausdorff_95_mm": distance, "mean_surface_distance_mm": distance}
        return {**row, **_confidences(nothing)}

    def _compare(self, prediction: VolumeCrop, reference: Values) -> ComparedVolume:
        level: LabelMapValue = reference["level"]
        confidence: StoredConfidences = reference["cysts"]
        levels, confidences = together(level.crop, confidence.crop)
        alone = (confidences > 0) & (levels == 0)
        if alone.any():
            b_scan = around(level.crop, confidence.crop)[0][0] + np.argwhere(alone)[0, 0] + 1
            raise PhaseError(
                f"{confidence.path}, B-scan {b_scan}: expected confidence 0 where the level is 0, "
                "found a confidence above 0"
            )
        annotators = {name: reference[annotator_field(name)] for name in self.options.readers}
        return compare_volumes(
            prediction,
            level.crop,
            confidence.crop,
            {name: one.crop for name, one in annotators.items() if one is not None},
            marked_from=self.options.marked_from,
            across_planes=_spacing_of(reference)[0] < self.options.continuity_mm,
        )

    def _row(self, compared: ComparedVolume, reference: Values) -> dict[str, float]:
        """Return all columns except the distances; NaN where the reference defines no value."""
        sums = {name: getattr(compared, name) for name in _SUMS}
        row = {
            "weighted_dice": weighted_dice_of_sums(**sums),
            **sums,
            "highest_binary_weighted_dice": highest_binary_dice(
                compared.confidences, compared.voxels_of_confidence
            ),
        }
        row |= _overlaps("", compared.overlap)
        for name in (*self.options.readers, "intersection") if self.options.readers else ():
            row |= _overlaps(f"_{name}", compared.annotator_overlaps.get(name))
        for level in CONFIDENCE_LEVELS:
            row[f"recall_level_{level}"] = _share(compared.found[level], compared.voxels[level])
            touched, cysts = compared.cysts[level, 1], compared.cysts[level].sum()
            row[f"detection_ratio_level_{level}"] = _share(touched, cysts)
        row["detection_ratio"] = _share(compared.cysts[:, 1].sum(), compared.cysts.sum())
        row["false_components"] = float(compared.false_components)
        error = abs(compared.overlap.prediction - compared.overlap.reference)
        row["volume_error_mm3"] = error * math.prod(_spacing_of(reference))
        return row


def annotator_field(annotator: str) -> str:
    """Return the name of the hidden field that holds a single annotator's levels."""
    return f"reader_{annotator}"


def _confidences(compared: ComparedVolume) -> Row:
    """Return the columns for the pooled maximum of binary masks, one array each."""
    return {"reference_confidences": compared.confidences, "reference_voxels": compared.voxels_of_confidence}


def _overlaps(suffix: str, counts: segmentation.OverlapCounts[int] | None) -> dict[str, float]:
    return {
        f"{name}{suffix}": nan if counts is None else metric(counts, both_empty=1.0)
        for name, (_, metric) in OVERLAPS.items()
    }


def _share(part: int, whole: int) -> float:
    return float(part) / float(whole) if whole else nan


def _spacing_of(reference: Values) -> tuple[float, float, float]:
    """Return the spacing of a volume in the order z, y, x."""
    spacing: tuple[float, float, float] | None = reference["cysts"].spacing_mm
    assert spacing is not None  # `geometry_of` refuses a volume without
    return spacing


def _diagonal_mm(reference: Values) -> float:
    sides = zip(reference["cysts"].shape, _spacing_of(reference), strict=True)
    return math.hypot(*(size * step for size, step in sides))


VOLUMES = (".mha", ".nii.gz", ".tif", ".tiff")
_LEVEL_KIND = Levels({level: f"level {level}" for level in CONFIDENCE_LEVELS})


Confidence = Annotated[float, Key(gt=0, le=1)]


def _five_rising(values: tuple[float, ...]) -> tuple[float, ...]:
    if values and (len(values) != len(CONFIDENCE_LEVELS) or list(values) != sorted(values)):
        raise ValueError(f"expected the values of levels 1 to 5, none below the one before, found {values}")
    return values


def _plain_names(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not (name.isascii() and name.isidentifier() and name.islower()) or name == "intersection":
            raise ValueError(f"{name!r} is not a name of lower-case letters, digits and underscores")
    if len(set(names)) < len(names):
        raise ValueError("must differ from each other")
    return names


class CystsOptions(Options):
    """Options that the paper and the challenge leave open."""

    marked_from: Confidence = 0.01
    continuity_mm: float = 0.06
    readers: Annotated[tuple[str, ...], AfterValidator(_plain_names)] = ()
    published_levels: Annotated[tuple[Confidence, ...], AfterValidator(_five_rising), IN_FORM] = ()
    surface_distances: bool = True


def _tasks(options: CystsOptions) -> tuple[Task, ...]:
    scoring = VolumeScoring(options)
    return (
        Task(
            name="cysts",
            title="Segmentation of cysts",
            fields=(replace(CYSTS, kind=Confidences(level_values=options.published_levels)),),
            hidden=(LEVEL, *map(_annotator, options.readers)),
            score=scoring.score,
            worst=scoring.worst,
            metrics=_metrics(options),
        ),
    )


def _metrics(options: CystsOptions) -> tuple[Metric, ...]:
    annotators = ("intersection", *options.readers) if options.readers else ()
    annotator_metrics = {
        f"{name}_{column}": f"{title}, {'intersection of annotators' if column == 'intersection' else column}"
        for column in annotators
        for name, (title, _) in OVERLAPS.items()
    }
    bound = "highest_binary_weighted_dice"
    share = [
        ("weighted_dice", "Confidence-weighted Dice"),
        (bound, "Highest weighted Dice of any binary mask"),
        *((name, title) for name, (title, _) in OVERLAPS.items()),
        *annotator_metrics.items(),
        *((f"recall_level_{level}", f"Recall at {_LEVELS[level]}") for level in CONFIDENCE_LEVELS),
        ("detection_ratio", "Cyst-wise detection ratio"),
        *((f"detection_ratio_level_{of}", f"Detection ratio at {_LEVELS[of]}") for of in CONFIDENCE_LEVELS),
    ]
    amounts = [
        ("false_components", "False components in a volume", ""),
        ("volume_error_mm3", "Volume error in mm³", "mm³"),
    ]
    if options.surface_distances:
        amounts += [
            ("hausdorff_95_mm", "Hausdorff distance (95 %) in mm", "mm"),
            ("mean_surface_distance_mm", "Mean surface distance in mm", "mm"),
        ]
    unordered = {bound, *annotator_metrics}
    whole = {"weighted_dice", *OVERLAPS}
    first, *rest = [
        mean_metric(
            name,
            title,
            best=1,
            worst=0,
            ordered=name not in unordered,
            field="cysts",
            structures=("",) if name in whole else (),
        )
        for name, title in share
    ]
    pooled = Metric("pooled_weighted_dice", "Confidence-weighted Dice, all voxels pooled", _POOLED, 1, 0)
    highest = Metric(
        "pooled_highest_binary_weighted_dice",
        "Highest weighted Dice of any binary masks, all voxels pooled",
        _POOLED_HIGHEST,
        best=1,
        worst=0,
        no_interval="it is not resampled",
        ordered=False,
    )
    return (
        first,
        pooled,
        highest,
        *rest,
        *(mean_metric(name, title, best=0, worst=inf, unit=unit) for name, title, unit in amounts),
    )


def _annotator(name: str) -> HiddenField:
    location = Files(f"readers/{name}", VOLUMES)
    return HiddenField(annotator_field(name), Reference(_LEVEL_KIND, location, optional=True))


_POOLED = FunctionOfCases(
    values=lambda cases: pooled_weighted_dice(
        cases.table["product"],
        cases.table["prediction_squared"],
        cases.table["reference_squared"],
        cases.weights,
    ),
    strata=one_stratum,
)

_POOLED_HIGHEST = FunctionOfCases(
    values=lambda cases: pooled_highest_binary_dice(
        cases.table.objects("reference_confidences"), cases.table.objects("reference_voxels"), cases.weights
    ),
    strata=one_stratum,
)

CYSTS = Field(
    name="cysts",
    title="Confidence of cysts",
    kind=Confidences(),
    archive=Files("cysts", VOLUMES),
    socket=Socket("cyst-segmentation", "images/cyst-segmentation"),
    reference=Reference(ReferenceConfidences(), Files("confidence", VOLUMES)),
)

LEVEL = HiddenField("level", Reference(_LEVEL_KIND, Files("level", VOLUMES)))

# The paper has no ranking; this order is a choice of this package.
RANKING = Scheme(
    boards=(
        Board(
            "overall",
            (Rank("cysts.weighted_dice"),),
            ties=(Rank("cysts.detection_ratio"), Rank("cysts.false_components")),
        ),
    ),
    overall="overall",
)

CHALLENGE = Challenge(
    name="cysts",
    title="SD-OCT cysts: segmentation against a confidence-based benchmark",
    options=CystsOptions,
    tasks=_tasks,
    components=("cysts.weighted_dice", "cysts.detection_ratio", "cysts.false_components"),
    ranking=lambda options: RANKING,
)
