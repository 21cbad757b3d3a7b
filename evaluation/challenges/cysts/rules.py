"""Cysts in spectral-domain OCT volumes, against a benchmark of confidences.

"A novel benchmark model for intelligent annotation of spectral-domain optical coherence tomography scans
using the example of cyst annotation" (Vienna Reading Center and OPTIMA): confidences 1 to 5 of two annotators
are combined to one confidence per voxel, and maps of confidences are compared by Eq. 3. Overlap with single
annotators and with their intersection follows the OPTIMA cyst segmentation challenge of 2015.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import inf, nan
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator

from evaluation.challenges.cysts.components import LEVELS, component_counts
from evaluation.challenges.cysts.confidence import (
    ConfidenceSums,
    highest_binary_dice,
    pooled_highest_binary_dice,
    pooled_weighted_dice,
    weighted_dice_of_sums,
)
from evaluation.challenges.cysts.surfaces import surface_distances
from evaluation.core.case_table import Row
from evaluation.core.challenge import Challenge, FormColumn, Options, Task, Values
from evaluation.core.estimator import FunctionOfCases, one_stratum
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Files, HiddenField, Reference, Socket
from evaluation.core.form import CaseForm
from evaluation.core.keys import IN_FORM
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.scheme import Board, Rank, Scheme
from evaluation.io.kinds.volume import ConfidenceVolume, ReferenceVolume
from evaluation.io.volume_header import B_SCAN_COLUMNS, geometry_of
from evaluation.metrics import segmentation
from evaluation.metrics.arrays import Bools
from evaluation.metrics.crops import EMPTY, Box, Crop, box_of_content, stack_of, together

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ComparedVolume:
    """The sums and counts for all figures of one volume.

    ``overlap`` compares the marked voxels with the voxels of level > 0, ``annotator_overlaps`` with each
    annotator's (in the order given), ``intersection_overlap`` with the voxels that all annotators marked
    (None without annotators). ``voxels`` and ``found`` count the reference's voxels by level, all and the
    marked ones. ``cysts`` counts its components by their highest level and by whether they are touched
    (level, untouched | touched), ``false_components`` the predicted components that touch no voxel of level >
    0. ``confidences`` are the distinct confidences of the reference above 0, with the number of voxels of
    each. ``marked`` and ``annotated`` are the marked voxels and those of level > 0 in the box around both.
    """

    sums: ConfidenceSums
    overlap: segmentation.OverlapCounts[int]
    annotator_overlaps: tuple[segmentation.OverlapCounts[int], ...]
    intersection_overlap: segmentation.OverlapCounts[int] | None
    voxels: Counts
    found: Counts
    cysts: Counts
    false_components: int
    confidences: NDArray[np.float64]
    voxels_of_confidence: Counts
    marked: Bools
    annotated: Bools


class VolumeComparison:
    """Collects a `ComparedVolume` from the planes of a volume, in order.

    ``marked_from``: the lowest prediction of a marked voxel. ``across_planes``: whether components join
    planes.
    """

    def __init__(self, marked_from: float, across_planes: bool, annotators: int = 0) -> None:
        self._marked_from, self._across_planes = marked_from, across_planes
        self._sums: list[tuple[float, ...]] = [(0.0, 0.0, 0.0)]
        self._overlap = np.zeros(3, dtype=np.int64)
        # The last row is their intersection.
        self._of_annotators = np.zeros((annotators + 1, 3), dtype=np.int64)
        self._voxels = np.zeros(LEVELS, dtype=np.int64)
        self._found = np.zeros(LEVELS, dtype=np.int64)
        self._distinct = Counter[float]()
        self._marked: list[Crop] = []
        self._levels: list[Crop] = []

    def add(self, prediction: Crop, level: Crop, confidence: Crop, annotators: Sequence[Crop] = ()) -> None:
        """Add a plane: the prediction in [0, 1], level 0 to 5, confidence, and each annotator's level.

        Raises `ValueError` where a confidence is above 0 although the level is 0.
        """
        box = reduce(Box.union, (plane.box for plane in (prediction, level, confidence, *annotators)))
        predicted, levels, true = prediction.within(box), level.within(box), confidence.within(box)
        marked, annotated = predicted >= self._marked_from, levels > 0
        if ((true > 0) & ~annotated).any():
            raise ValueError("expected confidence 0 where the level is 0, found a confidence above 0")
        self._add_sums(predicted, true[annotated], predicted[annotated])
        self._overlap += _counts(marked, annotated)
        self._voxels += np.bincount(levels[annotated], minlength=LEVELS)
        self._found += np.bincount(levels[marked & annotated], minlength=LEVELS)
        self._marked.append(_cropped(marked, box))
        self._levels.append(_cropped(levels.astype(np.uint8), box))
        if annotators:
            annotator_overlaps = [annotator.within(box) > 0 for annotator in annotators]
            annotator_overlaps.append(np.logical_and.reduce(annotator_overlaps))
            self._of_annotators += [_counts(marked, marks) for marks in annotator_overlaps]

    def result(self) -> ComparedVolume:
        """Return the comparison; no plane can be added afterwards."""
        annotators = [segmentation.OverlapCounts(*row) for row in self._of_annotators.tolist()]
        distinct = sorted((value, voxels) for value, voxels in self._distinct.items() if value > 0)
        marked, levels = together(stack_of(self._marked, np.bool_), stack_of(self._levels, np.uint8))
        annotated = levels > 0
        return ComparedVolume(
            sums=ConfidenceSums(*map(math.fsum, zip(*self._sums, strict=True))),
            overlap=segmentation.OverlapCounts(*self._overlap.tolist()),
            annotator_overlaps=tuple(annotators[:-1]),
            intersection_overlap=annotators[-1] if len(annotators) > 1 else None,
            voxels=self._voxels,
            found=self._found,
            cysts=component_counts(annotated, marked, levels, self._across_planes),
            false_components=int(
                component_counts(marked, annotated, levels, self._across_planes)[:, 0].sum()
            ),
            confidences=np.array([confidence for confidence, _ in distinct], dtype=np.float64),
            voxels_of_confidence=np.array([voxels for _, voxels in distinct], dtype=np.int64),
            marked=marked,
            annotated=annotated,
        )

    def _add_sums(self, predicted: NDArray[Any], true: NDArray[Any], at_true: NDArray[Any]) -> None:
        true = true.astype(np.float64)
        values, counts = np.unique(true, return_counts=True)
        predicted_squared = np.square(predicted, dtype=np.float64).sum()
        sums = (true * at_true).sum(), predicted_squared, (values * values * counts).sum()
        self._sums.append(tuple(map(float, sums)))
        self._distinct.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def _cropped(values: NDArray[Any], box: Box) -> Crop:
    """Return values in a box as a plane cropped to its content. They are copied to release the full plane."""
    own = box_of_content(values)
    return Crop(values[own.slices].copy(), own.top + box.top, own.left + box.left)


def _counts(prediction: NDArray[np.bool_], reference: NDArray[np.bool_]) -> Counts:
    both = np.count_nonzero(prediction & reference)
    return np.array((both, np.count_nonzero(prediction), np.count_nonzero(reference)), dtype=np.int64)


CONFIDENCE_LEVELS = (1, 2, 3, 4, 5)
_LEVELS = {level: f"level {level}" for level in CONFIDENCE_LEVELS} | {1: "level 1 (also disputed)"}
"""A voxel that one of three annotators marks at 4 or 5, and the others leave out, gets level 1."""
OVERLAPS = {
    "dice": ("Dice", segmentation.dice_of_counts),
    "precision": ("Precision", segmentation.precision_of_counts),
    "recall": ("Recall", segmentation.recall_of_counts),
}
"""Title and function of each overlap metric, by column."""


@dataclass(frozen=True)
class VolumeScoring:
    """Scores volumes under the options of the same names."""

    marked_from: float
    continuity_mm: float
    annotators: tuple[str, ...]
    surface_distances: bool

    def score(self, prediction: Values, reference: Values) -> Row:
        """Return the columns of a submitted volume."""
        compared = self._compare(prediction["cysts"], reference)
        row = self._row(compared, reference)
        if self.surface_distances:
            case = reference["cysts"].case
            spacing = _spacing_zyx(case)
            distances = surface_distances(
                compared.marked,
                compared.annotated,
                spacing,
                _diagonal_mm(geometry_of(case).shape, spacing),
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
        if self.surface_distances:
            distance = _diagonal_mm(geometry.shape, spacing) if nothing.overlap.reference else nan
            row |= {"hausdorff_95_mm": distance, "mean_surface_distance_mm": distance}
        return {**row, **_confidences(nothing)}

    def _compare(self, planes: Sequence[Crop], reference: Values) -> ComparedVolume:
        case = reference["cysts"].case
        annotators = [reference[annotator_field(name)] for name in self.annotators]
        streams = [volume.planes() for volume in annotators if volume is not None]
        across_planes = _spacing_zyx(case)[0] < self.continuity_mm
        comparison = VolumeComparison(self.marked_from, across_planes, len(streams))
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
            "weighted_dice": weighted_dice_of_sums(sums),
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
        for level in CONFIDENCE_LEVELS:
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
    return {"reference_confidences": compared.confidences, "reference_voxels": compared.voxels_of_confidence}


def _overlaps(suffix: str, counts: segmentation.OverlapCounts[int] | None) -> dict[str, float]:
    return {
        f"{name}{suffix}": nan if counts is None else metric(counts, both_empty=1.0)
        for name, (_, metric) in OVERLAPS.items()
    }


def _share(part: int, whole: int) -> float:
    return float(part) / float(whole) if whole else nan


def _spacing_zyx(case: CaseForm) -> tuple[float, float, float]:
    spacing = geometry_of(case).spacing_mm
    assert spacing is not None  # `geometry_of` refuses a volume without
    x, y, z = spacing
    return z, y, x


def _diagonal_mm(shape: Sequence[int], spacing_mm: Sequence[float]) -> float:
    return math.hypot(*(size * step for size, step in zip(shape, spacing_mm, strict=True)))


VOLUMES = (".mha", ".nii.gz", ".tif", ".tiff")
_WHOLE_LEVELS = ReferenceVolume(0, CONFIDENCE_LEVELS[-1], whole=True)


def _above_zero(value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError("must be above 0 and at most 1")
    return value


def _five_rising(values: tuple[float, ...]) -> tuple[float, ...]:
    if values and (len(values) != len(CONFIDENCE_LEVELS) or list(values) != sorted(values)):
        raise ValueError(f"expected the values of levels 1 to 5, none below the one before, found {values}")
    return tuple(map(_above_zero, values))


def _plain_names(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not (name.isascii() and name.isidentifier() and name.islower()) or name == "intersection":
            raise ValueError(f"{name!r} is not a name of lower-case letters, digits and underscores")
    if len(set(names)) < len(names):
        raise ValueError("must differ from each other")
    return names


class CystsOptions(Options):
    """Options that the paper and the challenge leave open."""

    marked_from: Annotated[float, AfterValidator(_above_zero)] = 0.01
    continuity_mm: float = 0.06
    readers: Annotated[tuple[str, ...], AfterValidator(_plain_names)] = ()
    published_levels: Annotated[tuple[float, ...], AfterValidator(_five_rising), IN_FORM] = ()
    surface_distances: bool = True


def _tasks(options: CystsOptions) -> tuple[Task, ...]:
    scoring = VolumeScoring(
        options.marked_from,
        options.continuity_mm,
        options.readers,
        options.surface_distances,
    )
    return (
        Task(
            name="cysts",
            title="Segmentation of cysts",
            fields=(replace(CYSTS, kind=ConfidenceVolume(level_values=options.published_levels)),),
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
    return HiddenField(annotator_field(name), Reference(_WHOLE_LEVELS, location, optional=True))


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
    kind=ConfidenceVolume(),
    archive=Files("cysts", VOLUMES),
    socket=Socket("cyst-segmentation", "images/cyst-segmentation"),
    reference=Reference(ReferenceVolume(0.01, 1, whole=False), Files("confidence", VOLUMES)),
)

LEVEL = HiddenField("level", Reference(_WHOLE_LEVELS, Files("level", VOLUMES)))

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
    form_columns=tuple(map(FormColumn, B_SCAN_COLUMNS)),
    ranking=lambda options: RANKING,
)
