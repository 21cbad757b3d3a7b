"""Points and landmarks: detected positions, and positions that every case has once."""

from abc import abstractmethod
from dataclasses import replace
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import AfterValidator, model_validator

from evaluation.challenges.declared import detections, maps, tables
from evaluation.challenges.declared.label_maps import LabelFigure
from evaluation.challenges.declared.maps import Label
from evaluation.core.case_table import Row
from evaluation.core.challenge import FormColumn, Values
from evaluation.core.estimator import Mean
from evaluation.core.field import CaseColumns, Field, Files, HiddenField, Reference
from evaluation.core.formats import extensions_of, image_formats
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.classes import ImageSize
from evaluation.io.kinds.lesion_map import LesionMap, LesionPoints
from evaluation.io.kinds.points import Keypoints, Points, PointSet, Polygons
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.points import (
    MatchingRule,
    PointMatches,
    match_in_lesions,
    match_within,
    radial_errors,
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
    ignored: str | None = Key(
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
    ignored_lesions: list[Label] = Key(
        default=[], description="As `ignored`: numbers of the label maps, such as isolated tumour cells."
    )

    @model_validator(mode="after")
    def _lesions_fit(self) -> Self:
        if self.ignored_lesions and not self.lesions:
            raise ValueError("ignored_lesions: expected lesions, found none")
        if self.lesions and (len(self.classes) > 1 or self.diameter or self.ignored):
            raise ValueError("lesions: expected neither several classes nor diameter nor ignored")
        if len({0, *self.lesions, *self.ignored_lesions}) <= len(self.lesions) + len(self.ignored_lesions):
            raise ValueError("lesions, ignored_lesions: expected different numbers above 0")
        if self.polygons and "third_coordinate" in (self.stacked, self.class_in):
            raise ValueError("polygons: expected another way to tell images and classes")
        return self

    def form_columns(self) -> tuple[FormColumn, ...]:
        """Return the spacing of images that lesions are measured in; volumes name their own columns."""
        spaced = self.lesions and (self.axes, self.unit) == (2, "mm")
        return (*super().form_columns(), *((FormColumn("spacing_mm"),) if spaced else ()))

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        field = super().field(name)
        return (
            replace(field, reference=self._lesion_map(name, self.lesions, self.ignored_lesions))
            if self.lesions
            else field
        )

    def _lesion_map(self, name: str, wanted: list[int], others: list[int]) -> Reference:
        kind = LesionMap(tuple(wanted), self.space, tuple(others), self.axes)
        return Reference(kind, Files(self.reference or name, extensions_of(image_formats(self.axes))))

    def value_kind(self, submitted: bool) -> Points:
        """Return the kind of the submitted value or of the reference, which may have diameters."""
        most, mean = self.limits
        kind = Polygons if submitted and self.polygons else Points
        found = kind(self.space, self.attributes(submitted), most=most, average_items=mean)
        if submitted:
            return found
        return replace(found, with_diameter=self.diameter, unknown_diameter=self.unknown_diameter)

    def hidden(self, name: str) -> tuple[HiddenField, ...]:
        """Return the objects that are ignored."""
        if self.ignored_lesions:
            return (HiddenField(_ignored(name), self._lesion_map(name, self.ignored_lesions, self.lesions)),)
        if self.ignored is None:
            return ()
        return (HiddenField(_ignored(name), self.reference_rows(self.ignored)),)


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
    matching: MatchingRule = Key(
        default="nearest",
        description="Which prediction is the hit of which object. `nearest`: each object, in the order of "
        "the reference, takes the nearest prediction that is not yet taken. `by_confidence`: each "
        "prediction, by falling probability, takes the nearest object that is not yet taken. `optimal`: as "
        "many pairs as possible, of those the nearest ones. `any`: an object is hit by the most probable of "
        "the predictions that are near, and the others of them do not count. `most_confident`: each object, "
        "in the order of the reference, takes the most probable prediction that is not yet taken, of equal "
        "ones the nearest (PUMA).",
    )
    minimum_probability: detections.MinimumProbability = 0.0

    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (PointsField,)

    def case_detections(self, field_name: str, table: tables.FieldTable) -> detections.CaseDetections:
        """Return how hits follow from points. Raises ValueError for options that do not fit the field."""
        assert isinstance(table, PointsField)
        if self.radius is None and not table.diameter and not table.lesions:
            raise ValueError("radius: expected a distance, since the reference has no diameters")
        if table.lesions and self.matching != "any":
            raise ValueError(f"matching: expected 'any' for lesions of a label map, found {self.matching!r}")
        if self.matching in ("by_confidence", "any", "most_confident") and not (
            table.probability or table.lesions
        ):
            raise ValueError(f"matching: {self.matching!r} needs probability = true in field {field_name!r}")
        options = (self.matching, self.radius, self.boundary, self.minimum_probability)
        return self.detections_of(field_name, table, options, lambda points: points.classes)

    def matched(self, field_name: str, submitted: PointSet, references: Values) -> detections.MatchedObjects:
        """Return the points of a case with their matches."""
        counted = submitted.probabilities >= self.minimum_probability
        true, others = references[field_name], references.get(_ignored(field_name))
        sides = (_chosen(submitted, counted), true, others)
        return detections.MatchedObjects(
            submitted.classes,
            submitted.probabilities,
            counted,
            true.classes,
            lambda label: self._matches(*(_of_class(points, label) for points in sides)),
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

    From 0 to 1, higher is better; 2 hits / (2 hits + false + missed). With several classes, points hit
    objects of their own class, and there is a figure for each class beside the figure of all sums. A phase
    without any object has no such figure. In a case without a result all objects are missed, and as many
    predictions are false, at least one.

    Oracle: grand-challenge-metrics, `score_detection`. Source: MIDOG 2021 (Aubreville et al., Medical Image
    Analysis 84:102699, 2023).
    """

    metric: Literal["point_f1"]
    share = "f1"


class PointPrecision(detections.ShareOfObjects, PointMetric):
    """Precision of detected points: the share of hits among the predictions of all cases.

    From 0 to 1, higher is better; 0 where nothing is predicted. Everything else is as in `point_f1`.

    Oracle: grand-challenge-metrics, `score_detection`.
    """

    metric: Literal["point_precision"]
    share = "precision"


class PointRecall(detections.ShareOfObjects, PointMetric):
    """Recall of detected points: the share of the objects of all cases that are hit.

    From 0 to 1, higher is better. Everything else is as in `point_f1`.

    Oracle: grand-challenge-metrics, `score_detection`.
    """

    metric: Literal["point_recall"]
    share = "recall"


class Froc(detections.FrocOfObjects, PointMetric):
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


def _of_class(points: PointSet | None, label: int) -> PointSet:
    if isinstance(points, LesionPoints):
        return points
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


class PointField(detections.SingleFieldTable):
    """Exactly one point in each case, such as the fovea.

    In an archive it is a row of a table with a row for each case: x, y and with three axes z. In an algorithm
    phase it is the platform's `Point`. The reference lies in columns of `cases.csv`, by default
    `<field>_x`, `<field>_y`(, `<field>_z`).
    """

    kind: Literal["point"]

    def value_kind(self, submitted: bool) -> Points:
        """Return the kind of both sides."""
        return Points(self.space, single=True)


class KeypointsField(detections.ListFieldTable):
    """Named points, each exactly once per case, or with `partial` some of them.

    In an archive they are rows of a table: x, y, with three axes z, and the name; a case without any row is
    missing. In an algorithm phase they are the platform's `Multiple points` with names. The reference is a
    csv file in the phase folder with the same columns.
    """

    kind: Literal["keypoints"]
    names: Annotated[list[tables.Name], AfterValidator(detections.distinct)] = Key(
        description="The names of the points.", min_length=1
    )
    partial: bool = Key(
        default=False,
        description="Whether a case has some of the points only, such as the vertebrae in its scan (VerSe). "
        "What the reference lacks does not count, predicted or not.",
    )

    def value_kind(self, submitted: bool) -> Keypoints:
        """Return the kind of both sides."""
        return Keypoints(tuple(self.names), self.space, self.partial)


class LandmarkMetric(tables.MetricTable):
    """A metric of landmarks: a figure of each, by its distance from its reference, and their mean.

    By default figures are from 0 to 1, higher is better.
    """

    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (PointField, KeypointsField)

    def worst_of(self, table: tables.FieldTable, references: Values) -> float:
        """Return the figure of a landmark without a result."""
        return self.figure(table).worst

    @abstractmethod
    def values(self, found: Floats, true: Floats, worst: float) -> Floats:
        """Return the figure of every landmark the reference has; others are ignored.

        found, true: positions of all landmarks, shape (landmarks, axes), NaN where there is none. The result
        has the shape (landmarks,).
        """

    def figure(self, table: tables.FieldTable) -> LabelFigure:
        """Return the properties of the figure."""
        return LabelFigure(best=1, worst=0)

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        """Return the mean over the landmarks of each case and then over cases, and the mean of each."""
        figure = self.figure(table)
        landmarks = detections.figure_names(table.names) if isinstance(table, KeypointsField) else ()
        title, count = self.title_of(name), max(1, len(landmarks))
        keys = [f"{name}_{of}" for of in landmarks]
        names = {
            name: title,
            **{key: f"{title}, {tables.in_words(of)}" for key, of in zip(keys, landmarks, strict=True)},
        }

        def row(values: Floats, true: Floats, worst: float) -> Row:
            present = ~np.isnan(true).any(axis=1)
            shown = np.where(present, np.nan_to_num(values, nan=worst), np.nan)
            defined = values[present & ~np.isnan(values)]
            whole = defined.mean() if defined.size else worst if present.any() else np.nan
            return {name: float(whole), **dict(zip(keys, shown.tolist(), strict=bool(keys)))}

        def given(comparison: tables.FieldComparison) -> tuple[Floats, Floats, float]:
            true, worst = _by_name(comparison.reference, count), self.worst_of(table, comparison.references)
            return self.values(_by_name(comparison.submitted, count), true, worst), true, worst

        def missing(references: Values) -> tuple[Floats, Floats, float]:
            worst = self.worst_of(table, references)
            return np.full(count, worst), _by_name(references[field_name], count), worst

        def parts(values: Floats, true: Floats, worst: float) -> dict[str, tables.Part]:
            present = np.asarray(~np.isnan(true).any(axis=1))
            shown = np.where(present, np.nan_to_num(values, nan=worst), 0.0)
            # What an option leaves out of the mean of a case does not count in the sum either.
            counts = present & ~np.isnan(values)
            whole = tables.Part(float(shown[counts].sum()), int(np.count_nonzero(counts)))
            if present.any() and not counts.any():
                whole = tables.Part(worst, 1)
            each = [tables.Part(*of) for of in zip(shown.tolist(), present.tolist(), strict=True)]
            return {name: whole, **dict(zip(keys, each, strict=bool(keys)))}

        metrics = tuple(
            Metric(key, words, Mean(key), figure.best, figure.worst, unit=figure.unit)
            for key, words in names.items()
        )
        return tables.Measure(
            metrics,
            lambda comparison: row(*given(comparison)),
            lambda case, references: row(*missing(references)),
            sums=tables.Sums(
                lambda comparison: parts(*given(comparison)),
                lambda case, references: parts(*missing(references)),
                np.nan,
            ),
        )


def _by_name(points: PointSet, landmarks: int) -> Floats:
    """Return the positions of all landmarks, shape (landmarks, axes), NaN for those that a case lacks.

    Positions beyond 1e100 count as that: squares of larger numbers are infinite.
    """
    positions = np.full((landmarks, points.positions.shape[1]), np.nan)
    positions[points.classes] = np.clip(points.positions, -1e100, 1e100)
    return positions


class MeanRadialError(LandmarkMetric):
    """Mean distance of landmarks from their references.

    From 0 to `worst`, lower is better, in the field's unit; the mean over a case's landmarks, then over
    cases, and a figure for each landmark. A greater distance than `worst`, and every landmark of a case
    without a result, counts as `worst`.

    Oracle: SciPy, `cdist`. Source: Wang et al., Medical Image Analysis 31:63, 2016; Sekuboyina et al.,
    Medical Image Analysis 73:102166, 2021 (VerSe), for landmarks that are left out.
    """

    metric: Literal["mean_radial_error"]
    worst: tables.Positive | maps.Extent = Key(
        description="The largest distance that counts, or a length of the case's image: `diagonal`, "
        "`shape_norm` (the same in pixels, whatever the unit is) or `longest_side`. `cases.csv` then has its "
        "`width` and `height`, for three axes its `depth`, and for positions in mm `spacing_mm` (x, y(, z))."
    )
    unpredicted: Literal["worst", "leave_out"] = Key(
        default="worst",
        description="Landmarks of a `partial` field that the reference of a case has and the prediction has "
        "not. `worst`: they count as `worst`. `leave_out`: the mean is over the others (VerSe), so that it "
        "pays to leave out difficult ones; they still count in the figures of single landmarks, and a case "
        "where nothing is left counts as `worst`.",
    )

    def values(self, found: Floats, true: Floats, worst: float) -> Floats:
        """Return the distances."""
        errors = radial_errors(found, true)
        return np.minimum(
            errors if self.unpredicted == "leave_out" else np.nan_to_num(errors, nan=np.inf), worst
        )

    def figure(self, table: tables.FieldTable) -> LabelFigure:
        """Return a distance."""
        assert isinstance(table, detections.SpaceTable)
        return LabelFigure(0, self.worst if isinstance(self.worst, float) else np.inf, table.unit)

    def worst_of(self, table: tables.FieldTable, references: Values) -> float:
        """Return the stated distance, or a length of the image."""
        if isinstance(self.worst, float):
            return self.worst
        assert isinstance(table, detections.SpaceTable)
        sizes, spacing = references[_size_of(table).name]
        return maps.extent_of(sizes, spacing, self.worst)

    def further_labels(self, table: tables.FieldTable) -> tuple[HiddenField, ...]:
        """Return the size of the image, and the group."""
        assert isinstance(table, detections.SpaceTable)
        size = () if isinstance(self.worst, float) else (_size_of(table),)
        return (*super().further_labels(table), *size)


def _size_of(table: detections.SpaceTable) -> HiddenField:
    kind = ImageSize(table.axes, table.unit == "mm")
    return HiddenField("image_" + "_".join(kind.columns), Reference(kind, CaseColumns(kind.columns)))


class SuccessDetectionRate(LandmarkMetric):
    """Share of landmarks within a radius of their references, or the mean of the shares of several radii.

    From 0 to 1, higher is better; the distance itself is included; the mean over a case's landmarks, then
    over cases, and a figure for each landmark. In a case without a result no landmark is detected.

    Oracle: SciPy, `cdist`. Source: Wang et al., Medical Image Analysis 31:63, 2016.
    """

    metric: Literal["success_detection_rate"]
    radius: tables.Positive | Annotated[list[tables.Positive], Key(min_length=1)] = Key(
        description="The largest distance of a detected landmark, in the field's unit; of several, as "
        "`[4, 8, 16, 32, 64]` (STIR), the figure is the mean of the shares."
    )

    def values(self, found: Floats, true: Floats, worst: float) -> Floats:
        """Return 1 for each landmark that is detected, of several radii the share within which it is."""
        errors = radial_errors(found, true)
        return np.asarray((errors[:, np.newaxis] <= np.atleast_1d(self.radius)).mean(axis=1))


class IdentificationRate(LandmarkMetric):
    """Share of named points that are identified: near their reference, which is the nearest one.

    From 0 to 1, higher is better; the mean over a case's points, then over cases, and a figure for each
    point. A point is identified if its prediction is less than `radius` away and no reference of another name
    that both sides have is nearer. Points that are not predicted are not identified; predicted ones that the
    reference lacks do not count. In a case without a result no point is identified.

    Oracle: SciPy, `cdist`. Source: Sekuboyina et al., Medical Image Analysis 73:102166, 2021 (VerSe).
    """

    metric: Literal["identification_rate"]
    radius: tables.Positive = Key(default=20.0, description="In the field's unit; the distance is smaller.")
    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (KeypointsField,)

    def values(self, found: Floats, true: Floats, worst: float) -> Floats:
        """Return 1 for each point that is identified."""
        distances = np.sqrt(((found[:, None] - true) ** 2).sum(axis=2))
        own = np.diagonal(distances)
        # Only of a name that both sides have is the reference point a candidate.
        others = np.where(np.isnan(own), np.inf, np.nan_to_num(distances, nan=np.inf))
        is_own: Bools = (own < self.radius) & (own <= others.min(axis=1))
        return is_own.astype(np.float64)
