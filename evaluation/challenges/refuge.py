"""REFUGE, the Retinal Fundus Glaucoma Challenge (Orlando et al., Medical Image Analysis 59, 2020).

Section 3.2: glaucoma classification by the AUC, and by the sensitivity at 85 % specificity (3.2.1);
segmentation by the Dice of optic disc and cup (Eq. 1) and the absolute error of the vertical cup-to-disc
ratio (Eq. 2); the optional fovea by its distance (3.2.2). Each is a declared metric; the ratio and the
interpolated sensitivity are added here.
"""

from dataclasses import replace
from decimal import Decimal
from math import nan
from typing import Annotated, Literal

from evaluation.challenges.declared.label_maps import Dice
from evaluation.challenges.declared.landmarks import MeanRadialError, PointField
from evaluation.challenges.declared.maps import LabelMapField
from evaluation.challenges.declared.rules import DeclaredOptions, declared_tasks
from evaluation.challenges.declared.scalars import NumberField
from evaluation.challenges.declared.scores import (
    AreaUnderCurve,
    ScoreMetric,
    ScoreSensitivityAtSpecificity,
    decimal_of,
)
from evaluation.challenges.declared.tables import FieldComparison, FieldTable, Measure, MetricTable
from evaluation.core.case_table import Row
from evaluation.core.challenge import Challenge, Options, Task, Values
from evaluation.core.class_estimators import SensitivityAtSpecificity
from evaluation.core.field import CaseColumns, Field, Files, Reference, TableColumns
from evaluation.core.keys import IN_FORM, KeyTable, Weight
from evaluation.core.metric import Metric, mean_metric
from evaluation.core.scheme import Board, Scheme, Term
from evaluation.io.kinds.classes import LABEL
from evaluation.io.kinds.label_map import LabelMapValue
from evaluation.io.kinds.points import PointInImage
from evaluation.metrics.crops import Crop
from evaluation.metrics.segmentation import VerticalDiameter, vertical_cup_to_disc_ratio, vertical_diameter

CUP, DISC, ELSEWHERE = 0, 128, 255
IMAGES = (".bmp", ".png", ".tif")
RATIO = "vertical_cup_to_disc_ratio"
RATIOS = (f"predicted_{RATIO}", f"reference_{RATIO}")
"""The columns of the ratios themselves, of which participants may learn the second."""


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
    sensitivity_at_specificity: Literal["step", "interpolated"] = "step"
    weights: RefugeWeights = RefugeWeights()


def regions_of(mask: LabelMapValue) -> tuple[Crop, Crop]:
    """Return the regions of cup and disc; the disc includes the cup."""
    return mask.region(1), mask.region(1, 2)


def cup_to_disc_ratio(mask: LabelMapValue, definition: VerticalDiameter) -> float:
    """Return the vertical cup-to-disc ratio, 0 without a disc."""
    cup, disc = (vertical_diameter(region.values, definition) for region in regions_of(mask))
    return vertical_cup_to_disc_ratio(cup, disc)


class _Likelihood(NumberField):
    """The likelihood of glaucoma, whose label annotators can give, too."""

    def field(self, name: str) -> Field:
        reference = Reference(LABEL, CaseColumns(("glaucoma",)))
        return replace(super().field(name), reference=reference)


class _Mask(LabelMapField):
    options: RefugeOptions

    def field(self, name: str) -> Field:
        strict = replace(self.map, nested=self.options.vertical_diameter)
        lenient = replace(strict, unlisted_as=DISC)
        submitted = strict if self.options.unlisted_labels == "error" else lenient
        reference = Reference(strict, Files("masks", (".png", ".bmp", ".tif")))
        return replace(self.file_field(name, submitted, strict, IMAGES), reference=reference)


class _Fovea(PointField):
    """The fovea as REFUGE writes it: in a table of either name, or in JSON as the list ``[x, y]``."""

    def field(self, name: str) -> Field:
        columns = TableColumns(
            ("fovea_location_results.csv", "fovea_localization_results.csv"),
            "ImageName",
            ("Fovea_X", "Fovea_Y"),
        )
        reference = Reference(PointInImage(), CaseColumns(("fovea_x", "fovea_y")))
        return self.declared_field(name, PointInImage(), columns, reference)


class _OfLikelihood(ScoreMetric):
    def columns(self, field_name: str) -> tuple[str, str]:
        return "likelihood", "glaucoma"


class _Area(_OfLikelihood, AreaUnderCurve):
    pass


