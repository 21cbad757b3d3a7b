"""Cysts in spectral-domain OCT volumes, against a benchmark of confidences.

"A novel benchmark model for intelligent annotation of spectral-domain optical coherence tomography scans
using the example of cyst annotation" (Vienna Reading Center and OPTIMA): confidences 1 to 5 of two annotators
are combined to one confidence per voxel, and maps of confidences are compared by Eq. 3. Overlap with single
annotators and with their intersection follows the OPTIMA cyst segmentation challenge of 2015.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, nan
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator

from evaluation.challenges.cysts.confidence import (
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
from evaluation.core.scheme import Board, Scheme, Term
from evaluation.io.kinds.volume import ConfidenceVolume, ReferenceVolume
from evaluation.io.volume_header import B_SCAN_COLUMNS, geometry_of
from evaluation.metrics import segmentation
from evaluation.metrics.arrays import Bools
from evaluation.metrics.crops import EMPTY, Box, Crop, around, content_of, stack_of, together

Counts = NDArray[np.int64]


LEVELS = 6
"""Levels are 0 to 5."""


@dataclass(frozen=True, slots=True)
class ComparedVolume:
    """The sums and counts for all figures of one volume.

    ``sums`` are Σ A·B, Σ A² and Σ B² of prediction A and confidence B. ``overlap`` compares the marked voxels
    with the voxels of level > 0, ``of_annotators`` with each annotator's (in the order given), then with
    those that all annotators marked. ``voxels`` and ``found`` count the reference's voxels by level, all and
    the marked ones. ``cysts`` counts its components by their highest level and by whether they are touched
    (level, untouched | touched), ``false_components`` the predicted components that touch no voxel of level >
    0. ``confidences`` are the distinct confidences of the reference above 0, with the number of voxels of
    each. ``marked`` and ``annotated`` are the marked voxels and those of level > 0 in the box around both.
    """

    sums: tuple[float, float, float]
    overlap: segmentation.OverlapCounts[int]
    of_annotators: tuple[segmentation.OverlapCounts[int], ...]
    voxels: Counts
    found: Counts
    cysts: Counts
    false_components: int
    confidences: NDArray[np.float64]
    voxels_of_confidence: Counts
    marked: Bools
    annotated: Bools


def compare_planes(
    planes: Iterable[Sequence[Crop]], marked_from: float, across_planes: bool
) -> ComparedVolume:
    """Return the comparison of a volume from its planes, in order.

    A plane is the prediction in [0, 1], the level 0 to 5, the confidence, and each annotator's level.
    ``marked_from``: the lowest prediction of a marked voxel. ``across_planes``: whether components join
    planes. Raises `ValueError` where a confidence is above 0 although the level is 0.
    """
    sums, overlaps, marks, annotations = [np.zeros(3)], [], [], []
    voxels, found = np.zeros((2, LEVELS), dtype=np.int64)
    distinct = Counter[float]()
    for z, (prediction, level, confidence, *annotators) in enumerate(planes, start=1):
        box = around(prediction, level, confidence, *annotators)
        predicted, levels, true = (plane.within(box) for plane in (prediction, level, confidence))
        marked, annotated = predicted >= marked_from, levels > 0
        if ((true > 0) & ~annotated).any():
            raise ValueError(
                f"B-scan {z}: expected confidence 0 where the level is 0, found a confidence above 0"
            )
        true = true[annotated].astype(np.float64)
        values, counts = np.unique(true, return_counts=True)
        distinct.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
        squared = np.square(predicted, dtype=np.float64).sum(), (values * values * counts).sum()
        sums.append(np.array([(true * predicted[annotated]).sum(), *squared]))
        voxels += np.bincount(levels[annotated], minlength=LEVELS)
        found += np.bincount(levels[marked & annotated], minlength=LEVELS)
        of_annotators = [annotator.within(box) > 0 for annotator in annotators]
        together_marked = [np.logical_and.reduce(of_annotators)] if annotators else []
        overlaps.append([_counts(marked, one) for one in (annotated, *of_annotators, *together_marked)])
        marks.append(_cropped(marked, box))
        annotations.append(_cropped(levels.astype(np.uint8), box))
    overlap, *others = (segmentation.OverlapCounts(*row) for row in np.sum(overlaps, axis=0).tolist())
    above = sorted((value, count) for value, count in distinct.items() if value > 0)
    marked, levels = together(stack_of(marks, np.bool_), stack_of(annotations, np.uint8))
    annotated = levels > 0
    product, predicted_squared, true_squared = map(math.fsum, zip(*sums, strict=True))
    return ComparedVolume(
        sums=(product, predicted_squared, true_squared),
        overlap=overlap,
        of_annotators=tuple(others),
        voxels=voxels,
        found=found,
        cysts=_component_counts(annotated, marked, levels, across_planes),
        false_components=int(_component_counts(marked, annotated, levels, across_planes)[:, 0].sum()),
        confidences=np.array([confidence for confidence, _ in above], dtype=np.float64),
        voxels_of_confidence=np.array([count for _, count in above], dtype=np.int64),
        marked=marked,
        annotated=annotated,
    )


def _component_counts(mask: Bools, touching: Bools, levels: NDArray[np.uint8], across_planes: bool) -> Counts:
    """Return the numbers of components, shape (highest level, not touched | touched).

    mask, touching, levels: shape (z, y, x). ``touching`` is the mask that components may touch. With
    ``across_planes`` a voxel has 26 neighbours. Otherwise it has the 8 neighbours in its plane, and every
    plane is counted separately.
    """
    from scipy import ndimage  # 0.25 s that only volumes need

    neighbours = np.ones((3, 3, 3), dtype=np.bool_)
    neighbours[[0, 2]] = across_planes
    labelled, number = ndimage.label(mask, neighbours)
    voxels = np.flatnonzero(mask)  # few of a volume
    component = labelled.ravel()[voxels]
    highest = np.zeros(number + 1, dtype=np.uint8)
    np.maximum.at(highest, component, levels.ravel()[voxels])
    touched = np.zeros(number + 1, dtype=np.int64)
    touched[component[touching.ravel()[voxels]]] = 1
    counts = np.zeros((LEVELS, 2), dtype=np.int64)
    np.add.at(counts, (highest[1:], touched[1:]), 1)
    return counts


def _cropped(values: NDArray[Any], box: Box) -> Crop:
    """Return values in a box as a plane cropped to its content. They are copied to release the full plane."""
    return content_of(values).copy().moved(box.corner)


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


def _score(options: CystsOptions, prediction: Values, reference: Values) -> Row:
    """Return the columns of a submitted volume."""
    compared = _compare(options, prediction["cysts"], reference)
    row = _row(options, compared, reference)
    if options.surface_distances:
        case = reference["cysts"].case
        spacing = _spacing_zyx(case)
        diagonal = _diagonal_mm(geometry_of(case).shape, spacing)
        hausdorff, mean = surface_distances(compared.marked, compared.annotated, spacing, diagonal)
        row |= {"hausdorff_95_mm": hausdorff, "mean_surface_distance_mm": mean}
    return {**row, **_confidences(compared)}


def _worst(options: CystsOptions, case: CaseForm, reference: Values) -> Row:
    """Return the worst values of a volume. The reference alone decides which of them are defined.

    No submission can be worse: only false voxels, as many false components as fit, and an error of the whole
    volume.
    """
    geometry, spacing = geometry_of(case), _spacing_zyx(case)
    voxels = math.prod(geometry.shape)
    nothing = _compare(options, [EMPTY] * geometry.shape[0], reference)
    empty_row = _row(options, nothing, reference)
    row = {name: value if math.isnan(value) else 0.0 for name, value in empty_row.items()}
    depth, height, width = geometry.shape
    across = (depth + 1) // 2 if spacing[0] < options.continuity_mm else depth
    row |= {
        "prediction_squared": float(voxels),
        "reference_squared": empty_row["reference_squared"],
        "highest_binary_weighted_dice": empty_row["highest_binary_weighted_dice"],
        "false_components": float(across * ((height + 1) // 2) * ((width + 1) // 2)),
        "volume_error_mm3": voxels * math.prod(spacing),
    }
    if options.surface_distances:
        distance = _diagonal_mm(geometry.shape, spacing) if nothing.overlap.reference else nan
        row |= {"hausdorff_95_mm": distance, "mean_surface_distance_mm": distance}
    return {**row, **_confidences(nothing)}


def _compare(options: CystsOptions, planes: Sequence[Crop], reference: Values) -> ComparedVolume:
    annotators = [reference[annotator_field(name)] for name in options.readers]
    volumes = [reference["level"], reference["cysts"], *(one for one in annotators if one is not None)]
    across_planes = _spacing_zyx(reference["cysts"].case)[0] < options.continuity_mm
    streams = zip(planes, *(volume.planes() for volume in volumes), strict=True)
    try:
        return compare_planes(streams, options.marked_from, across_planes)
    except ValueError as error:
        raise PhaseError(f"{reference['cysts'].path}, {error}") from None


def _row(options: CystsOptions, compared: ComparedVolume, reference: Values) -> dict[str, float]:
    """Return all columns except the distances; NaN where the reference defines no value."""
    row = {
        "weighted_dice": float(weighted_dice_of_sums(compared.sums)),
        **dict(zip(("product", "prediction_squared", "reference_squared"), compared.sums, strict=True)),
        "highest_binary_weighted_dice": highest_binary_dice(
            compared.confidences, compared.voxels_of_confidence
        ),
        **_overlaps("", compared.overlap),
    }
    overlaps = iter(compared.of_annotators)
    for name in options.readers:
        present = reference[annotator_field(name)] is not None
        row |= _overlaps(f"_{name}", next(overlaps) if present else None)
    if options.readers:
        row |= _overlaps("_intersection", next(overlaps, None))
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


def _tasks(options: CystsOptions) -> tuple[Task, ...]:
    return (
        Task(
            name="cysts",
            title="Segmentation of cysts",
            fields=(replace(CYSTS, kind=ConfidenceVolume(level_values=options.published_levels)),),
            hidden=(LEVEL, *map(_annotator, options.readers)),
            score=partial(_score, options),
            worst=partial(_worst, options),
            metrics=_metrics(options),
            undefined_by_reference=True,
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
            (Term(rank="cysts.weighted_dice"),),
            ties=(Term(rank="cysts.detection_ratio"), Term(rank="cysts.false_components")),
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
