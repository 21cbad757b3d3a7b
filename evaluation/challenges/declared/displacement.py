"""Displacement fields of registered images: landmarks, warped labels, and how smooth a field is."""

import math
from abc import abstractmethod
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np

from evaluation.challenges.declared import maps, tables
from evaluation.core.estimator import Mean
from evaluation.core.fault import PhaseError
from evaluation.core.field import Field, Files, HiddenField, Reference, TableRows
from evaluation.core.keys import Key
from evaluation.core.metric import Metric
from evaluation.io.kinds.displacement import EXTENSIONS, Displacement, DisplacementField, Landmarks
from evaluation.io.kinds.objects import Space
from evaluation.io.kinds.volume import NO_REFERENCE
from evaluation.metrics.arrays import Floats
from evaluation.metrics.crops import Crop
from evaluation.metrics.displacement import (
    LARGEST_DEVIATION,
    jacobian_determinants,
    log_jacobian_deviation,
    target_registration_errors,
    warp_labels,
)


class DisplacementFieldTable(maps.LabelMapField):
    """A displacement field: for each voxel of a fixed image, the way in voxels to its place in a moving one.

    It is a file for each case: an array (x, y, z, 3) as `.nii.gz` or `.nii`, or the only array of an `.npz`
    archive; in an algorithm phase it is an image. Its size is that of the fixed image in `cases.csv`; its
    position and spacing are not compared.

    It has no reference of its own. Landmarks are two csv files in the phase folder, whose rows of a case are
    in the same order: x, y, z in voxels, counted from 0. With `labels`, which are as of a `label_map`, every
    metric of label maps compares the label map of the fixed image with that of the moving one, which the
    field warps (nearest voxel, 0 outside). Both have the size of the case. Labels that one of the two lacks
    count as absent in the reference: with `absent = "exclude"` they do not enter.
    """

    kind: Literal["displacement_field"]  # type: ignore[assignment]  # another one than its base's
    labels: dict[str, tables.Name] = Key(default={}, description="As of a `label_map`. Default: none.")
    fixed_landmarks: str | None = Key(default=None, description="csv file with the fixed landmarks.")
    moving_landmarks: str | None = Key(default=None, description="csv file with the moving landmarks.")
    fixed_labels: str | None = Key(
        default=None, description="Folder of the label maps of fixed images. Default: `<field>_fixed`."
    )
    moving_labels: str | None = Key(
        default=None, description="Folder of the label maps of moving images. Default: `<field>_moving`."
    )

    @property
    def submitted_extensions(self) -> tuple[str, ...]:
        """Those of the fields, not of the label maps."""
        return EXTENSIONS

    def check(self) -> None:
        if self.stacked:
            raise ValueError("stacked: expected none of displacement fields")
        if self.labels:
            super().check()
        if self.annotators or self.dimensions == 2 or self.background:
            raise ValueError("expected volumes with one reference, whose background is 0")
        if (self.fixed_landmarks is None) != (self.moving_landmarks is None):
            raise ValueError("fixed_landmarks, moving_landmarks: expected both or none")

    def field(self, name: str) -> Field:
        kind = DisplacementField()
        return replace(self.file_field(name, kind, kind, EXTENSIONS), reference=NO_REFERENCE)

    def hidden(self, name: str) -> tuple[HiddenField, ...]:
        found = []
        for side in _SIDES:
            if file := getattr(self, f"{side}_landmarks"):
                points = Landmarks(Space(3, "pixels"))
                rows = TableRows((file,), "case", points.columns)
                found.append(HiddenField(f"{name}_{side}_landmarks", Reference(points, rows)))
            if self.labels:
                folder = getattr(self, f"{side}_labels") or f"{name}_{side}"
                files = Files(folder, self.image_extensions, self.reference_suffix or "")
                found.append(HiddenField(_labels_of(name, side), Reference(self.map, files)))
        return tuple(found)

    def compared(self, comparison: tables.FieldComparison) -> tables.FieldComparison:
        """Return the comparison of the fixed label map with the warped one; without a result, with itself."""
        if isinstance(comparison, maps.MapComparison):
            return comparison
        references, name = comparison.references, comparison.field
        if not self.labels:
            raise ValueError(f"expected labels in field {name!r}")
        fixed, moving = (references[_labels_of(name, side)] for side in _SIDES)
        kept = np.isin(np.arange(len(self.labels) + 1), moving.positions).astype(np.uint8)
        reference = replace(fixed, crop=Crop(kept[fixed.positions] * fixed.positions, fixed.corner))
        submitted = reference
        if isinstance(comparison.submitted, Displacement):
            warped = warp_labels(moving.whole_positions, comparison.submitted.vectors)
            submitted = replace(fixed, crop=Crop(warped, (0, 0, 0)))
        return tables.FieldComparison(name, submitted, ChainMap({name: reference}, references))  # type: ignore[arg-type]  # read only


