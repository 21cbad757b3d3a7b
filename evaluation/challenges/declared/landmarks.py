"""Landmarks: points that every case has once, alone or by name."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator
from pydantic import Field as Key

from evaluation.challenges.declared.field_table import FieldTable
from evaluation.challenges.declared.list_field import (
    ClassName,
    ListFieldTable,
    SpaceTable,
    distinct,
    single_field,
)
from evaluation.challenges.declared.measure import Comparison, Measure, MetricTable
from evaluation.challenges.declared.table import key
from evaluation.core.case_table import FloatArray, Row
from evaluation.core.field import Field
from evaluation.core.metric import Metric, mean_of
from evaluation.io.kinds.keypoints import Keypoints
from evaluation.io.kinds.points import Points
from evaluation.metrics.point_matching import radial_errors

Radius = Annotated[float, Key(gt=0, allow_inf_nan=False)]


class PointField(SpaceTable):
    """Exactly one point in each case, such as the fovea.

    In an archive it is a row of a table with a row for each case: x, y and with three axes z. In an algorithm
    phase it is the platform's `Point`. The reference lies in columns of `cases.csv`, by default
    `<field>_x`, `<field>_y`(, `<field>_z`).
    """

    kind: Literal["point"]

    def submitted_kind(self) -> Points:
        """Return the kind of both sides."""
        return Points(self.space, single=True)

    def field(self, name: str) -> Field:
        """Return the field of that name."""
        default = [f"{name}_{axis}" for axis in self.space.names]
        return single_field(self, name, tuple(self.reference_columns or default))


class KeypointsField(ListFieldTable):
    """Named points, each exactly once per case.

    In an archive they are rows of a table: x, y, with three axes z, and the name. In an algorithm phase they
    are the platform's `Multiple points` with names. The reference is a csv file in the phase folder with the
    same columns.
    """

    kind: Literal["keypoints"]
    names: Annotated[list[ClassName], AfterValidator(distinct)] = key(
        "The names of the points.", min_length=1
    )

    def submitted_kind(self) -> Keypoints:
        """Return the kind of both sides."""
        return Keypoints(tuple(self.names), self.space)


class LandmarkMetric(MetricTable):
    """A metric of the distances of landmarks from their references."""

    kinds = (PointField, KeypointsField)

    @staticmethod
    def names(table: FieldTable) -> tuple[str, ...]:
        """Return the names of the landmarks in figures; none where there is only one."""
        names = table.names if isinstance(table, KeypointsField) else []
        return tuple(name.replace(" ", "_").replace("-", "_") for name in names) if len(names) > 1 else ()

    @staticmethod
    def errors(comparison: Comparison) -> FloatArray:
        """Return the distance of every landmark from its reference, shape (landmarks,)."""
        return comparison.derive(
            "radial errors",
            lambda of: radial_errors(of.submitted.positions, of.reference.positions),
        )


class MeanRadialError(LandmarkMetric):
    """Mean distance of landmarks from their references.

    From 0 to `worst`, lower is better, in the field's unit; the mean over a case's landmarks, then over
    cases, and a figure for each landmark. A greater distance than `worst`, and every landmark of a case
    without a result, counts as `worst`.

    Oracle: SciPy, `cdist`. Source: Wang et al., Medical Image Analysis 31:63, 2016.
    """

    metric: Literal["mean_radial_error"]
    worst: float = key("The largest distance that counts.", gt=0, allow_inf_nan=False)

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the mean over all landmarks, and the mean of each."""
        assert isinstance(table, SpaceTable)
        unit = "mm" if table.unit == "mm" else "pixels"
        names = [(name, self.title_of(name)), *_parts(name, self.title_of(name), self.names(table))]

        def row(comparison: Comparison) -> Row:
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
    radius: Radius = key("The largest distance of a detected landmark, in the field's unit.")

    def measure(self, name: str, field_name: str, table: FieldTable) -> Measure:
        """Return the share of all landmarks, and the share of each."""
        names = [(name, self.title_of(name)), *_parts(name, self.title_of(name), self.names(table))]

        def row(comparison: Comparison) -> Row:
            return _row(names, (self.errors(comparison) <= self.radius).astype(np.float64))

        metrics = (Metric(of, title, mean_of(of), best=1, worst=0) for of, title in names)
        return Measure(tuple(metrics), row)


def _parts(name: str, title: str, landmarks: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(f"{name}_{landmark}", f"{title}, {landmark}") for landmark in landmarks]


def _row(names: list[tuple[str, str]], values: FloatArray) -> Row:
    """Return the mean of the values of all landmarks, and each value if there are several."""
    (whole, _), *parts = names
    each = {of: float(value) for (of, _), value in zip(parts, values, strict=bool(parts))}
    return {whole: float(values.mean()), **each}
