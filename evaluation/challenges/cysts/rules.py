"""Cysts in spectral-domain OCT volumes, against a benchmark of confidences.

"A novel benchmark model for intelligent annotation of spectral-domain optical coherence tomography scans
using the example of cyst annotation" (Vienna Reading Center and OPTIMA): confidences 1 to 5 of two annotators
are combined to one confidence per voxel, and maps of confidences are compared by Eq. 3. Overlap with single
annotators and with their intersection follows the OPTIMA cyst segmentation challenge of 2015.
"""

from __future__ import annotations

from math import inf
from typing import Annotated, Self

from pydantic import AfterValidator, model_validator

from evaluation.challenges.cysts.scoring import CONFIDENCE_LEVELS, OVERLAPS, VolumeScoring, annotator_field
from evaluation.core.challenge import Challenge, FormColumn, Options, Task
from evaluation.core.field import Field, Files, HiddenField, Reference, Socket
from evaluation.core.keys import Key
from evaluation.core.metric import Aggregate, Metric, mean_metric, one_stratum
from evaluation.core.scheme import Board, Rank, Scheme
from evaluation.io.kinds.volume import ConfidenceVolume, ReferenceVolume
from evaluation.io.volume_header import B_SCAN_COLUMNS
from evaluation.metrics.segmentation import pooled_highest_binary_dice, pooled_weighted_dice
from evaluation.metrics.surfaces import Directions, Percentile, Surface, SurfaceConvention

_VOLUMES = (".mha", ".nii.gz", ".tif", ".tiff")
_WHOLE_LEVELS = ReferenceVolume(0, CONFIDENCE_LEVELS[-1], whole=True)


def _above_zero(value: float) -> float:
    if not 0 < value <= 1:
        raise ValueError("must be above 0 and at most 1")
    return value


def _plain_names(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if not (name.isascii() and name.isidentifier() and name.islower()) or name == "intersection":
            raise ValueError(f"{name!r} is not a name of lower-case letters, digits and underscores")
    if len(set(names)) < len(names):
        raise ValueError("must differ from each other")
    return names


class CystsOptions(Options):
    """Options that the paper and the challenge leave open."""

    marked_from: Annotated[float, AfterValidator(_above_zero)] = Key(
        default=0.01,
        description="Confidence from which on a voxel counts as marked, above 0 and at most 1. The default "
        "is the lowest confidence of the reference.",
    )
    continuity_mm: float = Key(
        default=0.06,
        description="Distance in mm below which neighbouring B-scans are connected (Section 2.2).",
    )
    readers: Annotated[tuple[str, ...], AfterValidator(_plain_names)] = Key(
        default=(),
        description="Names of the annotators whose volumes are in `readers/<name>/`. A volume need not have "
        "all.",
    )
    surface_distances: bool = Key(
        default=True, description="Whether the Hausdorff and the mean surface distance are computed."
    )
    surface: Surface = Key(
        default="voxels",
        description="Parts of a surface. `voxels`: the region's voxels that have a neighbour outside of it, "
        "all of equal weight (MedPy, MONAI, SimpleITK). `elements`: surface elements, weighted by their area "
        "(surface-distance).",
    )
    hausdorff_percentile: Percentile = Key(
        default="index",
        description="Percentile of the Hausdorff distance. `index`: the distance at position ⌊0.95 (n − 1)⌋; "
        "for elements, the distance at which 95 % of the area is reached. `linear`: interpolated between two "
        "positions; for voxels only.",
    )
    surface_directions: Directions = Key(
        default="directed",
        description="The two directions of surface distances, from prediction to reference and back. "
        "`directed`: the larger of their figures. `pooled`: the figure of all distances together.",
    )

    @model_validator(mode="after")
    def _possible_convention(self) -> Self:
        self.convention()
        return self

    def convention(self) -> SurfaceConvention:
        """Return how surfaces are compared. Raises ValueError for choices that exclude each other."""
        return SurfaceConvention(self.surface, self.hausdorff_percentile, self.surface_directions)


def _tasks(options: CystsOptions) -> tuple[Task, ...]:
    scoring = VolumeScoring(
        options.marked_from,
        options.continuity_mm,
        options.readers,
        options.convention() if options.surface_distances else None,
    )
    return (
        Task(
            name="cysts",
            title="Segmentation of cysts",
            fields=(CYSTS,),
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
        *((f"recall_level_{level}", f"Recall at level {level}") for level in CONFIDENCE_LEVELS),
        ("detection_ratio", "Cyst-wise detection ratio"),
        *((f"detection_ratio_level_{of}", f"Detection ratio at level {of}") for of in CONFIDENCE_LEVELS),
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
    first, *rest = [
        mean_metric(name, title, best=1, worst=0, ordered=name != bound and name not in annotator_metrics)
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
    location = Files(f"readers/{name}", _VOLUMES)
    return HiddenField(annotator_field(name), Reference(_WHOLE_LEVELS, location, optional=True))


_POOLED = Aggregate(
    values=lambda cases: pooled_weighted_dice(
        cases.table["product"],
        cases.table["prediction_squared"],
        cases.table["reference_squared"],
        cases.weights,
    ),
    strata=one_stratum,
)

_POOLED_HIGHEST = Aggregate(
    values=lambda cases: pooled_highest_binary_dice(
        cases.table.objects("reference_confidences"), cases.table.objects("reference_voxels"), cases.weights
    ),
    strata=one_stratum,
)

CYSTS = Field(
    name="cysts",
    title="Confidence of cysts",
    kind=ConfidenceVolume(),
    archive=Files("cysts", _VOLUMES),
    socket=Socket("cyst-segmentation", "images/cyst-segmentation"),
    reference=Reference(ReferenceVolume(0.01, 1, whole=False), Files("confidence", _VOLUMES)),
)

LEVEL = HiddenField("level", Reference(_WHOLE_LEVELS, Files("level", _VOLUMES)))

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