_SIDES = ("fixed", "moving")


def _labels_of(name: str, side: str) -> str:
    return f"{name}_{side}_labels"


class FieldMetric(tables.MetricTable):
    """A figure of a displacement field, lower is better, as mean over cases."""

    kinds: ClassVar[tuple[type[tables.FieldTable], ...]] = (DisplacementFieldTable,)
    unit: ClassVar[str] = ""

    @property
    @abstractmethod
    def largest(self) -> float:
        """The figure of a case without a result, and the largest that counts."""

    @abstractmethod
    def value(self, comparison: tables.FieldComparison, name: str) -> float:
        """Return the figure of a case of the named field, NaN where its reference has nothing to tell it."""

    def check(self, name: str, table: DisplacementFieldTable) -> None:
        """Raise ValueError for a field that does not fit."""

    def measure(self, name: str, field_name: str, table: tables.FieldTable) -> tables.Measure:
        assert isinstance(table, DisplacementFieldTable)
        self.check(field_name, table)

        def row(comparison: tables.FieldComparison) -> Mapping[str, Any]:
            value = self.value(comparison, field_name)
            return {name: value if math.isnan(value) else min(value, self.largest)}

        metric = Metric(name, self.title_of(name), Mean(name), 0, self.largest, unit=self.unit, reached=False)
        return tables.Measure((metric,), row)


class TargetRegistrationError(FieldMetric):
    """Target registration error: distance of landmarks of the moving image from where the field leads theirs.

    At least 0, lower is better, in mm; the mean over a case's landmarks, and then over cases. The field
    between voxels is a cubic spline. A larger figure than `worst`, and a case without a result, counts as
    that. Robust figures of a challenge follow from `over_cases = { quantile = 0.7 }`.

    Oracle: SciPy, `map_coordinates`. Source: Hering et al., IEEE TMI 42:697, 2023 (Learn2Reg).
    """

    metric: Literal["target_registration_error"]
    worst: tables.Positive = Key(description="The largest figure that counts, in mm.")
    unit: ClassVar[str] = "mm"

    @property
    def largest(self) -> float:
        return self.worst

    def check(self, name: str, table: DisplacementFieldTable) -> None:
        if table.fixed_landmarks is None:
            raise ValueError(f"expected fixed_landmarks and moving_landmarks in field {name!r}")

    def value(self, comparison: tables.FieldComparison, name: str) -> float:
        """Return the mean. Raises `PhaseError` for lists that are not equally long."""
        fixed, moving = (comparison.references[f"{name}_{side}_landmarks"].positions for side in _SIDES)
        if len(fixed) != len(moving):
            raise PhaseError(
                f"{name}: expected as many fixed as moving landmarks: {len(fixed)}, {len(moving)}"
            )
        field: Displacement = comparison.submitted
        errors = target_registration_errors(fixed, moving, field.vectors, field.spacing_mm)
        return float(errors.mean()) if len(errors) else math.nan


class _JacobianMetric(FieldMetric):
    """A figure of the Jacobian determinants, which all metrics of a field share."""

    @abstractmethod
    def figure(self, determinants: Floats) -> float:
        """Return the figure of the determinants of a case."""

    def value(self, comparison: tables.FieldComparison, name: str) -> float:
        """Return the figure. Raises `PhaseError` for a volume that is too small."""
        determinants = comparison.derive("jacobian", lambda of: jacobian_determinants(of.submitted.vectors))
        if not determinants.size:
            raise PhaseError(f"{name}: expected volumes of at least five voxels along each axis")
        return self.figure(determinants)


class LogJacobianDeviation(_JacobianMetric):
    """SDlogJ: standard deviation of the logarithm of the Jacobian determinant: how unlike volumes change.

    At least 0, lower is better; 0 for a shift. Of the determinant + 3, within 1e-9 and 1e9, by central
    differences, without the outer two voxels (Learn2Reg). A case without a result counts as the largest there
    is, 20.72.

    Oracle: NumPy, `gradient` and `det`. Source: Hering et al., IEEE TMI 42:697, 2023 (Learn2Reg).
    """

    metric: Literal["log_jacobian_deviation"]
    own_title: ClassVar[str] = "SDlogJ"

    @property
    def largest(self) -> float:
        return LARGEST_DEVIATION

    def figure(self, determinants: Floats) -> float:
        return log_jacobian_deviation(determinants)


class FoldedShare(_JacobianMetric):
    """Share of the voxels where a deformation folds: the Jacobian determinant is 0 or below.

    From 0 to 1, lower is better; central differences, without the outer two voxels. A case without a result
    counts as 1.

    Oracle: NumPy, `gradient` and `det`. Source: Hering et al., IEEE TMI 42:697, 2023 (Learn2Reg).
    """

    metric: Literal["folded_share"]

    @property
    def largest(self) -> float:
        return 1.0

    def figure(self, determinants: Floats) -> float:
        return float((determinants <= 0).mean())
