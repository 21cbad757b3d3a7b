"""Points and landmarks: detected positions, and positions that every case has once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator

from evaluation.challenges.declared.detections import (
    CaseDetections,
    FrocOfObjects,
    Hits,
    ListFieldTable,
    MinimumProbability,
    ObjectFieldTable,
    ObjectMetric,
    ShareOfObjects,
    SingleFieldTable,
    SpaceTable,
    Verdicts,
    distinct,
    figure_names,
    verdicts_of,
)
from evaluation.challenges.declared.tables import FieldComparison, FieldTable, Measure, MetricTable, Name
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.field import HiddenField
from evaluation.core.keys import Key
from evaluation.core.metric import Metric, mean_of
from evaluation.io.kinds.points import Keypoints, Points, PointSet
from evaluation.metrics.arrays import Floats
from evaluation.metrics.points import MatchingRule, PointMatches, match_within, radial_errors


class PointsField(ObjectFieldTable):
    """Any number of points in each case, such as the centres of mitoses or nodules.

    In an archive they are rows of a table: x, y and with three axes z, then the class where there are
    several, and the probability where the phase asks for it. A case without a row has no points. In an
    algorithm phase they are the platform's `Multiple points`, whose `name` is the class.

    The reference is a csv file in the phase folder with any number of rows for a case: x, y(, z), then the
    class, and with `diameter` the diameter of the object.
    """

    kind: Literal["points"]
    diameter: bool = Key(
        default=False, description="Whether the reference has a last column with the diameter of each object."
    )
    unknown_diameter: float | None = Key(
        default=None,
        description="Diameter of objects whose cell is empty or negative. Default: such cells are faults.",
        ge=0,
    )
    ignored: str | None = Key(
        default=None,
        description="csv file in the phase folder, with the columns of the reference: objects that are "
        "neither asked for nor false. A prediction that hits one of them does not count. Default: none.",
    )

    def value_kind(self, submitted: bool) -> Points:
        """Return the kind of the submitted value or of the reference, which may have diameters."""
        attributes = self.attributes(submitted)
        if submitted:
            return Points(self.space, attributes)
        return Points(self.space, attributes, self.diameter, self.unknown_diameter)

    def hidden(self, name: str) -> tuple[HiddenField, ...]:
        """Return the objects that are ignored."""
        if self.ignored is None:
            return ()
        return (HiddenField(_ignored(name), self.reference_rows(self.ignored)),)


def _ignored(name: str) -> str:
    return f"{name}_ignored"


class PointMetric(ObjectMetric):
    """A metric of points, with the rule that tells hits from false predictions."""

    radius: float | None = Key(
        default=None,
        description="Distance within which a prediction can hit an object, in the field's unit. Default: "
        "half of the object's diameter.",
        gt=0,
        allow_inf_nan=False,
    )
    boundary: Literal["included", "excluded"] = Key(
        default="included", description="Whether a prediction exactly at that distance can hit the object."
    )
    matching: MatchingRule = Key(
        default="nearest",
        description="Which prediction is the hit of which object. `nearest`: each object, in the order of "
        "the reference, takes the nearest prediction that is not yet taken. `by_confidence`: each "
        "prediction, by falling probability, takes the nearest object that is not yet taken. `optimal`: as "
        "many pairs as possible, of those the nearest ones. `any`: an object is hit by the most probable of "
        "the predictions that are near, and the others of them do not count.",
    )
    minimum_probability: MinimumProbability = 0.0

    kinds: ClassVar[tuple[type[FieldTable], ...]] = (PointsField,)

    def detections(self, field_name: str, table: FieldTable) -> CaseDetections:
        """Return how hits follow from points. Raises ValueError for options that do not fit the field."""
        assert isinstance(table, PointsField)
        if self.radius is None and not table.diameter:
            raise ValueError("radius: expected a distance, since the reference has no diameters")
        if self.matching in ("by_confidence", "any") and not table.probability:
            raise ValueError(f"matching: {self.matching!r} needs probability = true in field {field_name!r}")
        count = max(1, len(table.classes))
        options = (self.matching, self.radius, self.boundary, self.minimum_probability)
        return CaseDetections(
            hits=lambda comparison: comparison.derive(
                ("hits of points", options), partial(self._hits, classes=count)
            ),
            objects=lambda references: _numbers(references[field_name], count),
            classes=table.class_names(),
        )

    def _hits(self, comparison: FieldComparison, classes: int) -> Sequence[Hits]:
        ignored = _ignored(comparison.field)
        others = comparison.references.get(ignored)
        submitted, reference = comparison.submitted, comparison.reference
        return [
            self._hits_of_class(*(_of_class(points, label) for points in (submitted, reference, others)))
            for label in range(classes)
        ]

    def verdicts(self, field_name: str, submitted: PointSet, references: Values) -> Verdicts:
        """Return the verdict on each point of a case, for a picture."""
        counted = submitted.probabilities >= self.minimum_probability
        true, others = references[field_name], references.get(_ignored(field_name))
        sides = (_chosen(submitted, counted), true, others)
        return verdicts_of(
            submitted.classes,
            counted,
            true.classes,
            lambda label: self._matches(*(_of_class(points, label) for points in sides)),
        )

    def _hits_of_class(self, found: PointSet, true: PointSet, ignored: PointSet) -> Hits:
        found = _chosen(found, found.probabilities >= self.minimum_probability)
        matches = self._matches(found, true, ignored)
        hits = matches.hit[matches.hit >= 0]
        return Hits(found.probabilities[hits], found.probabilities[matches.false], len(true))

    def _matches(self, found: PointSet, true: PointSet, ignored: PointSet) -> PointMatches:
        """Return the matches of the points of one class; those near an ignored object are not false."""
        strict, confidence = self.boundary == "excluded", found.probabilities
        matches = match_within(
            found.positions, true.positions, self._radius(true), self.matching, confidence, strict
        )
        is_false = matches.false
        if len(ignored):
            near = match_within(
                found.positions, ignored.positions, self._radius(ignored), "any", confidence, strict
            )
            is_false = is_false & near.false
        return PointMatches(matches.hit, is_false)

    def _radius(self, points: PointSet) -> float | Floats:
        return points.diameters / 2 if self.radius is None else self.radius


class PointF1(ShareOfObjects, PointMetric):
    """F1 of detected points: hits, false predictions and missed objects summed over all cases.

    From 0 to 1, higher is better; 2 hits / (2 hits + false + missed). With several classes, points hit
    objects of their own class, and there is a figure for each class beside the figure of all sums. A phase
    without any object has no such figure. In a case without a result all objects are missed, and as many
    predictions are false, at least one.

    Oracle: grand-challenge-metrics, `score_detection`. Source: MIDOG 2021 (Aubreville et al., Medical Image
    Analysis 84:102699, 2023).
    """

    metric: Literal["point_f1"]
    share = "f1"


class PointPrecision(ShareOfObjects, PointMetric):
    """Precision of detected points: the share of hits among the predictions of all cases.

    From 0 to 1, higher is better; 0 where nothing is predicted. Everything else is as in `point_f1`.

    Oracle: grand-challenge-metrics, `score_detection`.
    """

    metric: Literal["point_precision"]
    share = "precision"


class PointRecall(ShareOfObjects, PointMetric):
    """Recall of detected points: the share of the objects of all cases that are hit.

    From 0 to 1, higher is better. Everything else is as in `point_f1`.

    Oracle: grand-challenge-metrics, `score_detection`.
    """

    metric: Literal["point_recall"]
    share = "recall"


class Froc(FrocOfObjects, PointMetric):
    """Free-response ROC: mean sensitivity at given numbers of false positives per case.

    From 0 to 1, higher is better, for a field with at most one class, with a figure for each number of
    false positives. A phase without any object has no such figure. In a case without a result all objects
    are missed, and as many predictions of the highest probability are false, at least one.

    Oracle: scikit-learn, `roc_curve`, with the plain rules of LUNA16. Source: Setio et al., Medical Image
    Analysis 42:1, 2017, section 3.3.
    """

    metric: Literal["froc"]
    matching: MatchingRule = Key(
        default="any", description=PointMetric.model_fields["matching"].description or ""
    )


def _numbers(points: PointSet, classes: int) -> list[int]:
    numbers: list[int] = np.bincount(points.classes, minlength=classes).tolist()
    return numbers


def _of_class(points: PointSet | None, label: int) -> PointSet:
    if points is None:
        return PointSet(np.zeros((0, 3)), np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    return _chosen(points, points.classes == label)


def _chosen(points: PointSet, chosen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> PointSet:
    return PointSet(
        points.positions[chosen],
        points.classes[chosen],
        points.probabilities[chosen],
        points.diameters[chosen],
    )


# --- Landmarks: points that every case has once, alone or by name ---

Radius = Annotated[float, Key(gt=0, allow_inf_nan=False)]


class PointField(SingleFieldTable):
    """Exactly one point in each case, such as the fovea.

    In an archive it is a row of a table with a row for each case: x, y and with three axes z. In an algorithm
    phase it is the platform's `Point`. The reference lies in columns of `cases.csv`, by default
    `<field>_x`, `<field>_y`(, `<field>_z`).
    """

    kind: Literal["point"]

    def value_kind(self, submitted: bool) -> Points:
        """Return the kind of both sides."""
        return Points(self.space, single=True)


class KeypointsField(ListFieldTable):
    """Named points, each exactly once per case.

    In an archive they are rows of a table: x, y, with three axes z, and the name; a case without any row is
    missing. In an algorithm phase they are the platform's `Multiple points` with names. The reference is a
    csv file in the phase folder with the same columns.
    """

    kind: Literal["keypoints"]
    names: Annotated[list[Name], AfterValidator(distinct)] = Key(
        description="The names of the points.", min_length=1
    )

    def value_kind(self, submitted: bool) -> Keypoints:
        """Return the kind of both sides."""
        return Keypoints(tuple(self.names), self.space)


class LandmarkMetric(MetricTable):
    """A metric of the distances of landmarks from their references."""

    kinds = (PointField, KeypointsField)

    def figures(self, name: str, table: FieldTable) -> list[tuple[str, str]]:
        """Return name and title of the figure of all landmarks and, where there are several, of each."""
        landmarks = figure_names(table.names) if isinstance(table, KeypointsField) else ()
        title = self.title_of(name)
        return [(name, title), *((f"{name}_{of}", f"{title}, {of}") for of in landmarks)]

    @staticmethod
    def errors(comparison: FieldComparison) -> Floats:
        """Return the distance of every landmark from its reference, shape (landmarks,)."""
        return comparison.derive(
            "radial errors", lambda of: radial_errors(of.submitted.positions, of.reference.positions)
        )


class MeanRadialError(LandmarkMetric):
    """Mean distance of landmarks from their references.

    From 0 to `worst`, lower is better, in the field's unit; the mean over a case's landmarks, then over
    cases, and a figure for each landmark. A greater distance than `worst`, and every landmark of a case
    without a result, counts as `worst`.

    Oracle: SciPy, `cdist`. Source: Wang et al., Medical Image Analysis 31:63, 2016.
    """

    metric: Literal["mean_radial_error"]
    worst: float = Key(description="The largest distance that counts.", gt=0, allow_inf_nan=False)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean over all landmarks, and the mean of each."""
        assert isinstance(table, SpaceTable)
        unit = "mm" if table.unit == "mm" else "pixels"
        names = self.figures(name, table)

        def row(comparison: FieldComparison) -> Row:
            return _row(names, np.minimum(self.errors(comparison), self.worst))

        metrics = (Metric(of, title, mean_of(of), 0, self.worst, unit=unit) for of, title in names)
        return Measure(tuple(metrics), row)


class SuccessDetectionRate(LandmarkMetric):
    """Share of landmarks within a radius of their references.

    From 0 to 1, higher is better; the distance itself is included; the mean over a case's landmarks, then
    over cases, and a figure for each landmark. In a case without a result no landmark is detected.

    Oracle: SciPy, `cdist`. Source: Wang et al., Medical Image Analysis 31:63, 2016.
    """

    metric: Literal["success_detection_rate"]
    radius: Radius = Key(description="The largest distance of a detected landmark, in the field's unit.")

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the share of all landmarks, and the share of each."""
        names = self.figures(name, table)

        def row(comparison: FieldComparison) -> Row:
            return _row(names, (self.errors(comparison) <= self.radius).astype(np.float64))

        metrics = (Metric(of, title, mean_of(of), best=1, worst=0) for of, title in names)
        return Measure(tuple(metrics), row)


def _row(names: list[tuple[str, str]], values: Floats) -> Row:
    """Return the mean of the values of all landmarks, and each value if there are several."""
    (whole, _), *parts = names
    each = {of: float(value) for (of, _), value in zip(parts, values, strict=bool(parts))}
    return {whole: float(values.mean()), **each}
