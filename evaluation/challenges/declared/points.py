"""Points: detected positions."""

from dataclasses import replace
from typing import ClassVar, Literal, Self

import numpy as np
from pydantic import model_validator

from evaluation.challenges.declared import detections, tables
from evaluation.challenges.declared.maps import Label
from evaluation.core.challenge import FormColumn, Values
from evaluation.core.field import Field, Files, HiddenField, Reference
from evaluation.core.formats import extensions_of, image_formats
from evaluation.core.keys import Key
from evaluation.io.kinds.label_map import LesionMap, LesionPoints
from evaluation.io.kinds.points import Points, PointSet, Polygons
from evaluation.metrics.points import (
    MatchingRule,
    PointMatches,
    match_in_lesions,
    match_within,
)


class PointsField(detections.ObjectFieldTable):
    """Any number of points in each case, such as the centres of mitoses or nodules.

    In an archive they are rows of a table: x, y and with three axes z, then the class where there are
    several, and the probability where the phase asks for it. A case without a row has no points. In an
    algorithm phase they are the platform's `Multiple points`, whose `name` is the class.

    The reference is a csv file in the phase folder with any number of rows for a case: x, y(, z), then the
    class, and with `diameter` the diameter of the object. With `lesions` it is a label map for each case in
    the folder `reference`, by default `<field>`, whose connected components are the objects; then a
    prediction in or near a lesion hits it, and the most probable one counts (CAMELYON16). A lesion is as wide
    as its mask and `radius` around it, 75 µm in the description of CAMELYON16, which is our reading. The
    program that others copy takes half of that (37.5 µm, 75 / 2), and fills holes of lesions that it joins.
    """

    kind: Literal["points"]
    polygons: bool = Key(
        default=False,
        description="Algorithm phases: whether the output is the platform's `Multiple polygons`, each of "
        "which is the point in the mean of its vertices (PUMA).",
    )
    diameter: bool = Key(
        default=False, description="Whether the reference has a last column with the diameter of each object."
    )
    unknown_diameter: float | None = Key(
        default=None,
        description="Diameter of objects whose cell is empty or negative. Default: such cells are faults.",
        ge=0,
    )
    excluded_table: str | None = Key(
        default=None,
        description="csv file in the phase folder, with the columns of the reference: objects that are "
        "neither asked for nor false. A prediction that hits one of them does not count. Default: none.",
    )
    lesions: list[Label] = Key(
        default=[],
        description="Numbers of the reference's label maps whose components are the objects; diagonal "
        'neighbours are connected. Default: the reference is a table. With `unit = "mm"` volumes need '
        "`origin_mm`, and positions in images are measured from the corner by `spacing_mm`.",
    )
    reference_folder: str | None = Key(
        default=None, description="Folder of these label maps. Default: the field's name."
    )
    excluded_lesions: list[Label] = Key(
        default=[],
        description="As `excluded_table`: numbers of the label maps, such as isolated tumour cells.",
    )

    @model_validator(mode="after")
    def _lesions_fit(self) -> Self:
        if self.excluded_lesions and not self.lesions:
            raise ValueError("excluded_lesions: expected lesions, found none")
        if self.lesions and (len(self.classes) > 1 or self.diameter or self.excluded_table):
            raise ValueError("lesions: expected neither several classes nor diameter nor excluded_table")
        if len({0, *self.lesions, *self.excluded_lesions}) <= len(self.lesions) + len(self.excluded_lesions):
            raise ValueError("lesions, excluded_lesions: expected different numbers above 0")
        if self.polygons and "third_coordinate" in (self.stacked, self.class_in):
            raise ValueError("polygons: expected another way to tell images and classes")
        return self

    def form_columns(self) -> tuple[FormColumn, ...]:
        """Return the spacing of images that lesions are measured in; volumes name their own columns."""
        spaced = self.lesions and (self.dimensions, self.unit) == (2, "mm")
        return (*super().form_columns(), *((FormColumn("spacing_mm", lengths=2),) if spaced else ()))

    def field(self, name: str) -> Field:
        field = super().field(name)
        return (
            replace(field, reference=self._lesion_map(name, self.lesions, self.excluded_lesions))
            if self.lesions
            else field
        )

    def _lesion_map(self, name: str, wanted: list[int], others: list[int]) -> Reference:
        kind = LesionMap(tuple(wanted), self.space, tuple(others), self.dimensions)
        return Reference(
            kind, Files(self.reference_folder or name, extensions_of(image_formats(self.dimensions)))
        )

    def value_kind(self, submitted: bool) -> Points:
        most, mean = self.limits(submitted)
        kind = Polygons if submitted and self.polygons else Points
        found = kind(self.space, self.attributes(submitted), most=most, average_items=mean)
        if submitted:
            return found
        return replace(found, with_diameter=self.diameter, unknown_diameter=self.unknown_diameter)

    def hidden(self, name: str) -> tuple[HiddenField, ...]:
        if self.excluded_lesions:
            return (HiddenField(_ignored(name), self._lesion_map(name, self.excluded_lesions, self.lesions)),)
        if self.excluded_table is None:
            return ()
        return (HiddenField(_ignored(name), self.reference_rows(self.excluded_table)),)


