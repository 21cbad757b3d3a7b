"""REFUGE, the Retinal Fundus Glaucoma Challenge (Orlando et al., Medical Image Analysis 59, 2020).

Section 3.2: glaucoma classification (3.2.1), segmentation of optic disc and cup (3.2.2), and the optional
localisation of the fovea.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Annotated, Literal

import numpy as np

from evaluation.core.case_table import Row
from evaluation.core.challenge import Challenge, Options, Task, Values
from evaluation.core.class_estimators import SensitivityAtSpecificity
from evaluation.core.classification import auc, binary_classification
from evaluation.core.field import CaseColumns, Field, Files, Reference, Socket, TableColumns
from evaluation.core.keys import IN_FORM, KeyTable, Weight
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.scheme import Board, Place, Rank, Scheme
from evaluation.io.kinds.classes import LABEL
from evaluation.io.kinds.label_map import LabelMap, LabelMapValue
from evaluation.io.kinds.number import Number
from evaluation.io.kinds.points import PointInImage, distance
from evaluation.metrics.crops import Crop
from evaluation.metrics.points import image_diagonal
from evaluation.metrics.segmentation import (
    VerticalDiameter,
    dice_of_counts,
    overlap_of,
    vertical_cup_to_disc_ratio,
    vertical_diameter,
)

VERTICAL, HORIZONTAL = "vertical_cup_to_disc_ratio", "horizontal_cup_to_disc_ratio"
DISC_AREA, CUP_AREA = "disc_area", "cup_area"
_RATIOS = (VERTICAL, HORIZONTAL)
_MEASURES = (*_RATIOS, DISC_AREA, CUP_AREA)
PREDICTED, REFERENCE = "predicted", "reference"


def measured(cup: Crop, disc: Crop, definition: VerticalDiameter) -> Mapping[str, float]:
    """Return the cup-to-disc ratios, 0 without a disc, and the areas in pixels; the disc includes the cup.

    The horizontal diameter is defined as the vertical one, of the image turned by a right angle: the largest
    number of pixels in one row, or the last column minus the first plus one.
    """
    upright, turned = (
        vertical_cup_to_disc_ratio(*(vertical_diameter(region, definition) for region in regions))
        for regions in ((cup.values, disc.values), (cup.values.T, disc.values.T))
    )
    disc_area, cup_area = (float(np.count_nonzero(region.values)) for region in (disc, cup))
    return dict(zip(_MEASURES, (upright, turned, disc_area, cup_area), strict=True))


def columns_of(predicted: Mapping[str, float] | None, reference: Mapping[str, float]) -> dict[str, float]:
    """Return the columns of one image: errors of both ratios, and all measures of prediction and reference.

    A signed error is prediction minus reference. Without a prediction all values that depend on it are NaN,
    and the error of the vertical ratio, a metric, takes its worst value.
    """
    values = {
        f"{side}_{name}": nan if head is None else head[name]
        for side, head in ((PREDICTED, predicted), (REFERENCE, reference))
        for name in _MEASURES
    }
    signed = {ratio: values[f"{PREDICTED}_{ratio}"] - values[f"{REFERENCE}_{ratio}"] for ratio in _RATIOS}
    errors = {
        **{f"{ratio}_signed_error": error for ratio, error in signed.items()},
        **{f"{ratio}_error": abs(error) for ratio, error in signed.items()},
    }
    if predicted is None:
        del errors[f"{VERTICAL}_error"]
    return {**errors, **values}


UNPUBLISHED = frozenset(
    {
        *(f"{PREDICTED}_{name}" for name in _MEASURES),
        *(f"{REFERENCE}_{name}" for name in _MEASURES if name != VERTICAL),
        *(f"{ratio}_signed_error" for ratio in _RATIOS),
        f"{HORIZONTAL}_error",
    }
)
"""The columns that only the organiser's file holds."""


CUP, DISC, ELSEWHERE = 0, 128, 255
IMAGES = (".bmp", ".png", ".tif")


class RefugeWeights(KeyTable):
    """Weights of the ranking: ranks of metrics (Eq. 3), places in tasks (Eq. 4) and the two sets (Eq. 5).

    Eq. 3 prints the weights of cup and disc exchanged. The paper's Table 6 was computed with these weights.
    """

    dice_cup: Weight = Decimal("0.35")
    dice_disc: Weight = Decimal("0.25")
    vertical_cup_to_disc_ratio_error: Weight = Decimal("0.40")
    classification: Weight = Decimal("0.4")
    segmentation: Weight = Decimal("0.6")
    offline: Weight = Decimal("0.3")
    onsite: Weight = Decimal("0.7")


class RefugeOptions(Options):
    """Choices for which the paper and its public evaluator differ."""

    unlisted_labels: Annotated[Literal["error", "disc"], IN_FORM] = "error"
    vertical_diameter: VerticalDiameter = "column_count"
    sensitivity_at_specificity: Literal["step", "interpolated", "between_kept_points"] = "step"
    weights: RefugeWeights = RefugeWeights()


