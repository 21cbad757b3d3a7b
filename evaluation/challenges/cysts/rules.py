"""Cysts in spectral-domain OCT volumes, against a benchmark of confidences.

"A novel benchmark model for intelligent annotation of spectral-domain optical coherence tomography scans
using the example of cyst annotation" (Vienna Reading Center and OPTIMA): confidences 1 to 5 of two readers
are combined to one confidence a voxel, and maps of confidences are compared by Eq. 3. Overlap with single
readers and with their intersection follows the OPTIMA cyst segmentation challenge of 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import inf, nan

import numpy as np
from pydantic import field_validator

from evaluation.challenges.cysts.comparison import ComparedVolume, VolumeComparison
from evaluation.challenges.cysts.confidence import (
    highest_binary_dice,
    pooled_highest_binary_dice,
    pooled_weighted_dice,
    weighted_dice,
)
from evaluation.core.case_table import Row
from evaluation.core.challenge import Challenge, Options, Task, Values
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Files, HiddenField, Reference, Socket
from evaluation.core.form import CaseForm
from evaluation.core.metric import Aggregate, Metric, mean_of
from evaluation.core.scheme import Board, Rank, Scheme
from evaluation.io.kinds.volume import GEOMETRY_COLUMNS, ConfidenceVolume, ReferenceVolume, geometry_of
from evaluation.metrics.crop import EMPTY, Crop
from evaluation.metrics.overlap import OverlapCounts, dice, precision, recall
from evaluation.metrics.surface_distance import surface_distances

LEVELS = (1, 2, 3, 4, 5)
_VOLUMES = (".mha", ".nii.gz", ".tif", ".tiff")
_OVERLAPS = {"dice": ("Dice", dice), "precision": ("Precision", precision), "recall": ("Recall", recall)}
_BOTH_EMPTY = 1.0


class CystsOptions(Options):
    """Choices that paper and challenge leave open.

    ``marked_from``: the confidence from which on a voxel counts as marked, by default the lowest that the
    reference knows. ``continuity_mm``: B-scans nearer to each other than this are joined (Section 2.2).
    ``readers``: names of the readers whose volumes lie in ``readers/<name>/``; a volume need not have all.
    """

    marked_from: float = 0.01
    continuity_mm: float = 0.06
    readers: tuple[str, ...] = ()
    surface_distances: bool = True

    @field_validator("marked_from")
    @classmethod
    def _above_zero(cls, value: float) -> float:
        if not 0 < value <= 1:
            raise ValueError("must be above 0 and at most 1")
        return value

    @field_validator("readers")
    @classmethod
    def _plain_names(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not (name.isascii() and name.isidentifier() and name.islower()) or name == "intersection":
                raise ValueError(f"{name!r} is not a name of lower-case letters, digits and underscores")
        if len(set(names)) < len(names):
            raise ValueError("must differ from each other")
        return names


def _tasks(options: CystsOptions) -> tuple[Task, ...]:
    return (
        Task(
            name="cysts",
            title="Segmentation of cysts",
            fields=(CYSTS,),
            hidden=(CONFIDENCE, *map(_reader, options.readers)),
            score=_score(options),
            worst=_worst(options),
            metrics=_metrics(options),
        ),
    )


def _metrics(options: CystsOptions) -> tuple[Metric, ...]:
    of_readers = {
        f"{name}_{reader}": f"{title}, {'intersection of readers' if reader == 'intersection' else reader}"
        for reader in _reader_columns(options)
        for name, (title, _) in _OVERLAPS.items()
    }
    bound = "highest_binary_weighted_dice"
    share = [
        ("weighted_dice", "Confidence-weighted Dice"),
        (bound, "Highest weighted Dice of any binary mask"),
        *((name, title) for name, (title, _) in _OVERLAPS.items()),
        *of_readers.items(),
        *((f"recall_level_{level}", f"Recall at level {level}") for level in LEVELS),
        ("detection_ratio", "Cyst-wise detection ratio"),
        *((f"detection_ratio_level_{level}", f"Detection ratio at level {level}") for level in LEVELS),
    ]
    amounts = [
        ("false_components", "False components in a volume"),
        ("volume_error_mm3", "Volume error in mm³"),
    ]
    if options.surface_distances:
        amounts += [
            ("hausdorff_95_mm", "Hausdorff distance (95 %) in mm"),
            ("mean_surface_distance_mm", "Mean surface distance in mm"),
        ]
    first, *rest = [
        Metric(name, title, mean_of(name), best=1, worst=0, ordered=name != bound and name not in of_readers)
        for name, title in share
    ]
    pooled = Metric("pooled_weighted_dice", "Confidence-weighted Dice, all voxels pooled", _POOLED, 1, 0)
    highest = Metric(
        "pooled_highest_binary_weighted_dice",
        "Highest weighted Dice of any binary masks, all voxels pooled",
        _POOLED_HIGHEST,
        best=1,
        worst=0,
        resampled=False,
        ordered=False,
    )
    return (
        first,
        pooled,
        highest,
        *rest,
        *(Metric(name, title, mean_of(name), best=0, worst=inf) for name, title in amounts),
    )


def _reader_columns(options: CystsOptions) -> tuple[str, ...]:
    return ("intersection", *options.readers) if options.readers else ()


def _score(options: CystsOptions) -> Callable[[Values, Values], Row]:
    def score(prediction: Values, reference: Values) -> Row:
        planes: tuple[Crop, ...] = prediction["cysts"]
        compared = _compare(planes, reference, options)
        row = _row(compared, reference, options)
        if options.surface_distances:
            case = reference["cysts"].case
            spacing = _spacing_zyx(case)
            distances = surface_distances(
                compared.predicted_planes,
                compared.reference_planes,
                spacing,
                _diagonal_mm(geometry_of(case).shape, spacing),
            )
            row |= {"hausdorff_95_mm": distances.hausdorff_95, "mean_surface_distance_mm": distances.mean}
        return {**row, **_confidences(compared)}

    return score


def _worst(options: CystsOptions) -> Callable[[CaseForm, Values], Row]:
    """Return the worst values of a volume; which of them exist, the reference alone decides.

    No submitted volume can be worse: every voxel marked in vain, as many false components as fit, an error of
    the whole volume.
    """

    def worst(case: CaseForm, reference: Values) -> Row:
        geometry, spacing = geometry_of(case), _spacing_zyx(case)
        voxels = math.prod(geometry.shape)
        nothing = _compare([EMPTY] * geometry.shape[0], reference, options)
        of_nothing = _row(nothing, reference, options)
        row = {name: value if math.isnan(value) else 0.0 for name, value in of_nothing.items()}
        depth, height, width = geometry.shape
        across = (depth + 1) // 2 if spacing[0] < options.continuity_mm else depth
        row |= {
            "prediction_squared": float(voxels),
            "reference_squared": nothing.sums.reference_squared,
            "highest_binary_weighted_dice": of_nothing["highest_binary_weighted_dice"],
            "false_components": float(across * ((height + 1) // 2) * ((width + 1) // 2)),
            "volume_error_mm3": voxels * math.prod(spacing),
        }
        if options.surface_distances:
            distance = _diagonal_mm(geometry.shape, spacing) if nothing.overlap.reference else nan
            row |= {"hausdorff_95_mm": distance, "mean_surface_distance_mm": distance}
        return {**row, **_confidences(nothing)}

    return worst


def _confidences(compared: ComparedVolume) -> Row:
    """Return the columns of which the pooled maximum of binary masks is made, an array each."""
    return {
        "reference_confidences": compared.confidences,
        "reference_voxels": compared.voxels_of_confidence,
    }


def _compare(planes: Sequence[Crop], reference: Values, options: CystsOptions) -> ComparedVolume:
    """Return the comparison of a volume with its reference, whose files pass by plane by plane."""
    case = reference["cysts"].case
    readers = [reference[_reader(name).name] for name in options.readers]
    streams = [volume.planes() for volume in readers if volume is not None]
    across_planes = _spacing_zyx(case)[0] < options.continuity_mm
    comparison = VolumeComparison(case.width, options.marked_from, across_planes, len(streams))
    volumes = zip(
        planes, reference["cysts"].planes(), reference["confidence"].planes(), *streams, strict=True
    )
    for z, (prediction, level, confidence, *of_readers) in enumerate(volumes):
        try:
            comparison.add(prediction, level, confidence, of_readers)
        except ValueError as error:
            raise PhaseError(f"{reference['confidence'].path}, B-scan {z + 1}: {error}") from None
    return comparison.result()


def _row(compared: ComparedVolume, reference: Values, options: CystsOptions) -> dict[str, float]:
    """Return all columns of a volume but the distances; NaN where the reference holds nothing to measure."""
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
    of_readers = iter(compared.of_readers)
    for name in options.readers:
        present = reference[_reader(name).name] is not None
        row |= _overlaps(f"_{name}", next(of_readers) if present else None)
    if options.readers:
        row |= _overlaps("_intersection", compared.of_intersection)
    for level in LEVELS:
        row[f"recall_level_{level}"] = _share(compared.found[level], compared.voxels[level])
        touched, cysts = compared.cysts[level, 1], compared.cysts[level].sum()
        row[f"detection_ratio_level_{level}"] = _share(touched, cysts)
    row["detection_ratio"] = _share(compared.cysts[:, 1].sum(), compared.cysts.sum())
    row["false_components"] = float(compared.false_components)
    error = abs(compared.overlap.prediction - compared.overlap.reference)
    row["volume_error_mm3"] = error * math.prod(_spacing_zyx(reference["cysts"].case))
    return row


def _overlaps(suffix: str, counts: OverlapCounts[int] | None) -> dict[str, float]:
    return {
        f"{name}{suffix}": nan if counts is None else metric(counts, both_empty=_BOTH_EMPTY)
        for name, (_, metric) in _OVERLAPS.items()
    }


def _share(part: int, whole: int) -> float:
    return float(part) / float(whole) if whole else nan


def _spacing_zyx(case: CaseForm) -> tuple[float, float, float]:
    x, y, z = geometry_of(case).spacing_mm or (1.0, 1.0, 1.0)
    return z, y, x


def _diagonal_mm(shape: Sequence[int], spacing_mm: Sequence[float]) -> float:
    return math.hypot(*(size * step for size, step in zip(shape, spacing_mm, strict=True)))


def _reader(name: str) -> HiddenField:
    levels = ReferenceVolume(0, 5, whole=True)
    return HiddenField(f"reader_{name}", Reference(levels, Files(f"readers/{name}", _VOLUMES), optional=True))


_POOLED = Aggregate(
    values=lambda cases: pooled_weighted_dice(
        cases.table["product"],
        cases.table["prediction_squared"],
        cases.table["reference_squared"],
        cases.weights,
    ),
    strata=lambda table: np.zeros(len(table), dtype=np.int64),
)

_POOLED_HIGHEST = Aggregate(
    values=lambda cases: pooled_highest_binary_dice(
        cases.table.objects("reference_confidences"), cases.table.objects("reference_voxels"), cases.weights
    ),
    strata=_POOLED.strata,
)

CYSTS = Field(
    name="cysts",
    title="Confidence of cysts",
    kind=ConfidenceVolume(),
    archive=Files("cysts", _VOLUMES),
    socket=Socket("cyst-segmentation", "images/cyst-segmentation"),
    reference=Reference(ReferenceVolume(0, 5, whole=True), Files("level", _VOLUMES)),
    rehearsed_from="confidence",
)

CONFIDENCE = HiddenField(
    "confidence", Reference(ReferenceVolume(0.01, 1, whole=False), Files("confidence", _VOLUMES))
)

# The paper ranks nobody; this order is ours.
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
    form_columns=GEOMETRY_COLUMNS,
    ranking=lambda options: RANKING,
)