def _ignored(name: str) -> str:
    return f"{name}_ignored"


class PointMetric(detections.ObjectMetric):
    """A metric of points, with the rule that tells hits from false predictions."""

    radius: tables.Positive | None = Key(
        default=None,
        description="Distance within which a prediction can hit an object, in the field's unit. Default: "
        "half of the object's diameter; of lesions in a label map: the prediction lies in the lesion.",
    )
    boundary: Literal["included", "excluded"] = Key(
        default="included", description="Whether a prediction exactly at that distance can hit the object."
    )
    matching: MatchingRule = Key(default="nearest", description=tables.MATCHING)

    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (PointsField,)

    def case_detections(self, field_name: str, table: tables.FieldTable) -> detections.CaseDetections:
        assert isinstance(table, PointsField)
        if self.radius is None and not table.diameter and not table.lesions:
            raise ValueError("radius: expected a distance, since the reference has no diameters")
        if table.lesions and self.matching != "any":
            raise ValueError(f"matching: expected 'any' for lesions of a label map, found {self.matching!r}")
        if self.matching in ("by_confidence", "any", "most_confident") and not (
            table.probability or table.lesions
        ):
            raise ValueError(f"matching: {self.matching!r} needs probability = true in field {field_name!r}")
        options = (self.matching, self.radius, self.boundary)
        return self.detections_of(field_name, table, options, lambda points: points.classes)

    def matched(self, field_name: str, submitted: PointSet, references: Values) -> detections.MatchedObjects:
        true, others = references[field_name], references.get(_ignored(field_name))
        return detections.MatchedObjects(
            submitted.classes,
            submitted.probabilities,
            true.classes,
            lambda label: self._matches(*(_of_class(points, label) for points in (submitted, true, others))),
        )

    def _matches(self, found: PointSet, true: PointSet, ignored: PointSet) -> PointMatches:
        """Return the matches of the points of one class; those near an ignored object are not false."""
        matches = self._near(found, true, self.matching)
        is_false = matches.false
        if len(ignored):
            is_false = is_false & self._near(found, ignored, "any").false
        return PointMatches(matches.hit, is_false)

    def _near(self, found: PointSet, true: PointSet, rule: MatchingRule) -> PointMatches:
        strict, confidence = self.boundary == "excluded", found.probabilities
        if isinstance(true, LesionPoints):
            voxels = true.voxels_of(found.positions) - true.mask.corner
            spacing = np.asarray(true.grid.spacing_mm)[::-1]
            return match_in_lesions(voxels, true.lesions, spacing, self.radius or 0, confidence, strict)
        radius = true.diameters / 2 if self.radius is None else self.radius
        return match_within(found.positions, true.positions, radius, rule, confidence, strict)


class PointF1(detections.ShareOfObjects, PointMetric):
    """F1 of detected points: hits, false predictions and missed objects summed over all cases.

    From 0 to 1, higher is better; 2 hits / (2 hits + false + missed).

    Oracle: grand-challenge-metrics, `score_detection`. Source: MIDOG 2021 (Aubreville et al., Medical Image
    Analysis 84:102699, 2023).
    """

    metric: Literal["point_f1"]
    share = "f1"


class PointPrecision(detections.ShareOfObjects, PointMetric):
    """Precision of detected points: the share of hits among the predictions of all cases.

    From 0 to 1, higher is better; 0 where nothing is predicted.

    Oracle: grand-challenge-metrics, `score_detection`.
    """

    metric: Literal["point_precision"]
    share = "precision"


class PointRecall(detections.ShareOfObjects, PointMetric):
    """Recall of detected points: the share of the objects of all cases that are hit.

    From 0 to 1, higher is better.

    Oracle: grand-challenge-metrics, `score_detection`.
    """

    metric: Literal["point_recall"]
    share = "recall"


class Froc(detections.FrocOfObjects, PointMetric):
    """The figure of its own name is the mean of these sensitivities.

    Oracle: scikit-learn, `roc_curve`, with the plain rules of LUNA16.
    """

    metric: Literal["froc"]
    matching: MatchingRule = Key(default="any", description=tables.described(PointMetric, "matching"))


def _of_class(points: PointSet | None, label: int) -> PointSet:
    if isinstance(points, LesionPoints):
        return points
    if points is None:
        return PointSet(np.zeros((0, 3)), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    return points.take(points.classes == label)
