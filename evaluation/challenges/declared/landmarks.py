"""Landmarks: points that every case has once, alone or by name."""

from abc import abstractmethod
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator

from evaluation.challenges.declared import maps, spaces, tables
from evaluation.core.case_table import Row
from evaluation.core.challenge import Values
from evaluation.core.estimator import Mean
from evaluation.core.field import CaseColumns, HiddenField, Reference
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.points import Keypoints, Points, PointSet
from evaluation.metrics.arrays import Bools, Floats
from evaluation.metrics.points import radial_errors


class PointField(spaces.SingleFieldTable):
    """Exactly one point in each case, such as the fovea.

    In an archive it is a row of a table with a row for each case: x, y and with three axes z. In an algorithm
    phase it is the platform's `Point`. The reference lies in columns of `cases.csv`, by default
    `<field>_x`, `<field>_y`(, `<field>_z`).
    """

    kind: Literal["point"]

    def value_kind(self, submitted: bool) -> Points:
        return Points(self.space, single=True)


class KeypointsField(spaces.ListFieldTable):
    """Named points, each exactly once per case, or with `partial` some of them.

    In an archive they are rows of a table: x, y, with three axes z, and the name; a case without any row is
    missing. In an algorithm phase they are the platform's `Multiple points` with names. The reference is a
    csv file in the phase folder with the same columns.
    """

    kind: Literal["keypoints"]
    classes: Annotated[list[tables.Name], AfterValidator(spaces.distinct)] = Key(
        description="The names of the points.", min_length=1
    )
    partial: bool = Key(
        default=False,
        description="Whether a case has some of the points only, such as the vertebrae in its scan (VerSe). "
        "What the reference lacks does not count, predicted or not.",
    )

    def value_kind(self, submitted: bool) -> Keypoints:
        return Keypoints(tuple(self.classes), self.space, self.partial)


class LandmarkMetric(tables.MetricTable):
    """A metric of landmarks: a figure of each, by its distance from its reference, and their mean.

    By default figures are from 0 to 1, higher is better.
    """

    common = "It is the mean over a case's landmarks, then over cases, with a figure for each landmark."
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

    def figure(self, table: tables.FieldTable) -> tables.LabelFigure:
        """Return the properties of the figure."""
        return tables.LabelFigure(best=1, worst=0)

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        figure = self.figure(table)
        landmarks = spaces.figure_names(table.classes) if isinstance(table, KeypointsField) else ()
        title, count = self.title_of(name), max(1, len(landmarks))
        of_each = tables.titles_of_each(name, title, landmarks)

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
            return {name: whole, **dict(zip(of_each, each, strict=bool(of_each)))}

        def row(of_case: dict[str, tables.Part]) -> Row:
            return {key: part.ratio(np.nan) for key, part in of_case.items()}

        metrics = tuple(
            Metric(key, words, Mean(key), figure.best, figure.worst, unit=figure.unit)
            for key, words in {name: title, **of_each}.items()
        )
        return tables.Measure(
            metrics,
            lambda comparison: row(parts(*given(comparison))),
            lambda references: row(parts(*missing(references))),
            sums=tables.Sums(
                lambda comparison: parts(*given(comparison)),
                lambda references: parts(*missing(references)),
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
    """A greater distance than `worst`, and every landmark of a case without a result, counts as `worst`.

    Oracle: SciPy, `cdist`. Source: Wang et al., Medical Image Analysis 31:63, 2016; Sekuboyina et al.,
    Medical Image Analysis 73:102166, 2021 (VerSe), for landmarks that are left out.
    """

    metric: Literal["mean_radial_error"]
    worst: tables.Positive | maps.Extent = Key(
        description="The largest distance that counts, or a length of the case's image: `diagonal` or "
        "`shape_norm` (the same in pixels, whatever the unit is). `cases.csv` then has its "
        "`width` and `height`, for three axes its `depth`, and for positions in mm `spacing_mm` (x, y(, z))."
    )
    unpredicted: Literal["worst", "exclude"] = Key(
        default="worst",
        description="Landmarks of a `partial` field that the reference of a case has and the prediction has "
        "not. `worst`: they count as `worst`. `exclude`: the mean is over the others (VerSe), so that it "
        "pays to leave out difficult ones; they still count in the figures of single landmarks, and a case "
        "where nothing is left counts as `worst`.",
    )

    def values(self, found: Floats, true: Floats, worst: float) -> Floats:
        errors = radial_errors(found, true)
        return np.minimum(
            errors if self.unpredicted == "exclude" else np.nan_to_num(errors, nan=np.inf), worst
        )

    def figure(self, table: tables.FieldTable) -> tables.LabelFigure:
        assert isinstance(table, spaces.SpaceTable)
        return tables.LabelFigure(0, self.worst if isinstance(self.worst, float) else np.inf, table.unit)

    def worst_of(self, table: tables.FieldTable, references: Values) -> float:
        """Return the stated distance, or a length of the image."""
        if isinstance(self.worst, float):
            return self.worst
        assert isinstance(table, spaces.SpaceTable)
        sizes, spacing = references[_size_of(table).name]
        return maps.extent_of(sizes, spacing, self.worst)

    def further_labels(self, table: tables.FieldTable) -> tuple[HiddenField, ...]:
        assert isinstance(table, spaces.SpaceTable)
        size = () if isinstance(self.worst, float) else (_size_of(table),)
        return (*super().further_labels(table), *size)


def _size_of(table: spaces.SpaceTable) -> HiddenField:
    from evaluation.io.kinds.classes import ImageSize  # most phases need none of that module

    kind = ImageSize(table.dimensions, table.unit == "mm")
    return HiddenField("image_" + "_".join(kind.columns), Reference(kind, CaseColumns(kind.columns)))


# --- Shares of landmarks that are near enough to their references ---


class SuccessDetectionRate(LandmarkMetric):
    """Of several radii it is the mean of the shares. In a case without a result no landmark is detected.

    Oracle: SciPy, `cdist`.
    """

    metric: Literal["success_detection_rate"]
    radius: tables.Positive | Annotated[list[tables.Positive], Key(min_length=1)] = Key(
        description="The largest distance of a detected landmark, in the field's unit; of several, as "
        "`[4, 8, 16, 32, 64]` (STIR), the figure is the mean of the shares."
    )

    def values(self, found: Floats, true: Floats, worst: float) -> Floats:
        errors = radial_errors(found, true)
        return np.asarray((errors[:, np.newaxis] <= np.atleast_1d(self.radius)).mean(axis=1))


class IdentificationRate(LandmarkMetric):
    """Share of named points that are identified: near their reference, which is the nearest one.

    From 0 to 1, higher is better. A point is identified if its prediction is less than `radius` away and no
    reference of another name that both sides have is nearer. Points that are not predicted are not
    identified; predicted ones that the reference lacks do not count. In a case without a result no point is
    identified.

    Oracle: SciPy, `cdist`. Source: Sekuboyina et al., Medical Image Analysis 73:102166, 2021 (VerSe).
    """

    metric: Literal["identification_rate"]
    radius: tables.Positive = Key(default=20.0, description="In the field's unit; the distance is smaller.")
    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (KeypointsField,)

    def values(self, found: Floats, true: Floats, worst: float) -> Floats:
        distances = np.sqrt(((found[:, None] - true) ** 2).sum(axis=2))
        own = np.diagonal(distances)
        # Only of a name that both sides have is the reference point a candidate.
        others = np.where(np.isnan(own), np.inf, np.nan_to_num(distances, nan=np.inf))
        is_own: Bools = (own < self.radius) & (own <= others.min(axis=1))
        return is_own.astype(np.float64)