def _tasks(options: RefugeOptions) -> tuple[Task, ...]:
    return (
        binary_classification(
            "classification",
            "Glaucoma classification",
            LIKELIHOOD,
            label="glaucoma",
            metrics=(
                auc("glaucoma"),
                Metric(
                    "reference_sensitivity",
                    "Sensitivity at 85 % specificity",
                    SensitivityAtSpecificity(
                        "likelihood", "glaucoma", Fraction(85, 100), options.sensitivity_at_specificity
                    ),
                    best=1,
                    worst=0,
                ),
            ),
        ),
        Task(
            name="segmentation",
            title="Segmentation of optic disc and cup",
            fields=(_segmentation(options),),
            score=_score_segmentation(options.vertical_diameter),
            metrics=(
                *(
                    mean_metric(
                        f"dice_{of}",
                        f"Dice of the {of}",
                        best=1,
                        worst=0,
                        field="segmentation",
                        structures=(f"optic {of}",),
                    )
                    for of in ("cup", "disc")
                ),
                mean_metric(f"{VERTICAL}_error", "Absolute error of the vertical cup-to-disc ratio", 0, 1),
            ),
            # The measures of the reference are kept without a result: its ratio is tested as a classifier.
            worst=lambda case, reference: columns_of(
                None, measured(*regions_of(reference["segmentation"]), options.vertical_diameter)
            ),
            classifiers=tuple(f"{side}_{VERTICAL}" for side in (PREDICTED, REFERENCE)),
            unpublished=UNPUBLISHED,
        ),
        Task(
            name="fovea",
            title="Localisation of the fovea",
            fields=(FOVEA,),
            score=lambda prediction, reference: {
                "distance": distance(prediction["fovea"], reference["fovea"])
            },
            metrics=(mean_metric("distance", "Euclidean distance in pixels", best=0, worst=inf, unit="px"),),
            worst=lambda case, reference: {"distance": image_diagonal(case.width, case.height)},
            optional=True,
        ),
    )


def _score_segmentation(definition: VerticalDiameter) -> Callable[[Values, Values], Row]:
    """Return the function that scores one image (Eq. 1 and 2).

    Dice is 1 where both regions are empty; the ratio is 0 where the disc is empty.
    """

    def score(prediction: Values, reference: Values) -> Row:
        predicted_cup, predicted_disc = regions_of(prediction["segmentation"])
        true_cup, true_disc = regions_of(reference["segmentation"])
        return {
            "dice_cup": dice_of_counts(overlap_of(predicted_cup, true_cup), both_empty=1.0),
            "dice_disc": dice_of_counts(overlap_of(predicted_disc, true_disc), both_empty=1.0),
            **columns_of(
                measured(predicted_cup, predicted_disc, definition), measured(true_cup, true_disc, definition)
            ),
        }

    return score


def regions_of(mask: LabelMapValue) -> tuple[Crop, Crop]:
    """Return the regions of cup and disc; the disc includes the cup."""
    return mask.region(1), mask.region(1, 2)


def _segmentation(options: RefugeOptions) -> Field:
    labels = {CUP: "optic cup", DISC: "optic disc"}
    strict = LabelMap(labels, ELSEWHERE, dimensions=2, nested=options.vertical_diameter)
    lenient = replace(strict, unlisted_as=DISC)
    return Field(
        name="segmentation",
        title="Segmentation of optic disc and cup",
        kind=strict if options.unlisted_labels == "error" else lenient,
        archive=Files("segmentation", IMAGES),
        socket=Socket("optic-disc-and-cup-segmentation", "images/optic-disc-and-cup-segmentation"),
        reference=Reference(strict, Files("masks", (".png", ".bmp", ".tif"))),
    )


def ranking(options: RefugeOptions) -> Scheme:
    """Return the ranking of section 3.2: of each task, of both tasks (Eq. 4) and of both sets (Eq. 5)."""
    weights = {name: Fraction(weight) for name, weight in vars(options.weights).items()}
    return Scheme(
        boards=(
            Board("classification", (Rank("classification.auc"),)),
            Board(
                "segmentation",
                tuple(
                    Rank(f"segmentation.{metric}", weights[metric])
                    for metric in ("dice_cup", "dice_disc", "vertical_cup_to_disc_ratio_error")
                ),
            ),
            Board(
                "overall", tuple(Place(task, weights[task]) for task in ("classification", "segmentation"))
            ),
        ),
        overall="overall",
        phases={role: weights[role] for role in ("offline", "onsite")},
    )


LIKELIHOOD = Field(
    name="glaucoma_risk",
    title="Likelihood of glaucoma",
    kind=Number(),
    archive=TableColumns(("classification_results.csv",), "FileName", ("Glaucoma Risk",)),
    socket=Socket("glaucoma-risk", "glaucoma-risk.json"),
    reference=Reference(LABEL, CaseColumns(("glaucoma",))),
)

FOVEA = Field(
    name="fovea",
    title="Location of the fovea",
    kind=PointInImage(),
    archive=TableColumns(
        ("fovea_location_results.csv", "fovea_localization_results.csv"), "ImageName", ("Fovea_X", "Fovea_Y")
    ),
    socket=Socket("fovea-location", "fovea-location.json"),
    reference=Reference(PointInImage(), CaseColumns(("fovea_x", "fovea_y"))),
)

CHALLENGE = Challenge(
    name="refuge",
    title="REFUGE: glaucoma assessment from fundus photographs",
    options=RefugeOptions,
    tasks=_tasks,
    counts="last",
    components=(
        "classification.auc",
        "segmentation.dice_cup",
        "segmentation.dice_disc",
        "segmentation.vertical_cup_to_disc_ratio_error",
    ),
    ranking=ranking,
)