class _Sensitivity(_OfLikelihood, ScoreSensitivityAtSpecificity):
    reading: Literal["step", "interpolated"]

    def figure(self, name: str, score: str, label: str) -> Metric:
        estimator = SensitivityAtSpecificity(score, label, decimal_of(self.specificity), self.reading)
        return Metric(name, self.title_of(name), estimator, best=1, worst=0)


class _Dice(Dice):
    """Dice of one region, which pictures show as the label that it is named by, as it includes the cup."""

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        measure = super().measure(name, field_name, table)
        (metric,) = measure.metrics
        return replace(measure, metrics=(replace(metric, structures=metric.structures[-1:]),))


class _RatioError(MetricTable):
    """The absolute error of the vertical cup-to-disc ratio; 1, the largest, of an image without a result."""

    definition: VerticalDiameter
    kinds = (_Mask,)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        predicted, reference = RATIOS

        def row(comparison: FieldComparison) -> Row:
            masks = comparison.submitted, comparison.reference
            found, true = (cup_to_disc_ratio(mask, self.definition) for mask in masks)
            return {name: abs(found - true), predicted: found, reference: true}

        # The ratio of the reference is kept without a result: it is tested as a classifier.
        def worst(references: Values) -> Row:
            return {predicted: nan, reference: cup_to_disc_ratio(references[field_name], self.definition)}

        return Measure((mean_metric(name, self.title_of(name), best=0, worst=1),), row, worst)


def _declared(options: RefugeOptions) -> DeclaredOptions:
    """Return the declaration: what is submitted, and how it is scored."""
    risk = _Likelihood(
        kind="number",
        title="Likelihood of glaucoma",
        table="classification_results.csv",
        key_column="FileName",
        column="Glaucoma Risk",
        reference_column="glaucoma",
        positive=["1"],
        negative=["0"],
    )
    mask = _Mask(
        kind="label_map",
        title="Segmentation of optic disc and cup",
        socket="optic-disc-and-cup-segmentation",
        reference_folder="masks",
        dimensions=2,
        labels={str(CUP): "optic cup", str(DISC): "optic disc"},
        regions={"cup": [CUP], "disc": [CUP, DISC]},
        background=ELSEWHERE,
        options=options,
    )
    fovea = _Fovea(
        kind="point", title="Location of the fovea", socket="fovea-location", dimensions=2, unit="pixels"
    )
    classification = {
        "auc": _Area(metric="auc"),
        "reference_sensitivity": _Sensitivity(
            metric="sensitivity_at_specificity",
            title="Sensitivity at 85 % specificity",
            specificity=0.85,
            reading=options.sensitivity_at_specificity,
        ),
    }
    segmentation = {
        "dice_cup": _Dice(metric="dice", labels=["cup"], title="Dice of the cup"),
        "dice_disc": _Dice(metric="dice", labels=["disc"], title="Dice of the disc"),
        f"{RATIO}_error": _RatioError(
            metric="cup_to_disc_ratio_error",
            title="Absolute error of the vertical cup-to-disc ratio",
            definition=options.vertical_diameter,
        ),
    }
    distance = MeanRadialError(
        metric="mean_radial_error", worst="diagonal", title="Euclidean distance in pixels"
    )
    return DeclaredOptions.model_validate(
        {
            "fields": {"glaucoma_risk": risk, "segmentation": mask, "fovea": fovea},
            "tasks": {
                "classification": {"title": "Glaucoma classification", "metrics": classification},
                "segmentation": {"title": mask.title, "metrics": segmentation},
                "fovea": {
                    "title": "Localisation of the fovea",
                    "metrics": {"distance": distance},
                    "optional": True,
                },
            },
        }
    )


def _tasks(options: RefugeOptions) -> tuple[Task, ...]:
    classification, segmentation, fovea = declared_tasks(_declared(options))
    ratios = replace(segmentation, classifiers=RATIOS, unpublished=frozenset(RATIOS[:1]))
    return classification, ratios, fovea


def ranking(options: RefugeOptions) -> Scheme:
    """Return the ranking of section 3.2: of each task, of both tasks (Eq. 4) and of both sets (Eq. 5)."""
    weights = vars(options.weights)
    return Scheme(
        boards=(
            Board("classification", (Term(rank="classification.auc"),)),
            Board(
                "segmentation",
                tuple(
                    Term(rank=f"segmentation.{metric}", weight=weights[metric])
                    for metric in ("dice_cup", "dice_disc", "vertical_cup_to_disc_ratio_error")
                ),
            ),
            Board(
                "overall",
                tuple(Term(place=task, weight=weights[task]) for task in ("classification", "segmentation")),
            ),
        ),
        overall="overall",
        phases={role: weights[role] for role in ("offline", "onsite")},
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
        f"segmentation.{RATIO}_error",
    ),
    ranking=ranking,
)
